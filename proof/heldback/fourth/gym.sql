-- Members of a gym and their cards.
CREATE TABLE members (card int PRIMARY KEY, name text NOT NULL, valid_until date NOT NULL);
INSERT INTO members SELECT g, md5(g::text), date '2027-01-01' + g % 300 FROM generate_series(1, 20000) g;
