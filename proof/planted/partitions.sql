CREATE SCHEMA planted;
CREATE TABLE planted.events (day int, id int, PRIMARY KEY (day, id)) PARTITION BY LIST (day);
DO $$
BEGIN
  FOR day IN 1..100 LOOP
    EXECUTE format('CREATE TABLE planted.events_%s PARTITION OF planted.events FOR VALUES IN (%s)', day, day);
  END LOOP;
END $$;
INSERT INTO planted.events SELECT day, id FROM generate_series(1, 100) day, generate_series(1, 10) id;
