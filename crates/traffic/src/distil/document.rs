//! Experiment file and feed files

use super::{Distilled, Feed};
use crate::yaml::{self, push_text};
use model::Nanos;
use model::summary::QueryMode;
use std::fmt::Write;

/// Largest weight. Larger numbers of transactions are divided, because only the proportions of weights matter.
pub(crate) const WEIGHT_MAX: u64 = 1_000_000;
/// PostgreSQL's default of `max_connections`, and the number of them that other sessions may need.
const CONNECTIONS: u64 = 100;
const SPARE_CONNECTIONS: u64 = 10;
/// Smallest number of transactions in flight in the open model.
const IN_FLIGHT_MIN: u64 = 20;

/// Experiment file of a distilled traffic. `notes` are the lines at its beginning.
pub(super) fn experiment(distilled: &Distilled, notes: &[String]) -> String {
    let mut out = String::new();
    write(distilled, notes, &mut out).expect("writing to a string cannot fail");
    out
}

fn write(distilled: &Distilled, notes: &[String], out: &mut String) -> std::fmt::Result {
    let Distilled { name, seed, pace, .. } = distilled;
    write_notes(notes, out)?;
    writeln!(out, "name: {}\nseed: {seed}\n", yaml::name(name))?;
    let clients = pace.concurrent_sessions.max(1);
    write_stack(clients, out)?;
    write_feeds(distilled, out)?;
    write_operations(distilled, out)?;
    write_load(distilled, clients, out)
}

pub(crate) fn write_notes(notes: &[String], out: &mut String) -> std::fmt::Result {
    let mut lines = notes.iter().flat_map(|note| note.lines());
    lines.try_for_each(|line| writeln!(out, "# {}", line.replace(char::is_control, " ")))
}

pub(crate) fn write_stack(clients: u64, out: &mut String) -> std::fmt::Result {
    let connections = match clients + SPARE_CONNECTIONS {
        needed if needed > CONNECTIONS => format!(" max_connections: {needed} "),
        _ => String::new(),
    };
    write!(
        out,
        "# pgdyno starts an empty server. Restore a dump of the recorded database into it, or attach a running copy of the\n\
         # recorded system: docs/attached.md\n\
         stack:\n  postgres: {{{connections}}}\n  \
         # postgres: {{ attach: \"host=db user=me dbname=shop\", allow: \"db:5432/shop\" }}\n\
         # dataset: {{ restore: shop.dump }}\n\n"
    )
}

fn write_feeds(distilled: &Distilled, out: &mut String) -> std::fmt::Result {
    let with_feed = || distilled.operations.iter().filter(|operation| operation.feed.is_some());
    if with_feed().next().is_none() {
        return Ok(());
    }
    out.push_str("# Recorded values. Each row has the values of one transaction.\nfeeds:\n");
    for operation in with_feed() {
        writeln!(
            out,
            "  {}: {{ file: {} }}",
            yaml::name(&operation.name),
            yaml::name(&distilled.feed_file(operation))
        )?;
    }
    out.push('\n');
    Ok(())
}

fn write_operations(distilled: &Distilled, out: &mut String) -> std::fmt::Result {
    out.push_str("# Recorded transactions. The weights are their relative frequencies.\noperations:\n");
    let most = distilled.operations.iter().map(|operation| operation.transactions).max().unwrap_or(1);
    let divisor = most.div_ceil(WEIGHT_MAX).max(1);
    for operation in &distilled.operations {
        let weight = (operation.transactions / divisor).max(1);
        writeln!(out, "  {}:\n    weight: {weight}", yaml::name(&operation.name))?;
        if operation.feed.is_some() {
            writeln!(out, "    feed: {}", yaml::name(&operation.name))?;
        }
        out.push_str("    sql:");
        push_text(out, &operation.script, 6);
    }
    out.push('\n');
    Ok(())
}

fn write_load(distilled: &Distilled, clients: u64, out: &mut String) -> std::fmt::Result {
    let pace = &distilled.pace;
    let mode = match distilled.query_mode {
        QueryMode::Simple => "simple",
        QueryMode::Extended => "extended",
        QueryMode::Prepared => "prepared",
    };
    write!(
        out,
        "# As recorded: the largest number of sessions at the same time, and the median pause of a session between two\n\
         # transactions.\n\
         load:\n  model: closed\n  clients: {clients}\n"
    )?;
    match pace.think {
        Some(think) if think > Nanos::ZERO => writeln!(out, "  think: {}", duration(think))?,
        Some(_) => out
            .push_str("  # think: 10ms             # the recorded pauses were shorter than the log shows\n"),
        None => out.push_str("  # think: 10ms             # the log does not show the pauses\n"),
    }
    writeln!(out, "  duration: 60s\n  query_mode: {mode}")?;
    if pace.reconnects {
        writeln!(out, "  # Each recorded session had only about one transaction.\n  reconnect: true")?;
    }
    let Some(rate) = pace.rate else { return Ok(()) };
    let (rate, in_flight) = (significant(rate.0), clients.max(IN_FLIGHT_MIN));
    write!(
        out,
        "\n# Instead: the open model at the recorded rate. Users who arrive do not wait for others.\n\
         # load:\n\
         #   model: open\n\
         #   schedule: const({rate}, 60s)\n\
         #   arrivals: poisson\n\
         #   max_in_flight: {in_flight}\n\
         #   query_mode: {mode}\n{}\
         \n# Instead: search for the maximum of the recorded mix.\n\
         # load: {{ model: open, arrivals: poisson, max_in_flight: {in_flight}, query_mode: {mode}{} }}\n\
         # objectives: [ \"p99 < 200ms\", \"errors < 1%\" ]\n\
         # find: {{ max: {{ from: {rate} }} }}\n",
        if pace.reconnects { "#   reconnect: true\n" } else { "" },
        if pace.reconnects { ", reconnect: true" } else { "" },
    )
}

/// A rate with three significant digits, between the bounds of rates in an experiment file.
pub(crate) fn significant(rate: f64) -> String {
    let rate = rate.clamp(0.001, 1e6);
    let decimals = (2.0 - rate.log10().floor()).max(0.0);
    format!("{rate:.*}", decimals as usize)
}

/// A duration with two or three significant digits, as the experiment file contains it.
fn duration(duration: Nanos) -> String {
    match duration.0 {
        nanos if nanos >= 10_000_000_000 => format!("{}s", nanos / 1_000_000_000),
        nanos if nanos >= 1_000_000 => format!("{}ms", nanos / 1_000_000),
        nanos if nanos >= 1_000 => format!("{}us", nanos / 1_000),
        nanos => format!("{nanos}ns"),
    }
}

/// Feed in the format CSV, with the columns' names in the first line.
pub(super) fn csv(feed: &Feed) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in std::iter::once(&feed.columns).chain(&feed.rows) {
        writer.write_record(row).expect("all rows have the same number of fields");
    }
    let bytes = writer.into_inner().expect("writing to memory cannot fail");
    String::from_utf8(bytes).expect("all fields are text")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_durations() {
        for (nanos, expected) in [
            (12_345_000_000, "12s"),
            (1_500_000_000, "1500ms"),
            (12_345_678, "12ms"),
            (999_999, "999us"),
            (5, "5ns"),
        ] {
            assert_eq!(duration(Nanos(nanos)), expected);
        }
    }

    #[test]
    fn writes_rates() {
        for (rate, expected) in
            [(1234.5, "1234"), (98.76, "98.8"), (0.5, "0.500"), (0.0, "0.00100"), (1e12, "1000000")]
        {
            assert_eq!(significant(rate), expected);
        }
    }

    #[test]
    fn writes_csv() {
        let row = |fields: &[&str]| fields.iter().map(|&field| field.to_owned()).collect::<Vec<_>>();
        let feed = Feed { columns: row(&["a", "b"]), rows: vec![row(&["1", "x\ny"]), row(&["", "it\"s,"])] };
        assert_eq!(csv(&feed), "a,b\n1,\"x\ny\"\n,\"it\"\"s,\"\n");
        let feed = Feed { columns: row(&["a"]), rows: vec![row(&[""])] };
        assert_eq!(csv(&feed), "a\n\"\"\n");
    }
}
