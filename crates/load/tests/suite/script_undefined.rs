//! Variables that a script reads before they are set, detected before or during the run

use crate::english;
use load::script::{Mode, Program, ProgramBuilder, ScriptHeader, ScriptSource, parse};
use load::sim::{self, SimulatedSystem, drive};
use load::{LoadPlan, Shard, Workload};
use model::{Nanos, Outcome, Record};
use std::sync::Arc;
use wire::pg::{Login, Transport};

/// Detected variables, each as `line:column name`.
fn undefined_variables(text: &str, mode: Mode, predefined: &[&str]) -> Vec<String> {
    let source = ScriptSource::new("s", text);
    let program = parse(&[source], mode, true, predefined).unwrap_or_else(|it| panic!("{text}\n{it:?}"));
    let named = |diagnostic: &load::script::Diagnostic| {
        let text = english::text(&diagnostic.message);
        let name = text.split('"').nth(1).expect("the name is quoted");
        format!("{}:{} {name}", diagnostic.line, diagnostic.column)
    };
    program.undefined.iter().map(named).collect()
}

#[test]
fn finds_variables_without_a_value() {
    for (text, expected) in [
        ("SELECT :idd;", &["1:8 idd"][..]),
        ("\\set id 1\nSELECT :id;", &[]),
        ("\\set id 1\nSELECT :id,\n  :idd, :idd;", &["3:3 idd"]),
        ("SELECT :id;\n\\set id 1", &["1:8 id"]),
        ("\\set x :x + 1", &["1:8 x"]),
        (
            "\\set x case when :a > 1 then :b else least(:c, :d) end",
            &["1:18 a", "1:30 b", "1:44 c", "1:48 d"],
        ),
        ("\\set x random_zipfian(1, :m, 1.5) + abs(:k)", &["1:26 m", "1:41 k"]),
        ("\\if :a = 1\n\\elif :b\n\\endif\n\\sleep :c ms", &["1:5 a", "2:7 b", "4:8 c"]),
        ("\\setshell a echo :b\n\\shell echo :a ::c", &["1:18 b"]),
        ("SELECT 1 AS one \\gset\nSELECT :one, :any;", &[]),
        ("SELECT 1 AS one \\gset p_\nSELECT :p_one, :one;", &["2:16 one"]),
        ("SELECT :p_one AS one \\gset p_", &["1:8 p_one"]),
        ("SELECT 1 AS one \\aset\nSELECT :one;", &[]),
        // A command in a branch counts, even if the branch may not be taken.
        ("\\if 1\n\\set a 1\n\\endif\nSELECT :a;", &[]),
        ("SELECT '1'::int, x[1:2], a ::text;", &[]),
        ("SELECT '{\"a\":true}';", &["1:13 true"]),
        ("SELECT :given;", &[]),
        ("SELECT ':given2', :given_;", &["1:9 given2", "1:19 given_"]),
    ] {
        for mode in [Mode::Simple, Mode::Extended, Mode::Prepared] {
            assert_eq!(undefined_variables(text, mode, &["given"]), expected, "{text} {mode:?}");
        }
    }
}

#[test]
fn hints_contain_corrections() {
    let source = ScriptSource::new("s.sql", "\\set id 1\nSELECT :idd;");
    let program = parse(&[source], Mode::Prepared, false, &[]).expect("pgbench sends NULL");
    let expected = "s.sql:2: undefined variable \"idd\"\nSELECT :idd;\n       ^ error found here\n\
                    hint: write `:id`, set it before by \\set idd …, or write \": idd\" if no variable is meant";
    assert_eq!(english::show(&program.undefined[0]), expected);
}

/// Checks that the columns of a script's feed are set, and those of another script's feed are not.
#[test]
fn feed_columns_are_defined() {
    let columns = ["id".to_owned()];
    let mut maker = ProgramBuilder::new(Mode::Simple, &[]);
    let head = |name, draws| ScriptHeader { name, weight: 1, draws };
    maker.add_pgbench(&head("a", Some((0, &columns[..]))), "SELECT :id;", false);
    maker.add_pgbench(&head("b", None), "SELECT :id;", false);
    let program = maker.finish().expect("pgbench sends NULL");
    let files: Vec<&str> = program.undefined.iter().map(|it| it.file.as_str()).collect();
    assert_eq!(files, ["b"]);
}

fn plan(program: Program, mode: Mode) -> LoadPlan {
    LoadPlan {
        transactions: Some(5),
        backlog_max: 100,
        drain: Nanos::from_secs(10),
        connecting_max: 1,
        ..sim::plan(program, mode, 1, 1, sim::CLOSED)
    }
}

/// Checks a variable that only a skipped branch sets: the client aborts, where pgbench sends NULL.
///
/// In a simple query, a variable that no command sets is sent by its name, unless variables are required.
#[test]
fn unset_variable_aborts_client() {
    const BRANCH: &str = "\\if 0\n\\set a 1\n\\endif\nSELECT :a;";
    const COLUMN: &str = "\\if 0\nSELECT 1 AS b \\gset a\n\\endif\nSELECT :ab;";
    const SHELL: &str = "\\if 0\n\\setshell a true\n\\endif\nSELECT :a;";
    const NAME: &str = "SELECT '{\"b\":true}';";
    const OTHER: &str = "SELECT 1 AS b \\gset a\nSELECT '{\"b\":true}';";
    use Mode::{Extended, Prepared, Simple};
    for (text, mode, requires, sent) in [
        (BRANCH, Simple, false, false),
        (BRANCH, Simple, true, false),
        (BRANCH, Extended, false, false),
        (BRANCH, Prepared, false, false),
        (BRANCH, Prepared, true, false),
        (COLUMN, Simple, false, false),
        (COLUMN, Extended, false, false),
        (SHELL, Simple, false, false),
        (NAME, Simple, false, true),
        (NAME, Simple, true, false),
        (NAME, Extended, false, false),
        (NAME, Prepared, false, false),
        (OTHER, Simple, false, true),
    ] {
        let source = ScriptSource::new("s", text);
        let program = parse(&[source], mode, true, &[]).expect("a script");
        let work = Workload::new(plan(program, mode), Arc::new(Login::new("u", "d")), Transport::Unix);
        let work = if requires { work.require_variables() } else { work };
        let shard = Shard::new(Arc::new(work), 0, Vec::<Record>::new());
        let records = drive(vec![shard], &SimulatedSystem::default()).remove(0).recorder;
        let ok = records.iter().filter(|it| it.outcome == Outcome::Ok).count();
        assert_eq!(ok, if sent { 5 } else { 0 }, "{text} {mode:?} {requires} {records:?}");
    }
}
