-- Songs of a radio station.
CREATE TABLE songs (id int PRIMARY KEY, title text NOT NULL, seconds int NOT NULL);
INSERT INTO songs SELECT g, md5(g::text), 120 + g % 200 FROM generate_series(1, 20000) g;
