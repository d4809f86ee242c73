//! Reads and parses HAProxy's statistics

use crate::client;
use crate::component::AskStatistics;
use crate::probe::cells::{ColumnMapping, parse_finite};
use crate::probe::{
    Probe, ProbeRequest, ProbeTarget, ReadError, Reading, SECOND, counter, gauge, normalised,
};
use crate::supervisor::Readiness;
use model::message;
use model::{Series, Unit, product, series};

pub(super) static PROBES: [&Probe; 2] = [&STAT, &INFO];

static STAT: Probe = Probe {
    name: "haproxy_stat",
    target: ProbeTarget::Product(&product::HAPROXY),
    period: SECOND,
    series: &STAT_SERIES,
    request: |_| Some(ProbeRequest::Stats("show stat")),
    read: |answer, out| parse_stat(answer.text(0)?, out),
};

static INFO: Probe = Probe {
    name: "haproxy_info",
    target: ProbeTarget::Product(&product::HAPROXY),
    period: SECOND,
    series: &INFO_SERIES,
    request: |_| Some(ProbeRequest::Stats("show info")),
    read: |answer, out| parse_info(answer.text(0)?, out),
};

/// Series of the columns. The labels are proxy and server; the server is `FRONTEND` or `BACKEND` for sums. Source:
/// HAProxy management.txt, "9.1. CSV format".
static STAT_SERIES: [Series; 17] = [
    // Column qcur.
    normalised::BALANCER_QUEUE,
    // Column qtime: average over the last 1,024 connections.
    normalised::BALANCER_QUEUE_TIME,
    gauge(
        "haproxy_ctime",
        Unit::Seconds,
        "Mean connection time of the last connections to the server; show stat, ctime",
    ),
    // Column scur.
    normalised::BALANCER_SESSIONS,
    gauge("haproxy_slim", Unit::Count, "Maximum number of sessions; show stat, slim"),
    // Column stot.
    normalised::BALANCER_SESSIONS_BEGUN,
    counter("haproxy_bin", Unit::Bytes, "Bytes from clients; show stat, bin"),
    counter("haproxy_bout", Unit::Bytes, "Bytes to clients; show stat, bout"),
    counter("haproxy_dcon", Unit::Count, "Connections denied by a rule; show stat, dcon"),
    counter("haproxy_ereq", Unit::Count, "Client errors; show stat, ereq"),
    // Columns econ, eresp and wretr.
    normalised::BALANCER_CONNECTION_ERRORS,
    normalised::BALANCER_RESPONSE_ERRORS,
    normalised::BALANCER_RETRIES,
    counter("haproxy_wredis", Unit::Count, "Sessions redispatched to another server; show stat, wredis"),
    counter("haproxy_chkdown", Unit::Count, "Transitions from up to down; show stat, chkdown"),
    counter("haproxy_downtime", Unit::Seconds, "Total time down; show stat, downtime"),
    // From the column status.
    normalised::BALANCER_UP,
];

static INFO_SERIES: [Series; 5] = [
    gauge("haproxy_CurrConns", Unit::Count, "Open client connections; show info"),
    gauge("haproxy_Maxconn", Unit::Count, "Maximum number of client connections; show info"),
    counter("haproxy_CumConns", Unit::Count, "Client connections since HAProxy started; show info"),
    gauge("haproxy_Idle_pct", Unit::Share, "Idle share of HAProxy's threads in the last second; show info"),
    gauge("haproxy_Run_queue", Unit::Count, "Tasks ready to run; show info"),
];

fn parse_stat(text: &str, out: &mut Vec<Reading>) -> Result<(), ReadError> {
    let mut answer = read_csv(text)?;
    // Adds a numeric column for the status: `UP`, `UP 1/3`, `OPEN`, `DOWN`, `MAINT`, `DRAIN`, `NOLB`, `no check`.
    if let Some(at) = answer.columns.iter().position(|it| it == "status") {
        answer.columns.push("up".to_owned());
        for row in &mut answer.rows {
            let status = row.get(at).cloned().flatten();
            let is_down = |it: &String| it.starts_with("DOWN") || it.starts_with("MAINT");
            row.push(status.map(|it| if is_down(&it) { "0" } else { "1" }.to_owned()));
        }
    }
    let scale = |column: &str| if ["qtime", "ctime"].contains(&column) { 1e-3 } else { 1.0 };
    let labels = &["pxname", "svname"];
    let columns = &[
        ("scur", series::BALANCER_SESSIONS),
        ("stot", series::BALANCER_SESSIONS_BEGUN),
        ("qcur", series::BALANCER_QUEUE),
        ("qtime", series::BALANCER_QUEUE_TIME),
        ("up", series::BALANCER_UP),
        ("econ", series::BALANCER_CONNECTION_ERRORS),
        ("eresp", series::BALANCER_RESPONSE_ERRORS),
        ("wretr", series::BALANCER_RETRIES),
    ];
    let table = ColumnMapping { series: &STAT_SERIES, prefix: "haproxy_", labels, columns, scale, skip: &[] };
    table.read(&answer, out)
}

fn parse_info(text: &str, out: &mut Vec<Reading>) -> Result<(), ReadError> {
    let before = out.len();
    for (key, value) in text.lines().filter_map(|it| it.split_once(": ")) {
        let series = INFO_SERIES.iter().find(|it| it.name.strip_prefix("haproxy_") == Some(key));
        if let Some((series, value)) = series.zip(parse_finite(value)) {
            let value = if series.unit == Unit::Share { value / 100.0 } else { value };
            out.push(Reading { series, label: String::new(), value });
        }
    }
    if out.len() == before { Err(ReadError { line: 0, expected: "known line" }) } else { Ok(()) }
}

/// Parses HAProxy's CSV: names follow `# ` on the first line, cells follow RFC 4180, an empty cell is NULL.
pub fn read_csv(text: &str) -> Result<client::QueryResult, ReadError> {
    let header =
        text.trim_start().strip_prefix("# ").ok_or(ReadError { line: 1, expected: "header `# `" })?;
    let mut rows = parse_csv_records(header).into_iter();
    let columns = rows.next().unwrap_or_default();
    let rows = rows
        // Skip the empty line at the end of the output.
        .filter(|row| row.iter().any(|it| !it.is_empty()))
        .map(|row| row.into_iter().map(|field| Some(field).filter(|it| !it.is_empty())).collect())
        .collect();
    Ok(client::QueryResult { columns, rows, tag: String::new() })
}

/// Parses the cells of all lines. Quotes may enclose commas, line ends and doubled quotes.
fn parse_csv_records(text: &str) -> Vec<Vec<String>> {
    let mut records = vec![vec![String::new()]];
    let mut quoted = false;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let record = records.last_mut().expect("the list begins with one record");
        let cell = record.last_mut().expect("a record has at least one field");
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                cell.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => record.push(String::new()),
            '\n' if !quoted => records.push(vec![String::new()]),
            '\r' if !quoted => {}
            letter => cell.push(letter),
        }
    }
    records
}

/// Reads the version of the running program.
pub(super) fn version(ask: AskStatistics<'_>) -> Readiness<String> {
    let text = match ask("show info") {
        Ok(it) => it,
        Err(it) => return Readiness::NotYet((&it).into()),
    };
    match text.lines().find_map(|it| it.strip_prefix("Version: ")) {
        Some(it) => Readiness::Ready(it.to_owned()),
        None => Readiness::NotYet(message!("haproxy-no-version")),
    }
}

/// Ready if HAProxy has determined which server is the primary. At first HAProxy treats every server as up, even a
/// replica in the list of primaries.
pub(super) fn knows_roles(ask: AskStatistics<'_>) -> Readiness<()> {
    let table = match ask("show stat") {
        Ok(it) => read_csv(&it).unwrap_or_default(),
        Err(it) => return Readiness::NotYet((&it).into()),
    };
    let column = |name: &str| table.columns.iter().position(|it| it == name).unwrap_or(usize::MAX);
    let [proxy, server, status] = ["pxname", "svname", "status"].map(column);
    let has_value = |row: &[Option<String>], at: usize, text: &str| {
        row.get(at).and_then(Option::as_deref).is_some_and(|it| it == text)
    };
    let servers = table
        .rows
        .iter()
        .filter(|it| !has_value(it, server, "BACKEND") && !has_value(it, server, "FRONTEND"));
    let up_count = |name: &str| {
        servers.clone().filter(|it| has_value(it, proxy, name) && has_value(it, status, "UP")).count()
    };
    let all = servers.clone().filter(|it| has_value(it, proxy, "replicas")).count();
    match (up_count("behind"), up_count("replicas")) {
        (1, replicas) if replicas + 1 == all => Readiness::Ready(()),
        (primaries, replicas) => {
            let (primaries, replicas, servers) =
                (primaries.to_string(), replicas.to_string(), all.to_string());
            Readiness::NotYet(message!("haproxy-roles", primaries, replicas, servers))
        }
    }
}
