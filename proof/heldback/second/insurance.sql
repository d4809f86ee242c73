-- Policies of an insurance company.
CREATE TABLE policies (
    id      integer PRIMARY KEY,
    holder  integer NOT NULL,
    state   text NOT NULL,
    premium integer NOT NULL
);
INSERT INTO policies SELECT n, 1 + n % 40000, 'offered', 1000 + n % 500 FROM generate_series(1, 100000) n;
