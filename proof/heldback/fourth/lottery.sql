-- Ticket books, from which shops sell tickets.
CREATE TABLE books (id int PRIMARY KEY, remaining int NOT NULL, series text NOT NULL);
INSERT INTO books SELECT g, 1000000, md5(g::text) FROM generate_series(1, 100) g;
