//! Processes of a PHP-FPM pool
//!
//! Reads the page of `pm.status_path`, as plain text or JSON; php.net, "FPM status page". A process serves one request at
//! a time, as a thread of other services does.

use super::cells::parse_finite;
use super::normalised::*;
use super::{Probe, ProbeRequest, ProbeTarget, ReadError, Reading, SECOND, counter};
use model::plan::StatsForm;
use model::{Series, Unit};
use serde_json::Value;

pub(super) static PROBE: Probe = Probe {
    name: "service_php_fpm",
    target: ProbeTarget::Page(StatsForm::PhpFpm),
    period: SECOND,
    series: &SERIES,
    request: |_| Some(ProbeRequest::Page),
    read: |answer, out| read(answer.text(0)?, out),
};

/// Series of the probe, by name of the pool.
static SERIES: [Series; 7] = [
    SERVICE_THREADS_SIZE,
    SERVICE_THREADS_BUSY,
    SERVICE_THREADS_IDLE,
    SERVICE_CONNECTIONS_ACCEPTED,
    counter("service_threads_limited", Unit::Count, "Times that the maximum number of processes was reached"),
    counter(
        "service_slow_requests",
        Unit::Count,
        "Requests that exceeded the service's limit for slow requests",
    ),
    SERVICE_THREADS_WAITING,
];

/// Key of each series on the page.
const KEYS: [&str; 7] = [
    "total processes",
    "active processes",
    "idle processes",
    "accepted conn",
    "max children reached",
    "slow requests",
    "listen queue",
];

fn read(text: &str, out: &mut Vec<Reading>) -> Result<(), ReadError> {
    let json = serde_json::from_str::<Value>(text).ok();
    let entry = |key: &str| match &json {
        Some(page) => match page.get(key)? {
            Value::String(text) => Some(text.clone()),
            value => Some(value.to_string()),
        },
        None => {
            let its = |(name, value): (&str, &str)| (name.trim_end() == key).then(|| value.trim().to_owned());
            text.lines().filter_map(|it| it.split_once(':')).find_map(its)
        }
    };
    let number = |key: &str| parse_finite(&entry(key)?);
    let pool = entry("pool").ok_or(ReadError { line: 0, expected: "pool" })?;
    for key in &KEYS[..3] {
        number(key).ok_or(ReadError { line: 0, expected: key })?;
    }
    for (series, key) in SERIES.iter().zip(KEYS) {
        // The kernel does not report the queue of a Unix socket. PHP-FPM then reports a queue with the length 0.
        let is_unknown = key == "listen queue" && number("listen queue len").is_none_or(|it| it <= 0.0);
        let value = number(key).filter(|_| !is_unknown);
        out.extend(value.map(|value| Reading { series, label: pool.clone(), value }));
    }
    Ok(())
}
