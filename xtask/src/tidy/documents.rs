//! Checks of the documents: links, names of tests, crate table.

use super::{Violation, manifest, tree::File, tree::Tree};
use crate::markdown::{anchors, prose, resolve, targets};
use std::collections::BTreeSet;

/// Reports relative links whose file or heading does not exist.
pub fn links(tree: &Tree) -> Vec<Violation> {
    let mut all = Vec::new();
    for file in tree.files.iter().filter(|file| file.path.ends_with(".md")) {
        for (line, text) in prose(&file.text) {
            for target in targets(text).filter(|target| !target_exists(tree, file, target)) {
                all.push(Violation::new(
                    &file.path,
                    line,
                    format!("`{target}` leads nowhere"),
                    "mend the link",
                ));
            }
        }
    }
    all
}

fn target_exists(tree: &Tree, from: &File, target: &str) -> bool {
    if ["http://", "https://", "mailto:"].iter().any(|scheme| target.starts_with(scheme)) {
        return true;
    }
    let path = resolve(&from.path, target);
    let anchor = target.split_once('#').map_or("", |(_, anchor)| anchor);
    let is_folder = || tree.files.iter().any(|file| file.path.starts_with(&format!("{path}/")));
    match tree.get(&path) {
        Some(file) => anchor.is_empty() || anchors(&file.text).any(|it| it == anchor),
        None => !target.is_empty() && anchor.is_empty() && is_folder(),
    }
}

const ARCHITECTURE: &str = "ARCHITECTURE.md";

/// Compares the table in ARCHITECTURE.md whose second column is headed "imports" with the crates and their imports.
pub fn crate_table(tree: &Tree) -> Vec<Violation> {
    let Some(file) = tree.get(ARCHITECTURE) else {
        return vec![Violation::new(ARCHITECTURE, 1, "there is no map", "write it")];
    };
    let mut rows = Vec::new();
    let mut inside = false;
    for (line, text) in prose(&file.text) {
        let cells: Vec<&str> = text.trim().trim_matches('|').split('|').map(str::trim).collect();
        inside = text.trim_start().starts_with('|') && (inside || cells.get(1) == Some(&"imports"));
        if inside && cells[0].starts_with('`') {
            rows.push((line, cells[0].trim_matches('`'), quoted_names(cells.get(1).unwrap_or(&""))));
        }
    }
    let mut all = Vec::new();
    let crates: Vec<&str> = manifest::crates(tree).map(|(name, _)| name).collect();
    for (krate, manifest) in manifest::crates(tree) {
        let dependencies = manifest::dependencies(manifest);
        let imports = dependencies.iter().map(|it| it.name.as_str()).filter(|name| crates.contains(name));
        let actual: BTreeSet<&str> = imports.collect();
        match rows.iter().find(|(_, name, _)| *name == krate) {
            None => all.push(Violation::new(
                ARCHITECTURE,
                1,
                format!("`{krate}` is not on the map"),
                "add its row to the table",
            )),
            Some((line, _, listed)) if *listed != actual => {
                let list = |names: &BTreeSet<&str>| names.iter().copied().collect::<Vec<_>>().join(", ");
                let message = format!("`{krate}` imports {{{}}}, not {{{}}}", list(&actual), list(listed));
                all.push(Violation::new(ARCHITECTURE, *line, message, "change the table or the manifest"));
            }
            Some(_) => {}
        }
    }
    for (line, name, _) in rows.iter().filter(|(_, name, _)| !crates.contains(name)) {
        all.push(Violation::new(
            ARCHITECTURE,
            *line,
            format!("there is no crate `{name}`"),
            "delete its row",
        ));
    }
    all
}

const PROMISES: &str = "docs/reliability.md";

/// Reports tests that docs/reliability.md names, as `FILE::TEST` in backquotes, but that do not exist. TEST is a
/// function of a Rust file, or any text of another file.
pub fn promises(tree: &Tree) -> Vec<Violation> {
    let Some(page) = tree.get(PROMISES) else {
        return vec![Violation::new(PROMISES, 1, "the page is missing", "write it")];
    };
    let mut violations = Vec::new();
    for (line, text) in prose(&page.text) {
        for (path, test) in text.split('`').skip(1).step_by(2).filter_map(|span| span.split_once("::")) {
            let exists = |file: &File| match path.ends_with(".rs") {
                true => file.text.contains(&format!("fn {test}(")),
                false => file.text.contains(test),
            };
            if !tree.get(path).is_some_and(exists) {
                let message = format!("there is no test `{test}` in {path}");
                violations.push(Violation::new(
                    PROMISES,
                    line,
                    message,
                    "name the test that keeps the promise",
                ));
            }
        }
    }
    violations
}

/// Texts between backquotes in a table cell.
fn quoted_names(cell: &str) -> BTreeSet<&str> {
    cell.split('`').skip(1).step_by(2).map(|name| name.split("::").next().unwrap_or(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::violations;
    use super::*;

    #[test]
    fn finds_broken_links() {
        let text = "# The house\n[a](docs/a.md) [b](https://x.y/z) [c](#the-house) [d](docs) [e](docs/a.md#what-is-this)\n\
                    [f](docs/none.md)\n[g](#no-such) [h](docs/a.md#nor-this) [i](../out.md)\n```\n[code](none)\n```\n";
        let found = violations(
            links,
            &[("README.md", text), ("docs/a.md", "## What *is* this?\n[up](../README.md \"title\")\n")],
        );
        let wanted = ["3: `docs/none.md`", "4: `#no-such`", "4: `../out.md`", "4: `docs/a.md#nor-this`"];
        assert_eq!(found, wanted.map(|it| format!("README.md:{it} leads nowhere")));
    }

    #[test]
    fn finds_promises_without_a_test() {
        let page = "| promise | test |\n|---|---|\n| a | `a/b.rs::holds` |\n| b | `a/b.rs::breaks`, `a/c.ts::a sentence` |\n\
                    | c | `a/d.rs::holds`, `a/c.ts::another` |\n";
        let files =
            [(PROMISES, page), ("a/b.rs", "fn holds() {}\nfn breaks_not() {}\n"), ("a/c.ts", "a sentence")];
        assert_eq!(
            violations(promises, &files),
            [
                "docs/reliability.md:4: there is no test `breaks` in a/b.rs",
                "docs/reliability.md:5: there is no test `another` in a/c.ts",
                "docs/reliability.md:5: there is no test `holds` in a/d.rs",
            ]
        );
        assert_eq!(violations(promises, &[]), ["docs/reliability.md:1: the page is missing"]);
    }

    #[test]
    fn finds_a_wrong_crate_table() {
        let manifests = [
            ("crates/a/Cargo.toml", "[dependencies]\nserde = \"1\"\n"),
            ("crates/b/Cargo.toml", "[dependencies]\na.workspace = true\n"),
            ("crates/c/Cargo.toml", "[dependencies]\na.workspace = true\nb.workspace = true\n"),
        ];
        let map_with = |rows: &'static str| {
            let text =
                format!("| crate | imports | answers |\n|---|---|---|\n{rows}\n\n| `z` | other table |\n");
            let mut files = vec![(ARCHITECTURE, text.as_str())];
            files.extend(manifests);
            violations(crate_table, &files)
        };
        assert_eq!(map_with("| `a` | – | x |\n| `b` | `a::Word` | y |\n| `c` | `a`, `b` | z |"), [""; 0]);
        assert_eq!(
            map_with("| `a` | `b` | x |\n| `b` | `a` | y |\n| `d` | – | z |"),
            [
                "ARCHITECTURE.md:1: `c` is not on the map",
                "ARCHITECTURE.md:3: `a` imports {}, not {b}",
                "ARCHITECTURE.md:5: there is no crate `d`",
            ]
        );
        assert_eq!(violations(crate_table, &manifests), ["ARCHITECTURE.md:1: there is no map"]);
    }
}
