-- Exposures of a telescope, about ten of each night. The document of each has frames, their stars, and the bands of each star.
CREATE TABLE exposures (id bigint PRIMARY KEY, night int NOT NULL, doc jsonb NOT NULL);
INSERT INTO exposures
SELECT g, 1 + g / 10, jsonb_build_object('frames', (
  SELECT jsonb_agg(jsonb_build_object('frame', f, 'stars', (
    SELECT jsonb_agg(jsonb_build_object('star', s, 'bands', jsonb_build_array((g + s) % 17, (g + f) % 13))) FROM generate_series(1, 3) s)))
  FROM generate_series(1, 2) f))
FROM generate_series(1, 20000) g;
CREATE INDEX exposures_night ON exposures (night);
