//! Threads and database pools of a service
//!
//! Reads the page that this project's services serve at `GET /stats`, see `services/README.md`. Other services may
//! provide it too: an object of pools, each of which is an object of integers. `threads` are the threads that handle
//! requests.

use super::normalised::*;
use super::{Probe, ProbeRequest, ProbeResponse, ProbeTarget, ReadError, Reading, SECOND, gauge};
use model::plan::StatsForm;
use model::{Series, Unit};
use serde_json::Value;

pub(super) static PROBE: Probe = Probe {
    name: "service_stats",
    target: ProbeTarget::Page(StatsForm::Pgdyno),
    period: SECOND,
    series: &SERIES,
    request: |_| Some(ProbeRequest::Page),
    read,
};

/// Series of the probe. Labels are the names of the pools. The keys of the page are the ends of the names, such as
/// `waiting`.
static SERIES: [Series; 10] = [
    SERVICE_THREADS_SIZE,
    SERVICE_THREADS_BUSY,
    SERVICE_THREADS_WAITING,
    SERVICE_POOL_SIZE,
    SERVICE_POOL_BUSY,
    SERVICE_POOL_IDLE,
    SERVICE_POOL_WAITING,
    gauge("service_pool_opening", Unit::Count, "Connections being opened"),
    SERVICE_POOL_WAITED,
    SERVICE_POOL_GAVE_UP,
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
