//! Import cycles between the top-level modules of a crate.

use super::{Violation, tree::File, tree::Tree};
use std::collections::{BTreeMap, BTreeSet};

/// Known cycles that remain to be broken: the crate and its modules. A row that is no longer a cycle is a violation.
const KNOWN: [(&str, &[&str]); 5] = [
    ("analysis", &["event_count", "finding", "matrix", "objective_summary"]),
    ("feed", &["ammo", "read"]),
    ("pgdyno", &["bench", "cli", "measure", "terminal"]),
    (
        "pgdyno",
        &["compare", "export", "prometheus", "report", "run", "run_result", "runs", "serve", "stack_command"],
    ),
    ("report", &["advice", "findings", "lang", "live", "matrix", "page", "plot", "preview"]),
];

/// Imported modules by importing module, each with one place of the import.
type Imports<'a> = BTreeMap<String, BTreeMap<String, (&'a str, usize)>>;

pub fn cycles(tree: &Tree) -> Vec<Violation> {
    found(tree, &KNOWN)
}

fn found(tree: &Tree, known: &[(&str, &[&str])]) -> Vec<Violation> {
    let mut all = Vec::new();
    let mut seen = BTreeSet::new();
    let crates: BTreeSet<&str> = tree.rust_files().filter_map(File::krate).collect();
    for krate in crates {
        let imports = imports(tree, krate);
        for cycle in components(&imports) {
            let names: Vec<&str> = cycle.iter().map(String::as_str).collect();
            if let Some(row) = known.iter().position(|row| *row == (krate, &names[..])) {
                seen.insert(row);
                continue;
            }
            let first = imports[names[0]].iter().find(|(name, _)| cycle.contains(*name));
            let (file, line) = first.map_or((krate, 1), |(_, place)| *place);
            let what = format!("modules {} of {krate} import each other", names.join(", "));
            let todo = "move what they share into a module below them";
            all.push(Violation::new(file, line, what, todo));
        }
    }
    for (row, (krate, names)) in known.iter().enumerate().filter(|(row, _)| !seen.contains(row)) {
        let what = format!("row {row} of KNOWN, {} of {krate}, is no cycle", names.join(", "));
        all.push(Violation::new("xtask/src/tidy/cycles.rs", 1, what, "delete or shorten it"));
    }
    all
}

/// The top-level module of a file; `None` for the crate's root.
fn top(file: &File) -> Option<&str> {
    let name = file.path_in_crate().split('/').next()?;
    let name = name.strip_suffix(".rs").unwrap_or(name);
    (!["lib", "main", "bin"].contains(&name)).then_some(name)
}

fn imports<'a>(tree: &'a Tree, krate: &str) -> Imports<'a> {
    let files = || tree.rust_files().filter(|file| file.krate() == Some(krate));
    let modules: BTreeSet<&str> = files().filter_map(top).collect();
    let mut all = Imports::new();
    for file in files() {
        let Some(from) = top(file) else { continue };
        for (path, line) in &file.source().paths {
            if let Some(to) = imported(file, path).filter(|to| *to != from && modules.contains(to)) {
                let row = all.entry(from.to_owned()).or_default();
                row.entry(to.to_owned()).or_insert((&file.path, *line));
            }
        }
    }
    all
}

/// The top-level name of a path that starts at the crate's root.
fn imported<'p>(file: &File, path: &'p str) -> Option<&'p str> {
    let mut parts = path.split("::").peekable();
    let mut above = 0;
    while parts.next_if_eq(&"super").is_some() {
        above += 1;
    }
    let depth = file.path_in_crate().trim_end_matches("/mod.rs").split('/').count();
    let at_root = above == depth || (above == 0 && parts.next_if_eq(&"crate").is_some());
    at_root.then(|| parts.next()).flatten()
}

/// Sets of two or more modules that all reach each other, in order of their names.
fn components(imports: &Imports<'_>) -> Vec<BTreeSet<String>> {
    let reached = |from: &str| {
        let mut reached = BTreeSet::new();
        let mut open = vec![from];
        while let Some(module) = open.pop() {
            for to in imports.get(module).into_iter().flat_map(BTreeMap::keys) {
                if reached.insert(to.clone()) {
                    open.push(to);
                }
            }
        }
        reached
    };
    let all: BTreeMap<&str, BTreeSet<String>> =
        imports.keys().map(|module| (module.as_str(), reached(module))).collect();
    let mut found = BTreeSet::new();
    for (module, reached) in &all {
        if reached.contains(*module) {
            let back = |to: &String| all.get(to.as_str()).is_some_and(|them| them.contains(*module));
            found.insert(reached.iter().filter(|to| back(to)).cloned().collect());
        }
    }
    found.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(files: &[(&str, &str)], known: &[(&str, &[&str])]) -> Vec<String> {
        let all = found(&Tree::from_files(files), known);
        all.iter().map(|it| format!("{}:{}: {}", it.file, it.line, it.message)).collect()
    }

    const KNOT: [(&str, &str); 5] = [
        ("crates/load/src/lib.rs", "mod a; mod b; mod c; use a::A; use c::C;"),
        ("crates/load/src/a.rs", "use crate::b::B;"),
        ("crates/load/src/b/mod.rs", "mod deep;"),
        ("crates/load/src/b/deep.rs", "\nuse super::super::c::C;"),
        ("crates/load/src/c.rs", "use super::{d, a::A};"),
    ];

    #[test]
    fn finds_a_cycle_through_nested_modules() {
        let expected = ["crates/load/src/a.rs:1: modules a, b, c of load import each other"];
        assert_eq!(check(&KNOT, &[]), expected);
        assert_eq!(check(&KNOT, &[("load", &["a", "b", "c"])]), [""; 0]);
    }

    #[test]
    fn rejects_known_cycles_that_are_gone() {
        let open = &KNOT[..4];
        let expected = ["xtask/src/tidy/cycles.rs:1: row 0 of KNOWN, a, b, c of load, is no cycle"];
        assert_eq!(check(open, &[("load", &["a", "b", "c"])]), expected);
        assert_eq!(check(open, &[]), [""; 0]);
    }

    #[test]
    fn ignores_imports_of_tests_and_within_a_module() {
        let files = [
            ("crates/load/src/a.rs", "use crate::b::B; mod inner;"),
            ("crates/load/src/a/inner.rs", "use super::A; use crate::a::B; use super::super::a::C;"),
            ("crates/load/src/b.rs", "#[cfg(test)] mod tests { use crate::a::A; }"),
        ];
        assert_eq!(check(&files, &[]), [""; 0]);
    }
}
