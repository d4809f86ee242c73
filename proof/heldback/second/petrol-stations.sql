-- Prices of petrol stations.
CREATE TABLE prices (station integer PRIMARY KEY, diesel integer NOT NULL, petrol integer NOT NULL, changed timestamptz NOT NULL);
INSERT INTO prices SELECT n, 150 + n % 30, 160 + n % 30, now() FROM generate_series(1, 15000) n;
