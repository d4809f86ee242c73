-- Manuscripts in rooms. A row-level policy asks for each row whether its collection is open to readers.
CREATE TABLE collections (id int PRIMARY KEY, open boolean NOT NULL);
INSERT INTO collections SELECT g, g % 10 <> 0 FROM generate_series(1, 500) g;
CREATE TABLE manuscripts (id bigint PRIMARY KEY, room int NOT NULL, collection int NOT NULL, pages int NOT NULL, title text NOT NULL);
INSERT INTO manuscripts SELECT g, 1 + (g - 1) / 500, 1 + (g * 7919) % 500, 10 + g % 400, md5(g::text) FROM generate_series(1, 60000) g;
CREATE INDEX manuscripts_room ON manuscripts (room);
CREATE FUNCTION may_read(c int) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
DECLARE answer boolean;
BEGIN
  SELECT open INTO answer FROM collections WHERE id = c;
  RETURN coalesce(answer, false);
END $$;
ALTER TABLE manuscripts ENABLE ROW LEVEL SECURITY;
ALTER TABLE manuscripts FORCE ROW LEVEL SECURITY;
CREATE POLICY readers ON manuscripts FOR SELECT USING (may_read(collection));
