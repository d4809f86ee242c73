//! `pgdyno report`: writes a run as HTML, Markdown, JSON or JUnit, or several runs as one document

mod bind;
mod pdf;

use crate::cli::language::LanguageArgs;
use crate::cli::{CommandError, Terminal, os_error_text};
use crate::command;
use crate::exit_status::ExitStatus;
use crate::export::create_private_file;
use crate::run_name;
use crate::run_name::DIRECTORY;
use crate::run_result;
use crate::terminal;
use clap::{Parser, ValueEnum};
use model::message;
use report::document::document;
use report::html::{HtmlShell, to_html};
use report::json_document::{ReportDocument, to_json};
use report::lang::{self, Lang};
use report::page::{Page, page};
use report::say;
use report::{junit, markdown};
use rustix::fs::OFlags;
use std::fs::metadata;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Write the report of a run, for people or for other programs. With --bind, write several runs as one document
#[derive(Clone, Debug, Parser)]
#[command(name = "pgdyno report")]
pub struct Args {
    #[arg(help = run_name::HELP, value_name = "RUN", required = true)]
    runs: Vec<String>,
    /// Write the runs as one numbered document with contents: HTML, PDF or DOCX
    #[arg(long)]
    bind: bool,
    /// Format: html, one file with all languages; md, a short page for CI; json, the same page as data; junit,
    /// objectives and trials as test cases; with --bind html, pdf or docx [default: html, with --bind by the name of the file]
    #[arg(long, value_enum)]
    format: Option<ReportFormat>,
    /// Output file, or - for standard output [default: for html a file named after the run, else standard output]
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// With --bind: experiment file whose section `document` replaces those of the runs
    #[arg(long, value_name = "FILE")]
    document: Option<PathBuf>,
    /// Directory of the stored runs
    #[arg(long, value_name = "DIR", default_value = DIRECTORY)]
    dir: PathBuf,
    #[command(flatten)]
    language: LanguageArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ReportFormat {
    Html,
    Md,
    Json,
    Junit,
    Pdf,
    Docx,
}

/// Runs the command. The exit status is 2 for wrong arguments and 1 if the command fails.
pub fn main(args: &[String]) -> ExitStatus {
    command::run("pgdyno report", args, write)
}

fn write(args: &Args, terminal: &Terminal) -> Result<ExitStatus, CommandError> {
    let lang = args.language.lang()?;
    if args.bind {
        return bind::write(args, terminal, lang);
    }
    if args.document.is_some() {
        return Err(CommandError::usage(message!("bind-texts-alone")));
    }
    let [run] = args.runs.as_slice() else { return Err(CommandError::usage(message!("bind-several"))) };
    let format = args.format.unwrap_or(ReportFormat::Html);
    if let ReportFormat::Pdf | ReportFormat::Docx = format {
        return Err(CommandError::usage(message!("bind-format-alone", format = bind::name(format))));
    }
    let path = run_name::find(&args.dir, run, terminal, lang)?;
    let text = render(&path, format, lang)?;
    let default_path = || PathBuf::from(path.file_stem().unwrap_or_default()).with_added_extension("html");
    let out = match (&args.out, format) {
        (Some(out), _) if out.as_os_str() == "-" => None,
        (Some(out), _) => Some(out.clone()),
        (None, ReportFormat::Html) => Some(default_path()),
        (None, _) => None,
    };
    match out {
        Some(out) => save(text.as_bytes(), args.out.as_deref(), &out, &[path], lang),
        None => {
            match format {
                ReportFormat::Json => terminal::json(&text),
                _ => terminal::document(&text),
            }
            Ok(ExitStatus::Success)
        }
    }
}

/// Writes a report to a file and prints the file's name. `chosen` is the name that the user chose, and `runs` are the files
/// that must not be overwritten.
fn save(
    bytes: &[u8],
    chosen: Option<&Path>,
    out: &Path,
    runs: &[PathBuf],
    lang: &Lang,
) -> Result<ExitStatus, CommandError> {
    // Compare files by device and inode, because a hard link is another path of the same run.
    let identity = |path: &Path| metadata(path).map(|it| (it.dev(), it.ino()));
    let is_run = |written| runs.iter().any(|path| identity(path).is_ok_and(|run| run == written));
    if identity(out).is_ok_and(is_run) {
        return Err(CommandError::new(say!(lang, "export-overwrites-run", path = out.display().to_string()))
            .with_hint(say!(lang, "export-overwrites-run-hint")));
    }
    // Do not follow a symbolic link with the default name, because the user did not choose its target.
    let flags = if chosen.is_some() { OFlags::empty() } else { OFlags::NOFOLLOW };
    let shown = out.display().to_string();
    let mut file = create_private_file(out, flags).map_err(|error| {
        CommandError::new(say!(lang, "export-failed", path = &shown, error = os_error_text(&error)))
    })?;
    file.write_all(bytes).map_err(|error| {
        CommandError::new(say!(lang, "export-incomplete", path = &shown, error = os_error_text(&error)))
    })?;
    outln!("{shown}");
    Ok(ExitStatus::Success)
}

fn render(path: &Path, format: ReportFormat, lang: &'static Lang) -> Result<String, CommandError> {
    let account = run_result::from_file(path)?;
    let one = page(&account, lang);
    Ok(match format {
        ReportFormat::Html | ReportFormat::Pdf | ReportFormat::Docx => {
            let pages: Vec<Page> = lang::all().iter().map(|it| page(&account, it)).collect();
            html_shell(&one, &document(&account, &pages, lang.code(), None), false)
        }
        ReportFormat::Md => markdown::to_markdown(&one),
        ReportFormat::Json => {
            let (matrix, findings) = (&account.matrix, account.findings.as_slice());
            to_json(&ReportDocument { page: &one, matrix, findings })
        }
        ReportFormat::Junit => junit::junit(&account, &one.answer.text, lang),
    })
}

/// HTML file for a browser. `live` is true if the page may request updates from its server.
pub fn html_shell(page: &Page, document: &str, live: bool) -> String {
    let no_script = page.words.iter().find(|it| it.0 == "no_script").map_or("", |it| it.1.as_str());
    to_html(HtmlShell { lang: page.lang, title: &page.title, no_script, live }, document)
}
