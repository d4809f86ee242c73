//! Checks that source files are reachable, documented and short.

use super::{Violation, source::Module, tree::File, tree::Tree};
use crate::markdown::normalise;
use std::collections::BTreeSet;

/// Reports files that no crate's module tree reaches.
pub fn unreachable_files(tree: &Tree) -> Vec<Violation> {
    let rust = || tree.files.iter().filter(|file| file.path.ends_with(".rs"));
    let mut alive = BTreeSet::new();
    let mut open: Vec<&File> = rust().filter(|file| is_root(&file.path)).collect();
    while let Some(file) = open.pop() {
        if alive.insert(file.path.as_str()) {
            open.extend(file.source().modules.iter().filter_map(|module| find_module(tree, file, module)));
        }
    }
    let violation = |file: &File| {
        Violation::new(
            &file.path,
            1,
            "no `mod` leads to this file",
            "name it in its parent module, or delete it",
        )
    };
    rust().filter(|file| !alive.contains(file.path.as_str())).map(violation).collect()
}

/// True for files that Cargo compiles without a `mod`.
fn is_root(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    match parts[..] {
        [.., "src", "lib.rs" | "main.rs"] | [.., "build.rs"] => true,
        [.., "tests" | "examples" | "benches" | "bin" | "fuzz_targets", _] => {
            !parts.contains(&"src") || parts.contains(&"bin")
        }
        [.., "tests" | "examples" | "benches" | "bin", _, "main.rs"] => true,
        _ => false,
    }
}

/// File that contains the module `mod name;` of `parent`; `None` if there is none.
fn find_module<'a>(tree: &'a Tree, parent: &File, module: &Module) -> Option<&'a File> {
    let (folder, name) = parent.path.rsplit_once('/').unwrap_or(("", &parent.path));
    if let Some(path) = &module.path {
        return tree.get(&normalise(&format!("{folder}/{path}")));
    }
    let stem = name.trim_end_matches(".rs");
    let below = match is_root(&parent.path) || stem == "mod" {
        true => folder.to_owned(),
        false => format!("{folder}/{stem}"),
    };
    let path = format!("{below}/{}", module.name);
    tree.get(&format!("{path}.rs")).or_else(|| tree.get(&format!("{path}/mod.rs")))
}

/// Reports modules whose first line is not `//!`.
pub fn missing_module_docs(tree: &Tree) -> Vec<Violation> {
    let modules = tree.rust_files().filter(|file| file.path.contains("/src/"));
    let silent = modules.filter(|file| !file.text.starts_with("//! "));
    let violation = |file: &File| {
        Violation::new(
            &file.path,
            1,
            "the first line does not say what this file is for",
            "begin it with `//! ` and a noun phrase",
        )
    };
    silent.map(violation).collect()
}

/// Reports modules in `NAME/mod.rs`. Directories of tests may contain one, because Cargo would run `tests/NAME.rs` as a
/// test.
pub fn module_style(tree: &Tree) -> Vec<Violation> {
    let in_folder = |file: &&File| file.path.ends_with("/mod.rs") && file.path.contains("/src/");
    let violation = |file: &File| {
        let path = file.path.trim_end_matches("/mod.rs");
        Violation::new(&file.path, 1, "the file is not named after its module", format!("call it {path}.rs"))
    };
    tree.files.iter().filter(in_folder).map(violation).collect()
}

/// Number of lines above which a file probably contains a second module.
const LINES_MAX: usize = 600;

pub fn long_files(tree: &Tree) -> Vec<Violation> {
    let lines = |file: &File| file.text.lines().count();
    let violation = |file: &File| {
        let todo = "look for the second module in it; a long table or one whole algorithm may stay";
        Violation::new(&file.path, LINES_MAX, format!("{} lines", lines(file)), todo)
    };
    tree.files
        .iter()
        .filter(|file| file.path.ends_with(".rs") && lines(file) > LINES_MAX)
        .map(violation)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::violations;
    use super::*;

    #[test]
    fn finds_unreachable_files() {
        let found = violations(
            unreachable_files,
            &[
                (
                    "crates/a/src/lib.rs",
                    "mod b;\nmod c { mod d; }\n#[cfg(test)] mod tests;\n#[path = \"../shared/e.rs\"] mod e;",
                ),
                ("crates/a/src/b.rs", "mod f;"),
                ("crates/a/src/b/f.rs", "mod g;"),
                ("crates/a/src/b/f/g.rs", ""),
                ("crates/a/src/b/dead.rs", ""),
                ("crates/a/src/c/d.rs", ""),
                ("crates/a/src/tests.rs", "mod h;"),
                ("crates/a/src/tests/h.rs", ""),
                ("crates/a/src/tests/forgotten.rs", ""),
                ("crates/a/shared/e.rs", ""),
                ("crates/a/src/bin/tool.rs", ""),
                ("crates/a/tests/real.rs", "mod common;"),
                ("crates/a/tests/common/mod.rs", ""),
                ("crates/a/build.rs", ""),
                ("fuzz/fuzz_targets/x.rs", ""),
                ("crates/a/src/main2.rs", "// mod b;"),
            ],
        );
        let wanted = ["crates/a/src/b/dead.rs", "crates/a/src/main2.rs", "crates/a/src/tests/forgotten.rs"];
        assert_eq!(found, wanted.map(|file| format!("{file}:1: no `mod` leads to this file")));
    }

    #[test]
    fn finds_files_without_module_docs() {
        let found = violations(
            missing_module_docs,
            &[
                ("crates/a/src/lib.rs", "//! What?\n"),
                ("crates/a/src/b.rs", "\n//! What?\n"),
                ("crates/a/src/c.rs", "use d;\n"),
                ("crates/a/src/tests.rs", "use d;\n"),
                ("crates/a/examples/real.rs", "use d;\n"),
            ],
        );
        let message = "the first line does not say what this file is for";
        assert_eq!(
            found,
            ["crates/a/src/b.rs", "crates/a/src/c.rs"].map(|file| format!("{file}:1: {message}"))
        );
    }

    #[test]
    fn finds_modules_not_named_after_their_file() {
        let names = ["crates/a/src/b/mod.rs", "crates/a/src/b.rs", "crates/a/tests/common/mod.rs"];
        let found = violations(module_style, &names.map(|name| (name, "")));
        assert_eq!(found, ["crates/a/src/b/mod.rs:1: the file is not named after its module"]);
    }

    #[test]
    fn finds_long_files() {
        let found = violations(
            long_files,
            &[("a.rs", &"\n".repeat(600)), ("b.rs", &"\n".repeat(601)), ("c.md", &"\n".repeat(900))],
        );
        assert_eq!(found, ["b.rs:600: 601 lines"]);
    }
}
