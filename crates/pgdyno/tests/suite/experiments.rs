//! Runs of experiment files on real systems, including interruptions and failures
//!
//! Each test runs the program as a user does, in a folder of its own, and reads its output and its run file. `./x test`
//! installs missing PostgreSQL, PgBouncer and HAProxy, and unpacks Odyssey if possible.

mod adversarial;
mod agents;
mod answers;
mod attach;
mod copied_data;
mod copies;
mod data_cache;
mod defaults;
mod disk;
mod evidence;
mod failovers;
mod faults;
mod feeds;
mod hooks;
mod hops;
mod http_recording;
mod http_server;
mod interruptions;
mod kept_data;
mod known;
mod lifted_limits;
mod live;
mod on_start;
mod order;
mod outages;
mod planted;
mod postgres_servers;
mod preflight;
mod reads;
mod recorded;
mod remote_hosts;
mod replay;
mod resume;
mod search;
mod server_counters;
mod server_logs;
pub mod service_programs;
mod services;
mod shared_hosts;
mod shipped;
mod skeletons;
mod slack;
mod stack;
mod stages;
mod states;
mod steps;
mod stops;
mod timeouts;
mod transports;
mod values;
mod watching;
mod web_tier;
mod webhook;
mod workspace;
