//! Check that a crate has no two types of one name.

use super::tree::{File, Tree};
use super::{Violation, tree};
use std::collections::BTreeMap;

/// Crates and names that may occur twice, because the name of the module always qualifies the type.
const QUALIFIED: [(&str, &str); 6] = [
    // Arguments of a command, which clap parses: `advise::Args`.
    ("pgdyno", "Args"),
    // One type for builds with the feature that downloads PostgreSQL, one for builds without it.
    ("stack", "DownloadError"),
    // `client::Error`, `dataset::Error` and `restore::Error`.
    ("stack", "Error"),
    // `pg::Channel` and `http::Channel` have the same interface.
    ("wire", "Channel"),
    ("wire", "Event"),
    ("wire", "TlsSession"),
];

/// Reports types that have the name of another type of their crate. Tests may repeat names.
pub fn duplicates(tree: &Tree) -> Vec<Violation> {
    let test_modules = tree.test_modules();
    let mut all = Vec::new();
    let mut first: BTreeMap<(&str, &str), &File> = BTreeMap::new();
    for file in tree.rust_files().filter(|file| !tree::is_within(&file.path, &test_modules)) {
        let Some(krate) = file.krate() else { continue };
        for (name, line) in &file.source().types {
            if QUALIFIED.contains(&(krate, name.as_str())) {
                continue;
            }
            if let Some(other) = first.insert((krate, name.as_str()), file) {
                let message = format!("`{name}` is also the name of a type in {}", other.path_in_crate());
                let fix = "name one of the two types by its own purpose";
                all.push(Violation::new(&file.path, *line, message, fix));
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::violations;
    use super::*;

    #[test]
    fn finds_two_types_of_one_name() {
        let check = |path: &str, text: &str, expected: &[&str]| {
            let known = ("crates/load/src/a.rs", "pub struct Item;\nenum Kind {}\ntrait Reader {}");
            assert_eq!(violations(duplicates, &[known, (path, text)]), expected, "{path} {text}");
        };
        let found = "crates/load/src/b.rs:2: `Item` is also the name of a type in a.rs";
        check("crates/load/src/b.rs", "\nstruct Item;", &[found]);
        check("crates/load/src/b.rs", "\nmod c { pub enum Item {} }", &[found]);
        let found = ["Kind", "Reader"]
            .map(|name| format!("crates/load/src/b.rs:1: `{name}` is also the name of a type in a.rs"));
        check("crates/load/src/b.rs", "trait Kind {} struct Reader;", &[&found[0], &found[1]]);
        check("crates/load/src/b.rs", "struct Other; fn f(item: Item) -> Kind {}", &[]);
        check("crates/load/src/b.rs", "#[cfg(test)]\nmod tests { struct Item; }", &[]);
        check("crates/load/src/tests.rs", "struct Item;", &[]);
        check("crates/wire/src/b.rs", "struct Item;", &[]);
        for (krate, name) in QUALIFIED {
            let files = ["a", "b"].map(|file| format!("crates/{krate}/src/{file}.rs"));
            let text = format!("struct {name};");
            assert_eq!(
                violations(duplicates, &files.each_ref().map(|file| (file.as_str(), text.as_str()))),
                [""; 0]
            );
        }
    }

    #[test]
    fn test_modules_may_repeat_names() {
        let files = [
            ("crates/load/src/lib.rs", "mod a;\n#[cfg(test)]\nmod fixture;"),
            ("crates/load/src/a.rs", "struct Item;"),
            ("crates/load/src/fixture.rs", "mod trial; struct Item;"),
            ("crates/load/src/fixture/trial.rs", "struct Item;"),
        ];
        assert_eq!(violations(duplicates, &files), [""; 0]);
    }
}
