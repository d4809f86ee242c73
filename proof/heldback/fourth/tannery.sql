-- Hides, and the hides that are reserved for an order.
CREATE TABLE hides (id bigint PRIMARY KEY, rack int NOT NULL, grade int NOT NULL, area real NOT NULL);
INSERT INTO hides SELECT g, 1 + g % 1000, g % 4, 1 + (g % 300) / 100.0 FROM generate_series(1, 30000) g;
CREATE INDEX hides_rack ON hides (rack);
CREATE TABLE reservations (hide bigint NOT NULL, buyer int NOT NULL);
INSERT INTO reservations SELECT g * 3, g % 50 FROM generate_series(1, 4500) g;
