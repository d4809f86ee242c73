//! Every query mode, load model and driver executes the transactions that it reports

use super::test_server::{SHARED, Script, combined_output, count};
use load::driver::Driver;

/// Rows of `pgbench_history` are the server's own count of transactions.
#[test]
fn counts_equal_the_servers_rows() {
    let mut connection = SHARED.connect();
    for driver in Driver::ALL.map(Driver::name) {
        for mode in ["simple", "extended", "prepared"] {
            let script = Script::new(
                &format!("{driver}-{mode}"),
                "\\set aid random(1, 100000)\nBEGIN;\nSELECT abalance AS old FROM pgbench_accounts WHERE aid = :aid \\gset\n\
                 CREATE TABLE IF NOT EXISTS seen (tag text, old text);\nINSERT INTO seen VALUES (:tag, :old);\nEND;\n",
            );
            connection
                .query("create table if not exists seen (tag text, old text); truncate seen")
                .expect("a table");
            let (document, status) = SHARED.measure(&[
                "-M",
                mode,
                "--driver",
                driver,
                "-f",
                script.path(),
                "-c",
                "4",
                "-j",
                "2",
                "-t",
                "25",
                "-D",
                "tag='it'",
            ]);
            let (ok, rows) =
                (count(&document, "ok"), connection.value("select count(*) from seen").expect("rows"));
            assert_eq!((status, ok, rows.as_deref()), (0, 100, Some("100")), "{driver}, {mode}: {document}");
        }
    }
}

#[test]
fn runs_builtin_scripts_in_every_mode() {
    for script in ["tpcb-like", "simple-update", "select-only"] {
        for mode in ["simple", "extended", "prepared"] {
            let (document, status) = SHARED.measure(&["-b", script, "-M", mode, "-c", "3", "-t", "20"]);
            assert_eq!((status, count(&document, "ok")), (0, 60), "{script}, {mode}: {document}");
        }
    }
}

#[test]
fn runs_pipelines_and_reads_variables() {
    let script = Script::new(
        "pipeline",
        "\\set n random(1, 9)\n\\startpipeline\nSELECT 1;\nSELECT :n;\n\\syncpipeline\nSELECT 2;\n\\endpipeline\n\
         SELECT 7 AS seven \\; SELECT 8 AS eight \\aset\nSELECT :seven + :eight AS sum \\gset got_\n\
         \\if :got_sum = 15\nSELECT 1;\n\\else\nSELECT 1/0;\n\\endif\n",
    );
    // Only the simple mode allows several statements in one query, and only the others allow pipelines. A line with
    // both is removed.
    let text = std::fs::read_to_string(script.path()).expect("just written");
    let lines = |keep: fn(&str) -> bool| {
        text.lines().filter(|it| keep(it)).fold(String::new(), |all, it| all + it + "\n")
    };
    let simple = Script::new("simple", &lines(|it| !it.contains("pipeline")));
    let piped = Script::new(
        "piped",
        &lines(|it| !it.contains("seven") && !it.contains("got_sum"))
            .replace("\\else\nSELECT 1/0;\n\\endif\n", ""),
    );
    for (mode, script) in [("simple", &simple), ("extended", &piped), ("prepared", &piped)] {
        let output = SHARED.bench(&["-n", "--json", "-M", mode, "-f", script.path(), "-c", "2", "-t", "10"]);
        let (document, status) = super::test_server::document(&output);
        assert_eq!((status, count(&document, "ok")), (0, 20), "{mode}: {}", combined_output(&output));
    }
}

/// The server reads each statement in the encoding that the user has chosen; the rows show the letters.
#[test]
fn sends_scripts_in_other_encodings_unchanged() {
    let mut connection = SHARED.connect();
    connection.query("create table if not exists words (word text)").expect("a table");
    let rows: [(&str, &[u8], &str, &str); 3] = [
        (
            "LATIN1",
            b"-- d\xe9but\nINSERT INTO words VALUES ('caf\xe9 ' || :client_id);",
            "café 0",
            "caf\\xe9",
        ),
        ("KOI8R", b"INSERT INTO words VALUES (/* \xcd */ '\xcd\xc9\xd2');", "мир", "\\xcd\\xc9\\xd2"),
        // The script sets the encoding; the environment keeps the encoding of the database.
        (
            "UTF8",
            b"SET client_encoding = 'WIN1251';\nINSERT INTO words VALUES ('\xec\xe8\xf0');",
            "мир",
            "\\xec\\xe8\\xf0",
        ),
    ];
    for (encoding, text, expected, shown) in rows {
        let script = Script::new(encoding, text);
        for mode in ["simple", "extended", "prepared"] {
            connection.query("truncate words").expect("an empty table");
            let mut command =
                SHARED.command(&["-n", "--json", "-r", "-M", mode, "-f", script.path(), "-t", "3"]);
            let output = command.env("PGCLIENTENCODING", encoding).output().expect("pgdyno can be run");
            let all_output = combined_output(&output);
            let (document, status) = super::test_server::document(&output);
            let words = "select string_agg(distinct word, ',') || ' ' || count(*) from words";
            let words = connection.value(words).expect("rows");
            assert_eq!(
                (status, words),
                (0, Some(format!("{expected} 3"))),
                "{encoding}, {mode}: {all_output}"
            );
            let command = document["plan"]["scripts"][0]["commands"].as_array().and_then(|all| all.last());
            let command =
                command.and_then(|command| command.as_str()).unwrap_or_else(|| panic!("{all_output}"));
            assert!(command.contains(shown), "{command}");
            let warning = "the statement is not UTF-8; its bytes are sent unchanged";
            assert!(String::from_utf8_lossy(&output.stderr).contains(warning), "{all_output}");
        }
    }
    connection.query("drop table words").expect("the table is there");
}

#[test]
fn sends_as_many_arrivals_as_scheduled() {
    for driver in Driver::ALL.map(Driver::name) {
        for arrivals in ["even", "poisson"] {
            let (document, _) = SHARED.measure(&[
                "-S",
                "--driver",
                driver,
                "--arrivals",
                arrivals,
                "--schedule",
                "line(100,300,1s) const(200,1s)",
                "-c",
                "8",
                "-j",
                "2",
            ]);
            let sent = count(&document, "ok");
            assert_eq!(document["plan"]["model"]["kind"], "open");
            match arrivals {
                "even" => assert_eq!(sent, 400, "{document}"),
                _ => assert!((320..=480).contains(&sent), "{sent}"),
            }
        }
    }
}

#[test]
fn connects_for_each_transaction() {
    for driver in Driver::ALL.map(Driver::name) {
        let (document, status) = SHARED.measure(&["-S", "-C", "--driver", driver, "-c", "2", "-t", "15"]);
        assert_eq!((status, count(&document, "ok")), (0, 30), "{document}");
        assert_eq!(document["connects"]["durations"]["count"], 30, "{document}");
    }
}

#[test]
fn prints_pgbench_lines_first() {
    let output = SHARED.bench(&["-n", "-S", "-c", "2", "-j", "2", "-T", "1", "-P", "1", "-r"]);
    let text = combined_output(&output);
    for line in [
        "transaction type: <builtin: select only>\n",
        "scaling factor: 1\n",
        "query mode: simple\n",
        "number of clients: 2\n",
        "number of threads: 2\n",
        "duration: 1 s\n",
        "number of transactions actually processed: ",
        "number of failed transactions: 0 (0.000%)\n",
        "latency average = ",
        "initial connection time = ",
        "tps = ",
        "(without initial connection time)\n",
        "statement latencies in milliseconds and failures:\n",
        "progress: 1.0 s, ",
        "p99",
        "verdict",
    ] {
        assert!(text.contains(line), "no {line:?} in:\n{text}");
    }
}

#[test]
fn both_drivers_run_sleep_and_shell_commands() {
    let script = Script::new(
        "shell",
        "\\setshell n echo 41\n\\set n :n + 1\n\\sleep 1 ms\nSELECT 1/(42/:n);\n\\shell true\n",
    );
    for driver in Driver::ALL.map(Driver::name) {
        let run = |more: &[&str]| {
            SHARED.bench(&[&["-n", "--driver", driver, "-f", script.path(), "-t", "3"], more].concat())
        };
        let allowed = run(&["--allow-shell"]);
        assert!(allowed.status.success(), "{}", combined_output(&allowed));
        let forbidden = run(&[]);
        assert_eq!(forbidden.status.code(), Some(2), "{}", combined_output(&forbidden));
        assert!(combined_output(&forbidden).contains("--allow-shell"), "{}", combined_output(&forbidden));
    }
}

/// PostgreSQL's own tests of pgbench expect this. `docs/bench.md` lists the differences from `pgdyno bench`.
#[test]
fn imitates_pgbench_under_its_name() {
    let as_pgbench = |script: &Script, more: &[&str]| {
        let arguments = [&["-n", "-t", "1", "-f", script.path()], more].concat();
        combined_output(&SHARED.command_as_pgbench(&arguments).output().expect("pgdyno can be run"))
    };
    let shell = Script::new("as-pgbench-shell", "\\setshell n echo 41\nSELECT 1/(42 - :n);\n");
    let text = as_pgbench(&shell, &[]);
    assert!(text.contains("number of transactions actually processed: 1/1"), "{text}");
    // Extended queries send NULL for a variable that is not set; `pgdyno bench` aborts the client.
    let unset = Script::new(
        "as-pgbench-unset",
        "SELECT 1/(:unset::int IS NULL)::int;\nSELECT 1/0\n  + :unset::int;\n",
    );
    let text = as_pgbench(&unset, &["-M", "extended"]);
    assert!(text.contains("in command 1 (SQL) of script 0; ERROR:  division by zero\n"), "{text}");
    let text = combined_output(&SHARED.bench(&["-n", "-t", "1", "-M", "extended", "-f", unset.path()]));
    assert!(text.contains("client 0 aborted in command 0 (SQL) of script 0"), "{text}");
    let steps = Script::new("as-pgbench-steps", "\\set n 7\nSELECT :n;\n");
    let text = as_pgbench(&steps, &["-d"]);
    let lines = ["client 0 executing script", "client 0 sending SELECT 7;", "client 0 receiving"];
    let places: Vec<Option<usize>> = lines.iter().map(|it| text.find(it)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{text}");
}
