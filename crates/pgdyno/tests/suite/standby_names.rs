//! Comparison of the `synchronous_standby_names` parser with a real PostgreSQL

use crate::folder::Folder;
use analysis::durability::replication::parse;
use model::SplitMix64;
use stack::find::InstallationSearch;
use std::path::Path;
use std::process::Command;

/// Data directory that lets PostgreSQL check a setting without starting a server.
fn empty_data_directory() -> Folder {
    let folder = Folder::new("standby-names");
    std::fs::write(folder.0.join("postgresql.conf"), "").expect("the file can be written");
    folder
}

fn accepts(postgres: &Path, folder: &Folder, names: &str) -> bool {
    // -C must come first; otherwise the program refuses to run as root.
    let output = Command::new(postgres)
        .args(["-C", "synchronous_standby_names", "-D"])
        .arg(&folder.0)
        .args(["-c", &format!("synchronous_standby_names={names}")])
        .output();
    output.expect("the program can be started").status.success()
}

#[test]
fn accepts_the_names_that_postgresql_accepts() {
    let installation = InstallationSearch::from_environment(None, None)
        .find_first()
        .expect("these tests need a PostgreSQL server");
    let (postgres, folder) = (installation.bin.join("postgres"), empty_data_directory());
    let parts = ["any", "FIRST", "1", "0", "2(", "(", ")", ",", "*", "a", "b_1$", "\"x y\"", "\"", "-", " "];
    let seed = 20_261_121;
    let mut rng = SplitMix64(seed);
    println!("seed {seed}");
    let mut texts: Vec<String> = [
        "",
        "a",
        "a,b",
        "*",
        "7,8",
        "2(a,b)",
        "2 (1, 2)",
        "first 2 (a,b,c)",
        "ANY 1 (a,*)",
        "aNy\t2\n(a,b)",
        "anyone, firstly",
        r#""any", "a b", "say ""x""""#,
        r#""""#,
        " ",
        "a b",
        "a,",
        ",a",
        "a-b",
        "12a",
        "2(a",
        "2()",
        "(a)",
        "2 a",
        "a (b)",
        "any (a)",
        "any",
        "a, first",
        "any 1 (a) b",
        "any 1 (a), b",
        "any 0 (a)",
        "0(a)",
        r#"a,"b"#,
        "any 99999999999 (a)",
        "any 4294967295 (a)",
        "any 99999999999999999999 (a)",
    ]
    .map(str::to_owned)
    .to_vec();
    for _ in 0..100 {
        let mut text = String::new();
        for _ in 0..=rng.below(7) {
            text += parts[rng.below(parts.len() as u64) as usize];
        }
        texts.push(text);
    }
    let mut accepted = 0;
    for names in &texts {
        let is_accepted = accepts(&postgres, &folder, names);
        accepted += u32::from(is_accepted);
        assert_eq!(parse(names).is_ok(), is_accepted, "{names:?}: {:?}", parse(names));
    }
    assert!(
        accepted > 15 && (accepted as usize) < texts.len() - 15,
        "{accepted} of {} are right",
        texts.len()
    );
}
