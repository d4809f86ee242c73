//! Replays the stored inputs of every fuzz target.

use std::fs;
use std::panic::catch_unwind;
use std::path::Path;

#[test]
fn stored_inputs_pass() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus");
    let mut failed = Vec::new();
    for (name, run) in fuzz_targets::TARGETS {
        let folder = corpus.join(name);
        let files = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let mut count = 0;
        for entry in files {
            let path = entry.expect("the folder can be read").path();
            let input = fs::read(&path).expect("the input can be read");
            if catch_unwind(|| run(&input)).is_err() {
                failed.push(path.display().to_string());
            }
            count += 1;
        }
        assert!(count > 0, "{name} has no input");
    }
    assert!(failed.is_empty(), "these fail: {failed:#?}");
}

#[test]
fn every_folder_has_its_target_and_every_target_its_program() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let names = |folder: &str| {
        let entries = fs::read_dir(root.join(folder)).expect("the folder can be read");
        let stem = |it: fs::DirEntry| it.path().file_stem().expect("a name").to_string_lossy().into_owned();
        let mut all: Vec<String> =
            entries.map(|it| stem(it.expect("the directory entry can be read"))).collect();
        all.sort();
        all
    };
    let targets: Vec<String> = fuzz_targets::TARGETS.iter().map(|it| it.0.to_owned()).collect();
    assert_eq!(names("corpus"), targets);
    assert_eq!(names("fuzz_targets"), targets);
}
