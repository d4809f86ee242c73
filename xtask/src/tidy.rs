//! Checks the project against the rules of ARCHITECTURE.md and CONTRIBUTING.md.

mod anchors;
mod catalogue;
mod closures;
mod cycles;
mod dialect;
mod documents;
mod files;
mod layers;
mod leftovers;
mod manifest;
mod manual;
mod products;
mod source;
pub mod tree;
mod type_names;

use std::fmt;
use std::path::Path;
use std::process::ExitCode;
use tree::Tree;

/// A violation of a rule at one place, and its fix.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Violation {
    file: String,
    /// Line, counted from 1.
    line: usize,
    message: String,
    fix: String,
}

impl Violation {
    fn new(file: &str, line: usize, message: impl Into<String>, fix: impl Into<String>) -> Violation {
        Violation { file: file.to_owned(), line, message: message.into(), fix: fix.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Violation { file, line, message, fix } = self;
        write!(f, "{file}:{line}: {message}; {fix}")
    }
}

type Rule = fn(&Tree) -> Vec<Violation>;

/// Rules; any violation fails the check.
const RULES: &[(&str, Rule)] = &[
    ("every source can be read", source::invalid_sources),
    ("crates import only what lies below them", layers::imports),
    ("crates depend on no library that they must not know", layers::libraries),
    ("child modules of a module form no cycle", cycles::cycles),
    ("only closures of one line name a value `it`", closures::it_bindings),
    ("clocks, files, sockets and the environment stay where they belong", layers::forbidden_paths),
    ("only programs print", layers::print_macros),
    ("the analysis contains no sentence", layers::sentences),
    ("only the product table and the components know poolers", products::products),
    ("no crate has two types of one name", type_names::duplicates),
    ("every source file is part of a crate", files::unreachable_files),
    ("every module's file bears its name", files::module_style),
    ("every module has a doc comment", files::missing_module_docs),
    ("comments, pages and messages are written in plain English", dialect::dialect),
    ("languages have the messages that the code uses", catalogue::catalogue),
    ("nothing is left for later", leftovers::leftovers),
    ("every link leads somewhere", documents::links),
    ("the index of the manual lists every page once", manual::index),
    ("translations have the headings of their originals", manual::translations),
    ("every command has an anchor in the manual", anchors::commands),
    ("every finding, figure and chart has an anchor in the manual", anchors::facts),
    ("the manual lists the keys of the experiment file as they are", anchors::keys),
    ("every promise has a test", documents::promises),
    ("the map shows the crates as they are", documents::crate_table),
    ("every crate obeys the workspace's lints", manifest::lints),
];

/// Rules whose violations are only printed.
const ADVICE: [(&str, Rule); 1] = [("files are short", files::long_files)];

/// Checks the project that contains this program's source.
pub fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is in the project's root");
    let tree = match Tree::read(root) {
        Ok(tree) => tree,
        Err(error) => {
            eprintln!("tidy: cannot read the project: {error}");
            return ExitCode::from(1);
        }
    };
    for (_, rule) in ADVICE {
        rule(&tree).iter().for_each(|it| eprintln!("{it} (advice)"));
    }
    let mut count = 0;
    for (name, rule) in RULES {
        let mut violations = rule(&tree);
        violations.sort();
        if !violations.is_empty() {
            eprintln!("\nbroken: {name}");
        }
        violations.iter().for_each(|it| eprintln!("  {it}"));
        count += violations.len();
    }
    if count > 0 {
        eprintln!("\ntidy: {count} violation{}", if count == 1 { "" } else { "s" });
        return ExitCode::from(1);
    }
    println!("tidy: {} rules hold in {} files", RULES.len(), tree.files.len());
    ExitCode::SUCCESS
}

/// Violations of a rule in a synthetic tree, as `file:line: message`.
#[cfg(test)]
fn violations(rule: Rule, files: &[(&str, &str)]) -> Vec<String> {
    let mut all = rule(&Tree::from_files(files));
    all.sort();
    all.iter().map(|it| format!("{}:{}: {}", it.file, it.line, it.message)).collect()
}
