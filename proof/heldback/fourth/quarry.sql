-- Loads of lorries. `change` is the number of the last change of a row; rows were not changed in the order in which they are stored.
CREATE TABLE loads (id bigint PRIMARY KEY, change int NOT NULL, lorry int NOT NULL, tons numeric(6,2) NOT NULL, driver text NOT NULL);
INSERT INTO loads SELECT g, (g::bigint * 7919) % 40009, 1 + g % 70, 10 + g % 15, md5(g::text) FROM generate_series(1, 40000) g;
CREATE INDEX loads_change ON loads (change);
