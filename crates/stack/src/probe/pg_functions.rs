//! Time of functions, including trigger functions

use super::cells::ColumnMapping;
use super::{Probe, ProbeRequest, ProbeTarget, SECOND, counter};
use model::{Series, Unit};

pub(super) static PROBE: Probe = Probe {
    name: "pg_functions",
    target: ProbeTarget::Postgres,
    period: SECOND,
    series: &SERIES,
    request: |_| Some(ProbeRequest::Sql(SQL)),
    read: |answer, out| ColumnMapping::new(&SERIES).read(answer.rows()?, out),
};

static SERIES: [Series; 2] = [
    counter(
        "pg_function_calls",
        Unit::Count,
        "Calls of the ten functions with the longest time of their own; requires track_functions; pg_stat_user_functions.calls",
    ),
    counter(
        "pg_function_time",
        Unit::Seconds,
        "Time in these functions and their statements, without the functions that they call; \
         pg_stat_user_functions.self_time",
    ),
];

const SQL: &str = "select schemaname || '.' || funcname as label, sum(calls) as pg_function_calls, \
      sum(self_time) / 1000 as pg_function_time \
    from pg_stat_user_functions group by 1 order by sum(self_time) desc limit 10";
