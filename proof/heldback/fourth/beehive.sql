-- Notes on hives, with tags.
CREATE TABLE notes (id bigint PRIMARY KEY, hive int NOT NULL, tags text[] NOT NULL, body text NOT NULL);
INSERT INTO notes
SELECT g, 1 + g % 500, ARRAY['swarm' || g % 3001, 'queen' || g % 2003, 'honey' || g % 1009, 'frame' || g % 4001, 'mite' || g % 997], repeat(md5(g::text), 3)
FROM generate_series(1, 100000) g;
CREATE INDEX notes_tags ON notes USING gin (tags) WITH (fastupdate = on, gin_pending_list_limit = 65536);
