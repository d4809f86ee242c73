-- Deeds of a notary's office, with their scanned pages.
CREATE TABLE deeds (
    id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    client integer NOT NULL,
    filed  timestamptz NOT NULL DEFAULT now(),
    pages  text NOT NULL
);
ALTER TABLE deeds ALTER pages SET STORAGE EXTERNAL;
INSERT INTO deeds (client, pages) SELECT 1 + n % 500, repeat(md5(n::text), 750) FROM generate_series(1, 2000) n;
