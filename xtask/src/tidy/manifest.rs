//! Parser of crate manifests: dependencies and lints.

use super::{Violation, tree::File, tree::Tree};
use toml::{Table, Value};

/// One line of a dependency section.
#[derive(Debug, PartialEq, Eq)]
pub struct Dependency {
    pub name: String,
    pub line: usize,
    /// True for a dependency of tests, benchmarks and examples only.
    pub dev: bool,
}

/// Manifests of `crates/*` with the crates' names, in alphabetical order.
pub fn crates(tree: &Tree) -> impl Iterator<Item = (&str, &File)> {
    tree.files.iter().filter_map(|file| {
        let name = file.path.strip_prefix("crates/")?.strip_suffix("/Cargo.toml")?;
        (!name.contains('/')).then_some((name, file))
    })
}

/// All dependencies, including dependencies for single platforms.
pub fn dependencies(manifest: &File) -> Vec<Dependency> {
    let Ok(table) = manifest.text.parse::<Table>() else { return Vec::new() };
    let targets = table.get("target").and_then(Value::as_table).into_iter().flatten();
    let platforms = targets.filter_map(|(_, platform)| platform.as_table());
    let mut all = Vec::new();
    for table in std::iter::once(&table).chain(platforms) {
        for (section, dev) in
            [("dependencies", false), ("build-dependencies", false), ("dev-dependencies", true)]
        {
            let entries = table.get(section).and_then(Value::as_table).into_iter().flatten();
            all.extend(entries.map(|(key, value)| {
                let name = value.get("package").and_then(Value::as_str).unwrap_or(key).to_owned();
                Dependency { name, line: line_of(&manifest.text, key), dev }
            }));
        }
    }
    all
}

/// The line that contains a key.
fn line_of(text: &str, key: &str) -> usize {
    let is_key = |line: &str| {
        let line = line.trim_start().trim_start_matches('"');
        line.strip_prefix(key).is_some_and(|rest| rest.starts_with([' ', '=', '.', '"']))
            || line.ends_with(&format!("ependencies.{key}]"))
    };
    text.lines().position(is_key).map_or(1, |i| i + 1)
}

pub fn lints(tree: &Tree) -> Vec<Violation> {
    let manifests = tree
        .files
        .iter()
        .filter(|file| file.path.ends_with("/Cargo.toml") && !file.path.starts_with("fuzz/"));
    let lacks = |file: &&File| {
        let table = file.text.parse::<Table>().unwrap_or_default();
        table.get("lints").and_then(|it| it.get("workspace")).and_then(Value::as_bool) != Some(true)
    };
    let violation = |file: &File| {
        Violation::new(
            &file.path,
            1,
            "the manifest does not use the workspace's lints",
            "add `[lints] workspace = true`",
        )
    };
    manifests.filter(lacks).map(violation).collect()
}

#[cfg(test)]
mod tests {
    use super::super::violations;
    use super::*;

    #[test]
    fn reads_every_dependency_section() {
        let text = "[package]\nname = \"a\"\n[dependencies]\nwire.workspace = true\nb = { package = \"c\", version = \"1\" }\n\
                    [dev-dependencies]\nd = \"1\"\n[target.'cfg(unix)'.dependencies]\ne = \"1\"\n[build-dependencies.f]\nversion = \"1\"\n";
        let tree = Tree::from_files(&[("crates/a/Cargo.toml", text)]);
        let found: Vec<_> =
            dependencies(&tree.files[0]).into_iter().map(|it| (it.name, it.line, it.dev)).collect();
        let wanted = [("c", 5, false), ("wire", 4, false), ("f", 10, false), ("d", 7, true), ("e", 9, false)];
        assert_eq!(found, wanted.map(|(name, line, dev)| (name.to_owned(), line, dev)));
    }

    #[test]
    fn finds_a_crate_without_lints() {
        let found = violations(
            lints,
            &[("crates/a/Cargo.toml", "[package]\n"), ("crates/b/Cargo.toml", "[lints]\nworkspace = true\n")],
        );
        assert_eq!(found, ["crates/a/Cargo.toml:1: the manifest does not use the workspace's lints"]);
    }
}
