-- Parcels and the places at which they were scanned.
CREATE TABLE parcels (
    id        bigint PRIMARY KEY,
    sender    integer NOT NULL,
    receiver  integer NOT NULL,
    weight    integer NOT NULL,
    accepted  timestamptz NOT NULL
);
CREATE TABLE scans (
    parcel  bigint NOT NULL REFERENCES parcels,
    place   integer NOT NULL,
    scanned timestamptz NOT NULL
);
INSERT INTO parcels
SELECT n, 1 + (n * 31) % 9000, 1 + (n * 17) % 30000, 100 + n % 9000, timestamptz '2025-06-01' + n * interval '1 minute'
FROM generate_series(1, 40000) n;
INSERT INTO scans
SELECT 1 + (n * 7) % 40000, n % 200, timestamptz '2025-06-01' + n * interval '30 seconds' FROM generate_series(1, 80000) n;
CREATE INDEX scans_parcel ON scans (parcel);
