//! Groups of commands in `pgdyno --help`; examples and manual page in the help of each command

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
    format!(
        "\"pgdyno help COMMAND\" prints the options and examples of a command.\n{}",
        manual_page("pgdyno manual")
    )
}

/// Examples of a command, such as `pgdyno run`, and how to show its manual page; empty for an unknown command.
pub fn examples(program: &str) -> StyledStr {
    let name = program.strip_prefix("pgdyno ").unwrap_or_default();
    let Some(CommandDescription { examples, .. }) = command_list::find(name) else {
        return StyledStr::new();
    };
    let lines: String = examples.iter().map(|example| format!("  {example}\n")).collect();
    let manual = manual_page(&format!("pgdyno manual {name}"));
    StyledStr::from(format!("{}\n{lines}\n{manual}", heading("Examples")))
}

/// Line with the command that shows a manual page. The command needs no other files, because the program contains the
/// manual.
fn manual_page(command: &str) -> String {
    format!("Manual page: {command} | man -l -")
}

fn heading(text: &str) -> String {
    let style = Styles::styled().get_header().to_owned();
    format!("{style}{text}:{style:#}")
}

fn literal(text: &str) -> String {
    let style = Styles::styled().get_literal().to_owned();
    format!("{style}{text}{style:#}")
}
