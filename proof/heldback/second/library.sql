-- Loans of a city's libraries.
CREATE TABLE loans (
    id       bigint PRIMARY KEY,
    reader   integer NOT NULL,
    book     integer NOT NULL,
    lent     date NOT NULL,
    fine     integer NOT NULL,
    remark   text NOT NULL
);
INSERT INTO loans
SELECT n, 1 + (n::bigint * 104729) % 50000, 1 + (n::bigint * 7919) % 50000, date '2020-01-01' + n / 300, n % 5, repeat(md5(n::text), 14)
FROM generate_series(1, 600000) n;
CREATE INDEX loans_reader ON loans (reader);
