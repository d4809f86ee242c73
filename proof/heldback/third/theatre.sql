CREATE SCHEMA theatre;
CREATE TABLE theatre.reservations (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  no bigint NOT NULL,
  play int NOT NULL,
  seat int NOT NULL,
  guest text NOT NULL
);
INSERT INTO theatre.reservations (no, play, seat, guest)
SELECT g, 1 + g % 300, 1 + g % 900, 'Guest ' || g FROM generate_series(1, 30000) g;
CREATE UNIQUE INDEX reservations_no ON theatre.reservations (no);
CREATE INDEX reservations_play ON theatre.reservations (play, seat);
CREATE FUNCTION theatre.number() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(4711);
  SELECT coalesce(max(no), 0) + 1 INTO NEW.no FROM theatre.reservations;
  RETURN NEW;
END $$;
CREATE TRIGGER number BEFORE INSERT ON theatre.reservations FOR EACH ROW EXECUTE FUNCTION theatre.number();
