-- Exposures of a telescope, ten of each night. Each has a range of frames, and a number of tiles of each frame.
CREATE TABLE exposures (id bigint PRIMARY KEY, night int NOT NULL, first_frame int NOT NULL, last_frame int NOT NULL, tiles int NOT NULL);
INSERT INTO exposures SELECT g, 1 + g / 10, g * 3, g * 3 + g % 3, 3 + g % 2 FROM generate_series(1, 20000) g;
CREATE INDEX exposures_night ON exposures (night);
