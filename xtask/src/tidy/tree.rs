//! Files of the project.

use super::source::Source;
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::path::Path;
use std::{fs, io};

/// Text files of the project, or of a synthetic project in tests.
#[derive(Debug)]
pub struct Tree {
    pub files: Vec<File>,
}

#[derive(Debug)]
pub struct File {
    /// Path from the project's root, with `/`.
    pub path: String,
    pub text: String,
    source: OnceCell<Source>,
}

/// Names of files and directories that are generated or not part of the source.
const SKIPPED: [&str; 7] = ["target", ".git", "node_modules", "runs", "artifacts", "corpus", "Cargo.lock"];

impl Tree {
    pub fn read(root: &Path) -> io::Result<Tree> {
        let mut files = Vec::new();
        let mut folders = vec![root.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder)? {
                let path = entry?.path();
                if path.file_name().is_some_and(|name| SKIPPED.iter().any(|skipped| name == *skipped)) {
                    continue;
                }
                let kind = fs::symlink_metadata(&path)?.file_type();
                if kind.is_dir() {
                    folders.push(path);
                } else if kind.is_file() {
                    // A file that is not UTF-8 counts as empty, because links may lead to it.
                    let text = String::from_utf8(fs::read(&path)?).unwrap_or_default();
                    let parts: Vec<_> =
                        path.strip_prefix(root).expect("found below the root").iter().collect();
                    let name = parts.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/");
                    files.push(File { path: name, text, source: OnceCell::new() });
                }
            }
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Tree { files })
    }

    #[cfg(test)]
    pub fn from_files(files: &[(&str, &str)]) -> Tree {
        let file = |&(path, text): &(&str, &str)| File {
            path: path.to_owned(),
            text: text.to_owned(),
            source: OnceCell::new(),
        };
        Tree { files: files.iter().map(file).collect() }
    }

    /// Paths, without the extension, of the modules that are declared for tests only.
    pub fn test_modules(&self) -> BTreeSet<String> {
        let mut paths = BTreeSet::new();
        for file in self.rust_files() {
            let (folder, name) = file.path.rsplit_once('/').unwrap_or(("", &file.path));
            let folder = match name {
                "lib.rs" | "main.rs" => folder.to_owned(),
                _ => format!("{folder}/{}", name.trim_end_matches(".rs")),
            };
            let modules = file.source().modules.iter().filter(|module| module.test);
            paths.extend(modules.map(|module| format!("{folder}/{}", module.name)));
        }
        paths
    }

    pub fn get(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Rust files, except files that contain only tests.
    pub fn rust_files(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.path.ends_with(".rs") && !file.is_test())
    }
}

/// True if the file belongs to one of the modules, or to a module within one of them.
pub fn is_within(path: &str, modules: &BTreeSet<String>) -> bool {
    let stem = path.trim_end_matches(".rs");
    stem.match_indices('/').map(|(end, _)| &stem[..end]).chain([stem]).any(|part| modules.contains(part))
}

impl File {
    /// The crate's name, for files of `crates/NAME/src`.
    pub fn krate(&self) -> Option<&str> {
        let (name, rest) = self.path.strip_prefix("crates/")?.split_once('/')?;
        rest.starts_with("src/").then_some(name)
    }

    /// Path below `src` of its crate: `shard/poll.rs`.
    pub fn path_in_crate(&self) -> &str {
        self.path.split_once("/src/").map_or("", |(_, rest)| rest)
    }

    /// True for a file that contains only tests.
    pub fn is_test(&self) -> bool {
        self.path.split('/').any(|part| part == "tests" || part == "tests.rs")
    }

    /// The names in the file; computed once.
    pub fn source(&self) -> &Source {
        self.source.get_or_init(|| Source::parse(&self.text))
    }
}
