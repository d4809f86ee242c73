-- Articles of a newspaper's archive.
CREATE TABLE articles (
    id        bigint PRIMARY KEY,
    published timestamptz NOT NULL,
    section   smallint NOT NULL,
    title     text NOT NULL,
    teaser    text NOT NULL
);
INSERT INTO articles
SELECT n, timestamptz '2015-01-01' + n * interval '23 minutes', n % 12,
       'Article number ' || n, repeat(md5(n::text) || ' ', 5)
FROM generate_series(1, 150000) n;
CREATE INDEX articles_published ON articles (published);
