//! Connections of a web server
//!
//! Reads the page of nginx's module `ngx_http_stub_status_module`; nginx.org, "Module ngx_http_stub_status_module".

use super::normalised::SERVICE_CONNECTIONS_ACCEPTED;
use super::{Probe, ProbeRequest, ProbeTarget, ReadError, Reading, SECOND, counter, gauge};
use model::plan::StatsForm;
use model::{Series, Unit};

pub(super) static PROBE: Probe = Probe {
    name: "service_stub_status",
    target: ProbeTarget::Page(StatsForm::StubStatus),
    period: SECOND,
    series: &SERIES,
    request: |_| Some(ProbeRequest::Page),
    read: |answer, out| read(answer.text(0)?, out),
};

static SERIES: [Series; 5] = [
    gauge(
        "service_connections",
        Unit::Count,
        "Client connections by state: `active` is all; `waiting` connections have no request in progress",
    ),
    SERVICE_CONNECTIONS_ACCEPTED,
    counter("service_connections_handled", Unit::Count, "Accepted connections that were not dropped"),
    counter(
        "service_connections_dropped",
        Unit::Count,
        "Accepted connections that were dropped because of a limit",
    ),
    counter("service_requests", Unit::Count, "Client requests"),
];

fn read(text: &str, out: &mut Vec<Reading>) -> Result<(), ReadError> {
    let lines: Vec<&str> = text.lines().collect();
    let line = |at: usize| lines.get(at).copied().unwrap_or_default();
    let error = |line: u32, expected: &'static str| ReadError { line, expected };
    let active = line(0).strip_prefix("Active connections:").and_then(|it| it.trim().parse::<u64>().ok());
    let active = active.ok_or(error(1, "number after `Active connections:`"))?;
    // With the module's time statistics, some builds append a fourth number.
    let titles = line(1).trim().starts_with("server accepts handled requests");
    let numbers: Option<Vec<u64>> = line(2).split_whitespace().map(|it| it.parse().ok()).collect();
    let numbers =
        numbers.filter(|it| titles && it.len() >= 3).ok_or(error(3, "three numbers of connections"))?;
    let words: Vec<&str> = line(3).split_whitespace().collect();
    let state = |name: &str| words.windows(2).find(|it| it[0] == name)?[1].parse::<u64>().ok();
    let mut push = |series, label: &str, value: u64| {
        out.push(Reading { series: &SERIES[series], label: label.to_owned(), value: value as f64 });
    };
    let states = [("reading", "Reading:"), ("writing", "Writing:"), ("waiting", "Waiting:")];
    let known: Option<Vec<(&str, u64)>> = states.iter().map(|it| Some((it.0, state(it.1)?))).collect();
    let known = known.ok_or(error(4, "numbers of reading, writing and waiting connections"))?;
    push(0, "active", active);
    known.into_iter().for_each(|(label, value)| push(0, label, value));
    push(1, "", numbers[0]);
    push(2, "", numbers[1]);
    push(3, "", numbers[0].saturating_sub(numbers[1]));
    push(4, "", numbers[2]);
    Ok(())
}
