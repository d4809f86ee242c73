//! Variables that a script reads before they are assigned

use super::diagnostic::{Diagnostic, readable};
use super::names::{NameTable, continues_name};
use super::{
    CallPart, Command, CommandKind, Piece, ResultStore, Script, ScriptSource, ShellWord, SleepDuration, Slot,
    Sql,
};
use model::message;
use model::message::Message;
use std::collections::BTreeSet;

/// Maximum number of names in a hint.
const LISTED_MAX: usize = 8;

/// Finds reads of variables that no earlier command assigns. Each result has the variable's slot and the command's
/// index. Each slot occurs once.
///
/// `defined` are variables that have a value when the script begins. Every command counts, even in a branch that is not
/// taken. After `\gset` or `\aset`, any variable with the command's prefix may be a column, so it is not reported.
pub(super) fn undefined(
    commands: &[Command],
    names: &NameTable,
    mut defined: BTreeSet<Slot>,
) -> Vec<(Slot, usize)> {
    let mut found: Vec<(Slot, usize)> = Vec::new();
    let mut prefixes: Vec<&str> = Vec::new();
    for (index, command) in commands.iter().enumerate() {
        for_each_read(&command.kind, &mut |slot| {
            let may_be_column = prefixes.iter().any(|it| names.name(slot).starts_with(it));
            if !defined.contains(&slot) && !may_be_column && !found.iter().any(|it| it.0 == slot) {
                found.push((slot, index));
            }
        });
        match &command.kind {
            CommandKind::Set { slot, .. } | CommandKind::SetShell { slot, .. } => {
                defined.insert(*slot);
            }
            CommandKind::Sql(sql) => prefixes.extend(sql.store.iter().map(|it| &*it.prefix)),
            CommandKind::Http(call) => defined.extend(call.captures.iter().map(|it| it.slot)),
            _ => {}
        }
    }
    found
}

/// Table by slot: true if a command assigns the variable.
///
/// Variables with the prefix of a `\gset` or `\aset` count as assigned. Without a prefix, the columns are unknown and
/// do not count.
pub(super) fn assigned(scripts: &[Script], names: &[Box<str>]) -> Box<[bool]> {
    let mut assigned: Box<[bool]> = vec![false; names.len()].into();
    for command in scripts.iter().flat_map(|it| &it.commands) {
        match &command.kind {
            CommandKind::Set { slot, .. } | CommandKind::SetShell { slot, .. } => {
                assigned[usize::from(*slot)] = true;
            }
            CommandKind::Sql(Sql { store: Some(ResultStore { prefix, .. }), .. }) if !prefix.is_empty() => {
                let columns = names.iter().zip(&mut assigned).filter(|it| it.0.starts_with(&**prefix));
                columns.for_each(|it| *it.1 = true);
            }
            _ => {}
        }
    }
    assigned
}

/// Diagnostics for reads of unset variables, each with its position in the script's text and a correction.
pub(super) fn diagnostics(
    source: &ScriptSource<'_>,
    commands: &[Command],
    names: &NameTable,
    defined: &BTreeSet<Slot>,
) -> Vec<Diagnostic> {
    let sets = commands.iter().filter_map(|command| match command.kind {
        CommandKind::Set { slot, .. } | CommandKind::SetShell { slot, .. } => Some(slot),
        _ => None,
    });
    let known: BTreeSet<Slot> = defined.iter().copied().chain(sets).collect();
    let keyword = |slot: &Slot| message!("experiment-keyword", keyword = format!(":{}", names.name(*slot)));
    let listed: Vec<Message> = known.iter().take(LISTED_MAX).map(keyword).collect();
    let alternatives = Some(listed).filter(|listed| !listed.is_empty());
    let text = readable(source.text);
    let diagnostic = |(slot, index): (Slot, usize)| {
        let name = names.name(slot);
        let message = message!("script-undefined", name, alternatives = alternatives.clone());
        let (line, column, text) = locate(&text, commands[index].line, name);
        Diagnostic { file: source.name.to_owned(), line, column, text: text.to_owned(), message }
    };
    undefined(commands, names, defined.clone()).into_iter().map(diagnostic).collect()
}

/// Line and column (from 1) of the first `:name` at or after the line `from`, and the line's text. If there is no
/// `:name`, the start of the line `from`.
fn locate<'a>(text: &'a str, from: u32, name: &str) -> (u32, u32, &'a str) {
    let written = format!(":{name}");
    let is_name = |line: &str, at: usize| {
        let rest = line.as_bytes().get(at + written.len()).copied();
        !line[..at].ends_with(':') && !rest.is_some_and(continues_name)
    };
    let lines = || (1..).zip(text.lines()).skip(from.saturating_sub(1) as usize);
    let found = lines().find_map(|(number, line)| {
        let (at, _) = line.match_indices(&written).find(|(at, _)| is_name(line, *at))?;
        Some((number, line[..at].chars().count() as u32 + 1, line))
    });
    found.unwrap_or_else(|| (from, 1, lines().next().map_or("", |it| it.1)))
}

/// Calls `found` for every variable that a command reads.
fn for_each_read(kind: &CommandKind, found: &mut dyn FnMut(Slot)) {
    match kind {
        CommandKind::Sql(sql) => sql.pieces.iter().for_each(|piece| {
            if let Piece::Var { slot } = piece {
                found(*slot);
            }
        }),
        // The variables of a whole request are columns of its feed, which the transaction draws.
        CommandKind::Http(call) => {
            let headers = call.headers.iter().flat_map(|it| &it.1);
            let parts = call.target.iter().chain(headers).chain(call.body.iter().flatten());
            for part in parts.chain(call.texts().flatten()) {
                if let CallPart::Var { slot, .. } = part {
                    found(*slot);
                }
            }
        }
        CommandKind::Set { value, .. } => value.each_variable(found),
        CommandKind::If { test, .. } | CommandKind::Elif { test, .. } => test.each_variable(found),
        CommandKind::Sleep { amount: SleepDuration::Variable { slot, .. } } => found(*slot),
        CommandKind::SetShell { words, .. } | CommandKind::Shell { words } => words.iter().for_each(|word| {
            if let ShellWord::Var(slot) = word {
                found(*slot);
            }
        }),
        CommandKind::Sleep { amount: SleepDuration::Constant(_) }
        | CommandKind::Pause(_)
        | CommandKind::Else { .. }
        | CommandKind::EndIf
        | CommandKind::StartPipeline
        | CommandKind::SyncPipeline
        | CommandKind::Recorded
        | CommandKind::EndPipeline => {}
    }
}
