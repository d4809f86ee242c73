-- Weather stations and what they last measured.
CREATE TABLE stations (id integer PRIMARY KEY, temperature integer NOT NULL, wind integer NOT NULL, heard timestamptz NOT NULL);
INSERT INTO stations SELECT n, n % 40, n % 90, now() FROM generate_series(1, 12000) n;
