//! Does `pgdyno serve` show runs to whoever may see them, and only to those, whatever is sent to it?
//!
//! A real server, spoken to through bare sockets; the runs are copies of one that was measured.

mod serve {
    mod access;
    mod client;
    mod growing_run;
    mod list;
    mod slow;
    mod token;
}
