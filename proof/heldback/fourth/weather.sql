-- Measurements by month, ten years. The application looks up single measurements by their number.
CREATE TABLE measurements (id bigint NOT NULL, taken date NOT NULL, station int NOT NULL, celsius real NOT NULL, PRIMARY KEY (taken, id)) PARTITION BY RANGE (taken);
DO $$
BEGIN
  FOR m IN 0..119 LOOP
    EXECUTE format('CREATE TABLE measurements_%s PARTITION OF measurements FOR VALUES FROM (%L) TO (%L)', to_char(date '2014-01-01' + m * interval '1 month', 'YYYY_MM'),
      (date '2014-01-01' + m * interval '1 month')::date, (date '2014-01-01' + (m + 1) * interval '1 month')::date);
  END LOOP;
END $$;
INSERT INTO measurements SELECT g, date '2014-01-01' + (g / 20)::int, 1 + g % 20, (g % 400) / 10.0 - 10 FROM generate_series(1, 73000) g;
CREATE INDEX measurements_id ON measurements (id);
