-- Pictures of wagons, about 100 kB each, which are stored as they arrive.
CREATE TABLE pictures (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, wagon int NOT NULL, taken timestamptz NOT NULL DEFAULT now(), picture text NOT NULL);
ALTER TABLE pictures ALTER picture SET STORAGE EXTERNAL;
