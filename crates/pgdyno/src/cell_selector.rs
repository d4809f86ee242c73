//! Selection of cells by their axis values

use crate::cli::CommandError;
use model::message;
use model::plan::Cell;

/// Maximum number of cells that an error lists.
const LISTED_MAX: usize = 30;

/// Indexes of the cells that match a text such as `way=unix,load.clients=8`. The text may also be the name of a cell as
/// tables show it, such as `unix/8`.
pub fn matching(cells: &[Cell], text: &str) -> Vec<usize> {
    let indexes = |is_wanted: &dyn Fn(&Cell) -> bool| {
        cells.iter().enumerate().filter(|it| is_wanted(it.1)).map(|it| it.0).collect::<Vec<_>>()
    };
    let named = indexes(&|cell| name(cell) == text.trim());
    if !named.is_empty() {
        return named;
    }
    let pairs = pairs(text);
    indexes(&|cell| pairs.iter().all(|pair| cell.label.contains(pair)))
}

/// Index of the only cell that matches the text.
pub fn find_one(cells: &[Cell], text: &str) -> Result<usize, CommandError> {
    let wanted = text.to_owned();
    match matching(cells, text).as_slice() {
        [one] => Ok(*one),
        [] => {
            let cells = selectors(cells);
            Err(CommandError::usage(message!("cell-unknown", wanted, cells)))
        }
        several => {
            let cells = selectors(several.iter().map(|it| &cells[*it]));
            Err(CommandError::usage(message!("cell-ambiguous", wanted, cells)))
        }
    }
}

/// Texts that select these cells, as the user may write them.
fn selectors<'a>(cells: impl IntoIterator<Item = &'a Cell>) -> String {
    let pairs = |cell: &Cell| cell.label.iter().map(|it| format!("{}={}", it.0, it.1)).collect::<Vec<_>>();
    let mut all: Vec<String> = cells.into_iter().map(|it| format!("\"{}\"", pairs(it).join(","))).collect();
    if all.len() > LISTED_MAX {
        all.truncate(LISTED_MAX);
        all.push("…".to_owned());
    }
    all.join(", ")
}

fn name(cell: &Cell) -> String {
    cell.label.iter().map(|it| it.1.as_str()).collect::<Vec<_>>().join("/")
}

/// Axis and value pairs of a text such as `way=unix,load.clients=8`.
fn pairs(text: &str) -> Vec<(String, String)> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    for piece in text.split(',') {
        match (piece.split_once('='), pairs.last_mut()) {
            (Some((axis, it)), _) => pairs.push((axis.trim().to_owned(), it.trim().to_owned())),
            // A value may contain commas.
            (None, Some(last)) => last.1 += &format!(",{piece}"),
            (None, None) => pairs.push((piece.trim().to_owned(), String::new())),
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_axis_values() {
        let check = |text: &str, expected: &[(&str, &str)]| {
            let found = pairs(text);
            let found: Vec<(&str, &str)> = found.iter().map(|it| (&*it.0, &*it.1)).collect();
            assert_eq!(found, expected, "{text}");
        };
        check("way=unix", &[("way", "unix")]);
        check("way = unix, load.clients=8", &[("way", "unix"), ("load.clients", "8")]);
        check("load.schedule=line(1,9,5s),way=tcp", &[("load.schedule", "line(1,9,5s)"), ("way", "tcp")]);
        check("unix", &[("unix", "")]);
        check("", &[("", "")]);
    }
}
