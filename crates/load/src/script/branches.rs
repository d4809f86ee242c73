//! Where does each `\if`, `\elif` and `\else` lead?

use super::{Command, Kind};

/// An `\if` whose `\endif` has not come yet.
struct Open {
    /// The `\if` and its `\elif`s and `\else` so far.
    branches: Vec<usize>,
    has_else: bool,
}

/// Fills in where conditionals lead. Returns what is wrong: the index of the command and pgbench's words for it.
pub(super) fn link(commands: &mut [Command]) -> Vec<(usize, &'static str)> {
    let mut wrong = Vec::new();
    let mut stack: Vec<Open> = Vec::new();
    for index in 0..commands.len() {
        let kind = &commands[index].kind;
        if let Kind::If { .. } = kind {
            stack.push(Open { branches: vec![index], has_else: false });
        }
        let (is_else, name) = match kind {
            Kind::Elif { .. } => (false, "elif"),
            Kind::Else { .. } => (true, "else"),
            Kind::Endif => {
                match stack.pop() {
                    Some(open) => close(commands, &open.branches, index),
                    None => wrong.push((index, "\\endif without matching \\if")),
                }
                continue;
            }
            _ => continue,
        };
        match stack.last_mut() {
            None if is_else => wrong.push((index, "\\else without matching \\if")),
            None => wrong.push((index, "\\elif without matching \\if")),
            Some(open) => {
                if open.has_else {
                    wrong.push((
                        index,
                        if name == "else" { "\\else after \\else" } else { "\\elif after \\else" },
                    ));
                }
                open.has_else |= is_else;
                open.branches.push(index);
            }
        }
    }
    wrong.extend(stack.iter().map(|open| (open.branches[0], "\\if without matching \\endif")));
    wrong
}

fn close(commands: &mut [Command], branches: &[usize], endif: usize) {
    for (i, &branch) in branches.iter().enumerate() {
        let following = branches.get(i + 1).copied().unwrap_or(endif);
        match &mut commands[branch].kind {
            Kind::If { next, .. } => *next = following,
            Kind::Elif { next, end, .. } => (*next, *end) = (following, endif),
            Kind::Else { end } => *end = endif,
            other => unreachable!("{other:?} is no branch"),
        }
    }
}
