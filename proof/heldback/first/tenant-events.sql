-- Events of tenants. Each event references its tenant.
CREATE SCHEMA saas;
CREATE TABLE saas.tenants (id int PRIMARY KEY, name text NOT NULL, seats int NOT NULL);
CREATE TABLE saas.events (
  id bigserial PRIMARY KEY,
  tenant int NOT NULL REFERENCES saas.tenants (id),
  kind text NOT NULL,
  at timestamp NOT NULL DEFAULT now()
);
INSERT INTO saas.tenants SELECT n, 'tenant ' || n, 10 FROM generate_series(1, 20) n;
INSERT INTO saas.events (tenant, kind) SELECT 1 + n % 20, 'click' FROM generate_series(1, 20000) n;
ANALYZE saas.tenants, saas.events;
