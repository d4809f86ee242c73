//! `pgdyno import`: writes an experiment file from HTTP traffic

use crate::cli::language::LanguageArgs;
use crate::cli::{CommandError, Terminal};
use crate::command;
use crate::distil::experiment_name;
use crate::exit_status::ExitStatus;
use crate::files;
use clap::Parser;
use model::message;
use model::message::Message;
use report::lang::Lang;
use report::say;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use traffic::web::{self, WebExperiment, WebOperation, WebOptions};

/// Write an experiment file from HTTP traffic: a HAR file, curl commands or an OpenAPI description
#[derive(Clone, Debug, Parser)]
#[command(name = "pgdyno import")]
pub struct Args {
    /// HAR file of a browser, text with curl commands, or OpenAPI description; - reads standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Experiment file to write, such as shop.yaml. No file is replaced
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
    /// Service whose requests are used, such as https://shop.test [default: the service of the first page]
    #[arg(long, value_name = "URL")]
    origin: Option<String>,
    /// Keep static files: images, fonts, style sheets, scripts and media
    #[arg(long)]
    with_assets: bool,
    /// Write one operation for each distinct request of a HAR file, with its number as weight, instead of one session
    #[arg(long)]
    by_request: bool,
    #[command(flatten)]
    language: LanguageArgs,
}

/// Runs the command. The exit status is 2 for wrong arguments, and 1 if the file cannot be read, contains no request that
/// an experiment can contain, or the experiment file cannot be written.
pub fn main(args: &[String]) -> ExitStatus {
    command::run("pgdyno import", args, run)
}

fn run(args: &Args, _: &Terminal) -> Result<ExitStatus, CommandError> {
    let lang = args.language.lang()?;
    let path = || args.out.display().to_string();
    let options = WebOptions {
        name: experiment_name(&args.out)?,
        origin: args.origin.as_deref().map(origin).transpose()?,
        with_assets: args.with_assets,
        by_request: args.by_request,
    };
    if args.out.symlink_metadata().is_ok() {
        return Err(CommandError::usage(message!("distil-exists", path = path())));
    }
    let bytes = read(&args.file).map_err(|error| CommandError::new(Message::of_file(&args.file, &error)))?;
    let traffic = web::read(&bytes).map_err(|error| {
        let reason = Message::from(&error);
        CommandError::new(message!("import-file", path = args.file.display().to_string(), reason))
    })?;
    let experiment = web::experiment(&traffic, &options);
    let left_out = left_out(&experiment);
    if experiment.operations.is_empty() {
        return Err(CommandError::new(match Message::join(left_out) {
            Some(left_out) => message!("import-no-operation", left_out),
            None => message!("import-nothing"),
        }));
    }
    let notes = notes(args, &experiment, lang);
    files::write_new(&args.out, &experiment.file(&notes))
        .map_err(|error| CommandError::new(Message::of_file(&args.out, &error)))?;
    print_summary(&experiment, lang);
    outln!("{}", say!(lang, "import-written", path = path()));
    Ok(ExitStatus::Success)
}

/// Scheme, host and port of a URL.
fn origin(url: &str) -> Result<String, CommandError> {
    web::origin(url).ok_or_else(|| CommandError::usage(message!("import-origin", origin = url)))
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    if path.to_str() != Some("-") {
        return files::read(path);
    }
    let mut bytes = Vec::new();
    io::stdin().read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Requests, commands and cookies that no operation contains.
fn left_out(experiment: &WebExperiment) -> Vec<Message> {
    let left_out = experiment.left_out.iter().map(Message::from);
    let cookies = (experiment.unset_cookies > 0)
        .then(|| message!("import-cookies", requests = experiment.unset_cookies));
    left_out.chain(experiment.skipped.iter().map(Message::from)).chain(cookies).collect()
}

/// Comment at the beginning of the experiment file.
fn notes(args: &Args, experiment: &WebExperiment, lang: &Lang) -> Vec<String> {
    let file = args.file.display().to_string();
    let mut notes = vec![
        say!(lang, "import-note", file, version = env!("CARGO_PKG_VERSION")),
        read_line(experiment, lang),
    ];
    notes.extend(left_out(experiment).iter().map(|left_out| lang.message(left_out)));
    if !experiment.secrets.is_empty() {
        notes.push(say!(lang, "import-secrets"));
        notes.extend(secrets(experiment, lang));
    }
    notes
}

fn read_line(experiment: &WebExperiment, lang: &Lang) -> String {
    say!(lang, "import-read", requests = experiment.requests, redirects = experiment.redirects)
}

/// Lines with the environment variables that replace secrets.
fn secrets(experiment: &WebExperiment, lang: &Lang) -> Vec<String> {
    let line = |secret: &web::SecretVariable| format!("  {}", lang.message(&Message::from(secret)));
    experiment.secrets.iter().map(line).collect()
}

fn print_summary(experiment: &WebExperiment, lang: &Lang) {
    outln!("{}", read_line(experiment, lang));
    let line = |operation: &WebOperation| {
        let WebOperation { name, weight, steps, captures, fill_in } = operation;
        say!(
            lang,
            "import-operation",
            name,
            weight = weight.map(|weight| weight.to_string()),
            steps = *steps,
            captures = (!captures.is_empty()).then(|| captures.join(", ")),
            fill = *fill_in
        )
    };
    experiment.operations.iter().for_each(|operation| outln!("  {}", line(operation)));
    for left_out in left_out(experiment) {
        outln!("  {}", lang.message(&left_out));
    }
    if !experiment.secrets.is_empty() {
        outln!("{}", say!(lang, "import-secrets"));
        secrets(experiment, lang).iter().for_each(|line| outln!("{line}"));
    }
}
