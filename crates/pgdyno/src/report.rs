//! `pgdyno report`: how does a run get to those who were not there?

use crate::account;
use crate::export::private;
use crate::runs::DIRECTORY;
use crate::terminal;
use crate::voice::language::Spoken;
use crate::voice::{Trouble, Voice, plain};
use clap::{Parser, ValueEnum};
use report::document::document;
use report::html::{Shell, html};
use report::lang::{self, Lang};
use report::page::{Page, page};
use report::{junit, markdown};
use rustix::fs::OFlags;
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Writes what a run measured and what follows from it, for people or for machines.
#[derive(Clone, Debug, Parser)]
#[command(name = "pgdyno report")]
struct Args {
    /// A path, a name or its beginning, or `last`
    run: String,
    /// html: one file for a browser, in all languages; md: a short page for continuous integration; json: the same page as
    /// data; junit: objectives and trials as test cases
    #[arg(long, value_enum, default_value_t = Format::Html)]
    format: Format,
    /// Where to write; - is standard output (default: for html a file called as the run, else standard output)
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Where runs are kept
    #[arg(long, value_name = "DIR", default_value = DIRECTORY)]
    dir: PathBuf,
    #[command(flatten)]
    spoken: Spoken,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Html,
    Md,
    Json,
    Junit,
}

/// Runs the command with the arguments behind its name; the exit status is 2 for wrong ones and 1 when it cannot be done.
pub fn main(args: &[String]) -> ExitCode {
    let name = std::iter::once("pgdyno report");
    let args = match Args::try_parse_from(name.chain(args.iter().map(String::as_str))) {
        Ok(args) => args,
        Err(error) => return terminal::usage(&error),
    };
    match write(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(trouble) => {
            trouble.tell(&Voice { program: "pgdyno report".to_owned() });
            ExitCode::FAILURE
        }
    }
}

fn write(args: &Args) -> Result<(), Trouble> {
    let lang = args.spoken.lang()?;
    let path = store::find(&args.dir, &args.run).map_err(|it| Trouble::new(it.to_string()))?;
    let text = told(&path, args.format, lang)?;
    let own = || PathBuf::from(path.file_stem().unwrap_or_default()).with_added_extension("html");
    let out = match (&args.out, args.format) {
        (Some(out), _) if out.as_os_str() == "-" => None,
        (Some(out), _) => Some(out.clone()),
        (None, Format::Html) => Some(own()),
        (None, _) => None,
    };
    let Some(out) = out else {
        match args.format {
            Format::Json => terminal::json(&text),
            Format::Html | Format::Md | Format::Junit => terminal::document(&text),
        }
        return Ok(());
    };
    if out.canonicalize().is_ok_and(|it| path.canonicalize().is_ok_and(|run| run == it)) {
        let what = format!("{} is the run itself: a report in its place would destroy it", out.display());
        return Err(Trouble::new(what).hint("write another name behind --out, or - for standard output"));
    }
    private(&out, OFlags::empty())
        .and_then(|mut it| it.write_all(text.as_bytes()))
        .map_err(|it| Trouble::new(format!("could not write {}: {}", out.display(), plain(&it))))?;
    outln!("{}", out.display());
    Ok(())
}

fn told(path: &Path, format: Format, lang: &'static dyn Lang) -> Result<String, Trouble> {
    let account = account::of(path)?;
    let one = page(&account, lang);
    Ok(match format {
        Format::Html => {
            let pages: Vec<Page> = lang::ALL.iter().map(|it| page(&account, *it)).collect();
            shell(&one, &document(&account, &pages, lang.code(), None), false)
        }
        Format::Md => markdown::markdown(&one),
        Format::Json => {
            let all = json!({ "page": one, "matrix": account.matrix, "findings": account.findings });
            serde_json::to_string_pretty(&all).expect("strings as keys only") + "\n"
        }
        Format::Junit => junit::junit(&account, &one.answer.text, lang),
    })
}

/// The file that a browser opens. `live`: whether it may ask its own server for what is new.
pub fn shell(page: &Page, document: &str, live: bool) -> String {
    let no_script = page.words.iter().find(|it| it.0 == "no_script").map_or("", |it| it.1.as_str());
    html(Shell { lang: page.lang, title: &page.title, no_script, live }, document)
}
