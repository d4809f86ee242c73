//! Target for log lines and probe texts: they are read without a crash, and values in them are masked.

use model::Nanos;
use stack::component::haproxy::read_csv;
use stack::component::{self, find_probe};
use stack::log_parser::{LogFormat, LogReader, mask_values};
use stack::probe::{ProbeResponse, ReadError};

/// Reads the text as the log, as the details of a deadlock, and as the statement of one of its processes, whose value is
/// never shown.
fn check_deadlock(text: &str) {
    let error = "2026-11-21 11:00:00.001 UTC [7] 40P01 ERROR:  deadlock detected\n";
    let detail = "2026-11-21 11:00:00.001 UTC [7] 40P01 DETAIL:  ";
    let wait = |pid, other| {
        format!("Process {pid} waits for ShareLock on transaction 1; blocked by process {other}.\n\t")
    };
    let statement = text.replace('\n', "\n\t");
    let value = format!("Process 7: select 'pgdynosecret', {statement}\n\tProcess 8: select 1");
    for log in [
        text.to_owned(),
        format!("{error}{text}"),
        format!("{error}{detail}{statement}"),
        format!("{error}{detail}{}{}{statement}", wait(7, 8), wait(8, 7)),
        format!("{error}{detail}{}{}{value}", wait(7, 8), wait(8, 7)),
    ] {
        let mut reader = LogReader::new(LogFormat::Postgres);
        log.lines().for_each(|it| drop(reader.line(it)));
        reader.finish();
        for group in reader.take_deadlocks().iter().map(|it| it.group("postgres", Nanos(1))) {
            let shown = [&group.statements[..], &group.locks, &group.relations].concat();
            assert!(shown.iter().all(|it| !it.contains(['\n', '\t'])), "{group:?}");
            assert!(text.contains("pgdynosecret") || !shown.concat().contains("pgdynosecret"), "{group:?}");
        }
    }
}

pub fn run(data: &[u8]) {
    let text = crate::text(data);
    for format in component::ALL.iter().map(|it| it.log_format()) {
        let mut reader = LogReader::new(format);
        for remark in text.lines().filter_map(|it| reader.line(it)) {
            assert!(remark.text.chars().count() <= 301 && !remark.text.chars().any(char::is_control));
        }
    }
    check_deadlock(text);
    // A quoted value before the fuzzed text is always recognisable as a value.
    let hidden = mask_values(&format!("select 'pgdynosecret', {text}"));
    assert!(text.contains("pgdynosecret") || !hidden.contains("pgdynosecret"), "{hidden}");
    match read_csv(text) {
        Ok(table) => assert!(table.rows.iter().all(|row| row.iter().flatten().all(|it| !it.is_empty()))),
        Err(ReadError { line, expected }) => assert!(line == 1 && !expected.is_empty()),
    }
    for name in
        ["haproxy_stat", "haproxy_info", "host_cpu", "host_load", "host_memory", "host_disk", "host_pressure"]
            .into_iter()
            .chain(["process", "thread"])
    {
        let probe = find_probe(name).expect("the probe exists");
        let mut readings = Vec::new();
        if (probe.read)(&ProbeResponse::Texts(vec![text.to_owned(); 3]), &mut readings).is_ok() {
            assert!(readings.iter().all(|it| it.value.is_finite()));
        }
    }
}
