//! Comparison of the documents' examples with the program's output
//!
//! In blocks marked `console`, a shell runs the lines that begin with `$ `. The lines that follow are compared with the
//! output; `UPDATE_EXPECT=1` rewrites them. Blocks marked `console,server` need a server. They run if PGDYNO_TEST_DSN
//! supplies one, which replaces `postgres://localhost/bench`. Only the words at the beginning of their lines are
//! compared.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

const DOCUMENTED_SERVER: &str = "postgres://localhost/bench";

#[test]
fn documented_output_is_current() {
    let server = env::var("PGDYNO_TEST_DSN").ok();
    let update = env::var_os("UPDATE_EXPECT").is_some();
    let mut wrong = Vec::new();
    let mut examples = 0;
    for file in documents() {
        let text = fs::read_to_string(&file).expect("found a moment ago");
        let mut fresh = String::new();
        for piece in pieces(&text) {
            let block = match piece {
                Piece::Prose(text) => {
                    fresh += text;
                    continue;
                }
                Piece::Block { server: true, text } if server.is_none() => {
                    fresh += text;
                    continue;
                }
                Piece::Block { server, text } => Block { server, text },
            };
            let shown = run(block.text, server.as_deref());
            examples += 1;
            let same = match block.server {
                // An update replaces output even if it is similar.
                true => !update && alike(block.text, &shown),
                false => block.text == shown,
            };
            if !same {
                wrong.push(format!("{}: instead of\n{}\nis printed\n{shown}", file.display(), block.text));
            }
            fresh += if same { block.text } else { &shown };
        }
        if update && fresh != text {
            fs::write(&file, fresh).expect("the project can be written to");
        }
    }
    assert!(examples > 5, "only {examples} examples were found");
    assert!(update || wrong.is_empty(), "{}\nUPDATE_EXPECT=1 rewrites them", wrong.join("\n"));
}

/// README.md and all documents in docs/ and docs/ru/.
fn documents() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("crates/pgdyno").to_owned();
    let folders = ["docs", "docs/ru"].map(|folder| fs::read_dir(root.join(folder)).expect("docs exist"));
    let docs = folders.into_iter().flatten().map(|entry| entry.expect("readable").path());
    let mut all: Vec<PathBuf> = docs.filter(|path| path.extension().is_some_and(|it| it == "md")).collect();
    all.push(root.join("README.md"));
    // bench.md comes first, because it creates tables that the others use.
    all.sort();
    all
}

struct Block<'a> {
    server: bool,
    text: &'a str,
}

#[derive(Debug, PartialEq)]
enum Piece<'a> {
    Prose(&'a str),
    /// Lines between the fences.
    Block {
        server: bool,
        text: &'a str,
    },
}

/// Splits a text into pieces, whose concatenation is the text.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut all = Vec::new();
    let (mut begin, mut at, mut open) = (0, 0, None);
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        match (open, line.trim_end()) {
            (None, fence @ ("```console" | "```console,server")) => {
                all.push(Piece::Prose(&text[begin..end]));
                (open, begin) = (Some(fence.ends_with("server")), end);
            }
            (Some(server), "```") => {
                all.push(Piece::Block { server, text: &text[begin..at] });
                (open, begin) = (None, at);
            }
            _ => {}
        }
        at = end;
    }
    all.push(Piece::Prose(&text[begin..]));
    all
}

/// Runs the commands of a block. Returns the block with their output, both streams merged.
fn run(block: &str, server: Option<&str>) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_pgdyno"));
    let folder = program.parent().expect("the program is in a directory");
    let path = env::join_paths(
        [folder.to_owned()].into_iter().chain(env::split_paths(&env::var_os("PATH").unwrap_or_default())),
    );
    let mut shown = String::new();
    let mut status = 0;
    for command in block.lines().filter_map(|line| line.strip_prefix("$ ")) {
        let actual = command.replace(DOCUMENTED_SERVER, server.unwrap_or(DOCUMENTED_SERVER));
        let output = Command::new("sh")
            .args(["-c", &format!("exec 2>&1; (exit {status}); {actual}")])
            .env("PATH", path.as_ref().expect("no folder contains a colon"))
            .env("LC_ALL", "C.UTF-8")
            .env("COLUMNS", "100")
            .env_remove("PGBENCH_RANDOM_SEED")
            .stdin(Stdio::null())
            .output()
            .expect("there is a shell");
        status = output.status.code().unwrap_or(1);
        shown += &format!("$ {command}\n{}", String::from_utf8_lossy(&output.stdout));
    }
    // A fence in the output would end the block. Trailing blanks are removed.
    shown.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// True if, for every documented line, the output has a line with the same first words, in the same order.
fn alike(documented: &str, shown: &str) -> bool {
    let mut shown = shown.lines().map(words);
    // Notes depend on the host, and the wrapping of prose depends on its numbers.
    let stable_lines =
        documented.lines().filter(|line| !line.starts_with("note") && !line.starts_with("          "));
    stable_lines.map(words).all(|line| line.is_empty() || shown.any(|other| other == line))
}

/// Beginning of a line up to its first number, at most as wide as a label.
fn words(line: &str) -> String {
    let line = line.trim_start();
    if line.starts_with("$ ") {
        return line.to_owned();
    }
    let end = line.find(|c: char| c.is_ascii_digit()).unwrap_or(line.len());
    let words: String = line[..end].chars().take(20).collect();
    words.trim_end_matches([' ', '-', ':', '=', '"', '/']).to_owned()
}

#[test]
fn finds_console_blocks() {
    let text = "a\n```console\n$ x\nout\n```\nb\n```sh\n$ no\n```\n```console,server\n$ y\n```\n";
    let found = pieces(text);
    let blocks: Vec<_> = found.iter().filter(|piece| matches!(piece, Piece::Block { .. })).collect();
    let expected =
        [Piece::Block { server: false, text: "$ x\nout\n" }, Piece::Block { server: true, text: "$ y\n" }];
    assert_eq!(blocks, expected.iter().collect::<Vec<_>>());
    let text_of = |piece: &Piece<'_>| match *piece {
        Piece::Prose(text) | Piece::Block { text, .. } => text.to_owned(),
    };
    let joined: String = found.iter().map(text_of).collect();
    assert_eq!(joined, text);
}

#[test]
fn compares_line_beginnings() {
    let documented = "$ pgdyno bench\ntps = 123.4 (without)\nresponse time, ms      40  0.1\n\nverdict                 valid\n";
    let same = "$ pgdyno bench\nmore\ntps = 9 (without)\nresponse time, ms       7  0.2\nverdict                 INVALID: x\n";
    assert!(alike(documented, same));
    assert!(!alike(documented, &same.replace("response time", "latency")));
    assert!(!alike(documented, "$ pgdyno bench\nerror\n"));
}
