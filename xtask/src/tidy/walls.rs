//! Which crate must not know what?

use super::{Complaint, manifest, tree::File, tree::Tree};

/// One crate and what it may know; ARCHITECTURE.md gives the reasons.
struct Wall {
    krate: &'static str,
    /// Of ours.
    imports: &'static [&'static str],
    /// Libraries it must not depend on.
    not: &'static [&'static str],
}

const ASYNC: [&str; 6] = ["tokio", "mio", "async-std", "smol", "futures", "futures-util"];

const WALLS: [Wall; 10] = [
    Wall {
        krate: "wire",
        imports: &[],
        not: &["rustix", "libc", "socket2", "io-uring", "serde", "serde_json", "clap"],
    },
    Wall {
        krate: "model",
        imports: &["wire"],
        not: &["rustix", "libc", "socket2", "io-uring", "serde_json", "clap"],
    },
    Wall { krate: "load", imports: &["wire", "model"], not: &["serde", "serde_json", "clap"] },
    Wall { krate: "stack", imports: &["wire", "model"], not: &["clap"] },
    Wall {
        krate: "analysis",
        imports: &["model"],
        not: &["rustix", "libc", "socket2", "io-uring", "serde_json", "clap"],
    },
    Wall {
        krate: "experiment",
        imports: &["model"],
        not: &["rustix", "libc", "socket2", "io-uring", "clap"],
    },
    Wall { krate: "feed", imports: &["model"], not: &["rustix", "libc", "socket2", "io-uring", "clap"] },
    Wall { krate: "report", imports: &["model"], not: &["rustix", "libc", "socket2", "io-uring", "clap"] },
    Wall { krate: "store", imports: &["model"], not: &["socket2", "io-uring", "clap"] },
    Wall {
        krate: "pgdyno",
        imports: &["wire", "model", "load", "stack", "analysis", "experiment", "feed", "report", "store"],
        not: &[],
    },
];

/// No async runtime below these.
const ASYNC_IN: [&str; 2] = ["stack", "pgdyno"];

fn wall(krate: &str) -> Option<&'static Wall> {
    WALLS.iter().find(|wall| wall.krate == krate)
}

/// Dependencies between our crates, and the part of `wire` that `model` may name.
pub fn imports(tree: &Tree) -> Vec<Complaint> {
    let mut all = Vec::new();
    for (krate, file) in manifest::crates(tree) {
        let Some(wall) = wall(krate) else {
            let todo = "add its line to WALLS in xtask/src/tidy/walls.rs and to the table in ARCHITECTURE.md";
            all.push(Complaint::new(&file.path, 1, format!("no wall is known around `{krate}`"), todo));
            continue;
        };
        for it in manifest::dependencies(file) {
            let ours = WALLS.iter().any(|wall| wall.krate == it.name);
            if ours && !wall.imports.contains(&it.name.as_str()) {
                let todo = format!(
                    "move what both need into `model`, or do it in `pgdyno`, which sees `{}` too",
                    it.name
                );
                all.push(Complaint::new(&file.path, it.line, format!("{krate} imports `{}`", it.name), todo));
            }
        }
    }
    for file in tree.code().filter(|file| file.krate() == Some("model")) {
        for (path, line) in &file.source().paths {
            if path.starts_with("wire::") && path.split("::").nth(1) != Some("Code") {
                let todo = "only `wire::Code` is a shared word; give `model` a word of its own";
                all.push(Complaint::new(&file.path, *line, format!("model names `{path}`"), todo));
            }
        }
    }
    all
}

/// Libraries that would let a crate do what it must not.
pub fn libraries(tree: &Tree) -> Vec<Complaint> {
    let mut all = Vec::new();
    for (krate, file) in manifest::crates(tree) {
        let Some(wall) = wall(krate) else { continue };
        for it in manifest::dependencies(file).into_iter().filter(|it| !it.dev) {
            let name = it.name.as_str();
            let todo = if wall.not.contains(&name) {
                "this crate has no use for it behind its wall; do that work in the crate that may"
            } else if ASYNC.contains(&name) && !ASYNC_IN.contains(&krate) {
                "there is no async runtime below `stack` and `pgdyno`"
            } else {
                continue;
            };
            all.push(Complaint::new(&file.path, it.line, format!("{krate} depends on `{name}`"), todo));
        }
    }
    all
}

/// Where a path may not be named, and what to do instead.
struct Ban {
    /// Whole parts of a path: `Instant` forbids `std::time::Instant` and `time::Instant::now`.
    paths: &'static [&'static str],
    applies: fn(&File) -> bool,
    todo: &'static str,
}

fn pure(file: &File) -> bool {
    match file.krate() {
        Some("wire" | "model" | "analysis" | "experiment" | "feed" | "report") => true,
        Some("load") => !file.within().starts_with("driver"),
        _ => false,
    }
}

fn shard(file: &File) -> bool {
    file.krate() == Some("load") && file.within().starts_with("shard")
}

/// The one reader of the clock that can be set, and who looks when a file was written last.
const WALL_CLOCK: [&str; 2] = ["crates/pgdyno/src/clock.rs", "crates/pgdyno/src/serve/shelf.rs"];

const BANS: [Ban; 6] = [
    Ban {
        paths: &["Instant", "SystemTime", "UNIX_EPOCH"],
        applies: pure,
        todo: "take `now: Nanos` as an argument; clocks are read by drivers, `stack` and `pgdyno`",
    },
    Ban {
        paths: &["SystemTime", "UNIX_EPOCH", "ClockId::Realtime"],
        applies: |file| file.krate().is_some() && !pure(file) && !WALL_CLOCK.contains(&file.path.as_str()),
        todo: "that clock can be set in the middle of a run; take `Instant`, or `clock::unix_time` of `pgdyno`",
    },
    Ban {
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
        applies: pure,
        todo: "take the bytes as an argument; I/O is done by drivers, `stack` and `pgdyno`",
    },
    Ban {
        paths: &["std::env"],
        applies: pure,
        todo: "take the value, or a function that looks it up, as an argument",
    },
    Ban {
        paths: &["rustix", "libc", "io_uring"],
        applies: |file| file.krate() == Some("load") && pure(file),
        todo: "leave system calls to `load::driver`",
    },
    Ban {
        paths: &["Mutex", "RwLock", "Condvar", "mpsc"],
        applies: shard,
        todo: "the shard belongs to one thread; let the driver bring what comes from others",
    },
];

impl Ban {
    fn covers(&self, path: &str) -> bool {
        self.paths.iter().any(|banned| {
            let part = |path: &str| {
                path.starts_with(banned) && path[banned.len()..].chars().next().is_none_or(|c| c == ':')
            };
            part(path) || path.match_indices("::").any(|(i, _)| part(&path[i + 2..]))
        })
    }
}

pub fn forbidden_paths(tree: &Tree) -> Vec<Complaint> {
    let mut all = Vec::new();
    for file in tree.code() {
        for ban in BANS.iter().filter(|ban| (ban.applies)(file)) {
            for (path, line) in file.source().paths.iter().filter(|(path, _)| ban.covers(path)) {
                let krate = file.krate().unwrap_or_default();
                all.push(Complaint::new(&file.path, *line, format!("{krate} names `{path}`"), ban.todo));
            }
        }
    }
    all
}

/// `println!` and its like belong to programs: `pgdyno`, the keeper's process, examples.
pub fn prints(tree: &Tree) -> Vec<Complaint> {
    let may = |file: &File| match file.krate() {
        Some("pgdyno") | None => true,
        Some("stack") => file.within().contains("keeper"),
        Some(_) => false,
    };
    let mut all = Vec::new();
    for file in tree.code().filter(|file| !may(file)) {
        for (name, line) in &file.source().macros {
            if ["print", "println", "eprint", "eprintln", "dbg"].contains(&name.as_str()) {
                let todo = "return a value; `report` puts it into words and `pgdyno` prints it";
                all.push(Complaint::new(&file.path, *line, format!("`{name}!` in a library"), todo));
            }
        }
    }
    all
}

/// A string longer than this, with blanks in it, is taken for a sentence.
const SENTENCE: usize = 40;

pub fn sentences(tree: &Tree) -> Vec<Complaint> {
    let mut all = Vec::new();
    for file in tree.code().filter(|file| file.krate() == Some("analysis")) {
        for (text, line) in &file.source().strings {
            if text.chars().count() > SENTENCE && text.contains(' ') {
                let what =
                    format!("{} looks like a sentence", text.chars().take(SENTENCE).collect::<String>());
                let todo = "return a fact with its evidence; `report` says it";
                all.push(Complaint::new(&file.path, *line, what, todo));
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::complaints;
    use super::*;

    #[test]
    fn imports_against_the_layers_are_found() {
        let found = complaints(
            imports,
            &[
                (
                    "crates/analysis/Cargo.toml",
                    "[dependencies]\nmodel.workspace = true\nload.workspace = true\n",
                ),
                ("crates/wire/Cargo.toml", "[dev-dependencies]\nmodel = { path = \"../model\" }\n"),
                (
                    "crates/pgdyno/Cargo.toml",
                    "[dependencies]\nload.workspace = true\nstack.workspace = true\n",
                ),
                ("crates/helper/Cargo.toml", "[package]\n"),
                ("crates/model/src/lib.rs", "pub use wire::Code;\nuse wire::{Code, pg::Session};\n"),
                ("crates/load/src/lib.rs", "use wire::pg::Session;\n"),
            ],
        );
        assert_eq!(
            found,
            [
                "crates/analysis/Cargo.toml:3: analysis imports `load`",
                "crates/helper/Cargo.toml:1: no wall is known around `helper`",
                "crates/model/src/lib.rs:2: model names `wire::pg::Session`",
                "crates/wire/Cargo.toml:2: wire imports `model`",
            ]
        );
    }

    #[test]
    fn libraries_that_break_a_wall_are_found() {
        let found = complaints(
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

    /// One line of code in one file, and what is said of it.
    #[test]
    fn forbidden_paths_are_found() {
        for (file, code, found) in [
            ("crates/wire/src/lib.rs", "use std::net::TcpStream;", Some("wire names `std::net::TcpStream`")),
            ("crates/wire/src/lib.rs", "use std::{fmt, fs};", Some("wire names `std::fs`")),
            ("crates/wire/src/lib.rs", "use std::net::IpAddr;", None),
            ("crates/model/src/time.rs", "use std::time::Duration;", None),
            (
                "crates/stack/src/sampler/mod.rs",
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
            (
                "crates/load/src/shard/mod.rs",
                "use std::time::Instant;",
                Some("load names `std::time::Instant`"),
            ),
            ("crates/load/src/shard/mod.rs", "use std::sync::Mutex;", Some("load names `std::sync::Mutex`")),
            (
                "crates/load/src/script/a.rs",
                "fn f() { rustix::io::read(0); }",
                Some("load names `rustix::io::read`"),
            ),
            ("crates/load/src/driver/epoll.rs", "use std::time::Instant; use rustix::event::epoll;", None),
            ("crates/load/src/driver.rs", "use std::fs;", None),
            ("crates/load/src/shard/tests.rs", "use std::fs;", None),
            ("crates/load/src/shard/mod.rs", "#[cfg(test)] mod tests { use std::fs; }", None),
            ("crates/load/src/a.rs", "use crate::instant::Instants; use std::environment;", None),
            ("crates/stack/src/lib.rs", "use std::{fs, net, time::Instant};", None),
            ("crates/pgdyno/src/main.rs", "use std::env;", None),
        ] {
            let wanted: Vec<String> = found.iter().map(|it| format!("{file}:1: {it}")).collect();
            assert_eq!(complaints(forbidden_paths, &[(file, code)]), wanted, "{code}");
        }
    }

    #[test]
    fn prints_in_libraries_are_found() {
        let print = "fn f() { println!(); }";
        let found = complaints(
            prints,
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
    fn sentences_in_the_analysis_are_found() {
        let code = "fn f() {\n    say(\"The system holds less than was asked of it\");\n    say(\"p99\");\n\
                    assert!(x, \"a rate is finite, because the parser refuses all others\");\n}";
        let found =
            complaints(sentences, &[("crates/analysis/src/a.rs", code), ("crates/report/src/a.rs", code)]);
        assert_eq!(
            found,
            ["crates/analysis/src/a.rs:2: \"The system holds less than was asked of looks like a sentence"]
        );
    }

    #[test]
    fn every_layer_is_acyclic() {
        // A crate stands behind all that it may import.
        for (i, wall) in WALLS.iter().enumerate() {
            let earlier: Vec<_> = WALLS[..i].iter().map(|it| it.krate).collect();
            assert!(wall.imports.iter().all(|it| earlier.contains(it)), "{}", wall.krate);
        }
    }
}
