//! `pgdyno distil --statements`: writes the skeleton of an experiment from pg_stat_statements

use super::write;
use crate::cli::CommandError;
use crate::exit_status::ExitStatus;
use crate::files;
use model::message::Message;
use model::{Nanos, message};
use report::lang::Lang;
use report::say;
use stack::chain::{connect_source, describe_dsn};
use stack::client;
use stack::statement_counts::{StatementCounts, StatementReader};
use std::path::Path;
use traffic::skeleton::{
    Skeleton, SkeletonOperation, StatementCount, StatementStatistics, read_export, select,
};

/// Writes the experiment file `out` from a server, or from an export of the view as CSV.
pub fn run(
    source: &str,
    name: &str,
    out: &Path,
    max_operations: usize,
    lang: &Lang,
) -> Result<ExitStatus, CommandError> {
    let path = Path::new(source);
    let is_file = path.extension().is_some_and(|it| it == "csv") || path.is_file();
    let (shown, statistics, skeleton) =
        if is_file { from_file(path, max_operations) } else { from_server(source, max_operations) }?;
    let left_out = || skeleton.left_out.iter().map(|it| it.message(skeleton.calls, skeleton.time));
    if skeleton.operations.is_empty() {
        return Err(CommandError::new(message!(
            "distil-no-statistics",
            left_out = Message::join(left_out())
        )));
    }
    let mut lines = vec![say!(
        lang,
        "distil-statements-read",
        calls = skeleton.calls,
        coverage = lang.numbers().percent(skeleton.coverage(), 1)
    )];
    if statistics.deallocations > 0 {
        lines.push(say!(lang, "distil-deallocations", count = statistics.deallocations));
    }
    let left_out: Vec<String> = left_out().map(|it| lang.message(&it)).collect();
    let mut notes =
        vec![say!(lang, "distil-statements-note", source = shown, version = env!("CARGO_PKG_VERSION"))];
    notes.extend(lines.iter().chain(&left_out).cloned());
    write(vec![(String::new(), skeleton.experiment(name, &notes))], out)?;
    lines.iter().for_each(|line| outln!("{line}"));
    skeleton.operations.iter().for_each(|it| outln!("  {}", operation_line(&skeleton, it, lang)));
    left_out.iter().for_each(|line| outln!("  {line}"));
    let path = out.display().to_string();
    outln!("{}", say!(lang, "distil-skeleton-written", path, fill_ins = skeleton.fill_ins()));
    Ok(ExitStatus::Success)
}

type Read = (String, StatementStatistics, Skeleton);

fn from_file(path: &Path, max_operations: usize) -> Result<Read, CommandError> {
    let shown = path.display().to_string();
    let bytes = files::read(path).map_err(|error| CommandError::new(Message::of_file(path, &error)))?;
    let statistics = read_export(&bytes).map_err(|error| failed(&shown, Message::from(&error)))?;
    let skeleton = select(&statistics, max_operations);
    Ok((shown, statistics, skeleton))
}

fn from_server(dsn: &str, max_operations: usize) -> Result<Read, CommandError> {
    let shown = describe_dsn(dsn).map_err(|error| CommandError::usage(Message::from(&error)))?.address;
    let target = connect_source(dsn).map_err(|reason| failed(&shown, reason))?;
    let of_server = |error: client::Error| failed(&shown, Message::from(&error));
    let mut reader = StatementReader::open(&target).map_err(of_server)?;
    let counts = reader.counts().map_err(of_server)?;
    let counts = counts.ok_or_else(|| failed(&shown, message!("distil-no-extension")))?;
    let statistics = statistics(counts);
    let mut skeleton = select(&statistics, max_operations);
    skeleton.operations.iter_mut().try_for_each(|it| describe(it, &mut reader)).map_err(of_server)?;
    Ok((shown, statistics, skeleton))
}

fn failed(source: &str, reason: Message) -> CommandError {
    CommandError::new(message!("distil-statements", source, reason))
}

fn statistics(counts: StatementCounts) -> StatementStatistics {
    let statements = counts.rows.into_iter().map(|row| StatementCount {
        text: row.text,
        calls: row.calls,
        time: Nanos((row.time_ms * 1e6) as u64),
        is_nested: row.is_nested,
    });
    StatementStatistics {
        statements: statements.collect(),
        period: counts.seconds.map(|it| Nanos((it * 1e9) as u64)),
        deallocations: counts.deallocations,
    }
}

/// Adds what the server knows about an operation: the types of its parameters, and the tables of its columns.
fn describe(operation: &mut SkeletonOperation, reader: &mut StatementReader) -> Result<(), client::Error> {
    match reader.parameter_types(&operation.statement)? {
        Ok(types) => {
            for parameter in &mut operation.parameters {
                parameter.kind = types.get(parameter.number - 1).cloned();
            }
        }
        Err(reason) => operation.error = Some(reason),
    }
    for parameter in &mut operation.parameters {
        let Some(comparison) = &mut parameter.comparison else { continue };
        let mut tables = Vec::new();
        for table in std::mem::take(&mut comparison.tables) {
            if reader.has_column(&table, &comparison.column)? {
                tables.push(table);
            }
        }
        comparison.tables = tables;
        if comparison.tables.is_empty() {
            parameter.comparison = None;
        }
    }
    Ok(())
}

fn operation_line(skeleton: &Skeleton, operation: &SkeletonOperation, lang: &Lang) -> String {
    let share = |part: u64, all: u64| lang.numbers().percent(part as f64 / all.max(1) as f64, 1);
    let calls = share(operation.calls, skeleton.calls);
    let time = share(operation.time.0, skeleton.time.0);
    say!(lang, "distil-statements-operation", name = &operation.name, calls, time)
}
