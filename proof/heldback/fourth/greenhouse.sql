-- 400 windows of greenhouses, whose positions were written many times before the table was ever vacuumed.
CREATE TABLE vents (id int PRIMARY KEY, house int NOT NULL, opening int NOT NULL, program text NOT NULL);
INSERT INTO vents SELECT g, 1 + g % 12, 0, repeat(md5(g::text), 25) FROM generate_series(1, 400) g;
ALTER TABLE vents ALTER program SET STORAGE PLAIN;
DO $$
BEGIN
  FOR i IN 1..60 LOOP
    UPDATE vents SET opening = (opening + i) % 100;
  END LOOP;
END $$;
