//! Standard output and error of all commands without a server: full, closed, and with hostile text

use rusqlite::Connection;
use serde_json::Value;
use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const PGDYNO: &str = env!("CARGO_BIN_EXE_pgdyno");

/// Directory that is removed with its contents on drop.
struct Folder(PathBuf);

impl Folder {
    /// Folder with two copies of a measured run; `change` modifies one of them.
    fn new(name: &str, change: impl Fn(&Connection)) -> Folder {
        let path = std::env::temp_dir().join(format!("pgdyno-output-{name}-{}", std::process::id()));
        fs::create_dir_all(path.join("runs")).expect("there is room for temporary files");
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("crates/pgdyno");
        for to in ["one", "two"] {
            fs::copy(root.join("fixtures/runs/shop.dyno"), path.join(format!("runs/{to}.dyno")))
                .expect("the file can be copied");
        }
        let connection = Connection::open(path.join("runs/two.dyno")).expect("the run file exists");
        change(&connection);
        fs::write(path.join("x.yaml"), "name: \u{1b}[31m\n").expect("the file can be written");
        Folder(path)
    }

    fn pgdyno(&self, args: &str) -> Command {
        let mut command = Command::new(PGDYNO);
        command.args(args.split(' ')).current_dir(&self.0).env_remove("PGDYNO_LANG").stdin(Stdio::null());
        command
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Commands that print runs; `two` is the hostile one.
const OF_RUNS: [&str; 19] = [
    "runs",
    "runs show two --trials",
    "runs show two --lang ru",
    "runs show two --json",
    "runs stop two net(xx,25,10)",
    "report two --format md",
    "report two --format json",
    "report two --format junit",
    "compare one two",
    "compare two one --format md",
    "compare two one --format json",
    "compare two --lang ru",
    "history",
    "history --format json",
    "advise two",
    "advise two --json",
    "export two --format csv --out out",
    "export two --format json --out out",
    "export two --format hlog --out out",
];
const OTHERS: [&str; 7] = [
    "--help",
    "--version",
    "run --help",
    "schema",
    "schedule line(1,100,10s)",
    "schedule const(10,5s) --times",
    "bench --version",
];

#[test]
fn full_and_closed_outputs_do_not_panic() {
    let folder = Folder::new("full", |_| ());
    for args in OF_RUNS.iter().chain(&OTHERS) {
        let complete = folder.pgdyno(args).output().expect("the program can be started");
        assert!(!complete.stdout.is_empty(), "{args}: {complete:?}");
        let full = OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
        let full = folder.pgdyno(args).stdout(full).output().expect("the program can be started");
        let message = String::from_utf8_lossy(&full.stderr).into_owned();
        let expected = complete.status.code().filter(|it| *it != 0).or(Some(1));
        assert_eq!(full.status.code(), expected, "{args}: {message}");
        let reason = "pgdyno: error: could not write to standard output: No space left on device";
        assert!(message.contains(reason) && !message.contains("panicked"), "{args}: {message}");
        // A pipe whose reader is closed.
        let (reader, writer) = std::io::pipe().expect("there are descriptors");
        drop(reader);
        let closed = folder.pgdyno(args).stdout(writer).output().expect("the program can be started");
        assert_eq!(closed.status.code(), complete.status.code(), "{args}: {closed:?}");
        assert_eq!(closed.stderr, complete.stderr, "{args}");
    }
    // Messages without a reader are lost; the exit status is the same.
    for args in
        ["runs show none", "check x.yaml", "schedule x", "compare one two --fail-if p99", "bench -c x"]
    {
        let complete = folder.pgdyno(args).output().expect("the program can be started");
        let full = OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
        let full = folder.pgdyno(args).stderr(full).output().expect("the program can be started");
        assert_eq!(full.status.code(), complete.status.code(), "{args}");
    }
}

#[test]
fn json_of_a_run_whose_result_cannot_be_computed_is_an_error() {
    let folder = Folder::new("result", |connection| {
        connection.execute("UPDATE node SET limits = '{'", []).expect("the run has nodes");
    });
    let shown = folder.pgdyno("runs show two --json").output().expect("the program can be started");
    let message = String::from_utf8_lossy(&shown.stderr);
    assert_eq!((shown.status.code(), shown.stdout.as_slice()), (Some(1), &b""[..]), "{message}");
    assert!(message.contains("runs/two.dyno\" is damaged"), "{message}");
}

/// Terminal controls: colours, cursor movement, a title, a clipboard write, a query, C1 controls, reversed text and
/// line separators.
const HOSTILE: &str = "\u{1b}[31mA\u{1b}[2J\u{1b}]0;t\u{7}\u{1b}]52;c;eA==\u{7}\u{1b}[6n\u{9b}1mB\u{202e}C\u{2066}D\u{200f}\u{2028}E\rF\u{8}";

fn unsafe_in(text: &str) -> Option<char> {
    text.chars().find(|character| {
        let steers = matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        steers || character.is_control() && *character != '\n' && *character != '\t'
    })
}

/// Columns that contain untrusted text.
const FOREIGN: [(&str, &[&str]); 9] = [
    ("run", &["program", "text", "reason"]),
    ("trial", &["reason"]),
    ("operation", &["name"]),
    ("node", &["version", "program", "entrance"]),
    ("document", &["text"]),
    ("configuration", &["name"]),
    ("series", &["label"]),
    ("event", &["node", "code", "text"]),
    ("note", &["subject", "text"]),
];
/// JSON members that contain untrusted text.
const MEMBERS: [&str; 6] = ["name", "version", "database", "description", "kernel", "release"];

fn spoil(value: &mut Value, inside: bool) {
    match value {
        Value::String(text) if inside => text.push_str(HOSTILE),
        Value::Array(all) => all.iter_mut().for_each(|it| spoil(it, inside)),
        Value::Object(all) => {
            all.iter_mut().for_each(|(key, it)| spoil(it, MEMBERS.contains(&key.as_str()) || key == "label"));
        }
        _ => {}
    }
}

fn hostile(connection: &Connection) {
    for (table, columns) in FOREIGN {
        for column in columns {
            // Notes in JSON must remain valid JSON.
            let sql = format!("UPDATE {table} SET {column} = {column} || ?1 WHERE {column} NOT LIKE '{{%'");
            connection.execute(&sql, [HOSTILE]).unwrap_or_else(|it| panic!("{sql}: {it}"));
        }
    }
    let insert = "INSERT INTO note (subject, text) VALUES (?1, ?1)";
    connection.execute(insert, [HOSTILE]).expect("there is room");
    for (table, column) in [
        ("run", "experiment"),
        ("run", "machine"),
        ("run", "versions"),
        ("trial", "summary"),
        ("trial", "label"),
    ] {
        let rows = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, Option<String>>(1)?));
        let mut statement =
            connection.prepare(&format!("SELECT id, {column} FROM {table}")).expect("the table exists");
        let all: Vec<_> = statement
            .query_map([], rows)
            .expect("the rows can be read")
            .map(|it| it.expect("the value is text"))
            .collect();
        for (id, text) in all {
            let Some(text) = text else { continue };
            let mut json: Value = serde_json::from_str(&text).expect("the text is JSON");
            spoil(&mut json, column == "versions" || column == "machine" || column == "label");
            let sql = format!("UPDATE {table} SET {column} = ?1 WHERE id = ?2");
            connection.execute(&sql, (json.to_string(), id)).expect("there is room");
        }
    }
}

#[test]
fn no_output_contains_terminal_control_characters() {
    let folder = Folder::new("hostile", hostile);
    let mut shown = 0;
    for args in OF_RUNS.iter().chain(&[
        "check x.yaml",
        "schedule \u{1b}[31m",
        "runs show \u{1b}[31m",
        "bench \u{1b}[31m -x",
    ]) {
        let Output { status, stdout, stderr } =
            folder.pgdyno(args).output().expect("the program can be started");
        let text = format!("{}\n{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
        assert_eq!(unsafe_in(&text), None, "{args}: {text:?}");
        shown += usize::from(text.contains("u{202e}") || text.contains("u202e"));
        let refused = args.contains('\u{1b}') || args.starts_with("check");
        assert!(status.success() != refused, "{args}: {text}");
        if (args.contains("--json") || args.contains("--format json")) && !args.starts_with("export") {
            serde_json::from_slice::<Value>(&stdout).unwrap_or_else(|it| panic!("{args}: {it}"));
        }
    }
    assert!(shown >= 8, "only {shown} outputs show it at all");
    for file in fs::read_dir(folder.0.join("out")).expect("the directory can be read") {
        let path = file.expect("the entry can be read").path();
        let text = fs::read_to_string(&path).expect("the file can be read");
        assert_eq!(unsafe_in(&text), None, "{}", path.display());
    }
}

/// `doctor` prints version texts and paths of programs on the search path.
#[test]
fn doctor_holds_nothing_that_a_terminal_obeys() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("doctor", |_| ());
    let programs = folder.0.join(format!("bin{HOSTILE}"));
    fs::create_dir(&programs).expect("the directory can be created");
    for name in
        ["pgbench", "pgbouncer", "odyssey", "haproxy", "patroni", "etcd", "postgres", "initdb", "pg_ctl"]
    {
        let path = programs.join(name);
        fs::write(&path, format!("#!/bin/sh\nprintf '%s\\n' 'PgBouncer 1.2{HOSTILE}'\n"))
            .expect("the file can be written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))
            .expect("the permissions can be changed");
    }
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").expect("PATH is set"));
    let bin = programs.to_str().expect("the path is UTF-8");
    for args in [&["doctor"][..], &["doctor", "--json"], &["doctor", "--pg-bin", bin], &["doctor", HOSTILE]] {
        let done =
            Command::new(PGDYNO).args(args).env("PATH", &path).output().expect("the program can be started");
        let text =
            format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
        assert_eq!(unsafe_in(&text), None, "{args:?}: {text:?}");
        assert!(text.contains("u{202e}") || text.contains("u202e"), "{args:?}: {text}");
    }
}

/// Files with a run's contents are readable only by their owner, like the run itself.
#[test]
fn written_files_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("private", |_| ());
    for (args, file) in [
        ("report one --out page.html", "page.html"),
        ("report one --format md --out page.md", "page.md"),
        ("export one --format hlog --out out", "out"),
    ] {
        let done = folder.pgdyno(args).output().expect("the program can be started");
        assert!(done.status.success(), "{args}: {done:?}");
        let path = folder.0.join(file);
        let all = if path.is_dir() {
            fs::read_dir(&path)
                .expect("the directory can be read")
                .map(|it| it.expect("the entry can be read").path())
                .collect()
        } else {
            vec![path]
        };
        for path in all {
            assert_eq!(
                fs::metadata(&path).expect("the file exists").permissions().mode() & 0o777,
                0o600,
                "{}",
                path.display()
            );
        }
    }
    // An existing file keeps its permissions.
    let path = folder.0.join("page.md");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("the permissions can be changed");
    let done =
        folder.pgdyno("report one --format md --out page.md").output().expect("the program can be started");
    assert!(done.status.success(), "{done:?}");
    assert_eq!(fs::metadata(&path).expect("the file exists").permissions().mode() & 0o777, 0o644);
}

/// An unreadable file is named, and the others are listed.
#[test]
fn a_hostile_run_does_not_block_others() {
    let endless = "ALTER TABLE run RENAME TO former; CREATE VIEW run AS WITH RECURSIVE n(i) AS
        (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT former.* FROM former, n WHERE i > 1e18";
    let late = "UPDATE tick SET second = 1000000000 WHERE id = 2";
    for (name, sql, reason) in [
        ("view", endless, "the view \"run\" in it is not as pgdyno makes it"),
        ("second", late, "is damaged: `tick.second` contains an impossible value"),
        ("blob", "UPDATE whole SET clients = zeroblob(17000000)", "a value of more than 16 MiB"),
    ] {
        let folder = Folder::new(name, |it| it.execute_batch(sql).expect(sql));
        fs::copy(folder.0.join("runs/one.dyno"), folder.0.join("runs/three.dyno"))
            .expect("the file can be copied");
        let pgdyno_output = |args: &str| {
            let output = folder.pgdyno(args).output().expect("the program can be started");
            let text = |it: Vec<u8>| String::from_utf8_lossy(&it).into_owned();
            (output.status.code(), text(output.stdout), text(output.stderr))
        };
        let (status, out, err) = pgdyno_output("runs");
        assert_eq!(status, Some(0), "{err}");
        assert!(["one", "two", "three"].iter().all(|it| out.contains(it)), "{out}");
        assert!(name != "view" || err.contains(reason), "{err}");
        let (status, out, err) = pgdyno_output("history");
        assert_eq!(status, Some(0), "{err}");
        assert!(!out.is_empty() && err.contains(reason) && err.contains("the run is left out"), "{err}");
        let (status, out, err) = pgdyno_output("compare one two three");
        assert_eq!(status, Some(2), "{err}");
        assert!(
            out.contains("three") && err.contains(reason) && err.contains("the run is not compared"),
            "{out}{err}"
        );
        for args in ["compare two one", "compare one two", "report two --format md"] {
            let (status, out, err) = pgdyno_output(args);
            assert_eq!(status, Some(1), "{args}: {out}{err}");
            assert!(err.contains(reason), "{args}: {err}");
        }
    }
}

/// Statements in a run file are executed only if no other user can have written the file.
#[test]
fn does_not_execute_a_run_file_of_another_user() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("stranger", |_| ());
    let path = folder.0.join("runs/one.dyno");
    for args in ["run --resume one --out runs", "advise one --apply"] {
        for mode in [0o644, 0o660, 0o604] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode))
                .expect("the permissions can be changed");
            let before = fs::read(&path).expect("the file can be read");
            let done = folder.pgdyno(args).output().expect("the program can be started");
            let message = String::from_utf8_lossy(&done.stderr).into_owned();
            assert_eq!(done.status.code(), Some(1), "{args}: {message}");
            let reason = format!("one.dyno may come from another user: its permissions are {mode:04o}");
            assert!(message.contains(&reason) && message.contains("chmod 600"), "{args}: {message}");
            assert!(fs::read(&path).expect("the file can be read") == before, "{args}");
            assert_eq!(
                fs::read_dir(folder.0.join("runs")).expect("the directory can be read").count(),
                2,
                "nothing was begun"
            );
        }
    }
}

/// PostgreSQL server with hostile texts. It accepts every login and answers every query with an error.
fn hostile_server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a port");
    let port = listener.local_addr().expect("the listener is bound").port();
    let message = |kind: u8, body: &[u8]| {
        let mut all = vec![kind];
        all.extend((body.len() as u32 + 4).to_be_bytes());
        all.extend(body);
        all
    };
    let error_message = |kind: u8| {
        let fields = ["SERROR", "VERROR", "C42P01"].map(str::to_owned).into_iter();
        let fields = fields.chain(["M", "D", "H"].map(|it| format!("{it}{HOSTILE}")));
        let body: String = fields.map(|it| it + "\0").chain(["\0".to_owned()]).collect();
        message(kind, body.as_bytes())
    };
    let ready = message(b'Z', b"I");
    let setting = |name: &str| message(b'S', format!("{name}\0{HOSTILE}\0").as_bytes());
    let let_in = [
        message(b'R', &0u32.to_be_bytes()),
        setting("server_version"),
        setting("TimeZone"),
        error_message(b'N'),
    ]
    .concat();
    let let_in = [let_in, message(b'K', &[0, 0, 0, 1, 0, 0, 0, 2]), ready.clone()].concat();
    let refused = [error_message(b'E'), ready].concat();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let (let_in, refused) = (let_in.clone(), refused.clone());
            // Each thread ends with its client.
            std::thread::spawn(move || {
                let mut bytes = [0; 4096];
                let mut answer = |reply: &[u8]| match stream.read(&mut bytes) {
                    Ok(count) if count > 0 => stream.write_all(reply).is_ok(),
                    _ => false,
                };
                let mut goes_on = answer(&let_in);
                while goes_on {
                    goes_on = answer(&refused);
                }
            });
        }
    });
    port
}

#[test]
fn server_messages_are_sanitised() {
    let folder = Folder::new("server", |_| ());
    let port = hostile_server();
    fs::write(folder.0.join("x.sql"), "SELECT 1;\n").expect("the file can be written");
    for args in ["-S -t 1", "-n -f x.sql -t 1", "-n -f x.sql -t 1 --json", "-i"] {
        let args = format!("bench {args} -h 127.0.0.1 -p {port} -U x x");
        let Output { stdout, stderr, .. } =
            folder.pgdyno(&args).env("PGSSLMODE", "disable").output().expect("the program can be started");
        let text = format!("{}\n{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
        assert_eq!(unsafe_in(&text), None, "{args}: {text:?}");
        assert!(text.contains("u{202e}"), "{args}: nothing of it is shown: {text}");
    }
}

/// The file is rejected by its length, before parsing takes ten times as much memory.
#[test]
fn rejects_long_experiment_files() {
    let folder = Folder::new("long", |_| ());
    fs::write(folder.0.join("long.yaml"), "a: [".to_owned() + &"1, ".repeat(2 << 20))
        .expect("the file can be written");
    for (args, reason) in [
        ("check long.yaml", "it is longer than 4 MiB"),
        ("run long.yaml", "it is longer than 4 MiB"),
        ("check /dev/zero", "it is a character device; name a regular file"),
    ] {
        let done = folder.pgdyno(args).output().expect("the program can be started");
        let message = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(2), "{args}: {message}");
        assert!(message.contains(reason), "{args}: {message}");
    }
}
