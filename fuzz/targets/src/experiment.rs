//! Target for experiment files: they yield a consistent plan, or diagnostics with positions.

use experiment::{GrammarDiagnostic, Grammars, ReadRequest, ScheduleExtent, UrlTarget, read};
use model::plan::{DumpFile, Transport};
use model::{Nanos, message};
use std::path::Path;

/// Runs one input. Comments `#quick` and `#set path=value` at the beginning of lines represent options.
pub fn run(data: &[u8]) {
    let text = crate::text(data);
    let quick = text.lines().any(|it| it == "#quick");
    let sets: Vec<String> =
        text.lines().filter_map(|it| it.strip_prefix("#set ")).map(str::to_owned).collect();
    let refuse = |text: &str| match text.contains('!') {
        true => Err(vec![GrammarDiagnostic {
            span: text.len() / 2..text.len(),
            message: message!("schedule-empty"),
        }]),
        false => Ok(()),
    };
    let request = ReadRequest {
        path: Path::new("fuzz/book.yaml"),
        text,
        sets: &sets,
        quick,
        grammars: Grammars {
            schedule: &|text| {
                refuse(text).map(|()| ScheduleExtent { duration: Nanos::from_secs(1), max_rate: 1.0 })
            },
            script: &|text, _, _| refuse(text),
            url: &|text| {
                let (address, near) = (text.to_owned(), text.contains('1'));
                let target = text.get(4..).unwrap_or("/").to_owned();
                refuse(text).map(|()| UrlTarget {
                    address,
                    transport: Transport::Tcp,
                    is_local: near,
                    target,
                })
            },
            dsn: &|_| None,
            log_format: &refuse,
            regex: &refuse,
            secret: &refuse,
            settings: &|_, _| Vec::new(),
            rule: &|text, _| refuse(text),
            objective: &|text, _| refuse(text),
        },
        read: &|_| Ok("SELECT 1; !".to_owned()),
        columns: &|path, _, given| match path.to_string_lossy().contains('!') {
            true => Err(model::message!("feed-empty")),
            false => Ok(given.map_or(vec!["a".to_owned()], <[String]>::to_vec)),
        },
        log_sample: &|_, _| Ok(()),
        requests: &|_| Ok(experiment::FeedRequests::default()),
        recording: &|_, _| Err(message!("traffic-no-recording")),
        dump: &|path| match path.to_string_lossy().contains('!') {
            true => Err(std::io::ErrorKind::NotFound.into()),
            false => Ok(DumpFile { path: path.to_owned(), bytes: 1, sha256: "0".repeat(64) }),
        },
    };
    match read(&request) {
        Ok(plan) => {
            let experiment = &plan.experiment;
            assert!(
                !experiment.cells.is_empty()
                    && experiment.cells.len() == plan.durations.len()
                    && experiment.repeat > 0
            );
            let cells = 0..experiment.cells.len();
            assert!(
                cells.clone().all(|cell| experiment.baseline_of(cell).is_none_or(|it| cells.contains(&it)))
            );
            assert!((1..=64).contains(&experiment.name.len()));
            for cell in &experiment.cells {
                assert!(!cell.setup.stack.nodes.is_empty() && !cell.setup.operations.is_empty());
                assert_eq!(cell.label.len(), experiment.cells[0].label.len());
            }
        }
        Err(diagnostics) => {
            assert!(!diagnostics.list.is_empty());
            for diagnostic in &diagnostics.list {
                let source = &diagnostics.sources[diagnostic.span.source].text;
                assert!(
                    source.get(diagnostic.span.bytes.clone()).is_some()
                        && diagnostics.line_and_column(&diagnostic.span) >= (1, 1)
                );
                assert!(!diagnostic.message.id.is_empty());
            }
        }
    }
}
