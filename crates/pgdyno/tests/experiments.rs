//! Does `pgdyno run` do what an experiment file says, on real systems, and end well whatever happens?
//!
//! Each test runs the program as a user does, in a folder of its own, and reads what it printed and stored. `./x test`
//! installs PostgreSQL, PgBouncer and HAProxy where they are missing, and unpacks Odyssey where that is possible.

mod experiments {
    mod attach;
    mod disk;
    mod failovers;
    mod faults;
    mod hops;
    mod interruptions;
    mod live;
    mod order;
    mod outages;
    mod planted;
    mod reads;
    mod remote_hosts;
    mod search;
    mod services;
    mod shipped;
    mod stack;
    mod stops;
    mod timeouts;
    mod transports;
    mod values;
    mod watching;
    mod workspace;
}
