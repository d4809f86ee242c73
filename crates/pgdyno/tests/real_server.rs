//! Does `pgdyno bench` measure real PostgreSQL servers, and survive what they do?
//!
//! Each test runs the program as a user does and reads its document. One throw-away server serves those that do it no
//! harm; the others have their own. `./x test` installs PostgreSQL where it is missing.

mod real_server {
    mod faults;
    mod modes;
    mod random;
    mod signals;
    mod surroundings;
    pub mod test_server;
    mod tls;
}
