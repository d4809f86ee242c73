SELECT setseed(0.5);
CREATE SCHEMA airline;
CREATE TABLE airline.bookings (
  id bigint PRIMARY KEY,
  locator text NOT NULL,
  passenger text NOT NULL,
  flight text NOT NULL,
  departs timestamptz NOT NULL
);
INSERT INTO airline.bookings
SELECT g, upper(substr(md5(g::text), 1, 7)), 'PAX ' || md5((g * 7)::text), 'XZ' || (100 + g % 800),
       timestamptz '2026-01-01' + (random() * 300) * interval '1 day'
FROM generate_series(1, 50000) g;
CREATE INDEX bookings_locator ON airline.bookings (locator text_pattern_ops);
