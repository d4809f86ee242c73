SELECT setseed(0.3);
CREATE SCHEMA courier;
CREATE TABLE courier.events (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  parcel_id int NOT NULL,
  courier_id int NOT NULL,
  state text NOT NULL,
  at timestamptz NOT NULL
);
INSERT INTO courier.events (parcel_id, courier_id, state, at)
SELECT 1 + (g / 5), 1 + (random() * 299)::int, (ARRAY['accepted','sorted','loaded','out','delivered'])[1 + g % 5],
       timestamptz '2025-06-01' + g * interval '1 minute'
FROM generate_series(0, 13999) g;
CREATE INDEX events_parcel ON courier.events (parcel_id, at DESC);
CREATE INDEX events_courier ON courier.events (courier_id, at);
CREATE VIEW courier.current_state AS
SELECT parcel_id, courier_id, state, at
FROM (SELECT parcel_id, courier_id, state, at,
             row_number() OVER (PARTITION BY parcel_id ORDER BY at DESC) AS n
      FROM courier.events) e
WHERE n = 1;
