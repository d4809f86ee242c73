//! Checks of what each crate may use: imports, libraries, paths, macros, strings.

use super::{Violation, manifest, tree::File, tree::Tree};

/// A crate's permissions; ARCHITECTURE.md gives the reasons.
struct Layer {
    krate: &'static str,
    /// Crates of this project that the crate may import.
    imports: &'static [&'static str],
    /// Libraries that the crate must not depend on.
    forbidden: &'static [&'static str],
}

const ASYNC: [&str; 6] = ["tokio", "mio", "async-std", "smol", "futures", "futures-util"];

const LAYERS: [Layer; 12] = [
    Layer {
        krate: "model",
        imports: &[],
        forbidden: &["rustix", "libc", "socket2", "io-uring", "serde_json", "clap"],
    },
    Layer {
        krate: "wire",
        imports: &["model"],
        forbidden: &["rustix", "libc", "socket2", "io-uring", "serde", "serde_json", "clap"],
    },
    Layer { krate: "load", imports: &["wire", "model"], forbidden: &["serde", "serde_json", "clap"] },
    Layer { krate: "stack", imports: &["wire", "model"], forbidden: &["clap"] },
    Layer {
        krate: "analysis",
        imports: &["model"],
        forbidden: &["rustix", "libc", "socket2", "io-uring", "serde_json", "clap"],
    },
    Layer {
        krate: "experiment",
        imports: &["model"],
        forbidden: &["rustix", "libc", "socket2", "io-uring", "clap"],
    },
    Layer {
        krate: "feed",
        imports: &["model"],
        forbidden: &["rustix", "libc", "socket2", "io-uring", "clap"],
    },
    Layer {
        krate: "report",
        imports: &["model"],
        forbidden: &["rustix", "libc", "socket2", "io-uring", "clap"],
    },
    Layer { krate: "store", imports: &["model"], forbidden: &["socket2", "io-uring", "clap"] },
    Layer {
        krate: "traffic",
        imports: &["wire", "model"],
        forbidden: &["libc", "socket2", "io-uring", "clap"],
    },
    Layer {
        krate: "agent",
        imports: &["model"],
        forbidden: &["rustix", "libc", "socket2", "io-uring", "clap"],
    },
    Layer {
        krate: "pgdyno",
        imports: &[
            "agent",
            "wire",
            "model",
            "load",
            "stack",
            "analysis",
            "experiment",
            "feed",
            "report",
            "store",
            "traffic",
        ],
        forbidden: &[],
    },
];

/// Crates that may use an async runtime.
const ASYNC_CRATES: [&str; 3] = ["agent", "stack", "pgdyno"];

fn layer_of(krate: &str) -> Option<&'static Layer> {
    LAYERS.iter().find(|wall| wall.krate == krate)
}

/// Reports forbidden imports between the project's crates, and forbidden paths of `model` in `wire`.
pub fn imports(tree: &Tree) -> Vec<Violation> {
    let mut all = Vec::new();
    for (krate, file) in manifest::crates(tree) {
        let Some(wall) = layer_of(krate) else {
            let todo =
                "add its line to LAYERS in xtask/src/tidy/layers.rs and to the table in ARCHITECTURE.md";
            all.push(Violation::new(&file.path, 1, format!("no layer is known for `{krate}`"), todo));
            continue;
        };
        for dependency in manifest::dependencies(file) {
            let is_project_crate = LAYERS.iter().any(|wall| wall.krate == dependency.name);
            if is_project_crate && !wall.imports.contains(&dependency.name.as_str()) {
                let todo = format!(
                    "move what both need into `model`, or do it in `pgdyno`, which sees `{}` too",
                    dependency.name
                );
                all.push(Violation::new(
                    &file.path,
                    dependency.line,
                    format!("{krate} imports `{}`", dependency.name),
                    todo,
                ));
            }
        }
    }
    for file in tree.rust_files().filter(|file| file.krate() == Some("wire")) {
        for (path, line) in &file.source().paths {
            if path.starts_with("model::") && !matches!(path.split("::").nth(1), Some("Code" | "message")) {
                let todo =
                    "a protocol knows no experiment: only `model::Code` and `model::message` are allowed";
                all.push(Violation::new(&file.path, *line, format!("wire names `{path}`"), todo));
            }
        }
    }
    all
}

/// Reports dependencies on forbidden libraries.
pub fn libraries(tree: &Tree) -> Vec<Violation> {
    let mut all = Vec::new();
    for (krate, file) in manifest::crates(tree) {
        let Some(wall) = layer_of(krate) else { continue };
        for dependency in manifest::dependencies(file).into_iter().filter(|it| !it.dev) {
            let name = dependency.name.as_str();
            let todo = if wall.forbidden.contains(&name) {
                "this crate has no use for it behind its wall; do that work in the crate that may"
            } else if ASYNC.contains(&name) && !ASYNC_CRATES.contains(&krate) {
                "there is no async runtime below `agent`, `stack` and `pgdyno`"
            } else {
                continue;
            };
            all.push(Violation::new(
                &file.path,
                dependency.line,
                format!("{krate} depends on `{name}`"),
                todo,
            ));
        }
    }
    all
}

/// Forbidden paths, the files in which they are forbidden, and the fix.
struct PathBan {
    /// Whole segments of the forbidden paths: `Instant` forbids `std::time::Instant` and `time::Instant::now`.
    paths: &'static [&'static str],
    applies: fn(&File) -> bool,
    fix: &'static str,
}

fn is_pure(file: &File) -> bool {
    match file.krate() {
        Some("wire" | "model" | "analysis" | "experiment" | "feed" | "report") => true,
        Some("agent") => !file.path_in_crate().starts_with("nats"),
        Some("load") => !file.path_in_crate().starts_with("driver"),
        Some("traffic") => !file.path_in_crate().starts_with("proxy/serve"),
        _ => false,
    }
}

fn is_hot_loop(file: &File) -> bool {
    file.krate() == Some("load") && file.path_in_crate().starts_with("shard")
}

/// Files that may read the wall clock: the clock module, and the run index for modification times.
const WALL_CLOCK: [&str; 2] = ["crates/pgdyno/src/clock.rs", "crates/pgdyno/src/serve/run_index.rs"];

const BANS: [PathBan; 7] = [
    PathBan {
        paths: &["Instant", "SystemTime", "UNIX_EPOCH"],
        applies: is_pure,
        fix: "take `now: Nanos` as an argument; clocks are read by drivers, `stack` and `pgdyno`",
    },
    PathBan {
        paths: &["SystemTime", "UNIX_EPOCH", "ClockId::Realtime"],
        applies: |file| file.krate().is_some() && !is_pure(file) && !WALL_CLOCK.contains(&file.path.as_str()),
        fix: "that clock can be set in the middle of a run; take `Instant`, or `clock::unix_time` of `pgdyno`",
    },
    PathBan {
        paths: &[
            "std::fs",
            "std::process",
            "std::thread",
            "io::stdin",
            "io::stdout",
            "io::stderr",
            "TcpStream",
            "TcpListener",
            "UdpSocket",
            "ToSocketAddrs",
            "UnixStream",
            "UnixListener",
            "UnixDatagram",
        ],
        applies: is_pure,
        fix: "take the bytes as an argument; I/O is done by drivers, `stack` and `pgdyno`",
    },
    PathBan {
        paths: &["std::env"],
        applies: is_pure,
        fix: "take the value, or a function that looks it up, as an argument",
    },
    PathBan {
        paths: &["rustix", "libc", "io_uring"],
        applies: |file| matches!(file.krate(), Some("load" | "traffic")) && is_pure(file),
        fix: "leave system calls to `load::driver` and `traffic::proxy::serve`",
    },
    PathBan {
        paths: &["Mutex", "RwLock", "Condvar", "mpsc"],
        applies: is_hot_loop,
        fix: "the shard belongs to one thread; let the driver bring what comes from others",
    },
    PathBan {
        paths: &["Arc::clone"],
        applies: is_hot_loop,
        fix: "borrow it from the shard: the reference count is a cache line that all threads write",
    },
];

impl PathBan {
    fn matches(&self, path: &str) -> bool {
        self.paths.iter().any(|banned| {
            let part = |path: &str| {
                path.starts_with(banned) && path[banned.len()..].chars().next().is_none_or(|c| c == ':')
            };
            part(path) || path.match_indices("::").any(|(i, _)| part(&path[i + 2..]))
        })
    }
}

pub fn forbidden_paths(tree: &Tree) -> Vec<Violation> {
    let mut all = Vec::new();
    for file in tree.rust_files() {
        for ban in BANS.iter().filter(|ban| (ban.applies)(file)) {
            for (path, line) in file.source().paths.iter().filter(|(path, _)| ban.matches(path)) {
                let krate = file.krate().unwrap_or_default();
                all.push(Violation::new(&file.path, *line, format!("{krate} names `{path}`"), ban.fix));
            }
        }
    }
    all
}

/// Reports `println!` and similar macros outside programs: `pgdyno`, the keeper process, examples.
pub fn print_macros(tree: &Tree) -> Vec<Violation> {
    let may = |file: &File| match file.krate() {
        Some("pgdyno") | None => true,
        Some("stack") => file.path_in_crate().contains("keeper"),
        Some(_) => false,
    };
    let mut all = Vec::new();
    for file in tree.rust_files().filter(|file| !may(file)) {
        for (name, line) in &file.source().macros {
            if ["print", "println", "eprint", "eprintln", "dbg"].contains(&name.as_str()) {
                let todo = "return a value; `report` puts it into words and `pgdyno` prints it";
                all.push(Violation::new(&file.path, *line, format!("`{name}!` in a library"), todo));
            }
        }
    }
    all
}

/// Maximum length in characters of a string with blanks that does not count as a sentence.
const SENTENCE_CHARS: usize = 40;

pub fn sentences(tree: &Tree) -> Vec<Violation> {
    let mut all = Vec::new();
    for file in tree.rust_files().filter(|file| file.krate() == Some("analysis")) {
        for (text, line) in &file.source().strings {
            if text.chars().count() > SENTENCE_CHARS && text.contains(' ') {
                let message = format!(
                    "{} looks like a sentence",
                    text.chars().take(SENTENCE_CHARS).collect::<String>()
                );
                let todo = "return a fact with its evidence; `report` says it";
                all.push(Violation::new(&file.path, *line, message, todo));
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
    fn finds_imports_against_the_layers() {
        let found = violations(
            imports,
            &[
                (
                    "crates/analysis/Cargo.toml",
                    "[dependencies]\nmodel.workspace = true\nload.workspace = true\n",
                ),
                ("crates/model/Cargo.toml", "[dev-dependencies]\nwire = { path = \"../wire\" }\n"),
                (
                    "crates/pgdyno/Cargo.toml",
                    "[dependencies]\nload.workspace = true\nstack.workspace = true\n",
                ),
                ("crates/helper/Cargo.toml", "[package]\n"),
                (
                    "crates/wire/src/lib.rs",
                    "pub use model::Code;\nuse model::{message::Message, plan::Setup};\n",
                ),
                ("crates/load/src/lib.rs", "use model::plan::Setup;\n"),
            ],
        );
        assert_eq!(
            found,
            [
                "crates/analysis/Cargo.toml:3: analysis imports `load`",
                "crates/helper/Cargo.toml:1: no layer is known for `helper`",
                "crates/model/Cargo.toml:2: model imports `wire`",
                "crates/wire/src/lib.rs:2: wire names `model::plan::Setup`",
            ]
        );
    }

    #[test]
    fn finds_forbidden_libraries() {
        let found = violations(
            libraries,
            &[
                (
                    "crates/load/Cargo.toml",
                    "[dependencies]\nserde = \"1\"\ntokio = \"1\"\n[dev-dependencies]\nserde_json = \"1\"\n",
                ),
                ("crates/report/Cargo.toml", "[dependencies]\nserde_json = \"1\"\nlibc = \"1\"\n"),
                ("crates/stack/Cargo.toml", "[dependencies]\ntokio = \"1\"\n"),
            ],
        );
        assert_eq!(
            found,
            [
                "crates/load/Cargo.toml:2: load depends on `serde`",
                "crates/load/Cargo.toml:3: load depends on `tokio`",
                "crates/report/Cargo.toml:3: report depends on `libc`",
            ]
        );
    }

    /// Checks rows of file, one line of code, and expected violation.
    #[test]
    fn finds_forbidden_paths() {
        for (file, code, found) in [
            ("crates/wire/src/lib.rs", "use std::net::TcpStream;", Some("wire names `std::net::TcpStream`")),
            ("crates/wire/src/lib.rs", "use std::{fmt, fs};", Some("wire names `std::fs`")),
            ("crates/wire/src/lib.rs", "use std::net::IpAddr;", None),
            ("crates/model/src/time.rs", "use std::time::Duration;", None),
            (
                "crates/stack/src/sampler.rs",
                "use std::time::SystemTime;",
                Some("stack names `std::time::SystemTime`"),
            ),
            ("crates/pgdyno/src/clock.rs", "use std::time::SystemTime;", None),
            (
                "crates/model/src/time.rs",
                "use std::time::{Duration, Instant};",
                Some("model names `std::time::Instant`"),
            ),
            (
                "crates/analysis/src/a.rs",
                "fn f() { time::SystemTime::now(); }",
                Some("analysis names `time::SystemTime::now`"),
            ),
            (
                "crates/report/src/a.rs",
                "fn f() { std::env::var(\"LANG\"); }",
                Some("report names `std::env::var`"),
            ),
            ("crates/report/src/a.rs", "use std::io::{self, Write};", None),
            ("crates/report/src/a.rs", "fn f() { io::stdout(); }", Some("report names `io::stdout`")),
            ("crates/load/src/shard.rs", "use std::time::Instant;", Some("load names `std::time::Instant`")),
            ("crates/load/src/shard.rs", "use std::sync::Mutex;", Some("load names `std::sync::Mutex`")),
            (
                "crates/load/src/shard/run.rs",
                "fn f(&self) { let work = Arc::clone(&self.work); }",
                Some("load names `Arc::clone`"),
            ),
            (
                "crates/load/src/script/a.rs",
                "fn f() { rustix::io::read(0); }",
                Some("load names `rustix::io::read`"),
            ),
            ("crates/load/src/driver/epoll.rs", "use std::time::Instant; use rustix::event::epoll;", None),
            ("crates/load/src/driver.rs", "use std::fs;", None),
            ("crates/load/src/shard/tests.rs", "use std::fs;", None),
            ("crates/load/src/shard.rs", "#[cfg(test)] mod tests { use std::fs; }", None),
            ("crates/load/src/a.rs", "use crate::instant::Instants; use std::environment;", None),
            ("crates/stack/src/lib.rs", "use std::{fs, net, time::Instant};", None),
            ("crates/pgdyno/src/main.rs", "use std::env;", None),
        ] {
            let wanted: Vec<String> = found.iter().map(|it| format!("{file}:1: {it}")).collect();
            assert_eq!(violations(forbidden_paths, &[(file, code)]), wanted, "{code}");
        }
    }

    #[test]
    fn finds_print_macros_in_libraries() {
        let print = "fn f() { println!(); }";
        let found = violations(
            print_macros,
            &[
                ("crates/load/src/driver/epoll.rs", "fn f() {\n    eprintln!(\"x\");\n}"),
                ("crates/load/src/lib.rs", "#[test]\nfn f() { println!(); }"),
                ("crates/pgdyno/src/main.rs", print),
                ("crates/stack/src/supervisor/keeper.rs", print),
                ("crates/stack/src/find.rs", "fn f() { std::dbg!(1); }"),
                ("xtask/src/main.rs", print),
                ("crates/wire/examples/a.rs", print),
            ],
        );
        assert_eq!(
            found,
            [
                "crates/load/src/driver/epoll.rs:2: `eprintln!` in a library",
                "crates/stack/src/find.rs:1: `dbg!` in a library"
            ]
        );
    }

    #[test]
    fn finds_sentences_in_analysis() {
        let code = "fn f() {\n    say(\"The system holds less than was asked of it\");\n    say(\"p99\");\n\
                    assert!(x, \"a rate is finite, because the parser refuses all others\");\n}";
        let found =
            violations(sentences, &[("crates/analysis/src/a.rs", code), ("crates/report/src/a.rs", code)]);
        assert_eq!(
            found,
            ["crates/analysis/src/a.rs:2: \"The system holds less than was asked of looks like a sentence"]
        );
    }

    #[test]
    fn every_layer_is_acyclic() {
        // LAYERS lists each crate after all crates that it may import.
        for (i, wall) in LAYERS.iter().enumerate() {
            let earlier: Vec<_> = LAYERS[..i].iter().map(|it| it.krate).collect();
            assert!(wall.imports.iter().all(|it| earlier.contains(it)), "{}", wall.krate);
        }
    }
}
