//! Exit statuses of all commands that need no server
//!
//! `src/run/outcome.rs` has the rows of measured runs, and `experiments` measures some of them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const PGDYNO: &str = env!("CARGO_BIN_EXE_pgdyno");

/// Folder that is removed on drop. It has two stored runs, an unreadable one, and experiment files.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("pgdyno-statuses-{name}-{}", std::process::id()));
        fs::create_dir_all(path.join("runs")).expect("there is room for temporary files");
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("crates/pgdyno");
        let shop = root.join("fixtures/runs/shop.dyno");
        for name in ["one", "two"] {
            fs::copy(&shop, path.join(format!("runs/{name}.dyno"))).expect("the file can be copied");
        }
        let files = [
            ("runs/broken.dyno", "no database"),
            (
                "right.yaml",
                "stack: { postgres: {} }\noperations: { one: { sql: SELECT 1 } }\nload: { model: closed, clients: 1, duration: 1s }\n",
            ),
            ("wrong.yaml", "stack: { postgers: {} }\n"),
            ("kept.txt", "0 settings a@1 on\n1-2 write 0/0 acknowledged a@1\n9 read a@1 primary 0/0\n"),
            ("lost.txt", "0 settings a@1 on\n1-2 write 0/0 acknowledged a@1\n9 read a@1 primary\n"),
            ("unread.txt", "0 settings a@1 on\n1-2 write 0/0 acknowledged a@1\n"),
            ("expected.txt", "expect broken: lost 1\n1-2 write 0/0 acknowledged a@1\n9 read a@1 primary\n"),
            ("unexpected.txt", "expect broken\n1-2 write 0/0 acknowledged a@1\n9 read a@1 primary 0/0\n"),
            ("wrong.txt", "1-2 write 0/0 done a@1\n"),
        ];
        for (name, text) in files {
            fs::write(path.join(name), text).expect("the file can be written");
        }
        symlink(PGDYNO, path.join("pgbench")).expect("the link can be created");
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Commands with their exit statuses. Words are separated by blanks; `_` stands for a blank within a word.
const COMMANDS: &[(&str, i32)] = &[
    ("pgdyno", 2),
    ("pgdyno --help", 0),
    ("pgdyno nothing", 2),
    ("pgdyno run", 2),
    ("pgdyno run wrong.yaml", 2),
    ("pgdyno run none.yaml", 2),
    ("pgdyno run --resume none", 1),
    ("pgdyno run right.yaml --out right.yaml", 1),
    ("pgdyno check right.yaml", 0),
    ("pgdyno check wrong.yaml", 2),
    ("pgdyno check none.yaml", 2),
    ("pgdyno bench --version", 0),
    ("pgdyno bench -c x", 2),
    ("pgdyno bench -f none.sql", 2),
    ("pgdyno bench -n -S -h /nowhere", 1),
    ("./pgbench --version", 0),
    ("./pgbench -c x", 1),
    ("./pgbench -f none.sql", 1),
    ("./pgbench -n -S -h /nowhere", 1),
    ("pgdyno init new.yaml", 0),
    ("pgdyno init right.yaml", 1),
    ("pgdyno init --none", 2),
    ("pgdyno schema", 0),
    ("pgdyno schema --none", 2),
    ("pgdyno stack status", 0),
    ("pgdyno stack status none", 1),
    ("pgdyno stack down none", 1),
    ("pgdyno stack up wrong.yaml", 2),
    ("pgdyno stack up", 2),
    ("pgdyno runs", 0),
    ("pgdyno runs show one", 0),
    ("pgdyno runs show none", 1),
    ("pgdyno runs show broken", 1),
    ("pgdyno runs stop one net(xx,1,1)", 0),
    ("pgdyno runs stop one net(", 2),
    ("pgdyno serve --dir none", 1),
    ("pgdyno serve --port x", 2),
    ("pgdyno report one --format md", 0),
    ("pgdyno report none", 1),
    ("pgdyno report one --out /nowhere/page.html", 1),
    ("pgdyno report one --format pdf", 2),
    ("pgdyno compare one two", 0),
    ("pgdyno compare one two --fail-if p99_>_100s", 0),
    ("pgdyno compare one two --fail-if p99_<_100s", 99),
    // Two trials decide no change.
    ("pgdyno compare one two --fail-if p99_>_+1%", 0),
    ("pgdyno compare one two --fail-if p99_>_+1% --strict", 99),
    ("pgdyno compare one two --fail-if p99.9_>_100s", 4),
    ("pgdyno compare one two --fail-if p99.9_>_100s --fail-if p99_<_100s", 99),
    ("pgdyno compare one two broken", 2),
    ("pgdyno compare one two broken --fail-if p99_<_100s", 2),
    ("pgdyno compare one broken", 1),
    ("pgdyno compare one none", 1),
    ("pgdyno compare one two --fail-if p99", 2),
    ("pgdyno history", 0),
    ("pgdyno history none", 1),
    ("pgdyno history --format pdf", 2),
    ("pgdyno advise one", 0),
    ("pgdyno advise none", 1),
    ("pgdyno advise one --repeat 0", 2),
    ("pgdyno export one --format csv --out tables", 0),
    ("pgdyno export none --format csv", 1),
    ("pgdyno export one --format pdf", 2),
    ("pgdyno judge", 2),
    ("pgdyno judge none.txt", 1),
    ("pgdyno judge kept.txt", 0),
    ("pgdyno judge kept.txt --json", 0),
    ("pgdyno judge lost.txt", 99),
    ("pgdyno judge unread.txt", 4),
    ("pgdyno judge unread.txt lost.txt kept.txt", 99),
    ("pgdyno judge expected.txt", 0),
    ("pgdyno judge unexpected.txt", 99),
    ("pgdyno judge wrong.txt", 2),
    ("pgdyno judge right.yaml", 2),
    ("pgdyno schedule const(10,5s)", 0),
    ("pgdyno schedule x", 2),
    ("pgdyno distil", 2),
    ("pgdyno distil none.csv -o new.yaml", 1),
    ("pgdyno distil none.csv -o new.json", 2),
    ("pgdyno distil --statements none.csv -o new.yaml", 1),
    ("pgdyno distil --statements host=127.0.0.1_port=1_user=me -o new.yaml", 1),
    ("pgdyno distil --statements postgres://me:secret@127.0.0.1:1/shop -o new.yaml", 2),
    ("pgdyno distil none.csv --statements none.csv -o new.yaml", 2),
    ("pgdyno import", 2),
    ("pgdyno import none.har -o web.yaml", 1),
    ("pgdyno import none.har -o new.json", 2),
    ("pgdyno import none.har -o web.yaml --origin shop", 2),
    ("pgdyno demo --rows 0", 2),
    ("pgdyno doctor --none", 2),
];

fn status(folder: &Folder, line: &str, change: impl Fn(&mut Command)) -> (Option<i32>, String) {
    let mut words = line.split(' ').map(|it| it.replace('_', " "));
    let program =
        words.next().map_or(String::new(), |it| if it == "pgdyno" { PGDYNO.to_owned() } else { it });
    let mut command = Command::new(program);
    command.args(words).current_dir(&folder.0).env_remove("PGDYNO_LANG").stdin(Stdio::null());
    change(&mut command);
    let output = command.output().expect("the program can be started");
    (output.status.code(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
}

#[test]
fn commands_return_their_statuses() {
    let folder = Folder::new("all");
    let wrong: Vec<String> = COMMANDS
        .iter()
        .filter_map(|(line, expected)| {
            let (got, text) = status(&folder, line, |_| ());
            (got != Some(*expected)).then(|| format!("{line}: {got:?}, not {expected}\n{text}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A mistake in the environment has the same status in every command.
#[test]
fn an_unknown_language_is_a_mistake_everywhere() {
    let folder = Folder::new("language");
    for line in [
        "pgdyno run right.yaml",
        "pgdyno check right.yaml",
        "pgdyno init new.yaml",
        "pgdyno stack status",
        "pgdyno runs",
        "pgdyno serve",
        "pgdyno report one",
        "pgdyno compare one two",
        "pgdyno history",
        "pgdyno advise one",
        "pgdyno export one --format csv",
        "pgdyno schedule const(10,5s)",
        "pgdyno distil log.csv -o new.yaml",
        "pgdyno import shop.har -o new.yaml",
        "pgdyno demo",
        "pgdyno doctor",
    ] {
        let (got, text) = status(&folder, line, |it| _ = it.env("PGDYNO_LANG", "tlh"));
        assert_eq!(got, Some(2), "{line}: {text}");
    }
}

/// Errors of the store, of feeds, of the system under test and of its programs. Words of the system, of servers and of
/// files are quoted.
#[test]
fn errors_in_russian_contain_no_english_sentence() {
    let folder = Folder::new("russian");
    let experiment = |stack: &str, operation: &str| {
        let load = "load: { model: closed, clients: 1, duration: 1s }";
        format!("stack: {stack}\noperations: {{ one: {operation} }}\n{load}\n")
    };
    let one = "{ sql: SELECT 1 }";
    let reads = |feed: &str| {
        let operation = "{ sql: 'SELECT :id', feed: users }";
        experiment("{ postgres: {} }", operation) + "feeds: { users: { file: " + feed + " } }\n"
    };
    for (name, text) in [
        ("empty.csv", "".to_owned()),
        ("short.csv", "id,name\n1\n".to_owned()),
        ("quote.csv", "id\n\"1\n".to_owned()),
        ("wrong.jsonl", "{\"id\": 1\n".to_owned()),
        ("feed-none.yaml", reads("none.csv")),
        ("feed-empty.yaml", reads("empty.csv")),
        ("feed-short.yaml", reads("short.csv")),
        ("feed-quote.yaml", reads("quote.csv")),
        ("feed-json.yaml", reads("wrong.jsonl")),
        ("nowhere.yaml", experiment("{ postgres: { attach: 'postgres://127.0.0.1:1/none' } }", one)),
    ] {
        fs::write(folder.0.join(name), text).expect("the file can be written");
    }
    fs::write(folder.0.join("runs/empty.dyno"), "").expect("the file can be written");
    let failing = COMMANDS.iter().filter(|(line, status)| *status == 1 && line.starts_with("pgdyno"));
    let more = [
        "pgdyno runs show empty",
        "pgdyno runs remove none",
        "pgdyno run --resume one",
        "pgdyno run feed-none.yaml",
        "pgdyno run feed-empty.yaml",
        "pgdyno run feed-short.yaml",
        "pgdyno run feed-quote.yaml",
        "pgdyno run feed-json.yaml",
        "pgdyno run nowhere.yaml",
        "pgdyno run right.yaml",
        "pgdyno stack up right.yaml",
        "pgdyno bench -n -S postgres://127.0.0.1:1/none",
    ];
    let wrong: Vec<String> = failing
        .map(|(line, _)| *line)
        .chain(more)
        .filter_map(|line| {
            let (got, text) = status(&folder, line, |command| {
                command.env("PGDYNO_LANG", "ru").env("PGDYNO_PG_BIN", "/nowhere");
            });
            (got == Some(0) || text.is_empty() || has_english_sentence(&text))
                .then(|| format!("{line}: {got:?}\n{text}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whether three words in a row are Latin, apart from quotations, code, the program's name and a system error.
fn has_english_sentence(text: &str) -> bool {
    let mut plain = String::new();
    let mut end = None;
    for character in text.replace("No such file or directory", "").chars() {
        match (end, character) {
            (Some(last), _) if last == character => end = None,
            (Some(_), _) => (),
            (None, '«') => end = Some('»'),
            (None, '`' | '"') => end = Some(character),
            (None, _) => plain.push(character),
        }
    }
    let is_word = |word: &&str| word.chars().all(|it| it.is_ascii_alphabetic());
    let lines = plain.lines().map(|line| line.strip_prefix("pgdyno ").unwrap_or(line));
    lines.flat_map(|line| line.split(" pgdyno ")).any(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.windows(3).any(|three| three.iter().all(is_word))
    })
}
