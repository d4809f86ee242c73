//! Threads and database pools of a service
//!
//! Reads the page that this project's services serve at `GET /stats`, see `services/README.md`. Other services may
//! provide it too: an object of pools, each of which is an object of integers. `threads` are the threads that handle
//! requests.

use super::{Probe, ProbeRequest, ProbeResponse, ProbeTarget, ReadError, Reading, SECOND, counter, gauge};
use model::{Series, Unit};
use serde_json::Value;

pub(super) static PROBE: Probe = Probe {
    name: "service_stats",
    target: ProbeTarget::Service,
    period: SECOND,
    series: &SERIES,
    request: |_| Some(ProbeRequest::Page),
    read,
};

/// Series of the probe. Labels are the names of the pools.
static SERIES: [Series; 10] = [
    gauge("service_threads_size", Unit::Count, "Threads that serve requests; `threads.size`"),
    gauge(
        "service_threads_busy",
        Unit::Count,
        "Requests in progress; `threads.busy`, or `working` if the number of threads is unlimited",
    ),
    gauge("service_threads_waiting", Unit::Count, "Requests that wait for a thread; `threads.waiting`"),
    gauge("service_pool_size", Unit::Count, "Maximum number of connections in the pool; `size`"),
    gauge("service_pool_busy", Unit::Count, "Connections in use; `busy`"),
    gauge("service_pool_idle", Unit::Count, "Idle connections; `idle`"),
    gauge("service_pool_waiting", Unit::Count, "Requests that wait for a connection; `waiting`"),
    gauge("service_pool_opening", Unit::Count, "Connections being opened; `opening`"),
    counter(
        "service_pool_waited_total",
        Unit::Count,
        "Requests that waited for a connection; `waited_total`",
    ),
    counter(
        "service_pool_gave_up_total",
        Unit::Count,
        "Requests that gave up waiting for a connection; `gave_up_total`",
    ),
];

fn read(answer: &ProbeResponse, out: &mut Vec<Reading>) -> Result<(), ReadError> {
    let nothing = ReadError { line: 0, expected: "object of pools" };
    let page: Value = serde_json::from_str(answer.text(0)?).map_err(|_| nothing)?;
    let before = out.len();
    let mut found = |prefix: &str, key: &str, label: &str, value: &Value| {
        let is_its = |it: &&Series| it.name.strip_prefix(prefix) == Some(key);
        if let Some((series, value)) = SERIES.iter().find(is_its).zip(value.as_f64()) {
            out.push(Reading { series, label: label.to_owned(), value });
        }
    };
    for (name, value) in page.as_object().ok_or(nothing)? {
        match (name.as_str(), value) {
            ("working", value) => found("service_threads_", "busy", "", value),
            ("threads", Value::Object(them)) => {
                them.iter().for_each(|(key, value)| found("service_threads_", key, "", value));
            }
            (_, Value::Object(them)) => {
                them.iter().for_each(|(key, value)| found("service_pool_", key, name, value));
            }
            _ => {}
        }
    }
    if out.len() == before { Err(nothing) } else { Ok(()) }
}
