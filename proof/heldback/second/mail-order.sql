-- Carts of a mail-order shop.
CREATE TABLE carts (
    id       bigint PRIMARY KEY,
    customer integer NOT NULL,
    opened   timestamptz NOT NULL
);
CREATE TABLE cart_items (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    cart_id  bigint NOT NULL REFERENCES carts ON DELETE CASCADE,
    article  integer NOT NULL,
    quantity smallint NOT NULL,
    added    timestamptz NOT NULL
);
INSERT INTO carts
SELECT n, 1 + (n * 7919) % 20000, timestamptz '2025-01-01' + n * interval '1 minute'
FROM generate_series(1, 50000) n;
INSERT INTO cart_items (cart_id, article, quantity, added)
SELECT 1 + (n::bigint * 104729) % 50000, 1 + (n::bigint * 31) % 5000, 1 + n % 3, timestamptz '2025-01-01' + n * interval '1 minute'
FROM generate_series(1, 60000) n;
