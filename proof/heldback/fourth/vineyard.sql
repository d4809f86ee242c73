-- Barrels of a vineyard.
CREATE TABLE barrels (id int PRIMARY KEY, cellar int NOT NULL, litres int NOT NULL, wine text NOT NULL);
INSERT INTO barrels SELECT g, 1 + g % 12, 225, md5(g::text) FROM generate_series(1, 20000) g;
