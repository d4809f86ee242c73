//! Pipelines in docs/ci.md and its translation, jobs of the GitHub action, and jobs of the GitLab template

mod gitlab;
mod gitlab_api;
mod runner;
pub mod yaml;

use crate::folder::Folder;
use gitlab::{GitlabJob, Pipeline, Project};
use gitlab_api::GitlabApi;
use runner::{Job, Runner};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn pipelines_use_existing_options() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let pages = ["docs/ci.md", "docs/ru/ci.md"];
    let text =
        pages.map(|it| fs::read_to_string(format!("{root}/{it}")).expect("the file can be read")).concat();
    let mut help: BTreeMap<String, String> = BTreeMap::new();
    let mut wrong = Vec::new();
    let mut commands = 0;
    let mut fenced = false;
    for line in text.lines() {
        fenced ^= line.starts_with("```");
        // The rest of the line is a comment.
        let code = line.split_once(" #").map_or(line, |it| it.0).trim_end();
        let Some((_, command)) = code.split_once("pgdyno ").filter(|_| fenced && line.starts_with(' '))
        else {
            continue;
        };
        let words: Vec<&str> = command.split_whitespace().take_while(|it| *it != ">>").collect();
        let verb = words[0];
        let help = help.entry(verb.to_owned()).or_insert_with(|| help_of(verb));
        commands += 1;
        if help.is_empty() {
            wrong.push(format!("no command: {line}"));
        }
        let known = |it: &str| help.split_whitespace().any(|word| word.trim_end_matches(',') == it);
        let options = words.iter().filter(|it| it.starts_with("--"));
        wrong.extend(options.filter(|it| !known(it)).map(|it| format!("no {it}: {line}")));
        let format = words.iter().position(|it| *it == "--format").map(|at| words[at + 1]);
        let possible = |value: &str| {
            help.split("[possible values: ").skip(1).any(|all| {
                all.split(']').next().is_some_and(|all| all.split(',').any(|one| one.trim() == value))
            })
        };
        wrong.extend(format.filter(|it| !possible(it)).map(|it| format!("no format {it}: {line}")));
    }
    assert!(commands >= 12, "only {commands} commands were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Runs jobs of the action one after the other: a first pull request, the main branch, and two more pull requests.
#[test]
fn action_compares_with_the_baseline_of_the_main_branch() {
    let folder = Folder(PathBuf::from(format!("/var/tmp/dyno-test-{}-ci", std::process::id())));
    let programs = folder.0.join("programs");
    fs::create_dir_all(&programs).expect("/var/tmp can be written to");
    symlink(env!("CARGO_BIN_EXE_pgdyno"), programs.join("pgdyno")).expect("the link can be created");
    // Stands for GitHub's program, which the action calls as `gh pr comment NUMBER --body-file FILE …`.
    let gh = "#!/bin/sh\nset -eu\n[ \"$1 $2 $3 $4\" = 'pr comment 7 --body-file' ]\ncp \"$5\" comment\n";
    write_program(&programs.join("gh"), gh);
    let action = action();
    check_metadata(&action);
    let mut runner = Runner { workspace: PathBuf::new(), caches: Vec::new(), programs };
    let mut number = 0;
    let mut job = |event: &str, branch: &str, arguments: &str, conditions: &str| {
        number += 1;
        runner.workspace = folder.0.join(format!("job-{number}"));
        fs::create_dir(&runner.workspace).expect("the directory can be created");
        fs::write(runner.workspace.join("one.yaml"), EXPERIMENT).expect("the file can be written");
        let id = number.to_string();
        let context = [
            ("inputs.experiment", "one.yaml"),
            ("inputs.arguments", arguments),
            ("inputs.fail-if", conditions),
            ("github.event_name", event),
            ("github.ref_name", branch),
            ("github.run_id", &id),
            ("github.event.pull_request.number", "7"),
        ];
        let job = runner.run(&action, &context);
        let comment = fs::read_to_string(runner.workspace.join("comment")).ok();
        (job, comment)
    };
    let check = |(job, comment): &(Job, Option<String>), success: bool, status: &str| {
        assert_eq!((job.success, job.outputs["status"].as_str()), (success, status), "{}", job.log);
        assert!(job.outputs["run"].ends_with(".dyno"), "{:?}", job.outputs);
        let files = ["junit.xml", "report.html", "summary.md"];
        assert!(files.iter().all(|it| job.artefact.iter().any(|name| name == it)), "{:?}", job.artefact);
        assert!(comment.as_ref().is_none_or(|it| *it == job.summary), "{comment:?}");
        job.summary.clone()
    };
    let conditions = "tps < -99.9%\np50 > +1000000%";

    let first = job("pull_request", "7/merge", "", conditions);
    assert!(check(&first, true, "0").starts_with("There is no baseline yet"), "{}", first.0.summary);
    assert!(first.1.is_some(), "no comment");

    let main = job("push", "main", "--set\nrepeat=4", conditions);
    check(&main, true, "0");
    assert!(main.1.is_none(), "a comment outside a pull request");

    let compared = job("pull_request", "7/merge", "--set\nrepeat=4", conditions);
    // On a busy machine, too few trials may be valid for a comparison.
    let status = if compared.0.success { "0" } else { "4" };
    let summary = check(&compared, compared.0.success, status);
    assert!(summary.contains("## Conditions") && !summary.contains("There is no baseline"), "{summary}");

    let violated = job("pull_request", "7/merge", "--set\nobjectives=[tps > 1000000]", "");
    check(&violated, false, "99");
    assert!(violated.1.is_some(), "no comment on a failed job");

    // A wrong experiment file leaves no run.
    let (wrong, comment) = job("push", "main", "--set\nload.client=2", "");
    assert_eq!(
        (wrong.success, wrong.outputs["status"].as_str(), comment),
        (false, "2", None),
        "{}",
        wrong.log
    );
}

/// The action takes pgdyno from the release that its workflow names, and refuses a package with another checksum.
#[test]
fn action_installs_the_package_of_its_release() {
    let folder = Folder(PathBuf::from(format!("/var/tmp/dyno-test-{}-ci-install", std::process::id())));
    let (programs, release) = (folder.0.join("programs"), folder.0.join("release"));
    fs::create_dir_all(&programs).expect("/var/tmp can be written to");
    fs::create_dir(&release).expect("the directory can be created");
    let machine = Command::new("uname").arg("-m").output().expect("uname can be started").stdout;
    let name = format!("pgdyno-0.1.0-{}-linux.tar.gz", String::from_utf8_lossy(&machine).trim());
    pack(&folder.0, &release.join(&name));
    let sums = Command::new("sha256sum").arg(&name).current_dir(&release).output();
    let sums = sums.expect("sha256sum can be started").stdout;
    // Stands for GitHub's program. Only the release v0.1.0 exists.
    let gh = format!(
        "#!/bin/sh\n[ \"$1 $2 $3 $4 $5\" = 'release download v0.1.0 --repo OWNER/pgdyno' ] || exit 1\n\
         [ \"$8 $9\" = '--pattern pgdyno-*-'$(uname -m)-linux.tar.gz ] && cp {}/* \"$7\"\n",
        release.display()
    );
    write_program(&programs.join("gh"), &gh);
    // Compiling would take minutes.
    write_program(&programs.join("cargo"), "#!/bin/sh\necho \"compiling with $*\" >&2\nexit 1\n");
    // The path of a job contains no other pgdyno.
    if Command::new("pgdyno").arg("--version").output().is_ok() {
        eprintln!("SKIPPED: pgdyno is installed");
        return;
    }
    let action = action();
    let mut runner = Runner { workspace: PathBuf::new(), caches: Vec::new(), programs };
    let mut job = |tag: &str, sums: &[u8]| {
        fs::write(release.join("SHA256SUMS"), sums).expect("the file can be written");
        runner.workspace = folder.0.join(format!("job-{tag}-{}", sums.len()));
        fs::create_dir(&runner.workspace).expect("the directory can be created");
        fs::write(runner.workspace.join("one.yaml"), EXPERIMENT).expect("the file can be written");
        let context = [
            ("inputs.experiment", "one.yaml"),
            ("github.action_repository", "OWNER/pgdyno"),
            ("github.action_ref", tag),
            ("github.token", "secret"),
        ];
        runner.run(&action, &context)
    };

    let installed = job("v0.1.0", &sums);
    assert_eq!((installed.success, installed.outputs["status"].as_str()), (true, "0"), "{}", installed.log);

    let other_digit = if sums[0] == b'0' { b"1" } else { b"0" };
    let changed = job("v0.1.0", &[other_digit, &sums[1..], b"\n"].concat());
    assert!(!changed.success, "{}", changed.log);
    assert!(changed.log.contains("does not have the checksum in SHA256SUMS"), "{}", changed.log);
    assert!(!changed.log.contains("compiling"), "{}", changed.log);

    // A branch has no package.
    let branch = job("main", &sums);
    assert!(branch.log.contains("compiling with install"), "{}", branch.log);
}

const EXPERIMENT: &str = "
stack: { postgres: {} }
operations: { one: { sql: SELECT 1 } }
load: { model: closed, clients: 1, duration: 300ms }
";

/// Runs jobs of the GitLab template in clones of a repository: a first merge request, the main branch, another branch, and
/// more merge requests.
#[test]
fn gitlab_job_compares_with_the_baseline_of_the_default_branch() {
    let missing = |program: &&&str| Command::new(program).arg("--version").output().is_err();
    if let Some(program) = ["git", "curl"].iter().find(missing) {
        eprintln!("SKIPPED: {program} is not installed");
        return;
    }
    let folder = Folder(PathBuf::from(format!("/var/tmp/dyno-test-{}-gitlab", std::process::id())));
    let archive = folder.0.join("pgdyno-0.1.0-x86_64-linux.tar.gz");
    pack(&folder.0, &archive);
    // The second note only quotes the mark of the job's own note.
    let quoted = "> <!-- pgdyno:load --> {\"id\":1,\"body\":\"<!-- pgdyno:load -->\"}";
    let api = GitlabApi::start(fs::read(&archive).expect("the archive was written"), &["Fine.", quoted]);
    let template =
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/gitlab/pgdyno.gitlab-ci.yml"));
    gitlab::check_keywords(&yaml::parse(template));
    let pipeline = "
include: [ { local: ci/pgdyno.gitlab-ci.yml } ]
load:
  extends: .pgdyno
  variables: { PGDYNO_EXPERIMENT: experiments/one.yaml }
";
    let files = [
        (".gitlab-ci.yml", pipeline),
        ("ci/pgdyno.gitlab-ci.yml", template),
        ("experiments/one.yaml", EXPERIMENT),
    ];
    let mut project = Project::new(&folder.0, &files);
    let address = format!("{}{}", api.address, gitlab_api::PACKAGE);
    let set = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    project.variables = vec![
        set("CI_API_V4_URL", &api.address),
        set("PGDYNO_PACKAGE", &address),
        set("PGDYNO_FAIL_IF", "tps < -99.9%\np50 > +1000000%"),
    ];
    let token = ("PGDYNO_GITLAB_TOKEN", gitlab_api::TOKEN);
    let repeat = ("PGDYNO_ARGUMENTS", "--set\nrepeat=4");
    let check = |job: &GitlabJob, statuses: &[i32]| {
        assert!(statuses.contains(&job.status), "{job:?}");
        let measured = ["junit.xml", "report.html", "summary.md"];
        assert!(measured.iter().all(|it| job.artefact.iter().any(|name| name == it)), "{job:?}");
        assert!(!job.artefact.iter().any(|it| it == "comment.md"), "{job:?}");
    };
    let merge_request = Pipeline::MergeRequest { branch: "feature" };
    let main = Pipeline::Push { branch: "main" };
    let mut run = |pipeline, variables: &[(&str, &str)]| project.run("load", pipeline, variables);

    let first = run(merge_request, &[token]).expect("a rule selects merge requests");
    check(&first, &[0]);
    let notes = api.notes();
    assert_eq!(notes.len(), 3, "{}", first.log);
    assert!(notes[2].starts_with("<!-- pgdyno:load -->\nThere is no baseline yet"), "{}", notes[2]);

    assert!(
        run(Pipeline::Push { branch: "feature" }, &[]).is_none(),
        "a job for a branch without a merge request"
    );

    let stored = run(main, &[token, repeat]).expect("a rule selects the default branch");
    check(&stored, &[0]);
    assert_eq!(api.notes().len(), 3, "a comment outside a merge request");

    let compared = run(merge_request, &[token, repeat]).expect("a rule selects merge requests");
    // On a busy machine, too few trials may be valid for a comparison.
    check(&compared, &[0, 4]);
    let notes = api.notes();
    assert_eq!((notes.len(), notes[1].as_str()), (3, quoted), "the comment is replaced: {}", compared.log);
    assert!(notes[2].contains("## Conditions") && !notes[2].contains("no baseline"), "{}", notes[2]);

    let violated = ("PGDYNO_ARGUMENTS", "--set\nobjectives=[tps > 1000000]");
    // A wrong token does not change the result of the job.
    let wrong_token = ("PGDYNO_GITLAB_TOKEN", "wrong");
    check(&run(merge_request, &[wrong_token, violated]).expect("a rule selects merge requests"), &[99]);
    assert_eq!(api.notes(), notes);

    // A failed run of the default branch leaves the baseline as it is.
    check(&run(main, &[violated]).expect("a rule selects the default branch"), &[99]);
    let other_branch = [("PGDYNO_BASELINE_BRANCH", "release")];
    assert!(run(main, &other_branch).is_none(), "a job for a branch that is not the baseline");
    assert!(
        run(Pipeline::MergeRequest { branch: "feature" }, &[("PGDYNO_SHA256", "0")])
            .is_some_and(|it| it.status != 0)
    );
    assert_eq!(project.caches.len(), 1);
    let baseline = project.caches.values().next().expect("one cache");
    assert!(baseline.ends_with("cache-3"), "{}", baseline.display());
}

fn action() -> Value {
    let text = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../action.yml"));
    yaml::parse(&text.expect("the file can be read"))
}

fn write_program(path: &Path, script: &str) {
    fs::write(path, script).expect("the program can be written");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("the permissions can be changed");
}

/// Writes a release archive whose program starts the tested one.
fn pack(folder: &Path, archive: &Path) {
    let top = folder.join("pgdyno-0.1.0-x86_64-linux");
    fs::create_dir_all(&top).expect("/var/tmp can be written to");
    let program = format!("#!/bin/sh\nexec {} \"$@\"\n", env!("CARGO_BIN_EXE_pgdyno"));
    write_program(&top.join("pgdyno"), &program);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tools/ci");
    fs::copy(script, top.join("ci")).expect("the script can be copied");
    let mut tar = Command::new("tar");
    tar.arg("-czf").arg(archive).arg("-C").arg(folder).arg("pgdyno-0.1.0-x86_64-linux");
    assert!(tar.status().expect("tar can be started").success(), "tar packs the archive");
}

/// Checks the rules of GitHub for the metadata of composite actions that a typing error would break.
fn check_metadata(action: &Value) {
    let keys =
        |value: &Value| value.as_object().into_iter().flatten().map(|it| it.0.clone()).collect::<Vec<_>>();
    let known = |value: &Value, known: &[&str]| {
        let unknown: Vec<String> =
            keys(value).into_iter().filter(|it| !known.contains(&it.as_str())).collect();
        assert!(unknown.is_empty(), "unknown keys: {unknown:?}");
    };
    known(action, &["name", "description", "inputs", "outputs", "runs"]);
    assert!(action["name"].is_string() && action["description"].is_string());
    action["inputs"]
        .as_object()
        .expect("inputs")
        .values()
        .for_each(|it| known(it, &["description", "required", "default"]));
    action["outputs"]
        .as_object()
        .expect("outputs")
        .values()
        .for_each(|it| known(it, &["description", "value"]));
    assert_eq!(action["runs"]["using"], "composite");
    let mut ids = Vec::new();
    for step in action["runs"]["steps"].as_array().expect("steps") {
        known(step, &["name", "id", "if", "shell", "env", "run", "uses", "with"]);
        assert_ne!(
            step["run"].is_string(),
            step["uses"].is_string(),
            "a step has either run or uses: {step}"
        );
        assert_eq!(step["run"].is_string(), step["shell"].is_string(), "a script has a shell: {step}");
        ids.extend(step["id"].as_str().map(str::to_owned));
    }
    // Every expression names an input, an output of a step, or a known value.
    let text = action.to_string();
    for expression in text.split("${{").skip(1).map(|it| it.split("}}").next().unwrap_or_default().trim()) {
        let exists = match expression.split('.').collect::<Vec<_>>()[..] {
            ["inputs", name] => keys(&action["inputs"]).iter().any(|it| it == name),
            ["steps", id, "outputs", _] => ids.iter().any(|it| it == id),
            ["github", ..] => true,
            _ => false,
        };
        assert!(exists, "unknown value {expression}");
    }
}

/// Help of a command; empty if there is no such command.
fn help_of(verb: &str) -> String {
    let output =
        Command::new(env!("CARGO_BIN_EXE_pgdyno")).args([verb, "--help"]).env("COLUMNS", "100").output();
    let output = output.expect("the program can be started");
    if output.status.success() { String::from_utf8_lossy(&output.stdout).into_owned() } else { String::new() }
}
