-- Concerts and their bookings.
CREATE TABLE concerts (id integer PRIMARY KEY, title text NOT NULL, seats_left integer NOT NULL);
CREATE TABLE bookings (
    id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    concert integer NOT NULL,
    buyer   integer NOT NULL,
    booked  timestamptz NOT NULL DEFAULT now()
);
INSERT INTO concerts SELECT n, 'Concert ' || n, 1000000 FROM generate_series(1, 50) n;
INSERT INTO bookings (concert, buyer) SELECT 1 + n % 50, n % 7000 FROM generate_series(1, 20000) n;
CREATE INDEX bookings_concert ON bookings (concert);
