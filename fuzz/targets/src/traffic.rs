//! Target for the statements of server logs: a valid experiment is distilled from them.

use ::traffic::distil::{Anonymisation, DistilOptions, Distilled, distil};
use experiment::{GrammarDiagnostic, GrammarResult, Grammars, ReadRequest, ScheduleExtent, read};
use load::script::{Mode, ScriptSource, parse};
use model::message;
use model::message::Message;
use model::plan::FeedFormat;
use model::summary::QueryMode;
use std::path::Path;

/// Runs one input. The first byte selects the format, and whether values are anonymised.
pub fn run(data: &[u8]) {
    let (Some(flags), Some(traffic)) = (data.first(), crate::server_log::sessions(data)) else { return };
    let anonymise = (flags & 8 != 0).then(|| Anonymisation { key: vec![*flags], numbers: flags & 16 != 0 });
    let options = DistilOptions { anonymise, coverage: 1.0, max_rows: 3, ..DistilOptions::new("fuzz") };
    let distilled = distil(&traffic, &options);
    let covered = distilled.operations.iter().map(|it| it.transactions * it.statements.len() as u64);
    let left_out = distilled.left_out.iter().map(|it| it.statements);
    assert_eq!(covered.chain(left_out).sum::<u64>(), distilled.statements);
    check_experiment(&distilled);
}

/// The experiment file can be read, and its scripts are valid.
fn check_experiment(distilled: &Distilled) {
    let files = distilled.files(&["a note".to_owned()]);
    if distilled.operations.is_empty() {
        return;
    }
    let accept = |_: &str| Ok(());
    let feeds = files.clone();
    let columns = move |path: &Path, format: FeedFormat, columns: Option<&[String]>| {
        let name = path.file_name().and_then(|name| name.to_str()).expect("the file names a feed");
        let content = &feeds.iter().find(|file| file.0 == name).expect("the feed is written").1;
        let packing = feed::pack(format, columns, None, &mut content.as_bytes(), Vec::new());
        let packing = packing.map_err(|diagnostic| Message::from(&diagnostic))?;
        let (_, layout) = packing.finish().expect("writing to memory cannot fail");
        Ok(layout.columns.to_vec())
    };
    let request = ReadRequest {
        path: Path::new("fuzz.yaml"),
        text: &files[0].1,
        sets: &[],
        quick: false,
        grammars: Grammars {
            schedule: &|_| Ok(ScheduleExtent { duration: model::Nanos::from_secs(1), max_rate: 1.0 }),
            script: &check_script,
            url: &|_| Err(Vec::new()),
            dsn: &|_| None,
            log_format: &accept,
            regex: &accept,
            secret: &accept,
            settings: &|_, _| Vec::new(),
            rule: &|_, _| Ok(()),
            objective: &|_, _| Ok(()),
        },
        read: &|_| Err(std::io::ErrorKind::NotFound.into()),
        columns: &columns,
        log_sample: &|_, _| Ok(()),
        requests: &|_| Ok(experiment::FeedRequests::default()),
        recording: &|_, _| Err(message!("traffic-no-recording")),
        dump: &|_| Err(std::io::ErrorKind::NotFound.into()),
    };
    if let Err(diagnostics) = read(&request) {
        let all: Vec<String> = diagnostics.list.iter().map(|it| it.message.describe()).collect();
        panic!("{all:?}\n{}", files[0].1);
    }
}

fn check_script(text: &str, mode: QueryMode, known: Option<&[String]>) -> GrammarResult {
    let mode = match mode {
        QueryMode::Simple => Mode::Simple,
        QueryMode::Extended => Mode::Extended,
        QueryMode::Prepared => Mode::Prepared,
    };
    let known: Vec<&str> = known.unwrap_or_default().iter().map(String::as_str).collect();
    let refuse = |message| Err(vec![GrammarDiagnostic { span: 0..0, message }]);
    match parse(&[ScriptSource::new("", text)], mode, false, &known) {
        Ok(program) if program.has_only_empty_statements(0) => refuse(message!("experiment-script-empty")),
        Ok(program) => program.undefined.into_iter().next().map_or(Ok(()), |first| refuse(first.message)),
        Err(all) => all.into_iter().next().map_or(Ok(()), |first| refuse(first.message)),
    }
}
