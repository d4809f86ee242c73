//! `pgdyno init`: writes a commented experiment file as a template

use crate::check;
use crate::cli::language::LanguageArgs;
use crate::cli::{CommandError, Terminal, os_error_text};
use crate::command;
use crate::exit_status::ExitStatus;
use crate::files;
use clap::{Parser, ValueEnum};
use report::lang::Lang;
use report::say;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use wire::http::Url;
use wire::pg::conninfo::{self, Environment, HostSpec};

/// Write a commented experiment file as a template; never overwrites a file
#[derive(Clone, Debug, Parser)]
#[command(name = "pgdyno init")]
pub struct Args {
    /// File to write; its name becomes the name of the experiment
    #[arg(default_value = "experiment.yaml")]
    file: PathBuf,
    /// Question that the experiment answers
    #[arg(long, value_name = "GOAL", default_value = "compare")]
    find: InitGoal,
    /// Measure the running PostgreSQL at this address, such as postgres://me@127.0.0.1/shop
    #[arg(long, value_name = "ADDRESS")]
    attach: Option<String>,
    /// Measure the running HTTP service at this URL, such as http://127.0.0.1:8080/books. With --attach, PostgreSQL is its
    /// database
    #[arg(long, value_name = "URL")]
    http: Option<String>,
    #[command(flatten)]
    language: LanguageArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum InitGoal {
    /// Which setting is better?
    Compare,
    /// How much load does the system sustain, and what limits it?
    Max,
    /// Does the system sustain this load?
    Confirm,
    /// Does the system leak resources or slow down under sustained load?
    Soak,
    /// Does every acknowledged write survive a failover?
    Failover,
}

/// Runs the command. The exit status is 1 if the file exists or cannot be written.
pub fn main(args: &[String]) -> ExitStatus {
    command::run("pgdyno init", args, write)
}

fn write(args: &Args, _: &Terminal) -> Result<ExitStatus, CommandError> {
    let lang = args.language.lang()?;
    let path = args.file.display().to_string();
    let text = template(args, lang)?;
    reject_password(&args.file, &text, lang)?;
    files::write_new(&args.file, &text).map_err(|error| write_error(&path, &error, lang))?;
    outln!("{}", say!(lang, "init-written", path));
    Ok(ExitStatus::Success)
}

/// Text of the file: the template for the goal, completed with the system under test.
fn template(args: &Args, lang: &Lang) -> Result<String, CommandError> {
    let running = args.attach.is_some() || args.http.is_some();
    let frame = match args.find {
        InitGoal::Compare => include_str!("init/goal/compare.yaml"),
        InitGoal::Max => include_str!("init/goal/max.yaml"),
        InitGoal::Confirm => include_str!("init/goal/confirm.yaml"),
        InitGoal::Soak => include_str!("init/goal/soak.yaml"),
        InitGoal::Failover if args.http.is_some() => {
            return Err(CommandError::usage(say!(lang, "init-failover-running")));
        }
        InitGoal::Failover if args.attach.is_some() => include_str!("init/failover-attached.yaml"),
        InitGoal::Failover => include_str!("init/failover.yaml"),
    };
    let matrix = match running {
        true => include_str!("init/goal/compare-running.yaml"),
        false => include_str!("init/goal/compare-own.yaml"),
    };
    let system = match (&args.attach, &args.http) {
        (database, Some(url)) => service(url, database.as_deref(), lang)?,
        (Some(address), None) => {
            fill(include_str!("init/system/attached.yaml"), &[("ADDRESS", &quoted(address))])
        }
        (None, None) => include_str!("init/system/own.yaml").to_owned(),
    };
    let file = args.file.display().to_string().escape_debug().to_string();
    let address = args.attach.as_deref().map(quoted).unwrap_or_default();
    let servers = args.attach.as_deref().map(server_lines).unwrap_or_default();
    let values = [
        ("FILE", &*file),
        ("SYSTEM", &system),
        ("MATRIX", matrix),
        ("ADDRESS", &address),
        ("SERVERS", &servers),
    ];
    Ok(fill(frame, &values))
}

/// System with an attached service, and with its database if `database` is its address. The path of the URL becomes the first
/// request.
fn service(url: &str, database: Option<&str>, lang: &Lang) -> Result<String, CommandError> {
    let parsed = Url::parse(url).map_err(|_| CommandError::usage(say!(lang, "init-url")))?;
    let scheme = if parsed.tls { "https" } else { "http" };
    let address = quoted(&format!("{scheme}://{}", parsed.host_header()));
    let database = match database {
        Some(dsn) => format!(
            "  # Its database: CPU, waits and statements. The password comes from PGPASSWORD, PGPASSFILE or ~/.pgpass.\n  \
             postgres:\n    attach: {}",
            quoted(dsn)
        ),
        None => {
            let address = "postgres://me@127.0.0.1/shop";
            format!("  # postgres: {{ attach: \"{address}\" }}   # its database: CPU, waits and statements")
        }
    };
    let values = [("ADDRESS", address.as_str()), ("DATABASE", &database), ("PATH", &quoted(&parsed.target))];
    Ok(fill(include_str!("init/system/service.yaml"), &values))
}

/// Lines of `servers`: each host of an address with several hosts, otherwise the address and a server to fill in.
fn server_lines(address: &str) -> String {
    let alone = Environment { env: &|_| None, read: &|_, _| None, os_user: "" };
    let settings = conninfo::resolve(Some(address), &[], alone).ok().filter(|it| it.hosts.len() > 1);
    let all = match settings {
        Some(settings) => {
            let (user, database) = (conninfo_value(&settings.user), conninfo_value(&settings.database));
            let server = |host: &HostSpec| {
                let (name, port) = (conninfo_value(&host.host), host.port);
                format!("host={name} port={port} user={user} dbname={database}")
            };
            settings.hosts.iter().map(server).collect()
        }
        None => vec![address.to_owned(), "host=replace-me port=5432 user=me dbname=shop".to_owned()],
    };
    all.iter().map(|it| format!("      - {}", quoted(it))).collect::<Vec<_>>().join("\n")
}

/// Value of a keyword in a connection string.
fn conninfo_value(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

/// Replaces each `@NAME@` in a template with its value. Names within values are not replaced.
fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let part = |(number, part): (usize, &'_ str)| match number % 2 {
        0 => part.to_owned(),
        _ => values
            .iter()
            .find(|(name, _)| *name == part)
            .map_or(String::new(), |(_, value)| (*value).to_owned()),
    };
    template.split('@').enumerate().map(part).collect()
}

/// Text as a YAML scalar: plain if YAML reads it as the same text, otherwise in double quotes.
fn quoted(text: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '/' | '.');
    let is_word =
        text.starts_with(|it: char| it.is_ascii_alphabetic() || it == '/') && text.chars().all(is_plain);
    let reserved =
        ["true", "false", "null", "yes", "no", "on", "off"].contains(&text.to_lowercase().as_str());
    if is_word && !reserved { text.to_owned() } else { serde_json::Value::from(text).to_string() }
}

/// Rejects an address with a password, which would be stored in the file.
fn reject_password(path: &Path, text: &str, lang: &Lang) -> Result<(), CommandError> {
    let Err(diagnostics) = check::plan(path, text, &[], false) else { return Ok(()) };
    let is_password = |id: &str| ["experiment-address-password", "experiment-url-password"].contains(&id);
    match diagnostics.list.iter().find(|it| is_password(&it.message.id)) {
        Some(found) => {
            let error = CommandError::usage(lang.message(&found.message));
            Err(error.with_hint(lang.help(&found.message)))
        }
        None => Ok(()),
    }
}

fn write_error(path: &str, error: &std::io::Error, lang: &Lang) -> CommandError {
    match error.kind() {
        ErrorKind::AlreadyExists => {
            CommandError::new(say!(lang, "init-exists", path)).with_hint(say!(lang, "init-exists-hint"))
        }
        _ => CommandError::new(say!(lang, "init-failed", path, error = os_error_text(error))),
    }
}
