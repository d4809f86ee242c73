CREATE SCHEMA chess;
CREATE TABLE chess.boards (
  id int PRIMARY KEY,
  club int NOT NULL,
  arbiter text NOT NULL,
  free boolean NOT NULL
);
INSERT INTO chess.boards SELECT g, 1 + g % 60, 'Arbiter ' || g, g % 2 = 0 FROM generate_series(1, 240) g;
CREATE INDEX boards_club ON chess.boards (club);
