-- Stations, and eight tables that describe them.
CREATE TABLE regions (id int PRIMARY KEY, name text NOT NULL);
INSERT INTO regions SELECT g, md5('region' || g) FROM generate_series(1, 200) g;
CREATE TABLE countrys (id int PRIMARY KEY, name text NOT NULL);
INSERT INTO countrys SELECT g, md5('country' || g) FROM generate_series(1, 200) g;
CREATE TABLE operators (id int PRIMARY KEY, name text NOT NULL);
INSERT INTO operators SELECT g, md5('operator' || g) FROM generate_series(1, 200) g;
CREATE TABLE makers (id int PRIMARY KEY, name text NOT NULL);
INSERT INTO makers SELECT g, md5('maker' || g) FROM generate_series(1, 200) g;
CREATE TABLE models (id int PRIMARY KEY, name text NOT NULL);
INSERT INTO models SELECT g, md5('model' || g) FROM generate_series(1, 200) g;
CREATE TABLE masts (id int PRIMARY KEY, name text NOT NULL);
INSERT INTO masts SELECT g, md5('mast' || g) FROM generate_series(1, 200) g;
CREATE TABLE sensors (id int PRIMARY KEY, name text NOT NULL);
INSERT INTO sensors SELECT g, md5('sensor' || g) FROM generate_series(1, 200) g;
CREATE TABLE networks (id int PRIMARY KEY, name text NOT NULL);
INSERT INTO networks SELECT g, md5('network' || g) FROM generate_series(1, 200) g;
CREATE TABLE stations (id int PRIMARY KEY, altitude int NOT NULL,
  region int NOT NULL REFERENCES regions,
  country int NOT NULL REFERENCES countrys,
  operator int NOT NULL REFERENCES operators,
  maker int NOT NULL REFERENCES makers,
  model int NOT NULL REFERENCES models,
  mast int NOT NULL REFERENCES masts,
  sensor int NOT NULL REFERENCES sensors,
  network int NOT NULL REFERENCES networks);
INSERT INTO stations SELECT g, g % 3000, 1 + g * 3 % 200, 1 + g * 5 % 200, 1 + g * 7 % 200, 1 + g * 9 % 200, 1 + g * 11 % 200, 1 + g * 13 % 200, 1 + g * 15 % 200, 1 + g * 17 % 200 FROM generate_series(1, 20000) g;
