//! Series with the same name and meaning for every pooler, balancer or form of a service's page

use super::{counter, gauge};
use model::{Series, Unit, series};

pub(crate) const POOL_SIZE: Series =
    gauge(series::POOL_SIZE, Unit::Count, "Maximum number of server connections of a pool");

pub(crate) const POOL_CLIENTS_ACTIVE: Series = gauge(
    series::POOL_CLIENTS_ACTIVE,
    Unit::Count,
    "Clients that do not wait for a server connection; some consoles omit idle clients",
);

pub(crate) const POOL_CLIENTS_WAITING: Series = gauge(
    series::POOL_CLIENTS_WAITING,
    Unit::Count,
    "Clients that have sent a request and wait for a server connection",
);

pub(crate) const POOL_LONGEST_WAIT: Series =
    gauge(series::POOL_LONGEST_WAIT, Unit::Seconds, "Longest current wait for a server connection");

pub(crate) const POOL_SERVERS_ACTIVE: Series =
    gauge(series::POOL_SERVERS_ACTIVE, Unit::Count, "Server connections assigned to a client");

pub(crate) const POOL_SERVERS_IDLE: Series =
    gauge(series::POOL_SERVERS_IDLE, Unit::Count, "Free server connections");

pub(crate) const POOL_TRANSACTIONS: Series =
    counter(series::POOL_TRANSACTIONS, Unit::Count, "Completed transactions");

pub(crate) const POOL_TRANSACTION_TIME: Series = counter(
    series::POOL_TRANSACTION_TIME,
    Unit::Seconds,
    "Time spent in transactions, including idle time within them",
);

pub(crate) const POOL_WAIT_TIME: Series =
    counter(series::POOL_WAIT_TIME, Unit::Seconds, "Time that clients waited for a server connection");

pub(crate) const POOL_ASSIGNMENTS: Series =
    counter(series::POOL_ASSIGNMENTS, Unit::Count, "Assignments of a server connection to a client");

pub(crate) const POOL_RESERVE: Series =
    gauge(series::POOL_RESERVE, Unit::Count, "Additional server connections for clients that wait long");

pub(crate) const POOL_CONNECTIONS: Series =
    gauge(series::POOL_CONNECTIONS, Unit::Count, "Server connections of all pools of a database");

pub(crate) const POOL_PAUSED: Series =
    gauge(series::POOL_PAUSED, Unit::Count, "1 while the database is paused");

pub(crate) const BALANCER_UP: Series = gauge(
    series::BALANCER_UP,
    Unit::Count,
    "1 while the server accepts sessions, 0 while it is down or in maintenance",
);

pub(crate) const BALANCER_CONNECTION_ERRORS: Series =
    counter(series::BALANCER_CONNECTION_ERRORS, Unit::Count, "Failed connections to servers");

pub(crate) const BALANCER_RESPONSE_ERRORS: Series =
    counter(series::BALANCER_RESPONSE_ERRORS, Unit::Count, "Invalid or broken responses of servers");

pub(crate) const BALANCER_RETRIES: Series =
    counter(series::BALANCER_RETRIES, Unit::Count, "Repeated connections to servers");

pub(crate) const BALANCER_SESSIONS: Series = gauge(series::BALANCER_SESSIONS, Unit::Count, "Open sessions");

pub(crate) const BALANCER_SESSIONS_BEGUN: Series =
    counter(series::BALANCER_SESSIONS_BEGUN, Unit::Count, "Sessions since the balancer started");

pub(crate) const BALANCER_QUEUE: Series =
    gauge(series::BALANCER_QUEUE, Unit::Count, "Connections that wait for a server");

pub(crate) const BALANCER_QUEUE_TIME: Series =
    gauge(series::BALANCER_QUEUE_TIME, Unit::Seconds, "Mean queue time of the last connections");

pub(crate) const SERVICE_THREADS_SIZE: Series =
    gauge(series::SERVICE_THREADS_SIZE, Unit::Count, "Threads or processes that serve requests, by pool");

pub(crate) const SERVICE_THREADS_BUSY: Series = gauge(
    series::SERVICE_THREADS_BUSY,
    Unit::Count,
    "Threads or processes that serve a request, by pool; requests in progress if their number is unlimited",
);

pub(crate) const SERVICE_THREADS_IDLE: Series =
    gauge("service_threads_idle", Unit::Count, "Threads or processes without a request, by pool");

pub(crate) const SERVICE_THREADS_WAITING: Series = gauge(
    series::SERVICE_THREADS_WAITING,
    Unit::Count,
    "Requests that wait for a thread or process, by pool",
);

pub(crate) const SERVICE_POOL_SIZE: Series =
    gauge(series::SERVICE_POOL_SIZE, Unit::Count, "Maximum number of connections in the pool");

pub(crate) const SERVICE_POOL_BUSY: Series =
    gauge(series::SERVICE_POOL_BUSY, Unit::Count, "Connections in use");

pub(crate) const SERVICE_POOL_IDLE: Series = gauge("service_pool_idle", Unit::Count, "Idle connections");

pub(crate) const SERVICE_POOL_WAITING: Series =
    gauge(series::SERVICE_POOL_WAITING, Unit::Count, "Requests that wait for a connection");

pub(crate) const SERVICE_POOL_WAITED: Series =
    counter(series::SERVICE_POOL_WAITED, Unit::Count, "Requests that waited for a connection");

pub(crate) const SERVICE_POOL_GAVE_UP: Series =
    counter("service_pool_gave_up_total", Unit::Count, "Requests that gave up waiting for a connection");

pub(crate) const SERVICE_CONNECTIONS_ACCEPTED: Series =
    counter("service_connections_accepted", Unit::Count, "Accepted client connections");
