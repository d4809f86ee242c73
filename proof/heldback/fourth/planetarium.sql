-- Seats sold for shows: 6000 of each show.
CREATE TABLE seats (show int NOT NULL, seat int NOT NULL, price int NOT NULL, child boolean NOT NULL, PRIMARY KEY (show, seat)) ;
INSERT INTO seats SELECT s, n, 5 + n % 20, n % 3 = 0 FROM generate_series(1, 30) s, generate_series(1, 6000) n;
