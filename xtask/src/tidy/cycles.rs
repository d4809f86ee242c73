//! Check for import cycles between the child modules of one module.

use super::{Violation, tree::File, tree::Tree};
use std::collections::{BTreeMap, BTreeSet};

/// Imported modules by importing module, each with the file and line of one import.
type Imports<'a> = BTreeMap<&'a str, BTreeMap<&'a str, (&'a str, usize)>>;

pub fn cycles(tree: &Tree) -> Vec<Violation> {
    let mut all = Vec::new();
    let crates: BTreeSet<&str> = tree.rust_files().filter_map(File::krate).collect();
    for krate in crates {
        for (parent, imports) in Modules::of_crate(tree, krate).imports() {
            let parent = [&[krate], &parent[..]].concat().join("::");
            for cycle in components(&imports) {
                let first = imports[cycle[0]].iter().find(|(name, _)| cycle.contains(name));
                let (file, line) = first.map_or((krate, 1), |(_, place)| *place);
                let message = format!("modules {} of {parent} import each other", cycle.join(", "));
                all.push(Violation::new(
                    file,
                    line,
                    message,
                    "move what they share into a module below them",
                ));
            }
        }
    }
    all
}

/// Names of modules from the crate's root to a module or item; empty for the root.
type Path<'a> = Vec<&'a str>;

/// The modules of a crate, except test modules.
struct Modules<'a>(BTreeMap<Path<'a>, &'a File>);

impl<'a> Modules<'a> {
    fn of_crate(tree: &'a Tree, krate: &str) -> Modules<'a> {
        let files = tree.rust_files().filter(|file| file.krate() == Some(krate));
        let mut all: BTreeMap<Path<'_>, &File> =
            files.filter_map(|file| Some((module_path(file)?, file))).collect();
        let tests: Vec<Path<'_>> = all
            .iter()
            .flat_map(|(path, file)| {
                let tests = file.source().modules.iter().filter(|module| module.test);
                tests.map(|module| path.iter().copied().chain(module.name.split('/')).collect())
            })
            .collect();
        all.retain(|path, _| !tests.iter().any(|test| path.starts_with(test)));
        Modules(all)
    }

    /// Imports between the children of each module, by the module's path.
    fn imports(&self) -> BTreeMap<Path<'a>, Imports<'a>> {
        let mut all: BTreeMap<Path<'_>, Imports<'_>> = BTreeMap::new();
        for (from, file) in &self.0 {
            for (path, line) in &file.source().paths {
                if let Some((depth, to)) = self.sibling(from, resolve(from, path)) {
                    let row = all.entry(from[..depth].to_vec()).or_default().entry(from[depth]).or_default();
                    row.entry(to).or_insert((&file.path, *line));
                }
            }
        }
        all
    }

    /// Finds the module that contains `target`, but not `from`, and whose parent contains both. Returns the parent's
    /// depth and the module's name; `None` if there is no such module. Follows imports of the parent.
    fn sibling(&self, from: &[&str], mut target: Path<'a>) -> Option<(usize, &'a str)> {
        for _ in 0..self.0.len() {
            let depth = from.iter().zip(&target).take_while(|(a, b)| a == b).count();
            let (parent, name) = (&target[..depth], *target.get(depth)?);
            if depth == from.len() {
                return None;
            }
            if self.0.contains_key(&target[..=depth]) {
                return Some((depth, name));
            }
            let imports = &self.0.get(parent)?.source().imports;
            let import = imports.iter().find(|path| path.rsplit("::").next() == Some(name))?;
            target = resolve(parent, import).into_iter().chain(target[depth + 1..].iter().copied()).collect();
        }
        None
    }
}

/// Path of the module in a file; `None` for a file that is a program.
fn module_path(file: &File) -> Option<Path<'_>> {
    match file.path_in_crate().strip_suffix(".rs")? {
        "lib" | "main" => Some(Vec::new()),
        program if program.starts_with("bin/") => None,
        path => Some(path.split('/').collect()),
    }
}

/// The path from the crate's root to the item that module `from` calls `path`.
fn resolve<'a>(from: &[&'a str], path: &'a str) -> Path<'a> {
    let mut names = path.split("::").peekable();
    let mut all = from.to_vec();
    if names.next_if_eq(&"crate").is_some() {
        all.clear();
    }
    while let Some(name) = names.next_if(|name| ["self", "super"].contains(name)) {
        if name == "super" {
            all.pop();
        }
    }
    all.extend(names);
    all
}

/// Sets of two or more modules that all import each other, directly or indirectly, in the order of their names.
fn components<'a>(imports: &Imports<'a>) -> BTreeSet<Vec<&'a str>> {
    let reached = |from: &str| {
        let mut reached = BTreeSet::new();
        let mut open = vec![from];
        while let Some(module) = open.pop() {
            for to in imports.get(module).into_iter().flat_map(BTreeMap::keys) {
                if reached.insert(*to) {
                    open.push(to);
                }
            }
        }
        reached
    };
    let all: BTreeMap<&str, BTreeSet<&str>> =
        imports.keys().map(|module| (*module, reached(module))).collect();
    let in_cycle = all.iter().filter(|(module, reached)| reached.contains(*module));
    let back = |module: &str, to: &str| all.get(to).is_some_and(|reached| reached.contains(module));
    in_cycle
        .map(|(module, reached)| reached.iter().copied().filter(|to| back(module, to)).collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(files: &[(&str, &str)]) -> Vec<String> {
        let all = cycles(&Tree::from_files(files));
        all.iter().map(|it| format!("{}:{}: {}", it.file, it.line, it.message)).collect()
    }

    #[test]
    fn finds_a_cycle_through_nested_modules() {
        let files = [
            ("crates/load/src/lib.rs", "mod a; mod b; mod c; use a::A; use c::C;"),
            ("crates/load/src/a.rs", "use crate::b::B;"),
            ("crates/load/src/b.rs", "mod deep;"),
            ("crates/load/src/b/deep.rs", "\nuse super::super::c::C;"),
            ("crates/load/src/c.rs", "use super::{d, a::A};"),
        ];
        let expected = ["crates/load/src/a.rs:1: modules a, b, c of load import each other"];
        assert_eq!(check(&files), expected);
        assert_eq!(check(&files[..4]), [""; 0]);
    }

    #[test]
    fn finds_cycles_between_nested_modules() {
        let files = [
            ("crates/load/src/lib.rs", "mod a; mod b; pub use a::inner::A;"),
            ("crates/load/src/a.rs", "mod inner; mod outer; use outer::{B as C, D};"),
            ("crates/load/src/a/inner.rs", "\nuse super::D;"),
            ("crates/load/src/a/outer.rs", "fn f() { self::B; super::inner::A::new(); }"),
            ("crates/load/src/b.rs", "use crate::A;"),
        ];
        let expected = ["crates/load/src/a/inner.rs:2: modules inner, outer of load::a import each other"];
        assert_eq!(check(&files), expected);
    }

    #[test]
    fn follows_imports_of_the_parent() {
        let files = [
            ("crates/load/src/lib.rs", "mod a; mod b; pub use a::inner::A;"),
            ("crates/load/src/a.rs", "mod inner; use crate::b::B;"),
            ("crates/load/src/b.rs", "use crate::A;"),
        ];
        assert_eq!(check(&files), ["crates/load/src/a.rs:1: modules a, b of load import each other"]);
    }

    #[test]
    fn ignores_imports_of_tests_and_within_a_module() {
        let files = [
            ("crates/load/src/a.rs", "use crate::b::B; mod inner; #[cfg(test)] mod fixture;"),
            ("crates/load/src/a/inner.rs", "use super::A; use crate::a::B; use super::super::a::C;"),
            ("crates/load/src/a/fixture.rs", "use super::inner::A; use crate::a::B;"),
            (
                "crates/load/src/b.rs",
                "#[cfg(test)] mod tests { use crate::a::A; }\n#[cfg(test)] mod fixture;",
            ),
            ("crates/load/src/b/fixture.rs", "use crate::a::A;"),
        ];
        assert_eq!(check(&files), [""; 0]);
    }
}
