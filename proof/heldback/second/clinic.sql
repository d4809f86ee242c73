-- Visits of a hospital. Staff see only the visits of their wards.
CREATE TABLE wards_of_staff (
    staff integer NOT NULL,
    ward  integer NOT NULL,
    PRIMARY KEY (staff, ward)
);
INSERT INTO wards_of_staff
SELECT s, 1 + (s * 7 + w * 3) % 40 FROM generate_series(1, 300) s, generate_series(0, 11) w;
CREATE TABLE visits (
    id      bigint PRIMARY KEY,
    day     date NOT NULL,
    ward    integer NOT NULL,
    patient integer NOT NULL,
    reason  text NOT NULL
);
INSERT INTO visits
SELECT n, date '2025-01-01' + n % 300, 1 + abs(hashint4(n)) % 40, 1 + (n::bigint * 104729) % 20000, md5(n::text)
FROM generate_series(1, 120000) n;
CREATE INDEX visits_day ON visits (day);
CREATE FUNCTION may_see(of_ward integer) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN EXISTS (SELECT FROM wards_of_staff
                   WHERE ward = of_ward AND staff = current_setting('clinic.staff', true)::integer);
END $$;
ALTER TABLE visits ENABLE ROW LEVEL SECURITY;
ALTER TABLE visits FORCE ROW LEVEL SECURITY;
CREATE POLICY own_wards ON visits USING (may_see(ward));
