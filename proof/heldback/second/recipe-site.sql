-- Recipes, and the ingredients with their present prices.
CREATE TABLE recipes (id integer PRIMARY KEY, title text NOT NULL, steps text NOT NULL);
CREATE TABLE ingredients (id integer PRIMARY KEY, name text NOT NULL, unit text NOT NULL, price integer NOT NULL);
INSERT INTO recipes SELECT n, 'Recipe ' || n, repeat(md5(n::text) || ' ', 12) FROM generate_series(1, 20000) n;
INSERT INTO ingredients SELECT n, 'Ingredient ' || n, 'g', 50 + n % 700 FROM generate_series(1, 8000) n;
