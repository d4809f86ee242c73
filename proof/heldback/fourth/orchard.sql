-- Trees of an orchard.
CREATE TABLE trees (id int PRIMARY KEY, kind text NOT NULL, kilos int NOT NULL);
INSERT INTO trees SELECT g, md5(g::text), 0 FROM generate_series(1, 20000) g;
