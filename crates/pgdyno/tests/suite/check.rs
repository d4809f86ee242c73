//! Diagnostics of `pgdyno check`, with places and corrections
//!
//! `check/mistakes.txt` contains the rows: an experiment file after `=== title`, and the expected output after `---`.
//! Missing sections `stack`, `operations` and `load` are appended to a row, unless its title ends with "(whole)". A
//! line `$ …` contains further arguments. `UPDATE_EXPECT=1` rewrites the expected output.

mod first_mistakes;

use crate::experiments::service_programs;
use crate::folder::Folder;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const COMMON: [(&str, &str); 3] = [
    ("stack:", "stack: { postgres: {} }\n"),
    ("operations:", "operations: { read: { sql: SELECT 1 } }\n"),
    ("load:", "load: { model: closed, clients: 8, duration: 10s }\n"),
];

/// Exit status, standard output and standard error of a command.
fn pgdyno(folder: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_pgdyno"))
        .args(args)
        .current_dir(folder)
        // Some examples contain a secret.
        .env("SHOP_PASSWORD", "none")
        .output()
        .expect("the program was built for this test");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// Exit status and output for a file, without trailing blanks.
fn check(folder: &Path, yaml: &str, more: &[&str]) -> (Option<i32>, String) {
    fs::write(folder.join("book.yaml"), yaml).expect("the temporary folder can be written to");
    let (status, out, err) = pgdyno(folder, &[&["check", "book.yaml"], more].concat());
    (status, (out + &err).lines().map(|it| format!("{}\n", it.trim_end())).collect())
}

/// Path of the rows.
fn mistakes() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/check/mistakes.txt")
}

/// One row: title, input and expected output.
struct Row<'a> {
    title: &'a str,
    input: &'a str,
    expected: &'a str,
}

fn rows(text: &str) -> impl Iterator<Item = Row<'_>> {
    text.split("=== ").skip(1).map(|row| {
        let (title, rest) = row.split_once('\n').expect("a title has a line");
        let (input, expected) = rest.split_once("---\n").unwrap_or((rest, ""));
        Row { title, input, expected }
    })
}

impl Row<'_> {
    /// Checks the row's file, which must be invalid, and returns the output.
    fn check(&self, folder: &Folder, more: &[&str]) -> String {
        let is_argument = |line: &&str| line.starts_with("$ ");
        let arguments = self.input.lines().filter_map(|line| line.strip_prefix("$ "));
        let arguments: Vec<&str> = arguments.chain(more.iter().copied()).collect();
        let mut yaml: String = self.input.split_inclusive('\n').filter(|line| !is_argument(line)).collect();
        for (section, text) in COMMON {
            if !self.title.ends_with("(whole)") && !yaml.lines().any(|line| line.starts_with(section)) {
                yaml += text;
            }
        }
        let (status, printed) = check(&folder.0, &yaml, &arguments);
        assert_eq!(status, Some(2), "{}:\n{printed}", self.title);
        printed
    }
}

/// Folder with the files that the rows use.
fn folder_of_mistakes(name: &str) -> Folder {
    let folder = Folder::new(&format!("check-{name}"));
    let template = "listen ${adress} $uri ${fmp.port};\npass ${database.pasword} ${read_database.url};\n";
    fs::write(folder.0.join("wrong.conf"), template).expect("the file can be written");
    fs::write(folder.0.join("web.conf"), "listen ${address};\n").expect("the file can be written");
    fs::write(folder.0.join("wrong.pgbench"), "\\set x 1 +\nSELECT :x;\n").expect("the file can be written");
    let log = "1.5 \"GET /a?password=secret\" 200\n2.5 \"GET /b\" 200\n";
    fs::write(folder.0.join("access.log"), log).expect("the file can be written");
    fs::write(folder.0.join("no.log"), "- - - [x] \"GET /a HTTP/1.1\" 200 1\n")
        .expect("the file can be written");
    fs::write(folder.0.join("get.uri"), "/a\n").expect("the file can be written");
    folder
}

#[test]
fn reports_every_diagnostic() {
    let folder = folder_of_mistakes("mistakes");
    let text = fs::read_to_string(mistakes()).expect("the rows are there");
    let (mut fresh, mut wrong, mut count) = (String::new(), Vec::new(), 0);
    for row in rows(&text) {
        let printed = row.check(&folder, &[]);
        let (title, expected) = (row.title, row.expected.trim_end());
        if printed.trim_end() != expected {
            wrong.push(format!("{title}: instead of\n{expected}\nis printed\n{printed}"));
        }
        count += printed.matches("error: ").count();
        fresh += &format!("=== {title}\n{}---\n{}\n\n", row.input, printed.trim_end());
    }
    assert!(count > 60, "only {count} mistakes were made");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(mistakes(), fresh).expect("the project can be written to");
    } else {
        assert!(wrong.is_empty(), "{}\nUPDATE_EXPECT=1 rewrites them", wrong.join("\n"));
    }
}

/// Texts of the operating system, and what the parsers of YAML and JSON add; they are not translated.
const FOREIGN: [&str; 3] = ["No such file or directory", "неверный YAML: ", "неверный JSON: "];

#[test]
fn russian_diagnostics_contain_no_english() {
    let folder = folder_of_mistakes("russian");
    let text = fs::read_to_string(mistakes()).expect("the rows are there");
    let mut english = Vec::new();
    for row in rows(&text) {
        let printed = row.check(&folder, &["--lang", "ru"]);
        // Other lines quote the file.
        let is_message = |line: &&str| !line.contains(" |") && !line.starts_with(" -->");
        for line in printed.lines().filter(is_message) {
            let text = FOREIGN.iter().fold(line, |text, foreign| text.split(foreign).next().unwrap_or(text));
            if let Some(found) = english_words(text) {
                english.push(format!("{}: {found}: {line}", row.title));
            }
        }
    }
    assert!(english.is_empty(), "{}", english.join("\n"));
}

/// Three English words in a row outside quoted text, or a label.
fn english_words(line: &str) -> Option<String> {
    let unquoted: String =
        line.split(['`', '"']).enumerate().filter_map(|(i, part)| (i % 2 == 0).then_some(part)).collect();
    let words: Vec<&str> = unquoted.split(' ').collect();
    let is_word = |word: &&str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    let run = words.windows(3).find(|three| {
        three[..2].iter().all(is_word) && is_word(&three[2].trim_end_matches([',', ';', ':', '.']))
    });
    let label = words.iter().find(|word| ["error:", "help:"].contains(word));
    run.map(|run| run.join(" ")).or_else(|| label.map(|label| (*label).to_owned()))
}

/// Every template is valid as it is, is named after its file, and is never overwritten.
#[test]
fn templates_are_valid_and_never_overwritten() {
    let started = "clients -";
    let database = "postgres://me@127.0.0.1:5432/shop";
    let url = "http://127.0.0.1:8080/books?page=1";
    let running: [(&[&str], &str); 4] = [
        (&[], started),
        (&["--attach", database], "attached"),
        (&["--http", url], "http://127.0.0.1:8080 (attached)"),
        (&["--http", url, "--attach", database], "http://127.0.0.1:8080 (attached) -tcp→ "),
    ];
    for goal in ["compare", "max", "confirm", "soak", "failover"] {
        for (system, stack) in running {
            let folder = Folder::new(&format!("check-init{goal}{}", system.len() + stack.len()));
            let begin = [&["init", "my-shop.yaml", "--find", goal], system].concat();
            let (status, out, err) = pgdyno(&folder.0, &begin);
            if goal == "failover" && system.first() == Some(&"--http") {
                assert_eq!(status, Some(2), "{out}");
                assert!(err.contains("`--find failover`"), "{err}");
                continue;
            }
            assert_eq!((status, err.as_str()), (Some(0), ""), "{begin:?}: {out}");
            let (status, out, err) = pgdyno(&folder.0, &["check", "my-shop.yaml"]);
            assert_eq!((status, err.as_str()), (Some(0), ""), "{begin:?}: {out}");
            assert!(out.contains("my-shop") && out.contains(stack) && out.contains("seed      1"), "{out}");
            let (status, _, err) = pgdyno(&folder.0, &begin);
            assert_eq!(status, Some(1));
            assert!(err.contains("already exists"), "{err}");
        }
    }
}

#[test]
fn templates_have_the_documented_size() {
    for (find, full, quick) in [
        ("compare", "matrix    4 cells × 5 = 20 trials\n", "matrix    2 cells × 1 = 2 trials\n"),
        (
            "failover",
            "matrix    2 cells (1 is a positive control) × 5 = 10 trials\n",
            "matrix    2 cells (1 is a positive control) × 2 = 4 trials\n",
        ),
    ] {
        let folder = Folder::new(&format!("check-size{find}"));
        assert_eq!(pgdyno(&folder.0, &["init", "--find", find]).0, Some(0));
        let check = ["check", "experiment.yaml", "--quick"];
        for (args, overview) in [(&check[..2], full), (&check, quick)] {
            let (status, out, err) = pgdyno(&folder.0, args);
            assert_eq!((status, err.as_str()), (Some(0), ""), "{find:?} {args:?}");
            assert!(out.contains(overview), "{out}");
        }
    }
}

#[test]
fn templates_contain_no_password_and_quote_hostile_names() {
    for (file, option, value, status) in [
        ("a.yaml", "--attach", "postgres://me:hidden@127.0.0.1/shop", 2),
        ("b.yaml", "--attach", "host=127.0.0.1 password=hidden", 2),
        ("c.yaml", "--http", "http://me:hidden@127.0.0.1/", 2),
        ("d.yaml", "--http", "not a url", 2),
        ("true.yaml", "--http", "http://127.0.0.1/a?b=\"c\"&d={e}#f", 0),
        ("a: b # c.yaml", "--attach", "host=127.0.0.1 dbname='a: b'", 0),
        ("@SYSTEM@.yaml", "--attach", "host=127.0.0.1 dbname=@FILE@", 0),
    ] {
        let folder = Folder::new("check-init-hostile");
        let (got, out, err) = pgdyno(&folder.0, &["init", file, option, value]);
        assert_eq!(got, Some(status), "{value}: {out}{err}");
        assert!(!(out + &err).contains("hidden"), "{value}");
        assert_eq!(folder.0.join(file).exists(), status == 0, "{value}");
        if status == 0 {
            let (status, out, err) = pgdyno(&folder.0, &["check", file]);
            assert_eq!((status, err.as_str()), (Some(0), ""), "{file}: {out}");
        }
    }
}

#[test]
fn template_lists_the_hosts_of_an_address() {
    let folder = Folder::new("check-init-hosts");
    let address = r"host=127.0.0.1,localhost port=5432,5433 user=me dbname='my \' shop' target_session_attrs=read-write";
    let (status, out, err) =
        pgdyno(&folder.0, &["init", "a.yaml", "--find", "failover", "--attach", address]);
    assert_eq!((status, err.as_str()), (Some(0), ""), "{out}");
    let text = fs::read_to_string(folder.0.join("a.yaml")).expect("the file is text");
    for line in [
        r#"      - "host='127.0.0.1' port=5432 user='me' dbname='my \\' shop'""#,
        r#"      - "host='localhost' port=5433 user='me' dbname='my \\' shop'""#,
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let (status, out, err) = pgdyno(&folder.0, &["check", "a.yaml"]);
    assert_eq!((status, err.as_str()), (Some(0), ""), "{out}");
}

#[test]
fn documented_and_shipped_experiments_are_valid() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("crates/pgdyno");
    let folder = Folder::new("check-docs");
    fs::write(folder.0.join("transfer.pgbench"), "BEGIN;\nSELECT 1;\nCOMMIT;\n")
        .expect("the file can be written");
    fs::write(folder.0.join("books.csv"), "author,name\nx,y\n").expect("the file can be written");
    fs::write(folder.0.join("access.log"), "127.0.0.1 - - [x] \"GET / HTTP/1.1\" 200 1\n")
        .expect("the file can be written");
    let timed = "10.0.0.1 - - [26/Nov/2026:14:26:10 +0000] \"GET / HTTP/1.1\" 200 6 \"-\" \"curl\" 0.012\n";
    fs::write(folder.0.join("timed.log"), timed).expect("the file can be written");
    fs::create_dir(folder.0.join("templates")).expect("the folder can be created");
    for (name, template) in [
        ("nginx.conf", service_programs::documented("nginx", "listen")),
        ("pool.conf", service_programs::documented("ini", "[www]")),
        ("jobs.conf", "${database.url}".to_owned()),
    ] {
        fs::write(folder.0.join("templates").join(name), template).expect("the file can be written");
    }
    let service =
        "stack: { service: { url: \"http://[::1]:80\" }, postgres: { attach: \"postgres:///d\" } }\n";
    for (page, stack, least) in [
        ("experiment", COMMON[0].1, 6),
        ("operations", service, 6),
        ("feeds", service, 1),
        ("attached", service, 1),
        ("http", service, 2),
        ("maximum", COMMON[0].1, 6),
        ("failover", COMMON[0].1, 1),
        ("limits", service, 1),
        ("tutorial-pooler", COMMON[0].1, 1),
        ("tutorial-service", service, 1),
        ("tutorial-upgrade", COMMON[0].1, 2),
        ("ru/tutorial-pooler", COMMON[0].1, 1),
        ("ru/tutorial-service", service, 1),
        ("ru/tutorial-upgrade", COMMON[0].1, 2),
    ] {
        let text = fs::read_to_string(root.join(format!("docs/{page}.md"))).expect("the file can be read");
        let mut count = 0;
        for block in text.split("```yaml\n").skip(1) {
            let block = block.split("```").next().unwrap_or_default();
            // An example in a list is indented.
            let indent = block.len() - block.trim_start_matches(' ').len();
            let line = |it: &str| format!("{}\n", it.get(indent..).unwrap_or_default());
            let mut yaml: String = block.lines().map(line).collect();
            for (section, text) in [(COMMON[0].0, stack), COMMON[1], COMMON[2]] {
                if !yaml.lines().any(|it| it.starts_with(section)) {
                    yaml += text;
                }
            }
            let (status, printed) = check(&folder.0, &yaml, &[]);
            assert_eq!(status, Some(0), "{page}\n{block}\n{printed}");
            let noted = printed.contains("\nnote ") && page == "operations";
            assert!(!noted, "{page}\n{block}\n{printed}");
            count += 1;
        }
        assert!(count >= least, "only {count} examples were found on {page}");
    }
    let mut shipped = 0;
    for folder in fs::read_dir(root.join("experiments")).expect("experiments are shipped") {
        let folder = folder.expect("readable").path();
        let Ok(files) = fs::read_dir(&folder) else { continue };
        let names = files.map(|it| it.expect("readable").file_name().into_string().expect("in ASCII"));
        for file in names.filter(|it| it.ends_with(".yaml")) {
            // The dump of Zabbix exists only after `./x experiment 000/zabbix` has unpacked it.
            let dump: &[&str] = match file.as_str() {
                "zabbix.yaml" => &["--set", "dataset.restore=../../services/zabbix/hosts.sql"],
                _ => &[],
            };
            for quick in [&[][..], &["--quick"]] {
                let (status, _, err) = pgdyno(&folder, &[&["check", &file], dump, quick].concat());
                assert_eq!((status, err.as_str()), (Some(0), ""), "{}/{file}", folder.display());
            }
            shipped += 1;
        }
    }
    assert!(shipped >= 4, "only {shipped} experiments were found");
}

/// The overview shows the faults, their targets, the repetitions, and the positive control.
#[test]
fn describes_failover_experiments() {
    let folder = Folder::new("check-failover");
    let yaml = "stack: { postgres: {}, replicas: { count: 2 } }\n\
                operations: { pay: { sql: \"INSERT INTO t VALUES (:token)\", ledger: SELECT token FROM t } }\n\
                load: { model: closed, clients: 8, duration: 20s }\n\
                faults: [{ at: 5s, kill: primary, part: postmaster }, { after: rejoined, at: 1s, pause: replica, duration: 2s }]\n\
                matrix: { replicas.sync: [any 1, first 1] }\n\
                find: { failover: { times: 20 } }\n";
    let (status, printed) = check(&folder.0, yaml, &[]);
    assert_eq!(status, Some(0), "{printed}");
    let second_fault = "1s after rejoined: pause replica for 2s";
    for expected in [
        "PostgreSQL (100 connections) ⇉ 2 replicas (any 1)  (1 cell)\n",
        "PostgreSQL (100 connections) ⇉ 2 replicas (first 1)  (1 cell)\n",
        // The stack of the positive control.
        "PostgreSQL (100 connections) ⇉ 2 replicas (async)  (1 cell)\n",
        "ledger    pay: SELECT token FROM t\n",
        "faults    at 5s: kill the postmaster of primary\n          1s after rejoined: pause replica for 2s\n",
        "find      whether every acknowledged write survives the faults\n",
        "matrix    3 cells (1 is a positive control) × 20 = 60 trials\n",
        &format!(
            "control   without a durability guarantee; at 4.5s: block replication until another server is promoted, at 5s: kill the postmaster of \
             primary, {second_fault}\n"
        ),
        "time      20m under load, plus setup\n",
    ] {
        assert!(printed.contains(expected), "{expected}{printed}");
    }
}

#[test]
fn describes_data_and_hooks() {
    let folder = Folder::new("check-data-hooks");
    let yaml = "stack: { postgres: { attach: \"host=127.0.0.1 user=me dbname=measured\" } }\n\
                dataset: { template: golden }\n\
                operations: { read: { sql: SELECT 1 } }\n\
                load: { model: closed, clients: 8, duration: 20s }\n\
                hooks: { before_trial: [ sh, -c, \"exit 0\" ], after_trial: [ ./missing.sh ] }\n";
    let (status, printed) = check(&folder.0, yaml, &[]);
    assert_eq!(status, Some(0), "{printed}");
    for expected in [
        "golden",
        "the database of the attached server is dropped and created again before each trial\n",
        "hooks     before_trial: sh -c exit 0\n",
        "note      the program ./missing.sh of a hook or a fault does not exist on this machine\n",
    ] {
        assert!(printed.contains(expected), "{expected}{printed}");
    }
    let (_, printed) =
        check(&folder.0, yaml, &["--set", "dataset.keep=true", "--set", "hooks.after_trial=[true]"]);
    assert!(printed.contains("before the first trial\n") && !printed.contains("note "), "{printed}");
}

#[test]
fn describes_pages_and_expectations() {
    let folder = Folder::new("check-pages");
    let yaml = r#"stack:
  service:
    url: "http://127.0.0.1:80"
    stats: [ /s, { port: 9113, path: /m, form: prometheus }, { url: "http://127.0.0.1:9/t", form: stub_status } ]
  postgres: { attach: "host=127.0.0.1 user=me dbname=measured", metrics: "http://127.0.0.1:9100/metrics" }
dataset: { template: golden, cache: cold }
defaults: { headers: { Authorization: "Bearer secret" }, expect: { not_contains: Please log in } }
operations:
  page: { get: /page, expect: { status: [ 2xx, 404 ], contains: [ total, "sum" ] } }
load: { model: closed, clients: 1, duration: 10s }
"#;
    let (status, printed) = check(&folder.0, yaml, &[]);
    assert_eq!(status, Some(0), "{printed}");
    for expected in [
        "http://127.0.0.1:80 (attached) (statistics at /s :9113/m http://127.0.0.1:9/t)",
        "postgres (attached) (host metrics at http://127.0.0.1:9100/metrics)",
        "page, ×1: GET /page, headers Authorization, expects status 200–299, 404, \"total\", \"sum\", not \"Please log in\"\n",
        "note      `cache: cold` has no effect: pgdyno cannot restart an attached server\n",
    ] {
        assert!(printed.contains(expected), "{expected}\n{printed}");
    }
    assert!(!printed.contains("secret"), "{printed}");
}

/// Setups that are valid, but do not show what the user most likely wants.
#[test]
fn warns_of_setups_that_show_nothing() {
    let folder = Folder::new("check-warnings");
    let too_many = |clients: u32, limit: u32, key: &str| {
        format!("{clients} clients, but stack.{key} leaves {limit} connections to them")
    };
    let few = |repeat: u32| format!("repeat: {repeat} cannot show a difference between cells");
    let search = "the search has no objectives".to_owned();
    let sections = |stack: &str, load: &str| {
        format!("stack: {{ {stack} }}\noperations: {{ read: {{ sql: SELECT 1 }} }}\nload: {{ {load} }}\n")
    };
    let closed = |clients: u32| format!("model: closed, clients: {clients}, duration: 1s");
    let postgres =
        |settings: &str| format!("postgres: {{ max_connections: 20, settings: {{ {settings} }} }}");
    let matrix = "matrix: { load.clients: [8, 200, 300] }\nrepeat: ";
    let open = sections("postgres: {}", "model: open, max_in_flight: 8");
    for (yaml, expected) in [
        (sections(&postgres(""), &closed(16)), vec![]),
        (sections(&postgres(""), &closed(17)), vec![too_many(17, 16, "postgres.max_connections")]),
        (sections(&postgres("superuser_reserved_connections: 2"), &closed(17)), vec![]),
        (
            sections("pooler: { kind: pgbouncer, max_client_conn: 8 }, postgres: {}", &closed(9)),
            vec![too_many(9, 8, "pooler.max_client_conn")],
        ),
        (
            sections("postgres: {}", &closed(1)) + matrix + "3",
            vec![too_many(300, 96, "postgres.max_connections"), few(3)],
        ),
        (sections("postgres: {}", &closed(1)) + "matrix: { load.clients: [8, 9] }\nrepeat: 4", vec![]),
        (sections("postgres: {}", &closed(1)), vec![]),
        (format!("{open}find: max\n"), vec![search]),
        (sections("postgres: { settings: { fsync: 'off' } }", &closed(1)), vec![]),
        (
            sections("postgres: { settings: { fsync: 'off' } }", &closed(1)).replace(
                "sql: SELECT 1",
                "sql: \"INSERT INTO t VALUES (:token)\", ledger: SELECT token FROM t",
            ),
            vec!["the durability of writes cannot be proven".to_owned()],
        ),
        (format!("{open}find: max\nobjectives: [ \"p99 < 1s\" ]\n"), vec![]),
    ] {
        let (status, printed) = check(&folder.0, &yaml, &[]);
        assert_eq!(status, Some(0), "{printed}");
        let notes = printed.matches("\nnote ").count();
        assert_eq!(notes, expected.len(), "{yaml}{printed}");
        for text in expected {
            assert!(printed.contains(&text), "{text}\n{yaml}{printed}");
        }
    }
}

#[test]
fn sets_values_from_the_command_line() {
    let folder = Folder::new("check-sets");
    let yaml = "stack: { pooler: { kind: pgbouncer }, postgres: {} }\n\
                operations: { read: { sql: SELECT 1 } }\n\
                load: { model: closed, clients: 8, duration: 10s }\n\
                matrix: { load.clients: [1, 2], way: { a: { pooler.mode: session }, b: { pooler: none } } }\n\
                quick: { way: a, load.duration: 1s }\n";
    for (args, expected) in [
        (&[][..], "4 cells × 1"),
        (&["--set", "repeat=3"], "4 cells × 3"),
        (&["--set", "load.clients=[5, 6, 7]"], "closed-loop, 7 clients, 10s"),
        (&["--set", "load.clients=[5, 6, 7]"], "6 cells × 1"),
        (&["--set", "pooler.size=24"], "pool size 24"),
        (&["--set", "stack.postgres.settings.shared_buffers=1GB"], "4 cells"),
        (&["--quick"], "2 cells × 1"),
        (&["--quick"], "closed-loop, 2 clients, 1s"),
        (&["--quick", "--set", "way=b"], "-tcp→ PostgreSQL"),
        (&["--set", "operations.read.sql=SELECT 2"], "4 cells"),
    ] {
        let yaml = if args.contains(&"pooler.size=24") {
            yaml.replace("pooler: none", "pooler.mode: statement")
        } else {
            yaml.to_owned()
        };
        let (status, printed) = check(&folder.0, &yaml, args);
        assert_eq!(status, Some(0), "{args:?}\n{printed}");
        assert!(printed.contains(expected), "{args:?} {expected}\n{printed}");
    }
}

#[test]
fn prints_the_schema() {
    let (status, out, _) = pgdyno(Path::new("."), &["schema"]);
    assert_eq!(status, Some(0));
    let schema: serde_json::Value = serde_json::from_str(&out).expect("the text is JSON");
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert!(schema["$defs"]["Pooler"]["properties"]["size"]["description"].is_string());
    // Members common to operations and steps appear in both schemas, which allow no others.
    for name in ["Operation", "Step"] {
        let object = &schema["$defs"][name];
        assert!(object["properties"]["get"]["description"].is_string(), "{object:#}");
        assert_eq!(object["additionalProperties"], false, "{object:#}");
    }
}

/// Bash completes with the printed script.
#[test]
fn bash_completes_commands_and_names() {
    let folder = Folder::new("check-completion");
    let programs = folder.0.join("programs");
    fs::create_dir_all(&programs).expect("the temporary folder can be written to");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_pgdyno"), programs.join("pgdyno"))
        .expect("the link can be created");
    let text: String = COMMON.iter().map(|it| it.1).collect();
    fs::write(folder.0.join("shop.yaml"), text).expect("the file can be written");
    fs::write(folder.0.join("notes.txt"), "").expect("the file can be written");
    fs::create_dir(folder.0.join("runs")).expect("the directory can be created");
    for run in ["shop-1", "shop-2", "book-1"] {
        fs::write(folder.0.join(format!("runs/{run}.dyno")), "").expect("the file can be written");
    }
    let script = "source <(pgdyno completions bash)
read -ra COMP_WORDS <<<\"$LINE\"
COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_TYPE=9
_clap_complete_pgdyno pgdyno \"${COMP_WORDS[COMP_CWORD]}\" 2>/dev/null
printf '%s ' \"${COMPREPLY[@]}\"";
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").expect("PATH is set"));
    for (line, expected) in [
        ("pgdyno hist", "history"),
        ("pgdyno report sh", "shop-1 shop-2"),
        ("pgdyno compare book-1 l", "last"),
        ("pgdyno runs show b", "book-1"),
        ("pgdyno run --resume b", "book-1"),
        ("pgdyno check s", "shop.yaml"),
        ("pgdyno check n", ""),
        ("pgdyno try shop.yaml r", "read"),
        ("pgdyno run --qu", "--quick"),
        ("pgdyno bench --max-t", "--max-tries"),
        ("pgdyno completions z", "zsh"),
    ] {
        let bash = Command::new("bash")
            .args(["-c", script])
            .current_dir(&folder.0)
            .env("PATH", &path)
            .env("LINE", line)
            .output()
            .expect("bash can be started");
        let replies = String::from_utf8_lossy(&bash.stdout).into_owned();
        let replies: Vec<&str> = replies.split_whitespace().collect();
        assert_eq!(replies.join(" "), expected, "{line}: {}", String::from_utf8_lossy(&bash.stderr));
    }
}
