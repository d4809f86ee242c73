CREATE SCHEMA gym;
CREATE TABLE gym.clubs (
  id int PRIMARY KEY,
  city text NOT NULL,
  capacity int NOT NULL,
  present int NOT NULL
);
INSERT INTO gym.clubs SELECT g, 'City ' || g, 500, 0 FROM generate_series(1, 3) g;
CREATE TABLE gym.visits (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  club_id int NOT NULL REFERENCES gym.clubs (id),
  member_id int NOT NULL,
  at timestamptz NOT NULL DEFAULT now()
);
INSERT INTO gym.visits (club_id, member_id) SELECT 1 + g % 3, g FROM generate_series(1, 20000) g;
CREATE INDEX visits_club ON gym.visits (club_id, at);
