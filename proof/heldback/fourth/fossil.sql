-- Descriptions of fossils, about 1 kB each, 180 MB together.
CREATE TABLE fossils (id bigint PRIMARY KEY, layer int NOT NULL, description text NOT NULL);
ALTER TABLE fossils ALTER description SET STORAGE PLAIN;
INSERT INTO fossils SELECT g, g % 40, repeat(md5(g::text), 30) FROM generate_series(1, 160000) g;
