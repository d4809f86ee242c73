-- Orders with 25 items each, and the materials of the items.
CREATE TABLE orders (id int PRIMARY KEY, customer int NOT NULL);
INSERT INTO orders SELECT g, 1 + g % 300 FROM generate_series(1, 1600) g;
CREATE TABLE items (id int PRIMARY KEY, order_id int NOT NULL REFERENCES orders, material int NOT NULL, pages int NOT NULL);
INSERT INTO items SELECT g, 1 + (g - 1) / 25, 1 + (g * 7919) % 2000, 50 + g % 300 FROM generate_series(1, 40000) g;
CREATE INDEX items_order ON items (order_id);
CREATE TABLE materials (id int PRIMARY KEY, name text NOT NULL, price int NOT NULL);
INSERT INTO materials SELECT g, md5(g::text), g % 90 FROM generate_series(1, 2000) g;
