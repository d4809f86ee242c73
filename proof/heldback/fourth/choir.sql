-- Members of a choir.
CREATE TABLE singers (id int PRIMARY KEY, voice text NOT NULL, name text NOT NULL);
INSERT INTO singers SELECT g, (ARRAY['soprano', 'alto', 'tenor', 'bass'])[1 + g % 4], md5(g::text) FROM generate_series(1, 20000) g;
