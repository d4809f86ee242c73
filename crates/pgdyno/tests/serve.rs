//! Responses and access control of `pgdyno serve`; a program of its own, because it raises its limit on open files
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
