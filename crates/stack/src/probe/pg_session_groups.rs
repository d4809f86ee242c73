//! Sessions of PostgreSQL by application, user, client address and state
//!
//! The server aggregates, so the answer has one row per group. See `pg_activity` for the number of all sessions by state
//! at short intervals.

use super::cells::parse_finite;
use super::{Probe, ProbeRequest, ProbeTarget, ReadError, Reading, SECOND, gauge};
use crate::client;
use model::{Series, Unit, series};

pub(super) static PROBE: Probe = Probe {
    name: "pg_session_groups",
    target: ProbeTarget::Postgres,
    period: SECOND,
    series: &SERIES,
    request: |_| Some(ProbeRequest::Sql(SQL)),
    read: |answer, out| read(answer.rows()?, out),
};

static SERIES: [Series; 1] = [gauge(
    series::PG_SESSION_GROUPS,
    Unit::Count,
    "Client sessions by state, client address, user and application_name, without those of pgdyno's monitoring; pg_stat_activity",
)];

/// Maximum number of groups. The sessions of further groups have the label [`series::OTHER_SESSIONS`].
const GROUPS_MAX: usize = 50;

/// Query that returns the largest groups first. Sessions on Unix sockets have no client address, but port −1.
const SQL: &str = "select coalesce(state, 'unknown') || '/' || coalesce(host(client_addr), \
      case when client_port = -1 then '[local]' else '' end) || '/' || \
      coalesce(pg_get_userbyid(usesysid)::text, '') || '/' || coalesce(application_name, '') as label, count(*) as count \
    from pg_stat_get_activity(null) \
    where backend_type = 'client backend' and application_name is distinct from 'pgdyno monitor' \
    group by 1 order by 2 desc, 1";

fn read(answer: &client::QueryResult, out: &mut Vec<Reading>) -> Result<(), ReadError> {
    let column = |name: &'static str| {
        answer.columns.iter().position(|it| it == name).ok_or(ReadError { line: 0, expected: name })
    };
    let [label, count] = [column("label")?, column("count")?];
    let reading = |label: &str, value| Reading { series: &SERIES[0], label: label.to_owned(), value };
    let (mut total, mut other) = (0.0, 0.0);
    for (line, row) in answer.rows.iter().enumerate() {
        let cell = |at: usize| row.get(at).and_then(Option::as_deref);
        let expected = |expected| ReadError { line: line as u32 + 1, expected };
        let count = cell(count).and_then(parse_finite).ok_or(expected("count"))?;
        let label = cell(label).filter(|it| it.matches('/').count() >= 3).ok_or(expected("label"))?;
        total += count;
        match line < GROUPS_MAX {
            true => out.push(reading(label, count)),
            false => other += count,
        }
    }
    if other > 0.0 {
        out.push(reading(series::OTHER_SESSIONS, other));
    }
    // The total shows that the probe ran when there was no session.
    out.push(reading("", total));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Readings of groups with these labels and counts.
    fn check(rows: &[(&str, &str)], expected: Result<&[(&str, f64)], &str>) {
        let cell = |text: &str| Some(text.to_owned()).filter(|it| it != "NULL");
        let rows = rows.iter().map(|(label, count)| vec![cell(label), cell(count)]).collect();
        let columns = ["label", "count"].map(str::to_owned).to_vec();
        let answer = client::QueryResult { columns, rows, tag: String::new() };
        let mut out = Vec::new();
        let read = read(&answer, &mut out).map_err(|it| it.expected);
        let shown: Vec<(&str, f64)> = out.iter().map(|it| (it.label.as_str(), it.value)).collect();
        assert_eq!(read.map(|()| &shown[..]), expected);
    }

    #[test]
    fn reads_groups_and_total() {
        let shop = "active/10.0.0.3/app/shop a/b";
        check(
            &[(shop, "3"), ("idle/[local]/app/", "1")],
            Ok(&[(shop, 3.0), ("idle/[local]/app/", 1.0), ("", 4.0)]),
        );
        check(&[], Ok(&[("", 0.0)]));
        check(&[(shop, "NULL")], Err("count"));
        check(&[("active/app", "1")], Err("label"));
        check(&[("NULL", "1")], Err("label"));
    }

    #[test]
    fn sums_small_groups() {
        let labels: Vec<String> = (0..60).map(|it| format!("idle/[local]/app/{it}")).collect();
        let rows: Vec<(&str, &str)> = labels.iter().map(|it| (it.as_str(), "2")).collect();
        let mut expected: Vec<(&str, f64)> = labels[..50].iter().map(|it| (it.as_str(), 2.0)).collect();
        expected.extend([(series::OTHER_SESSIONS, 20.0), ("", 120.0)]);
        check(&rows, Ok(&expected));
    }
}
