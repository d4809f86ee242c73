//! `pgdyno manual`: manual pages, generated from the definitions of the commands

use crate::cli::language;
use crate::command_list::CommandDescription;
use crate::exit_status::ExitStatus;
use crate::{command, command_list};
use clap::builder::PossibleValuesParser;
use clap::{Command, Parser};
use clap_mangen::Man;
use report::lang::{self, Lang};
use stack::component;
use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;

/// Print the manual page of a command
#[derive(Clone, Debug, Parser)]
#[command(name = "pgdyno manual")]
pub struct Args {
    /// Command [default: pgdyno itself]
    #[arg(value_parser = PossibleValuesParser::new(command_list::all().map(|it| it.name)), hide_possible_values = true)]
    command: Option<String>,
    /// Write the pages of all commands to this directory instead
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    all: Option<PathBuf>,
}

/// Page that explains exit statuses. Every manual page contains its first table.
const EXIT_STATUSES: &str = include_str!("../../../docs/exit-statuses.md");

/// Files of all commands.
const FILES: [(&str, &str); 2] = [
    ("runs/*.dyno", "stored runs, which are SQLite databases"),
    ("~/.pgpass, ~/.pg_service.conf", "passwords and services, as in libpq"),
];

/// Environment variables of all commands.
fn environment() -> Vec<(String, String)> {
    let codes: Vec<&str> = lang::all().iter().map(Lang::code).collect();
    let programs: Vec<&str> = component::programs().map(|(_, program)| program.env_var).collect();
    let (languages, programs) =
        (format!("language of the output, one of {}", codes.join(", ")), programs.join(", "));
    let rows: [(&str, &str); 7] = [
        ("PGHOST, PGPORT, PGUSER, PGDATABASE, PGPASSWORD, PGSSLMODE", "connection settings, as in libpq"),
        (language::VARIABLE, &languages),
        ("PGDYNO_PG_BIN", "directory of PostgreSQL's programs"),
        (&programs, "path of a program"),
        ("TMPDIR", "directory for the data of the servers that pgdyno starts"),
        ("XDG_CACHE_HOME", "directory for a downloaded PostgreSQL; default: ~/.cache"),
        ("NO_COLOR", "output without colours if the value is not empty"),
    ];
    rows.map(|(names, meaning)| (names.to_owned(), meaning.to_owned())).to_vec()
}

/// Runs the command. `tree` is the definition of the whole command line.
pub fn main(args: &[String], tree: &Command) -> ExitStatus {
    command::run("pgdyno manual", args, |args: &Args, _| {
        if let Some(directory) = &args.all {
            std::fs::create_dir_all(directory)?;
            let pages = tree.get_subcommands().map(|it| (format!("pgdyno-{}.1", it.get_name()), it));
            for (name, command) in pages.chain([("pgdyno.1".to_owned(), tree)]) {
                std::fs::write(directory.join(name), render(command)?)?;
            }
            return Ok(ExitStatus::Success);
        }
        let command = match &args.command {
            Some(name) => tree.find_subcommand(name).expect("clap accepts only these names"),
            None => tree,
        };
        out!("{}", render(command)?);
        Ok(ExitStatus::Success)
    })
}

/// Renders a page for `man`.
fn render(command: &Command) -> io::Result<String> {
    let name = match command.get_name() {
        "pgdyno" => "pgdyno".to_owned(),
        name => format!("pgdyno-{name}"),
    };
    let description = command_list::find(command.get_name());
    let command = command.clone().display_name(name).disable_version_flag(true);
    // Replace the text after the help, because it refers to this page.
    let command = command.after_help(description.map_or(String::new(), examples));
    let page = Man::new(command).manual("pgdyno").source(concat!("pgdyno ", env!("CARGO_PKG_VERSION")));
    let mut text = Vec::new();
    page.render(&mut text)?;
    let mut text = String::from_utf8_lossy(&text).into_owned();
    section(&mut text, "EXIT STATUS", &exit_statuses());
    section(&mut text, "FILES", &FILES);
    section(&mut text, "ENVIRONMENT", &environment());
    let page = description.map_or("docs/README.md", |it| it.page);
    section(&mut text, "SEE ALSO", &[(page, "in the documentation of pgdyno")]);
    Ok(text)
}

/// Examples of a command, one per line.
fn examples(command: &CommandDescription) -> String {
    let lines: String = command.examples.iter().map(|example| format!("  {example}\n")).collect();
    format!("Examples:\n{lines}")
}

/// Statuses and meanings, from the first table of the page.
fn exit_statuses() -> Vec<(&'static str, &'static str)> {
    let rows = EXIT_STATUSES.lines().skip_while(|it| !it.starts_with("|---")).skip(1);
    let rows = rows.take_while(|it| it.starts_with('|'));
    rows.filter_map(|it| it.trim_matches('|').split_once('|'))
        .map(|(it, text)| (it.trim(), text.trim()))
        .collect()
}

fn section<T: AsRef<str>>(page: &mut String, heading: &str, entries: &[(T, T)]) {
    let _ = writeln!(page, ".SH \"{heading}\"");
    for (name, text) in entries {
        let _ = writeln!(page, ".TP\n\\fB{}\\fR\n{}", plain(name.as_ref()), plain(text.as_ref()));
    }
}

/// Text without links and code marks of Markdown, escaped for roff.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, link)) = rest.split_once('[') {
        let (label, after) = link.split_once(']').unwrap_or((link, ""));
        out += before;
        out += label;
        rest = after.strip_prefix('(').and_then(|it| it.split_once(')')).map_or(after, |it| it.1);
    }
    (out + rest).replace('`', "").replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renders_every_page() {
        let tree = crate::commands::tree();
        for command in tree.get_subcommands().chain([&tree]) {
            let page = render(command).expect("memory does not fail");
            for heading in ["NAME", "SYNOPSIS", "EXIT STATUS", "FILES", "ENVIRONMENT", "SEE ALSO"] {
                assert!(page.contains(heading), "{}: no {heading}\n{page}", command.get_name());
            }
            assert!(page.contains("PGDYNO_PGPOOL, ") && page.contains("one of en, ru"), "{page}");
            assert!(page.contains(".TP\n\\fB99\\fR\na requirement is not met"), "{page}");
        }
    }

    #[test]
    fn removes_markdown_and_escapes_roff() {
        assert_eq!(plain("see [signal](a.md#b) of `-x`"), "see signal of \\-x");
        assert_eq!(plain("no [link"), "no link");
    }
}
