//! Sessions of PostgreSQL's own clients
