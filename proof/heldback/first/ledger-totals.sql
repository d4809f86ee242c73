-- Accounts and their entries. A trigger keeps the total of an account by adding up all its entries again.
CREATE SCHEMA bank;
CREATE TABLE bank.accounts (id int PRIMARY KEY, total bigint NOT NULL) WITH (fillfactor = 50);
CREATE TABLE bank.entries (id bigserial PRIMARY KEY, account int NOT NULL, amount int NOT NULL);
INSERT INTO bank.accounts SELECT n, 0 FROM generate_series(1, 300) n;
INSERT INTO bank.entries (account, amount) SELECT 1 + n % 300, n % 1000 FROM generate_series(1, 300000) n;
CREATE INDEX ON bank.entries (account);
CREATE FUNCTION bank.add_up() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE bank.accounts SET total = (SELECT sum(amount) FROM bank.entries WHERE account = NEW.account) WHERE id = NEW.account;
  RETURN NULL;
END $$;
CREATE TRIGGER add_up AFTER INSERT ON bank.entries FOR EACH ROW EXECUTE FUNCTION bank.add_up();
ANALYZE bank.accounts, bank.entries;
