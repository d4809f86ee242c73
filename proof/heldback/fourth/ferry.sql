-- Bookings of a ferry line. Two states exist when the statistics are collected.
CREATE TABLE bookings (id bigint PRIMARY KEY, sailing int NOT NULL, passenger int NOT NULL, state text NOT NULL, price numeric(8,2) NOT NULL, note text NOT NULL)
  WITH (autovacuum_enabled = off);
INSERT INTO bookings
SELECT g, 1 + g % 900, 1 + (g * 7919) % 6000, CASE WHEN g % 5 = 0 THEN 'cancelled' ELSE 'paid' END, 10 + g % 90, md5(g::text)
FROM generate_series(1, 60000) g;
CREATE INDEX bookings_state ON bookings (state);
CREATE INDEX bookings_passenger ON bookings (passenger);
