-- Rooms of a hotel chain and their stays.
CREATE TABLE rooms (id integer PRIMARY KEY, floor integer NOT NULL);
CREATE TABLE stays (
    id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    room  integer NOT NULL,
    price integer NOT NULL,
    made  timestamptz NOT NULL DEFAULT now()
);
INSERT INTO rooms SELECT n, n % 12 FROM generate_series(1, 5000) n;
