-- Time slots of a museum and the visitors who booked them.
CREATE TABLE slots (id integer PRIMARY KEY, begins timestamptz NOT NULL, places integer NOT NULL);
CREATE TABLE visitors (
    id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    slot  integer NOT NULL REFERENCES slots,
    email text NOT NULL
);
INSERT INTO slots SELECT n, timestamptz '2025-01-01 09:00' + n * interval '15 minutes', 30 FROM generate_series(1, 20000) n;
INSERT INTO visitors (slot, email) SELECT n, 'visitor' || n || '@example.org' FROM generate_series(1, 20000) n;
CREATE INDEX visitors_slot ON visitors (slot);
