//! Histories in files, with the verdicts that their authors expect

use super::*;
use model::Nanos;
use std::fs;
use std::path::{Path, PathBuf};

/// Histories of this project, those of an author who had seen only the documentation, and those in the directory that
/// `PGDYNO_HISTORIES` names.
fn history_files() -> Vec<PathBuf> {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/durability/histories");
    let foreign = ours.join("foreign");
    let others = std::env::var("PGDYNO_HISTORIES").ok().map(PathBuf::from);
    let files = |folder: &Path| {
        let entries = fs::read_dir(folder).unwrap_or_else(|it| panic!("{}: {it}", folder.display()));
        let paths = entries.map(|it| it.expect("an entry of the directory").path());
        let is_text = |path: &PathBuf| path.extension().is_some_and(|it| it == "txt");
        let mut paths: Vec<PathBuf> = paths.filter(is_text).collect();
        paths.sort();
        paths
    };
    [Some(ours), Some(foreign), others].into_iter().flatten().flat_map(|it| files(&it)).collect()
}

#[test]
fn histories_have_the_expected_verdicts() {
    let (mut count, mut wrong) = (0, Vec::new());
    for path in history_files() {
        let text = fs::read_to_string(&path).expect("the file is text");
        for (title, line, text) in split(&text) {
            let place = format!("{}:{line}: {title}", path.display());
            let file = HistoryFile::parse(text).unwrap_or_else(|it| panic!("{place}: {it:?}"));
            let expected = file.expected.as_ref().unwrap_or_else(|| panic!("{place}: no line `expect`"));
            let actual = expected.of_verdict(&file.judge());
            count += 1;
            if actual != *expected {
                wrong.push(format!("{place}\n  expected {expected:?}\n  judged   {actual:?}"));
            }
        }
    }
    println!("{} of {count} histories have the expected verdict", count - wrong.len());
    assert!(wrong.is_empty(), "{} of {count} verdicts differ\n{}", wrong.len(), wrong.join("\n"));
    assert!(count >= 160, "{count} histories");
}

#[test]
fn reports_lines_that_cannot_be_read() {
    let check = |text: &str, expected: &[(usize, &str)]| {
        let diagnostics = HistoryFile::parse(text).err().unwrap_or_default();
        let places: Vec<(usize, &str)> = diagnostics.iter().map(|it| (it.line, it.text.as_str())).collect();
        assert_eq!(places, expected, "{text}");
    };
    check("# nothing\n\n", &[]);
    check("10 write 0/0 acknowledged a@1", &[]);
    check("10-11 write 0/0 failed 08006 a@1\n10-11 write 0/1 failed a@1", &[]);
    check("soon write 0/0 acknowledged", &[(1, "soon")]);
    check("11-10 write 0/0 acknowledged", &[(1, "11-10")]);
    check("1.1234567 fault", &[(1, "1.1234567")]);
    check("10 wrote 0/0", &[(1, "wrote")]);
    check("10 write 0 acknowledged", &[(1, "0")]);
    check("10 write 0/5000 acknowledged", &[(1, "0/5000")]);
    check("10 write 0/0 done", &[(1, "done")]);
    check("10 write 0/0", &[(1, "")]);
    check("10 write 0/0 acknowledged a", &[(1, "a")]);
    check("10 write 0/0 acknowledged a@x", &[(1, "a@x")]);
    check("10 write 0/0 acknowledged a@1+x", &[(1, "a@1+x")]);
    check("0 settings a@1 sometimes", &[(1, "sometimes")]);
    check("0 settings a@1 on ANY (b", &[(1, "ANY (b")]);
    check("0 role a@1 leader\n0 role a@1 primary fsync=no", &[(1, "leader"), (2, "fsync=no")]);
    check("0 fault big", &[(1, "big")]);
    check("0 promote b\n0 promote b: b\n0 promote b: b=1 first", &[(1, ""), (2, "b"), (3, "b=1 first")]);
    check("0 read a@1 primary 0/0 x", &[(1, "")]);
    check("0 read a@1 primary [0/0 [0/1]]\n0 read a@1 primary 0/0]", &[(1, "["), (2, "]")]);
    check("0 read a@1 primary [0/0 0/1", &[(1, "")]);
    check("0 value a@1 1000\n0 value a 1000\n0 value", &[(2, "a"), (3, "")]);
    check("expect good\nexpect kept: gone 1", &[(1, "good"), (2, "gone")]);
    check("expect broken: lost\nbecause tired", &[(1, "lost"), (2, "tired")]);
    check("control some\nledger shut", &[(1, "some"), (2, "shut")]);
}

#[test]
fn times_are_exact() {
    assert_eq!(words::times("12"), Ok((Nanos(12_000_000), Nanos(12_000_000))));
    assert_eq!(words::times("12.5-13.000001"), Ok((Nanos(12_500_000), Nanos(13_000_001))));
}

/// Every name is found again.
#[test]
fn names_are_unique() {
    for kind in names::ANOMALIES {
        assert_eq!(names::find_anomaly(anomaly_name(kind)), Some(kind));
    }
    assert!(names::REASONS.contains(&reason_name(&model::durability::InconclusiveReason::FsyncOff)));
}

/// A cluster manager may choose another primary when pgdyno restarts the servers after the load.
#[test]
fn counts_failovers_during_the_load_and_after_faults() {
    let check = |events: &str, expected: u32| {
        let text = format!(
            "expect kept\n0 settings a@1 on FIRST 1 (b)\n0 role a@1 primary\n10-11 write 0/0 acknowledged a@1\n{events}"
        );
        let file = HistoryFile::parse(&text).unwrap_or_else(|it| panic!("{text}: {it:?}"));
        assert_eq!(file.judge().failovers, expected, "{text}");
    };
    let first = "20 fault failover\n1000 role b@2 primary\n2000-2001 write 0/1 acknowledged b@2\n";
    let read = "9000 read c@3 primary 0/0-1\n";
    check(&format!("{first}9000 read b@2 primary 0/0-1\n"), 1);
    check(&format!("{first}5000 role c@3 primary\n{read}"), 1);
    check(&format!("{first}3000 fault failover\n5000 role c@3 primary\n{read}"), 2);
    check(
        &format!(
            "{first}5000 role c@3 primary\n6000-6001 write 0/2 acknowledged c@3\n9000 read c@3 primary 0/0-2\n"
        ),
        2,
    );
    // The failover of a fault near the end of the load.
    check("20 fault failover\n1000 role b@2 primary\n9000 read b@2 primary 0/0\n", 1);
}
