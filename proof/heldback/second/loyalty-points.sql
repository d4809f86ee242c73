-- Customers of a supermarket and their points.
CREATE TABLE customers (id integer PRIMARY KEY, points integer NOT NULL, level text NOT NULL);
INSERT INTO customers SELECT n, n % 9000, CASE WHEN n % 10 = 0 THEN 'gold' ELSE 'blue' END FROM generate_series(1, 50000) n;
