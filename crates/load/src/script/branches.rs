//! Branch targets of `\if`, `\elif` and `\else`

use super::{Command, CommandKind};

/// Conditional whose `\endif` is not yet parsed.
struct OpenConditional {
    /// Indices of the conditional's `\if`, `\elif` and `\else` commands that are already parsed.
    branches: Vec<usize>,
    has_else: bool,
}

/// Sets the targets of conditionals. Each returned error consists of the index of a command and the key that selects
/// the text of the message `script-condition`.
pub(super) fn link_branches(commands: &mut [Command]) -> Vec<(usize, &'static str)> {
    let mut wrong = Vec::new();
    let mut stack: Vec<OpenConditional> = Vec::new();
    for index in 0..commands.len() {
        let kind = &commands[index].kind;
        if let CommandKind::If { .. } = kind {
            stack.push(OpenConditional { branches: vec![index], has_else: false });
        }
        let (is_else, name) = match kind {
            CommandKind::Elif { .. } => (false, "elif"),
            CommandKind::Else { .. } => (true, "else"),
            CommandKind::EndIf => {
                match stack.pop() {
                    Some(open) => close(commands, &open.branches, index),
                    None => wrong.push((index, "endif")),
                }
                continue;
            }
            _ => continue,
        };
        match stack.last_mut() {
            None if is_else => wrong.push((index, "else")),
            None => wrong.push((index, "elif")),
            Some(open) => {
                if open.has_else {
                    wrong.push((index, if name == "else" { "else-after-else" } else { "elif-after-else" }));
                }
                open.has_else |= is_else;
                open.branches.push(index);
            }
        }
    }
    wrong.extend(stack.iter().map(|open| (open.branches[0], "if")));
    wrong
}

fn close(commands: &mut [Command], branches: &[usize], endif: usize) {
    for (i, &branch) in branches.iter().enumerate() {
        let following = branches.get(i + 1).copied().unwrap_or(endif);
        match &mut commands[branch].kind {
            CommandKind::If { next, .. } => *next = following,
            CommandKind::Elif { next, end, .. } => (*next, *end) = (following, endif),
            CommandKind::Else { end } => *end = endif,
            other => unreachable!("{other:?} is not a branch"),
        }
    }
}
