//! Time and calls per statement, including the statements that a pooler adds
//!
//! The values are read without the statement texts, because the server reads all texts from one file at once. The texts
//! are read separately and less often. The server has replaced constants by `$1`; pgdyno masks any constants that
//! remain.

use super::cells::{self, ColumnMapping};
use super::{Probe, ProbeRequest, ProbeTarget, SECOND, counter};
use crate::log_parser::mask_values;
use model::series::PG_STATEMENT_TEXTS_PROBE;
use model::{Series, Unit};
use std::time::Duration;

pub(super) static STATEMENTS: Probe = Probe {
    name: "pg_statements",
    target: ProbeTarget::Postgres,
    period: SECOND,
    series: &OF_STATEMENTS,
    request: |_| Some(ProbeRequest::Sql(STATEMENTS_SQL)),
    read: |answer, out| {
        let labels = &["label"];
        ColumnMapping { labels, ..ColumnMapping::new(&OF_STATEMENTS) }.read(answer.rows()?, out)
    },
};

pub(super) static TEXTS: Probe = Probe {
    name: PG_STATEMENT_TEXTS_PROBE,
    target: ProbeTarget::Postgres,
    period: Duration::from_secs(10),
    series: &OF_TEXTS,
    request: |_| Some(ProbeRequest::Sql(TEXTS_SQL)),
    read: |answer, out| {
        let before = out.len();
        cells::read_long_format(&OF_TEXTS, answer.rows()?, out)?;
        for reading in out[before..].iter_mut().filter(|it| it.series.name == "pg_statement_text") {
            if let Some((id, text)) = reading.label.split_once(' ') {
                reading.label = format!("{id} {}", mask_values(text));
            }
        }
        Ok(())
    },
};

static OF_STATEMENTS: [Series; 5] = [
    counter(
        "pg_statement_calls",
        Unit::Count,
        "Executions by queryid, of the 20 statements with the longest total time; without a label: of all statements; pg_stat_statements.calls",
    ),
    counter(
        "pg_statement_time",
        Unit::Seconds,
        "Total execution time by queryid; pg_stat_statements.total_exec_time",
    ),
    counter("pg_statement_rows", Unit::Count, "Rows by queryid; pg_stat_statements.rows"),
    counter(
        "pg_statement_hit",
        Unit::Count,
        "Blocks found in shared buffers, by queryid; pg_stat_statements.shared_blks_hit",
    ),
    counter(
        "pg_statement_read",
        Unit::Count,
        "Blocks not found in shared buffers, by queryid; pg_stat_statements.shared_blks_read",
    ),
];

static OF_TEXTS: [Series; 2] = [
    counter(
        "pg_statement_text",
        Unit::Count,
        "Executions; the label is the queryid, a space, and the text without constants (for utility commands, the first word)",
    ),
    counter(
        "pg_sets",
        Unit::Count,
        "SET, RESET and DISCARD commands, which poolers send when a server connection changes its client; pg_stat_statements",
    ),
];

const STATEMENTS_SQL: &str = "select coalesce(queryid::text, '') as label, sum(calls) as pg_statement_calls, \
      sum(total_exec_time) / 1000 as pg_statement_time, sum(rows) as pg_statement_rows, \
      sum(shared_blks_hit) as pg_statement_hit, sum(shared_blks_read) as pg_statement_read \
    from pg_stat_statements(false) where queryid is not null \
    group by grouping sets ((queryid), ()) \
    order by grouping(queryid) desc, sum(total_exec_time) desc limit 21";

const TEXTS_SQL: &str = "with statements as materialized (\
      select queryid, ltrim(left(query, 1000), E' \\t\\r\\n') as text, sum(calls) as calls, sum(total_exec_time) as time \
      from pg_stat_statements(true) where queryid is not null group by 1, 2) \
    (select 'pg_statement_text' as series, queryid || ' ' || case when text ~* \
        '^(select|insert|update|delete|merge|with|values)\\y' then text else substring(text from '^[[:alpha:]]*') end as label, \
      calls as value from statements order by time desc limit 20) \
    union all \
    select 'pg_sets', '', coalesce(sum(calls), 0) from statements where text ~* '^(set|reset|discard)\\y'";
