//! Planted limits: the limiter that was planted must be named first
//!
//! Each file of `proof/planted` describes such a system. `./x proof` searches all of them and perturbs the suspects
//! (`PGDYNO_PLANTED=all`, or names). This test searches two of them in short windows, without perturbations.

use super::workspace::{PGDYNO, RunOutput, Workspace, for_each_at_once, is_root, selected, trials};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use store::RunStatus;

/// A file of `proof/planted`, and the expected limiter.
struct PlantedLimit {
    name: &'static str,
    /// Acceptable limiters, as kind and node; several if one limiter has two names.
    limits: &'static [&'static str],
    /// Resources that also move the maximum in this system; naming one is not an error.
    also: &'static [&'static str],
    /// True if the short share includes it.
    is_short: bool,
}

const fn planted(
    name: &'static str,
    limits: &'static [&'static str],
    also: &'static [&'static str],
    is_short: bool,
) -> PlantedLimit {
    PlantedLimit { name, limits, also, is_short }
}

/// All files. A reason instead of an answer begins with "no answer". Without an index, or with a count, the CPU that
/// scans the rows is an acceptable name. With too little memory, memory and disk reads are two names of one limiter.
const ALL: [PlantedLimit; 52] = [
    planted("postgres-cpu-fifth", &["cpu postgres"], &[], true),
    planted("postgres-cpu-third", &["cpu postgres"], &[], false),
    planted("pgbouncer-cpu", &["cpu pooler"], &[], true),
    planted("odyssey-cpu", &["cpu pooler"], &[], false),
    planted("service-cpu", &["cpu service"], &[], false),
    planted("pgbouncer-pool", &["pool pooler"], &[], true),
    planted("pgbouncer-pool-statement", &["pool pooler"], &[], false),
    planted("odyssey-pool", &["pool pooler"], &[], false),
    planted("service-pool", &["service_pool service"], &[], false),
    planted("two-pools", &["pool pooler"], &[], false),
    planted("book-threads", &["service_threads service"], &[], false),
    planted("haproxy-maxconn", &["pool balancer"], &[], false),
    planted("slots", &["slots postgres"], &[], true),
    planted("read-iops", &["reads postgres"], &["memory postgres"], false),
    planted("memory", &["memory postgres", "reads postgres"], &[], false),
    planted("write-iops", &["writes postgres", "wal_flush"], &[], false),
    planted("wal-flush", &["writes postgres", "wal_flush"], &[], false),
    planted("hot-row", &["row_locks"], &[], true),
    planted("table-lock", &["locks relation"], &[], false),
    planted("missing-index", &["scan planted.orders"], &["cpu postgres"], false),
    planted("count", &["scan planted.counters"], &["cpu postgres"], false),
    planted("feed", &["feed keys"], &["cpu postgres"], false),
    planted("client-cap", &["no answer: client_cap", "client_cap"], &[], false),
    planted("generator-cpu", &["no answer: generator"], &[], true),
    planted("work-mem", &["work temporary_files"], &["cpu postgres"], false),
    planted("logins", &["work logins"], &["cpu postgres"], false),
    planted("jit", &["work jit"], &["cpu postgres"], false),
    planted("planning", &["work planning"], &["cpu postgres"], false),
    planted("dead-rows", &["work dead_rows planted.queue"], &["cpu postgres"], false),
    planted("empty-pages", &["work empty_pages planted.readings"], &["cpu postgres"], false),
    planted("subtransactions", &["work subtransactions"], &["cpu postgres"], false),
    planted("repeated-statements", &["work repeated_statement"], &["cpu postgres"], false),
    planted("old-statistics", &["work old_statistics planted.orders"], &["cpu postgres"], false),
    planted("advisory-lock", &["locks advisory"], &[], false),
    planted("opaque-service", &["service service"], &[], false),
    planted(
        "old-snapshot",
        &["work old_snapshot"],
        &["cpu postgres", "work dead_rows planted.counters"],
        false,
    ),
    planted("slow-reader", &["result_reading"], &[], false),
    planted("delayed-ack", &["delayed_acknowledgements"], &[], false),
    planted("idle-in-transaction", &["idle_transactions"], &["row_locks"], false),
    planted("wal-insert", &["locks lightweight", "writes postgres"], &["wal_flush"], false),
    planted("checkpoints", &["checkpoints", "writes postgres"], &["wal_flush"], false),
    planted("notify", &["locks object"], &[], false),
    planted("foreign-key", &["row_locks"], &[], false),
    planted("fk-delete", &["scan planted.items"], &["cpu postgres"], false),
    planted("sync-replica", &["sync_replicas", "writes postgres-2"], &[], false),
    planted("replica-cpu", &["cpu postgres-2"], &[], false),
    planted("role-limit", &["slots postgres"], &[], false),
    planted("service-copies", &["cpu service"], &[], false),
    planted("balancer-cpu", &["cpu balancer"], &[], false),
    planted("hash-files", &["work temporary_files"], &["cpu postgres"], false),
    planted("partitions", &["work planning"], &["cpu postgres"], false),
    planted("unused-indexes", &["work unused_indexes planted.events"], &["cpu postgres"], false),
];

/// Most wrong names among all files.
const MISNAMED: usize = 2;
/// Concurrent searches of the short share, and of systems in `IDLE`.
const AT_ONCE: usize = 3;

/// Systems that use almost no CPU, because their transactions wait. They can be searched at the same time.
const IDLE: [&str; 22] = [
    "pgbouncer-pool",
    "pgbouncer-pool-statement",
    "odyssey-pool",
    "service-pool",
    "two-pools",
    "slots",
    "read-iops",
    "write-iops",
    "wal-flush",
    "hot-row",
    "table-lock",
    "client-cap",
    "advisory-lock",
    "opaque-service",
    "slow-reader",
    "delayed-ack",
    "idle-in-transaction",
    "wal-insert",
    "checkpoints",
    "notify",
    "sync-replica",
    "role-limit",
];

/// Limit that a run reported.
struct ReportedLimit {
    /// Proven or suspected limiter; `None` if it is not known.
    first: Option<String>,
    /// Elasticity, or else the growth of the maximum; `None` unless proven.
    proven: Option<String>,
    level: Option<f64>,
    trials: usize,
    seconds: u64,
    /// Reason why the run was skipped.
    skipped: Option<String>,
}

fn folder() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("crates/pgdyno");
    root.join("proof/planted")
}

/// Kind of a limit, and the node, table, feed or kind of lock that it belongs to.
fn limit_name(limit: &Value) -> String {
    let subject = ["node", "table", "feed"].iter().find_map(|it| limit[it].as_str());
    let subject = subject.or_else(|| limit["lock"]["kind"].as_str());
    let work = ["kind", "table", "function"].map(|it| limit["work"][it].as_str());
    let parts = [limit["kind"].as_str(), subject].into_iter().chain(work).flatten();
    parts.collect::<Vec<_>>().join(" ")
}

fn measure(limit: &PlantedLimit, arguments: &[&str]) -> ReportedLimit {
    let workspace = Workspace::new(limit.name, "");
    let begun = Instant::now();
    let file = folder().join(format!("{}.yaml", limit.name));
    let arguments: Vec<&str> = ["--json"].iter().chain(arguments).copied().collect();
    let ended = RunOutput::run(&mut workspace.command_on(&file, &arguments));
    let seconds = begun.elapsed().as_secs();
    // Visible only if the test fails.
    println!("{}: {}\n{}", limit.name, ended.status, ended.err);
    let out = arguments.iter().position(|it| *it == "--out").map(|it| PathBuf::from(arguments[it + 1]));
    let run = match out {
        // The files are kept, so that wrong names can be examined.
        Some(out) => stored(&out, limit.name),
        None => workspace.stored(),
    };
    let trials = trials(&run);
    let skipped = trials.iter().find(|it| it.1 == RunStatus::Skipped).map(|it| it.2.clone());
    let named =
        ReportedLimit { first: None, proven: None, level: None, trials: trials.len(), seconds, skipped };
    if named.skipped.is_some() {
        return named;
    }
    // Status 4: no maximum was found, for example on a busy host.
    let status = if ended.status.code() == Some(4) { 4 } else { 0 };
    let document = ended.expect(status).document();
    named.read(&document)
}

/// Measures all systems, `at_once` of them at the same time, and prints their rows.
fn measure_all<'a>(
    limits: &[&'a PlantedLimit],
    at_once: usize,
    arguments: &[&str],
) -> Vec<(&'a PlantedLimit, ReportedLimit)> {
    let measured = |limit: &&'a PlantedLimit| {
        let named = measure(limit, arguments);
        println!("{}", named.row(limit));
        (*limit, named)
    };
    for_each_at_once(limits, at_once, measured)
}

/// Newest run file with this name.
fn stored(folder: &Path, name: &str) -> store::Run {
    let files = fs::read_dir(folder).expect("runs are kept there").flatten().map(|it| it.path());
    // A date and a time follow the name.
    let of_name = |path: &PathBuf| {
        let stem = path.file_stem().and_then(|it| it.to_str()).unwrap_or_default();
        stem.rsplit_once('-').is_some_and(|it| it.0 == name)
            && path.extension().is_some_and(|it| it == "dyno")
    };
    let path = files.filter(of_name).max().expect("the run that has just ended");
    store::Run::open(&path).unwrap_or_else(|error| panic!("{error:?}"))
}

impl ReportedLimit {
    fn read(self, document: &Value) -> ReportedLimit {
        let maximum = &document["maxima"][0];
        let (answer, cause) = (&maximum["answer"], &maximum["cause"]);
        let level = answer["level"].as_f64();
        let proof = cause["proof"].as_u64().map(|it| &maximum["proofs"][it as usize]);
        let reason = || Some(format!("no answer: {}", answer["stop_reason"]["kind"].as_str()?));
        let first = match cause["kind"].as_str() {
            // If the cause names a consumer of the CPU, the consumer is the limit.
            Some("proven") => cause["root_cause"]
                .is_object()
                .then(|| limit_name(&cause["root_cause"]))
                .or(proof.map(|it| limit_name(&it["limit"]))),
            Some("suspected") => Some(limit_name(&cause["suspect"]["limit"])),
            _ => reason().filter(|_| level.is_none()),
        };
        let measured = |figure: &Value| {
            let (value, interval) = (figure[0].as_f64()?, &figure[1]);
            let bounds = interval[0].as_f64().zip(interval[1].as_f64());
            let bounds = bounds.map(|it| format!(" [{:.2}, {:.2}]", it.0, it.1)).unwrap_or_default();
            Some(format!("{value:.2}{bounds}"))
        };
        let proven = proof.and_then(|proof| {
            measured(&proof["elasticity"]).or_else(|| Some(format!("× {}", measured(&proof["ratio"])?)))
        });
        ReportedLimit { first, proven, level, ..self }
    }

    fn matches(&self, limits: &[&str]) -> bool {
        self.first.as_deref().is_some_and(|it| limits.contains(&it))
    }

    /// True if the proven limiter is wrong.
    fn is_false(&self, limit: &PlantedLimit) -> bool {
        self.proven.is_some() && !self.matches(limit.limits) && !self.matches(limit.also)
    }

    fn row(&self, limit: &PlantedLimit) -> String {
        let first = self.skipped.as_ref().map_or_else(
            || self.first.clone().unwrap_or_else(|| "not known".to_owned()),
            |reason| format!("skipped: {reason}"),
        );
        let verdict = match () {
            () if self.skipped.is_some() => "–",
            () if self.is_false(limit) => "FALSE",
            () if self.matches(limit.limits) => "yes",
            () => "no",
        };
        let proven = self.proven.as_deref().unwrap_or("–");
        let level = self.level.map_or_else(|| "–".to_owned(), |it| format!("{it:.0}"));
        let ReportedLimit { trials, seconds, .. } = self;
        format!(
            "| {} | {} | {first} | {verdict} | {proven} | {level} | {trials} | {seconds} |",
            limit.name, limit.limits[0]
        )
    }
}

const HEAD: &str =
    "| planted | must be named | named first | right | proved: elasticity | maximum | trials | seconds |
|---|---|---|---|---|---|---|---|";

#[test]
fn every_file_is_valid_and_listed() {
    let mut files = BTreeSet::new();
    for entry in fs::read_dir(folder()).expect("the directory can be read").flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|it| it == "yaml") {
            let ended = RunOutput::run(Command::new(PGDYNO).arg("check").arg(&path));
            assert!(
                ended.expect(0).out.contains("its limiter is tested"),
                "{}: {}",
                path.display(),
                ended.out
            );
            files.insert(path.file_stem().and_then(|it| it.to_str()).expect("a plain name").to_owned());
        }
    }
    let rows: BTreeSet<String> = ALL.iter().map(|it| it.name.to_owned()).collect();
    assert_eq!(files, rows);
}

/// The systems of the held-back set are searched once, when the rules are final.
#[test]
fn every_held_back_file_is_valid() {
    let mut checked = 0;
    for set in ["first", "second", "third"] {
        let set = folder().with_file_name("heldback").join(set);
        for entry in fs::read_dir(set).expect("the directory can be read").flatten() {
            if entry.path().extension().is_some_and(|it| it == "yaml") {
                RunOutput::run(Command::new(PGDYNO).arg("check").arg(entry.path())).expect(0);
                checked += 1;
            }
        }
    }
    assert_eq!(checked, 60);
}

/// Number of searches in the short share.
const SHORT_SHARE: usize = 2;

#[test]
fn names_the_planted_limit_in_the_short_share() {
    if !is_root() {
        println!("skipped: quotas want root");
        return;
    }
    let sets = ["prove=false", "find.max.window=2s", "find.max.hold=2s", "find.max.precision=40%"];
    let arguments: Vec<&str> = sets.iter().flat_map(|it| ["--set", it]).collect();
    let share: Vec<&PlantedLimit> = ALL.iter().filter(|it| it.is_short).take(SHORT_SHARE).collect();
    let named = measure_all(&share, AT_ONCE, &arguments);
    let wrong: Vec<String> = named.iter().filter_map(|(limit, named)| violation(limit, named)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // The searches share a machine, so a search may end far below its limiter and report no name.
    let unnamed = named.iter().filter(|it| it.1.first.is_none() && it.1.skipped.is_none());
    let unnamed: Vec<&str> = unnamed.map(|it| it.0.name).collect();
    assert!(
        unnamed.len() * 2 <= share.len(),
        "of {} searches these named nothing: {}",
        share.len(),
        unnamed.join(", ")
    );
}

/// Violation that neither the machine nor another load excuses: a search without a result, or a wrong name.
fn violation(limit: &PlantedLimit, named: &ReportedLimit) -> Option<String> {
    let first = named.first.as_deref();
    // Limits that other users of the machine cause, or clients that all wait meanwhile.
    let bystanders = ["host", "generator", "client_cap"];
    let is_right = named.matches(limit.limits) || named.matches(limit.also) || named.matches(&bystanders);
    let no_answer = first.is_some_and(|it| it.starts_with("no answer"));
    let problem = match first {
        _ if named.skipped.is_some() || is_right => return None,
        // A limit planted in the generator must yield no answer.
        Some(_) if no_answer && named.level.is_none() => return None,
        None if named.level.is_some() => return None,
        Some(other) => format!("{other} is named"),
        None => "neither an answer nor a reason".to_owned(),
    };
    Some(format!("{}: {problem}", limit.name))
}

/// The complete proof. `PGDYNO_PLANTED` selects the files and enables the test.
#[test]
fn all_that_is_planted_is_named_first_and_no_other_limit_is_proved() {
    let Some(wanted) = selected("PGDYNO_PLANTED", &ALL, |it| it.name) else {
        println!("skipped: several hours; ./x proof asks for it");
        return;
    };
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("planted");
    fs::create_dir_all(&out).expect("cargo's folder is ours");
    let folder = out.to_str().expect("the path is UTF-8");
    println!("{HEAD}");
    let (mut right, mut wrong, mut falsehoods) = (0, Vec::new(), Vec::new());
    let (idle, busy): (Vec<&PlantedLimit>, Vec<&PlantedLimit>) =
        wanted.into_iter().partition(|it| IDLE.contains(&it.name));
    let mut all = measure_all(&idle, AT_ONCE, &["--out", folder]);
    all.extend(measure_all(&busy, 1, &["--out", folder]));
    for (planted, named) in all {
        match () {
            () if named.is_false(planted) => falsehoods.push(planted.name),
            () if named.matches(planted.limits) => right += 1,
            () if named.skipped.is_none() => wrong.push(planted.name),
            () => {}
        }
    }
    println!("\nnamed first: {right}; proved falsely: {}; runs are kept in {folder}", falsehoods.len());
    assert!(falsehoods.is_empty(), "proved, and not so: {}", falsehoods.join(", "));
    assert!(wrong.len() <= MISNAMED, "not named first: {}", wrong.join(", "));
}

#[test]
fn judges_reported_limits() {
    let planted_limit = planted("a", &["scan t"], &["cpu postgres"], true);
    let cause = |kind: &str, limit: &str| {
        let limit = match limit.split_once(' ') {
            Some(("scan", table)) => format!(r#"{{"kind":"scan","table":"{table}"}}"#),
            Some((kind, node)) => format!(r#"{{"kind":"{kind}","node":"{node}"}}"#),
            None => format!(r#"{{"kind":"{limit}"}}"#),
        };
        let proofs = format!(r#"[{{"limit":{limit},"elasticity":[0.9,[0.8,1.0]]}}]"#);
        format!(
            r#"{{"maxima":[{{"answer":{{"level":5.0}},"proofs":{proofs},
               "cause":{{"kind":"{kind}","proof":0,"suspect":{{"limit":{limit}}}}}}}]}}"#
        )
    };
    let blank =
        || ReportedLimit { first: None, proven: None, level: None, trials: 0, seconds: 0, skipped: None };
    let read = |text: &str| blank().read(&serde_json::from_str(text).expect("the text is JSON"));
    for (kind, limit, right, falsehood, complains) in [
        ("proven", "scan t", true, false, false),
        ("proven", "cpu postgres", false, false, false),
        ("proven", "pool pooler", false, true, true),
        ("suspected", "pool pooler", false, false, true),
        ("suspected", "scan t", true, false, false),
        ("suspected", "host", false, false, false),
        ("not_known", "host", false, false, false),
    ] {
        let mut text = cause(kind, limit);
        if kind != "proven" {
            text = text.replace(r#""proof":0,"#, "");
        }
        let named = read(&text);
        assert_eq!(named.matches(planted_limit.limits), right, "{kind} {limit}");
        assert_eq!(named.is_false(&planted_limit), falsehood, "{kind} {limit}");
        assert_eq!(violation(&planted_limit, &named).is_some(), complains, "{kind} {limit}");
    }
    // The consumer of a CPU is reported with it.
    let taken = cause("proven", "cpu postgres")
        .replace(r#""proof":0"#, r#""proof":0,"root_cause":{"kind":"scan","table":"t"}"#);
    assert!(read(&taken).matches(planted_limit.limits));
    let none = r#"{"maxima":[{"answer":{"level":null,"stop_reason":{"kind":"generator"}},
        "proofs":[],"cause":{"kind":"not_known"}}]}"#;
    let named = read(none);
    assert!(named.matches(&["no answer: generator"]) && violation(&planted_limit, &named).is_none());
    assert!(
        violation(&planted_limit, &read(&none.replace("generator", "").replace(r#""kind":"""#, "")))
            .is_some()
    );
}
