//! Experiment file of a skeleton

use super::left_out::percent;
use super::{Parameter, Skeleton, SkeletonOperation};
use crate::distil::{WEIGHT_MAX, significant, write_notes, write_stack};
use crate::yaml::{self, push_text};
use model::{FILL_IN, Nanos};
use std::fmt::Write;

/// Rows of a feed.
const ROWS: u32 = 10_000;
/// Transactions in flight of the open model.
const IN_FLIGHT: u64 = 50;
/// Types whose values `\set` can compute.
const NUMERIC: [&str; 7] = ["bigint", "double precision", "integer", "numeric", "oid", "real", "smallint"];

/// Source of the values of an operation's parameters.
pub(super) struct ValuePlan<'a> {
    /// Table from which the sampled values come; several values come from the same row.
    table: Option<&'a str>,
    /// Parameters with the sampled column.
    sampled: Vec<(&'a Parameter, &'a str)>,
    /// Parameters whose values are to be filled in as columns of the feed.
    columns: Vec<&'a Parameter>,
    /// Parameters whose values are to be filled in as `\set`.
    sets: Vec<&'a Parameter>,
}

impl<'a> ValuePlan<'a> {
    pub fn new(operation: &'a SkeletonOperation) -> ValuePlan<'a> {
        let table = operation.parameters.iter().find_map(|it| it.comparison.as_ref()?.table());
        let mut plan = ValuePlan { table, sampled: Vec::new(), columns: Vec::new(), sets: Vec::new() };
        for parameter in &operation.parameters {
            let comparison =
                parameter.comparison.as_ref().filter(|it| table.is_some() && it.table() == table);
            let column = comparison.map(|it| it.column.as_str());
            let is_numeric = |kind: &str| NUMERIC.contains(&kind);
            match column.filter(|column| !plan.sampled.iter().any(|sampled| sampled.1 == *column)) {
                Some(column) => plan.sampled.push((parameter, column)),
                None if parameter.kind.as_deref().is_none_or(is_numeric) => plan.sets.push(parameter),
                None => plan.columns.push(parameter),
            }
        }
        plan
    }

    /// Number of values that have to be filled in.
    pub fn fill_ins(&self) -> usize {
        self.columns.len() + self.sets.len()
    }

    fn has_feed(&self) -> bool {
        !self.sampled.is_empty() || !self.columns.is_empty()
    }

    /// Query of the feed.
    fn query(&self) -> String {
        let sampled = self.sampled.iter().map(|(parameter, column)| match parameter.variable == *column {
            true => parameter.variable.clone(),
            false => format!("{column} AS {}", parameter.variable),
        });
        let filled = self.columns.iter().map(|parameter| {
            let kind = parameter.kind.as_deref().unwrap_or("text");
            format!("{FILL_IN}::{kind} AS {}", parameter.variable)
        });
        let list = sampled.chain(filled).collect::<Vec<_>>().join(", ");
        let Some(table) = self.table else {
            return format!("SELECT {list}\nFROM generate_series(1, {ROWS})\n");
        };
        let conditions: Vec<String> = self.sampled.iter().map(|it| format!("{} IS NOT NULL", it.1)).collect();
        let conditions = conditions.join(" AND ");
        format!("SELECT {list}\nFROM {table}\nWHERE {conditions}\nORDER BY random() LIMIT {ROWS}\n")
    }
}

pub(super) fn experiment(skeleton: &Skeleton, name: &str, notes: &[String]) -> String {
    let mut out = String::new();
    write(skeleton, name, notes, &mut out).expect("writing to a string cannot fail");
    out
}

fn write(skeleton: &Skeleton, name: &str, notes: &[String], out: &mut String) -> std::fmt::Result {
    write_notes(notes, out)?;
    writeln!(out, "name: {}\nseed: 1\n", yaml::name(name))?;
    write_stack(IN_FLIGHT, out)?;
    write_feeds(skeleton, out)?;
    write_operations(skeleton, out)?;
    write_load(skeleton, out)
}

fn write_feeds(skeleton: &Skeleton, out: &mut String) -> std::fmt::Result {
    let plans = skeleton.operations.iter().map(|it| (it, ValuePlan::new(it)));
    let plans: Vec<_> = plans.filter(|it| it.1.has_feed()).collect();
    if plans.is_empty() {
        return Ok(());
    }
    out.push_str(
        "# Values of parameters. Rows of tables are drawn uniformly; how often your application uses each of them is not\n\
         # known. Sorting by random() reads the whole table; for a large table, select by a range of keys instead.\n\
         feeds:\n",
    );
    for (operation, plan) in plans {
        let sampled = plan.sampled.iter().map(|it| it.0);
        let columns: Vec<String> =
            sampled.chain(plan.columns.iter().copied()).map(|it| yaml::name(&it.variable)).collect();
        writeln!(out, "  {}:\n    columns: [{}]", yaml::name(&operation.name), columns.join(", "))?;
        out.push_str("    sql:");
        push_text(out, &plan.query(), 6);
    }
    out.push('\n');
    Ok(())
}

fn write_operations(skeleton: &Skeleton, out: &mut String) -> std::fmt::Result {
    out.push_str("# Statements by decreasing number of calls, which are the weights. Each is a transaction of its own, because the\n\
         # statistics do not show which statements your application executes in one transaction.\noperations:\n");
    let most = skeleton.operations.first().map_or(1, |it| it.calls);
    let divisor = most.div_ceil(WEIGHT_MAX).max(1);
    for operation in &skeleton.operations {
        let plan = ValuePlan::new(operation);
        writeln!(
            out,
            "  # {} % of the calls, {} % of the time; mean {} ms",
            percent(operation.calls as f64, skeleton.calls as f64),
            percent(operation.time.0 as f64, skeleton.time.0 as f64),
            mean_ms(operation.time, operation.calls)
        )?;
        for parameter in &operation.parameters {
            writeln!(out, "  # {}", description(parameter))?;
        }
        if let Some(error) = &operation.error {
            let error = error.replace(char::is_control, " ");
            writeln!(out, "  # The server cannot prepare this statement: {error}")?;
        }
        if operation.has_short_list {
            out.push_str("  # The server shows only the first element of a list: write the others.\n");
        }
        writeln!(out, "  {}:", yaml::name(&operation.name))?;
        writeln!(out, "    weight: {}", (operation.calls / divisor).max(1))?;
        if plan.has_feed() {
            writeln!(out, "    feed: {}", yaml::name(&operation.name))?;
        }
        let sets: String = plan.sets.iter().map(|it| format!("\\set {} {FILL_IN}\n", it.variable)).collect();
        out.push_str("    sql:");
        push_text(out, &(sets + &operation.script), 6);
    }
    out.push('\n');
    Ok(())
}

/// Description of a parameter: its number, its type and its column.
fn description(parameter: &Parameter) -> String {
    let Parameter { number, variable, kind, comparison } = parameter;
    let mut out = format!(":{variable} is ${number}, {}", kind.as_deref().unwrap_or("type unknown"));
    if let Some(comparison) = comparison {
        let tables = comparison.tables.join(" or ");
        out += &format!("; compared with {} of {tables}", comparison.column);
    }
    out.replace(char::is_control, " ")
}

/// Mean time of a call in milliseconds, with three significant digits.
fn mean_ms(time: Nanos, calls: u64) -> String {
    significant(time.0 as f64 / 1e6 / calls.max(1) as f64)
}

/// Calls of the operations per second, and the number of seconds; `None` if the period is not known.
pub(super) fn rate(skeleton: &Skeleton) -> Option<(f64, f64)> {
    let seconds = skeleton.period.map(Nanos::as_secs_f64).filter(|it| *it > 0.0)?;
    Some((skeleton.covered_calls() as f64 / seconds, seconds))
}

fn write_load(skeleton: &Skeleton, out: &mut String) -> std::fmt::Result {
    let calls = skeleton.covered_calls();
    let open = |rate: &str| {
        format!(
            "load:\n  model: open\n  schedule: const({rate}, 60s)\n  arrivals: poisson\n  max_in_flight: {IN_FLIGHT}\n  \
             query_mode: extended\n"
        )
    };
    let Some((rate, seconds)) = rate(skeleton) else {
        return write!(
            out,
            "# The statistics contain {calls} calls of these statements; since when is not known. Write the number of calls\n\
             # per second.\n{}",
            open(FILL_IN)
        );
    };
    let rate = significant(rate);
    write!(
        out,
        "# The statistics contain {calls} calls of these statements in {} since their last reset: {rate} calls per second on\n\
         # average. The peaks are higher.\n{}\
         \n# Instead: search for the maximum of this mix.\n\
         # load: {{ model: open, arrivals: poisson, max_in_flight: {IN_FLIGHT}, query_mode: extended }}\n\
         # objectives: [ \"p99 < 200ms\", \"errors < 1%\" ]\n\
         # find: {{ max: {{ from: {rate} }} }}\n",
        period(seconds),
        open(&rate)
    )
}

/// A period in its largest unit, such as `3.5 days`.
fn period(seconds: f64) -> String {
    let (value, unit) = match seconds {
        it if it >= 172_800.0 => (it / 86_400.0, "days"),
        it if it >= 7_200.0 => (it / 3_600.0, "hours"),
        it if it >= 120.0 => (it / 60.0, "minutes"),
        it => (it, "seconds"),
    };
    format!("{value:.1} {unit}")
}
