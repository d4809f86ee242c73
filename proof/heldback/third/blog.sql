SELECT setseed(0.6);
CREATE SCHEMA blog;
CREATE TABLE blog.articles (
  id int PRIMARY KEY,
  title text NOT NULL,
  body text NOT NULL,
  views int NOT NULL
) WITH (fillfactor = 60);
INSERT INTO blog.articles
SELECT g, 'Article ' || g,
       (SELECT string_agg('w' || (random() * random() * 20000)::int, ' ') FROM generate_series(1, 1000 + 0 * g)),
       (random() * 10000)::int
FROM generate_series(1, 3000) g;
CREATE INDEX articles_body ON blog.articles USING gin (to_tsvector('simple', body)) WITH (fastupdate = off);
CREATE INDEX articles_views ON blog.articles (views);
