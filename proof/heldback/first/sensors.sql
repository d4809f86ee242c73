-- Readings of sensors, one partition per day for 120 days, 200 readings a day.
CREATE SCHEMA iot;
CREATE TABLE iot.readings (sensor int NOT NULL, at timestamp NOT NULL, value real NOT NULL) PARTITION BY RANGE (at);
DO $$
BEGIN
  FOR d IN 0..119 LOOP
    EXECUTE format('CREATE TABLE iot.readings_%s PARTITION OF iot.readings FOR VALUES FROM (%L) TO (%L)', d,
      timestamp '2026-01-01' + d * interval '1 day', timestamp '2026-01-01' + (d + 1) * interval '1 day');
  END LOOP;
END $$;
INSERT INTO iot.readings
SELECT 1 + n % 50, timestamp '2026-01-01' + d * interval '1 day' + n * interval '7 minutes', n
FROM generate_series(0, 119) d, generate_series(0, 199) n;
CREATE INDEX ON iot.readings (sensor, at);
ANALYZE iot.readings;
