//! Responses and access control of `pgdyno serve`
//!
//! A real server receives requests over plain sockets. The runs are copies of a measured one.

mod serve {
    mod access;
    mod client;
    mod growing_run;
    mod list;
    mod slow;
    mod token;
}
