//! `pgdyno distil`: experiment files from server logs

use crate::folder::{Folder, repository_file, text};
use std::fs;

fn log(name: &str) -> String {
    let directory = repository_file("crates/traffic/fixtures");
    directory.join(name).display().to_string()
}

/// Every log of real servers gives a file that is valid, whatever the format.
#[test]
fn writes_valid_experiments() {
    let folder = Folder::new("distil-valid");
    for (number, name) in ["15-bench.csv", "15-bench.json", "15-bench.log", "18-extended.json", "16-psql.csv"]
        .iter()
        .enumerate()
    {
        let file = format!("shop-{number}.yaml");
        let written = text(&mut folder.command(&["distil", &log(name), "-o", &file]), 0);
        assert!(written.contains(&format!("Wrote {file}")), "{written}");
        text(&mut folder.command(&["check", &file]), 0);
        let again = text(&mut folder.command(&["distil", &log(name), "-o", &file]), 2);
        assert!(again.contains("exists already; nothing was written"), "{again}");
    }
    let [csv, json, stderr] = [0, 1, 2].map(|number| {
        let yaml = fs::read_to_string(folder.0.join(format!("shop-{number}.yaml"))).expect("it was written");
        let operations = yaml.lines().filter(|line| line.starts_with("    weight:")).map(str::to_owned);
        operations.collect::<Vec<_>>()
    });
    assert!(!csv.is_empty() && csv == json && csv == stderr, "one server wrote all three logs");
}

#[test]
fn explains_what_cannot_be_read() {
    let folder = Folder::new("distil-wrong");
    fs::write(folder.0.join("noise.log"), "no log\n").expect("there is room");
    let unknown = text(&mut folder.command(&["distil", "noise.log", "-o", "new.yaml"]), 1);
    assert!(unknown.contains("noise.log") && unknown.contains("--log-line-prefix"), "{unknown}");
    let empty = "2026-11-26 03:13:00.761 UTC [1] LOG:  database system is ready to accept connections\n";
    fs::write(folder.0.join("empty.log"), empty).expect("there is room");
    let nothing = text(&mut folder.command(&["distil", "empty.log", "-o", "new.yaml"]), 1);
    assert!(nothing.contains("log_min_duration_statement = 0"), "{nothing}");
    let prefix =
        text(&mut folder.command(&["distil", "empty.log", "-o", "new.yaml", "--log-line-prefix", "%u "]), 1);
    assert!(prefix.contains("%m, %t or %n"), "{prefix}");
    let line = |number: u32, database: &str| {
        format!("2026-11-26 03:13:00.761 UTC [{number}] me@{database} LOG:  statement: select 1\n")
    };
    fs::write(folder.0.join("two.log"), line(1, "shop") + &line(2, "crm")).expect("there is room");
    let two = text(&mut folder.command(&["distil", "two.log", "-o", "new.yaml"]), 2);
    assert!(two.contains("several databases: crm, shop; select one with --database"), "{two}");
    fs::write(folder.0.join("changed.log"), line(1, "shop") + &"[03:13] LOG:  x\n".repeat(9))
        .expect("there is room");
    let changed = text(&mut folder.command(&["distil", "changed.log", "-o", "new.yaml"]), 1);
    assert!(changed.contains("most entries are not in the detected format"), "{changed}");
    assert!(!folder.0.join("new.yaml").exists());
    text(&mut folder.command(&["distil", "two.log", "-o", "new.yaml", "--database", "shop"]), 0);
}

/// Anonymised files contain no recorded text.
#[test]
fn anonymises_texts() {
    let folder = Folder::new("distil-anonymous");
    let read = || {
        let files = fs::read_dir(&folder.0)
            .expect("it exists")
            .flatten()
            .filter(|it| it.path().extension().is_some_and(|end| end == "csv"));
        files.map(|it| fs::read_to_string(it.path()).expect("it was written")).collect::<String>()
    };
    text(&mut folder.command(&["distil", &log("18-extended.json"), "-o", "plain.yaml"]), 0);
    let plain = read();
    let texts = ["it's", "two", "lines"];
    assert!(texts.iter().all(|text| plain.contains(text)), "{plain}");
    for file in fs::read_dir(&folder.0).expect("it exists").flatten() {
        fs::remove_file(file.path()).expect("it is there");
    }
    text(&mut folder.command(&["distil", &log("18-extended.json"), "-o", "secret.yaml", "--anonymise"]), 0);
    let anonymous = read();
    assert!(!texts.iter().any(|text| anonymous.contains(text)), "{anonymous}");
    assert_eq!(anonymous.lines().count(), plain.lines().count(), "only texts were replaced");
}
