-- Invoices of a trading company. Numbers have no gaps.
CREATE TABLE invoices (
    number   bigint PRIMARY KEY,
    customer integer NOT NULL,
    amount   integer NOT NULL,
    issued   timestamptz NOT NULL DEFAULT now()
);
INSERT INTO invoices (number, customer, amount) SELECT n, 1 + n % 3000, 100 + n % 90000 FROM generate_series(1, 50000) n;
