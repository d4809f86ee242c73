-- Batches get consecutive numbers without gaps.
CREATE TABLE numbering (kind text PRIMARY KEY, last bigint NOT NULL);
INSERT INTO numbering VALUES ('batch', 0), ('invoice', 0);
CREATE TABLE batches (no bigint PRIMARY KEY, vessel int NOT NULL, started timestamptz NOT NULL DEFAULT now());
