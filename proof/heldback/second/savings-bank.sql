-- Accounts of the associations that a savings bank serves.
CREATE TABLE accounts (id integer PRIMARY KEY, holder text NOT NULL, balance bigint NOT NULL) WITH (fillfactor = 50);
INSERT INTO accounts SELECT n, 'Association ' || n, 1000000 FROM generate_series(1, 200) n;
