//! Target for log lines and probe texts: they are read without a crash, and values in them are masked.

use stack::component::haproxy::read_csv;
use stack::component::{self, find_probe};
use stack::log_parser::{LogReader, mask_values};
use stack::probe::{ProbeResponse, ReadError};

pub fn run(data: &[u8]) {
    let text = crate::text(data);
    for format in component::ALL.iter().map(|it| it.log_format()) {
        let mut reader = LogReader::new(format);
        for remark in text.lines().filter_map(|it| reader.line(it)) {
            assert!(remark.text.chars().count() <= 301 && !remark.text.chars().any(char::is_control));
        }
    }
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
