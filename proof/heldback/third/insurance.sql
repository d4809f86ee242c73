SELECT setseed(0.4);
CREATE SCHEMA insurance;
CREATE TABLE insurance.region_access (
  broker_id int NOT NULL,
  region int NOT NULL,
  PRIMARY KEY (broker_id, region)
);
INSERT INTO insurance.region_access
SELECT b, r FROM generate_series(1, 500) b, generate_series(1, 40) r WHERE (b + r) % 3 = 0;
CREATE TABLE insurance.policies (
  id bigint PRIMARY KEY,
  region int NOT NULL,
  holder text NOT NULL,
  premium numeric(10, 2) NOT NULL,
  valid_to date NOT NULL
);
INSERT INTO insurance.policies
SELECT g, 1 + (random() * 39)::int, md5(g::text), round((100 + random() * 900)::numeric, 2), date '2025-01-01' + (random() * 999)::int
FROM generate_series(1, 100000) g;
CREATE INDEX policies_valid_to ON insurance.policies (valid_to);
CREATE FUNCTION insurance.may_see(r int) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN EXISTS (SELECT FROM insurance.region_access a
                 WHERE a.broker_id = current_setting('app.broker')::int AND a.region = r);
END $$;
ALTER TABLE insurance.policies ENABLE ROW LEVEL SECURITY;
ALTER TABLE insurance.policies FORCE ROW LEVEL SECURITY;
CREATE POLICY broker ON insurance.policies USING (insurance.may_see(region));
