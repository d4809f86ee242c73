//! Mistakes of first-time users: each is found before anything is started, with its place and what to write instead
//!
//! `first_mistakes.txt` has the rows: a file after `=== title`, with the arguments in a line `$ …`, and after `---` the
//! place and the remedy. `␉` is a tab, and `␍` a carriage return.

use super::pgdyno;
use crate::folder::Folder;
use std::fs;

const ROWS: &str = include_str!("first_mistakes.txt");

#[derive(Debug)]
struct Mistake {
    title: &'static str,
    file: String,
    arguments: Vec<&'static str>,
    /// Line and column, or the argument.
    place: &'static str,
    remedy: &'static str,
}

fn mistakes() -> impl Iterator<Item = Mistake> {
    ROWS.split("=== ").skip(1).map(|row| {
        let (title, rest) = row.split_once('\n').expect("a title has a line");
        let (input, expected) = rest.rsplit_once("--- ").expect("a row has an expected message");
        let (place, remedy) = expected.trim_end().split_once(" | ").expect("a place and a remedy");
        let arguments = input.lines().find_map(|line| line.strip_prefix("$ "));
        let file = input.split_inclusive('\n').filter(|line| !line.starts_with("$ "));
        let file = file.collect::<String>().replace('␉', "\t").replace('␍', "\r");
        let arguments = arguments.map_or(Vec::new(), |it| it.split(' ').collect());
        Mistake { title, file, arguments, place, remedy }
    })
}

#[test]
fn first_mistakes_are_found_before_anything_is_started() {
    let folder = Folder::new("check-first-mistakes");
    let (mut missed, mut count) = (Vec::new(), 0);
    for Mistake { title, file, arguments, place, remedy } in mistakes() {
        fs::write(folder.0.join("book.yaml"), &file).expect("the temporary folder can be written to");
        for command in ["check", "run"] {
            let args = [&[command, "book.yaml"], arguments.as_slice()].concat();
            let (status, out, err) = pgdyno(&folder.0, &args);
            let is_found = err.contains(place) && err.contains(remedy);
            if status != Some(2) || !is_found || !out.is_empty() {
                missed.push(format!("{title}: {args:?}: {status:?}, not {place}, {remedy}:\n{out}{err}"));
            }
        }
        count += 1;
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
    assert!(count >= 40, "only {count} mistakes were made");
    assert!(!folder.0.join("runs").exists(), "a run was begun");
}
