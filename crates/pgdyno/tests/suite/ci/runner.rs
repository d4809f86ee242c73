//! The part of GitHub's runner that `action.yml` needs: expressions, environment, caches, outputs and artefacts

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Repository with a workflow that uses the action.
pub struct Runner {
    /// Working directory of the job, a fresh one for each job.
    pub workspace: PathBuf,
    /// Stored caches by key, in the order of storage.
    pub caches: Vec<(String, PathBuf)>,
    /// Programs that the job finds before all others: pgdyno, and `gh`.
    pub programs: PathBuf,
}

/// Result of a job.
#[derive(Debug)]
pub struct Job {
    pub success: bool,
    pub outputs: BTreeMap<String, String>,
    /// Text on the page of the job.
    pub summary: String,
    /// Names of the files in the artefact.
    pub artefact: Vec<String>,
    pub log: String,
}

impl Runner {
    /// Runs the steps of the composite action. `context` has the values of expressions such as `github.ref_name`.
    pub fn run(&mut self, action: &Value, context: &[(&str, &str)]) -> Job {
        let mut context: BTreeMap<String, String> =
            context.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        for (name, input) in action["inputs"].as_object().expect("the action has inputs") {
            let default = input["default"].as_str().unwrap_or_default();
            context.entry(format!("inputs.{name}")).or_insert_with(|| default.to_owned());
        }
        let mut job = Job {
            success: true,
            outputs: BTreeMap::new(),
            summary: String::new(),
            artefact: Vec::new(),
            log: String::new(),
        };
        for step in action["runs"]["steps"].as_array().expect("the action has steps") {
            if !holds(step["if"].as_str().unwrap_or("success()"), &context, job.success) {
                continue;
            }
            match step["uses"].as_str() {
                None => self.run_script(step, &mut context, &mut job),
                Some(uses) => self.use_action(uses, &step["with"], &context, &mut job),
            }
        }
        for (name, output) in action["outputs"].as_object().expect("the action has outputs") {
            job.outputs.insert(name.clone(), expand(text(&output["value"]), &context));
        }
        job
    }

    fn run_script(&self, step: &Value, context: &mut BTreeMap<String, String>, job: &mut Job) {
        assert_eq!(step["shell"], "sh", "a step of a composite action names its shell");
        let file = |name: &str| self.workspace.join(name);
        let mut command = Command::new("sh");
        command.args(["-e", "-c", &expand(text(&step["run"]), context)]).current_dir(&self.workspace);
        // Earlier steps appended directories to `GITHUB_PATH`.
        let added = fs::read_to_string(file("path")).unwrap_or_default().replace('\n', ":");
        let path = std::env::var("PATH").expect("PATH is set");
        command.env("PATH", format!("{added}{}:{path}", self.programs.display()));
        command.env("GITHUB_PATH", file("path")).env("RUNNER_TEMP", &self.workspace);
        command.env("GITHUB_ACTION_PATH", concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        command.env("GITHUB_OUTPUT", file("output")).env("GITHUB_STEP_SUMMARY", file("summary"));
        for (name, value) in step["env"].as_object().into_iter().flatten() {
            command.env(name, expand(text(value), context));
        }
        let done = command.output().expect("the shell can be started");
        job.log += &String::from_utf8_lossy(&done.stdout);
        job.log += &String::from_utf8_lossy(&done.stderr);
        job.success &= done.status.success();
        job.summary = fs::read_to_string(file("summary")).unwrap_or_default();
        if let Some(id) = step["id"].as_str() {
            for line in fs::read_to_string(file("output")).unwrap_or_default().lines() {
                let (name, value) = line.split_once('=').expect("an output is name=value");
                context.insert(format!("steps.{id}.outputs.{name}"), value.to_owned());
            }
        }
    }

    fn use_action(&mut self, uses: &str, inputs: &Value, context: &BTreeMap<String, String>, job: &mut Job) {
        let value = |name: &str| inputs[name].as_str().map(|it| expand(it, context)).unwrap_or_default();
        let path = self.workspace.join(value("path"));
        match uses {
            "actions/cache/restore@v4" => {
                let (key, prefix) = (value("key"), value("restore-keys"));
                let matches = |stored: &&(String, PathBuf)| {
                    stored.0 == key || !prefix.is_empty() && stored.0.starts_with(&prefix)
                };
                if let Some((_, stored)) = self.caches.iter().rev().find(matches) {
                    copy(stored, &path);
                }
            }
            "actions/cache/save@v4" => {
                let stored = self.programs.join(format!("cache-{}", self.caches.len()));
                copy(&path, &stored);
                self.caches.push((value("key"), stored));
            }
            "actions/upload-artifact@v4" => {
                // The action leaves out hidden files unless it is asked for them.
                assert!(!value("path").starts_with('.'), "hidden files are not uploaded");
                // Without files, the action only prints a warning.
                job.artefact = if path.exists() { names(&path) } else { Vec::new() };
            }
            other => panic!("unexpected action {other}"),
        }
    }
}

/// Evaluates a condition of a step: `&&` of comparisons, with `always()` and an implied `success()`.
fn holds(condition: &str, context: &BTreeMap<String, String>, success: bool) -> bool {
    let operand = |text: &str| match text.trim().strip_prefix('\'').and_then(|it| it.strip_suffix('\'')) {
        Some(literal) => literal.to_owned(),
        None => context.get(text.trim()).cloned().unwrap_or_default(),
    };
    let implied = condition.contains("always()") || success;
    implied
        && condition.split("&&").map(str::trim).all(|part| match part {
            "always()" | "success()" => true,
            part => match (part.split_once("=="), part.split_once("!=")) {
                (Some((left, right)), _) => operand(left) == operand(right),
                (_, Some((left, right))) => operand(left) != operand(right),
                _ => panic!("unexpected condition {part}"),
            },
        })
}

/// Replaces `${{ name }}`.
fn expand(text: &str, context: &BTreeMap<String, String>) -> String {
    let mut parts = text.split("${{");
    let mut expanded = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once("}}").expect("an expression ends");
        expanded += context.get(name.trim()).map_or("", String::as_str);
        expanded += rest;
    }
    expanded
}

fn text(value: &Value) -> &str {
    value.as_str().expect("the value is a string")
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("the directory can be read");
    let name = |it: fs::DirEntry| it.file_name().into_string().expect("the name is UTF-8");
    let mut names: Vec<String> = entries.map(|it| name(it.expect("the entry can be read"))).collect();
    names.sort();
    names
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the directory can be created");
    for name in names(from) {
        fs::copy(from.join(&name), to.join(&name)).expect("the file can be copied");
    }
}
