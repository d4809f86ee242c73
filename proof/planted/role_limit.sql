-- A dump is restored by a superuser, who may limit the role of the load.
CREATE TABLE notes (id int);
ALTER ROLE app CONNECTION LIMIT 15;
