-- Sightings in the order of time. Observers 1 to 200 stopped some time ago; the newest sightings are from observers 201 to 1000.
CREATE TABLE sightings (id bigint PRIMARY KEY, observer int NOT NULL, seen timestamptz NOT NULL, magnitude real NOT NULL, remark text NOT NULL);
INSERT INTO sightings
SELECT g, CASE WHEN g <= 160000 THEN 1 + (g::bigint * 7919 % 10007) % 200 ELSE 201 + (g::bigint * 7919 % 10007) % 800 END,
  timestamptz '2020-01-01 00:00:00Z' + g * interval '10 min', (g % 80) / 10.0, md5(g::text)
FROM generate_series(1, 200000) g;
CREATE INDEX sightings_seen ON sightings (seen);
CREATE INDEX sightings_observer ON sightings (observer);
ALTER TABLE sightings ALTER observer SET STATISTICS 2000;
