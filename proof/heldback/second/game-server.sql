-- Players of an online game. The state of a player is one document.
CREATE TABLE players (
    id    integer PRIMARY KEY,
    name  text NOT NULL,
    state jsonb NOT NULL
);
INSERT INTO players
SELECT p, 'player ' || p,
       jsonb_build_object(
           'coins', 100,
           'level', 1 + p % 60,
           'inventory', (SELECT jsonb_agg(jsonb_build_object('item', (p * 31 + i * 17) % 4000, 'name', md5((i % 50)::text),
                                                           'count', i % 9, 'found', 20250101 + i))
                         FROM generate_series(1, 900) i))
FROM generate_series(1, 400) p;
