-- Samples of the turbines of a wind farm.
CREATE TABLE samples (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    turbine   integer NOT NULL,
    taken     timestamptz NOT NULL,
    power     real NOT NULL,
    wind      real NOT NULL,
    direction smallint NOT NULL,
    pitch     real NOT NULL,
    oil       real NOT NULL,
    state     smallint NOT NULL,
    batch     bigint NOT NULL
);
INSERT INTO samples (turbine, taken, power, wind, direction, pitch, oil, state, batch)
SELECT 1 + n % 400, timestamptz '2025-01-01' + n * interval '2 seconds', (n::bigint * 7919 % 30000) / 10.0, (n::bigint * 31 % 300) / 10.0,
       n::bigint * 104729 % 360, (n::bigint * 17 % 900) / 10.0, 40 + (n::bigint * 13 % 500) / 10.0, n % 7, n / 60
FROM generate_series(1, 150000) n;
CREATE INDEX samples_turbine ON samples (turbine, taken);
CREATE INDEX samples_taken ON samples (taken);
CREATE INDEX samples_turbine_only ON samples (turbine);
CREATE INDEX samples_power ON samples (power);
CREATE INDEX samples_wind ON samples (wind);
CREATE INDEX samples_direction ON samples (direction);
CREATE INDEX samples_pitch ON samples (pitch);
CREATE INDEX samples_oil ON samples (oil);
CREATE INDEX samples_state ON samples (state, taken);
CREATE INDEX samples_batch ON samples (batch);
CREATE INDEX samples_wind_power ON samples (wind, power);
CREATE INDEX samples_turbine_power ON samples (turbine, power);
CREATE INDEX samples_state_turbine ON samples (state, turbine, wind);
