-- Cards and their payments.
CREATE TABLE cards (id integer PRIMARY KEY, spent bigint NOT NULL, spending_limit bigint NOT NULL) WITH (fillfactor = 70);
CREATE TABLE payments (
    id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    card   integer NOT NULL,
    amount integer NOT NULL,
    made   timestamptz NOT NULL DEFAULT now()
);
INSERT INTO cards SELECT n, 0, 1000000000 FROM generate_series(1, 50000) n;
