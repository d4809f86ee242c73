//! `pgdyno judge`: judges the durability of the writes in a ledger or in a history

mod edn;

use crate::cli::language::LanguageArgs;
use crate::cli::{CommandError, Terminal};
use crate::command;
use crate::exit_status::ExitStatus;
use crate::{diagnostics, run_report, terminal};
use analysis::durability::history::{self, ExpectedVerdict, HistoryDiagnostic, HistoryFile, Notation};
use analysis::durability::judge;
use clap::Parser;
use edn::to_edn;
use model::durability::{
    Conclusion, DurabilityHistory, DurabilityVerdict, InconclusiveReason, LedgerEntry, ServerInstance,
};
use model::message::Message;
use model::{GrammarDiagnostic, message, quote};
use report::json_document::{JudgeDocument, JudgedHistory, to_json};
use report::lang::Lang;
use report::verdict_text;
use std::fs;
use std::path::{Path, PathBuf};
use store::ledger;

/// Judge the durability of the writes in a ledger, or in a history that is written as text
#[derive(Clone, Debug, Parser)]
#[command(name = "pgdyno judge")]
pub struct Args {
    /// Ledgers, or text files with histories: one event per line
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Print each history in Jepsen's notation, EDN, instead of judging it
    #[arg(long, conflicts_with = "json")]
    edn: bool,
    #[command(flatten)]
    language: LanguageArgs,
}

/// Verdict on one ledger or history.
struct Judged {
    name: String,
    verdict: DurabilityVerdict,
    servers: Vec<ServerInstance>,
    expected: Option<ExpectedVerdict>,
    /// Operations in Jepsen's notation, if they are wanted.
    edn: Option<String>,
}

/// Runs the command. The exit status is that of the worst verdict: 99 if a promise is broken, 4 if durability is not
/// proven. If a history states the expected verdict, 99 means that another one was judged.
pub fn main(args: &[String]) -> ExitStatus {
    command::run("pgdyno judge", args, run)
}

fn run(args: &Args, terminal: &Terminal) -> Result<ExitStatus, CommandError> {
    let lang = args.language.lang()?;
    let mut all = Vec::new();
    let mut incomplete = None;
    for path in &args.files {
        match judge_file(path, args.edn, lang)? {
            Some(judged) => all.extend(judged),
            None => incomplete = Some(ExitStatus::Incomplete),
        }
    }
    let statuses: Vec<ExitStatus> = all.iter().map(Judged::status).collect();
    if args.edn {
        all.iter()
            .for_each(|judged| out!("; {}\n{}", judged.name, judged.edn.as_deref().unwrap_or_default()));
        return Ok(ExitStatus::first_of(incomplete));
    }
    if args.json {
        let histories = all.iter().map(|it| JudgedHistory { name: &it.name, verdict: &it.verdict });
        terminal::json(&to_json(&JudgeDocument { histories: histories.collect() }));
    } else {
        let style = run_report::style();
        for judged in &all {
            out!("{}", verdict_text::render(&judged.name, &judged.verdict, &judged.servers, style, lang));
        }
    }
    for judged in &all {
        if let Some(message) = judged.unexpected() {
            terminal.error(&format!("{}: {}", judged.name, lang.message(&message)));
        }
    }
    Ok(ExitStatus::first_of(incomplete.into_iter().chain(statuses)))
}

/// Judges a file. Prints the lines of a history that cannot be read, and then returns `None`.
fn judge_file(path: &Path, edn: bool, lang: &Lang) -> Result<Option<Vec<Judged>>, CommandError> {
    let name = path.display().to_string();
    let failed = |error: std::io::Error| CommandError::new(Message::of_file(path, &error));
    let bytes = fs::read(path).map_err(failed)?;
    let Ok(text) = String::from_utf8(bytes) else {
        return judge_ledger(path, name, edn).map(|it| Some(vec![it]));
    };
    if text.starts_with("pgdynoL") {
        return judge_ledger(path, name, edn).map(|it| Some(vec![it]));
    }
    let mut judged = Vec::new();
    let mut wrong = Vec::new();
    for (title, line, part) in history::split(&text) {
        let name = if title.is_empty() { name.clone() } else { format!("{name}:{line}: {title}") };
        match HistoryFile::parse(part) {
            Ok(file) => judged.push(Judged {
                name,
                verdict: file.judge(),
                servers: servers(file.entries.iter()),
                edn: edn.then(|| to_edn(file.entries.iter().cloned(), &file.history.read_backs)),
                expected: file.expected,
            }),
            Err(all) => wrong.extend(all.iter().map(|it| grammar_diagnostic(&text, part, it))),
        }
    }
    if wrong.is_empty() {
        return Ok(Some(judged));
    }
    let diagnostics = diagnostics::in_argument(&name, &text, wrong);
    err!("{}", diagnostics::render(&diagnostics, diagnostics::use_colour(), lang));
    Ok(None)
}

/// Judges a ledger on its own. It shows a split brain, contradictions and outcomes, but not losses.
fn judge_ledger(path: &Path, name: String, edn: bool) -> Result<Judged, CommandError> {
    let open = || ledger::open(path).map_err(|it| CommandError::new(&it));
    let mut reader = open()?;
    let servers = {
        let entries: Vec<LedgerEntry> =
            reader.by_ref().filter(|it| matches!(it, LedgerEntry::Server(..))).collect();
        servers(entries.iter())
    };
    if let Some(error) = reader.error() {
        return Err(CommandError::new(Message::of_file(path, error)));
    }
    let history = DurabilityHistory { end: reader.end(), ..DurabilityHistory::default() };
    let mut verdict = judge(&history, || open().into_iter().flatten());
    // A ledger does not record faults, so their absence is no evidence. Nothing is proven without a read-back anyway.
    verdict.doubts.retain(|it| *it != InconclusiveReason::NoControl);
    let edn = edn.then(|| open().map(|reader| to_edn(reader, &[]))).transpose()?;
    Ok(Judged { name, verdict, servers, expected: None, edn })
}

/// Servers that a ledger names, each once.
fn servers<'a>(entries: impl Iterator<Item = &'a LedgerEntry>) -> Vec<ServerInstance> {
    let mut all: Vec<ServerInstance> = Vec::new();
    for entry in entries {
        if let LedgerEntry::Server(_, server) = entry
            && !all.contains(server)
        {
            all.push(server.clone());
        }
    }
    all
}

/// Diagnostic with its place in the file. `part` is the slice of `text` that contains the line.
fn grammar_diagnostic(text: &str, part: &str, diagnostic: &HistoryDiagnostic) -> GrammarDiagnostic {
    let line = part.lines().nth(diagnostic.line - 1).unwrap_or_default();
    let at = line.find(&diagnostic.text).unwrap_or(0);
    let place = match diagnostic.text.as_str() {
        "" => &line[line.trim_end().len()..],
        found => &line[at..at + found.len()],
    };
    let shown = (!diagnostic.text.is_empty()).then(|| quote(&diagnostic.text));
    let message = message!("judge-line", text = shown, usage = notation(diagnostic.usage));
    GrammarDiagnostic::in_part(text, place, message)
}

/// Notation to write instead of a wrong part.
fn notation(notation: Notation) -> Message {
    match notation {
        Notation::Event => message!("judge-notation-event"),
        Notation::Control => message!("judge-notation-control"),
        Notation::Ledger => message!("judge-notation-ledger"),
        Notation::Level => message!("judge-notation-level"),
        Notation::Settings => message!("judge-notation-settings"),
        Notation::Role => message!("judge-notation-role"),
        Notation::Write => message!("judge-notation-write"),
        Notation::Fault => message!("judge-notation-fault"),
        Notation::Promote => message!("judge-notation-promote"),
        Notation::Read => message!("judge-notation-read"),
        Notation::Value => message!("judge-notation-value"),
        Notation::Server => message!("judge-notation-server"),
        Notation::Expect => message!("judge-notation-expect"),
        Notation::Reason => message!("judge-notation-reason"),
        Notation::Standbys => message!("judge-notation-standbys"),
        Notation::Anomaly => message!("judge-notation-anomaly"),
        Notation::Time => message!("judge-notation-time"),
        Notation::Key => message!("judge-notation-key"),
        Notation::Keys => message!("judge-notation-keys"),
        Notation::Outcome => message!("judge-notation-outcome"),
    }
}

impl Judged {
    fn status(&self) -> ExitStatus {
        match (&self.expected, self.verdict.conclusion) {
            (Some(_), _) if self.unexpected().is_some() => ExitStatus::Violated,
            (Some(_), _) | (None, Conclusion::Kept) => ExitStatus::Success,
            (None, Conclusion::Broken) => ExitStatus::Violated,
            (None, Conclusion::Unknown) => ExitStatus::NoAnswer,
        }
    }

    /// Message if the verdict is not the expected one.
    fn unexpected(&self) -> Option<Message> {
        let expected = self.expected.as_ref()?;
        let actual = expected.of_verdict(&self.verdict);
        let differs = actual != *expected;
        differs.then(|| {
            message!("judge-unexpected", expected = expected.to_string(), actual = actual.to_string())
        })
    }
}
