//! Series with the same name and meaning for every pooler or balancer

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

pub(crate) const BALANCER_SESSIONS: Series = gauge(series::BALANCER_SESSIONS, Unit::Count, "Open sessions");

pub(crate) const BALANCER_SESSIONS_BEGUN: Series =
    counter(series::BALANCER_SESSIONS_BEGUN, Unit::Count, "Sessions since the balancer started");

pub(crate) const BALANCER_QUEUE: Series =
    gauge(series::BALANCER_QUEUE, Unit::Count, "Connections that wait for a server");

pub(crate) const BALANCER_QUEUE_TIME: Series =
    gauge(series::BALANCER_QUEUE_TIME, Unit::Seconds, "Mean queue time of the last connections");
