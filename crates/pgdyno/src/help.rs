//! Groups of commands in `pgdyno --help`; examples and documentation in the help of each command

use crate::command_list::{self, CommandDescription, GROUPS};
use clap::builder::{StyledStr, Styles};
use std::fmt::Write as _;

/// List of all commands in groups.
pub fn groups() -> StyledStr {
    let mut text = String::new();
    let width = command_list::all().map(|command| command.name.len()).max().unwrap_or(0);
    for group in &GROUPS {
        let _ = writeln!(text, "{}", heading(group.heading));
        for CommandDescription { name, about, .. } in group.commands {
            let _ = writeln!(text, "  {}  {about}", literal(&format!("{name:<width$}")));
        }
        text.push('\n');
    }
    StyledStr::from(text.trim_end().to_owned())
}

/// Text after `pgdyno --help`.
pub fn footer() -> String {
    "\"pgdyno help COMMAND\" prints the options and examples of a command.\nDocumentation: docs/README.md"
        .to_owned()
}

/// Examples and documentation of a command, such as `pgdyno run`; empty for an unknown one.
pub fn examples(program: &str) -> StyledStr {
    let name = program.strip_prefix("pgdyno ").unwrap_or_default();
    let Some(CommandDescription { examples, page, .. }) = command_list::find(name) else {
        return StyledStr::new();
    };
    let lines: String = examples.iter().map(|example| format!("  {example}\n")).collect();
    StyledStr::from(format!("{}\n{lines}\nDocumentation: {page}", heading("Examples")))
}

fn heading(text: &str) -> String {
    let style = Styles::styled().get_header().to_owned();
    format!("{style}{text}:{style:#}")
}

fn literal(text: &str) -> String {
    let style = Styles::styled().get_literal().to_owned();
    format!("{style}{text}{style:#}")
}
