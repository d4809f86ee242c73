SELECT setseed(0.8);
CREATE SCHEMA wholesale;
CREATE TABLE wholesale.articles (
  ean bigint PRIMARY KEY,
  supplier int NOT NULL,
  price int NOT NULL,
  seen timestamptz NOT NULL DEFAULT now()
);
INSERT INTO wholesale.articles SELECT g, 1 + g % 200, (random() * 10000)::int FROM generate_series(1, 50000) g;
CREATE FUNCTION wholesale.take(first bigint, amount int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  added int := 0;
BEGIN
  FOR n IN 0 .. amount - 1 LOOP
    BEGIN
      INSERT INTO wholesale.articles (ean, supplier, price) VALUES (first + n, 1, 100);
      added := added + 1;
    EXCEPTION WHEN unique_violation THEN
      NULL;
    END;
  END LOOP;
  RETURN added;
END $$;
