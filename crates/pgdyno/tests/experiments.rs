//! Does `pgdyno run` do what an experiment file says, on real systems, and end well whatever happens?
//!
//! Each test runs the program as a user does, in a folder of its own, and reads what it printed and stored. `./x test`
//! installs PostgreSQL, PgBouncer and HAProxy where they are missing, and unpacks Odyssey where that is possible.

mod experiments {
    mod attach;
    mod disk;
    mod ends;
    mod failovers;
    mod far;
    mod faults;
    mod hops;
    mod live;
    mod order;
    mod outages;
    mod planted;
    mod reads;
    mod searched;
    mod services;
    mod shipped;
    mod stack;
    mod stand;
    mod stops;
    mod timeouts;
    mod values;
    mod watching;
    mod ways;
}
