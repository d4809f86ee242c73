-- Stays in the car parks of a city, by week.
CREATE TABLE stays (
    id      bigint NOT NULL,
    entered timestamptz NOT NULL,
    car     integer NOT NULL,
    park    smallint NOT NULL,
    paid    integer NOT NULL
) PARTITION BY RANGE (entered);
DO $$
BEGIN
    FOR w IN 0..103 LOOP
        EXECUTE format('CREATE TABLE stays_%s PARTITION OF stays FOR VALUES FROM (%L) TO (%L)',
            lpad(w::text, 3, '0'), timestamptz '2024-01-01 00:00+00' + w * interval '7 days',
            timestamptz '2024-01-01 00:00+00' + (w + 1) * interval '7 days');
    END LOOP;
END $$;
INSERT INTO stays
SELECT n, timestamptz '2024-01-01 00:00+00' + (n::bigint * 7919 % 104832) * interval '10 minutes',
       1 + (n::bigint * 104729) % 30000, n % 40, 100 + n % 900
FROM generate_series(1, 300000) n;
CREATE INDEX stays_car ON stays (car, entered);
CREATE INDEX stays_park ON stays (park, entered);
