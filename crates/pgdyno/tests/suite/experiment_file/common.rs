//! Reader of one experiment file for tests: other grammars accept every text, and each schedule lasts ten seconds at
//! five per second.

use experiment::{
    Diagnostics, GrammarDiagnostic, Grammars, Plan, ReadRequest, ScheduleExtent, UrlTarget, read,
};
use model::{Nanos, message};
use report::lang::english;
use std::fmt::Write as _;
use std::path::Path;

/// `url` is the parsed address of a service.
pub fn read_with_url(
    text: &str,
    url: &dyn Fn(&str) -> Result<UrlTarget, Vec<GrammarDiagnostic>>,
) -> Result<Plan, Diagnostics> {
    reading(text, url, &[], false)
}

/// Reads a file with assignments from the command line. `quick` applies its section `quick`.
pub fn read_with_sets(text: &str, sets: &[String], quick: bool) -> Result<Plan, Diagnostics> {
    reading(text, &|_| Err(Vec::new()), sets, quick)
}

fn reading(
    text: &str,
    url: &dyn Fn(&str) -> Result<UrlTarget, Vec<GrammarDiagnostic>>,
    sets: &[String],
    quick: bool,
) -> Result<Plan, Diagnostics> {
    let extent = ScheduleExtent { duration: Nanos::from_secs(10), max_rate: 5.0 };
    read(&ReadRequest {
        path: Path::new("book.yaml"),
        text,
        sets,
        quick,
        grammars: Grammars {
            dsn: &|_| None,
            schedule: &|_| Ok(extent),
            script: &|_, _, _| Ok(()),
            url,
            log_format: &|_| Ok(()),
            regex: &|_| Ok(()),
            secret: &|_| Ok(()),
            settings: &|_, _| Vec::new(),
            rule: &|_, _| Ok(()),
            objective: &|_, _| Ok(()),
        },
        read: &|_| Ok(String::new()),
        columns: &|_, _, _| Ok(Vec::new()),
        log_sample: &|_, _| Ok(()),
        requests: &|_| Ok(experiment::FeedRequests::default()),
        recording: &|_, _| Err(message!("traffic-no-recording")),
        dump: &|_| Err(std::io::ErrorKind::NotFound.into()),
    })
}

/// One line per diagnostic, in English: `book.yaml:7:11: …; write …`.
pub fn printed(diagnostics: &Diagnostics) -> String {
    let mut lines = String::new();
    for diagnostic in &diagnostics.list {
        let (line, column) = diagnostics.line_and_column(&diagnostic.span);
        let name = &diagnostics.sources[diagnostic.span.source].name;
        let (text, help) = (english().message(&diagnostic.message), english().help(&diagnostic.message));
        writeln!(lines, "{name}:{line}:{column}: {text}; {help}").expect("a String accepts everything");
    }
    lines
}
