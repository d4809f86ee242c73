//! The part of GitLab that its job `.pgdyno` needs: a clone of a branch, `extends`, rules, variables, caches and artefacts

use super::yaml;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A project with its repository and its stored caches.
pub struct Project {
    /// Directory of the jobs, the caches and the repository `repository`.
    pub folder: PathBuf,
    /// Variables of every job, such as the API's address.
    pub variables: Vec<(String, String)>,
    pub caches: BTreeMap<String, PathBuf>,
    pub jobs: usize,
}

/// Result of a job.
#[derive(Debug)]
pub struct GitlabJob {
    /// Exit status of the script.
    pub status: i32,
    /// Names of the files in the artefact.
    pub artefact: Vec<String>,
    pub log: String,
}

/// The event that starts a pipeline.
#[derive(Clone, Copy)]
pub enum Pipeline {
    Push { branch: &'static str },
    MergeRequest { branch: &'static str },
}

impl Project {
    /// Creates a repository with these files on the branches `main` and `feature`.
    pub fn new(folder: &Path, files: &[(&str, &str)]) -> Project {
        let repository = folder.join("repository");
        for (name, text) in files {
            let path = repository.join(name);
            fs::create_dir_all(path.parent().expect("a file has a directory")).expect("it can be created");
            fs::write(path, text).expect("the file can be written");
        }
        let script = "git init --quiet && git checkout --quiet -b main && git add . &&
            git -c user.name=a -c user.email=a@b commit --quiet --message 'a: add' && git branch feature";
        let done = Command::new("sh").args(["-e", "-c", script]).current_dir(&repository).output();
        let done = done.expect("the shell can be started");
        assert!(done.status.success(), "git: {}", String::from_utf8_lossy(&done.stderr));
        Project { folder: folder.to_owned(), variables: Vec::new(), caches: BTreeMap::new(), jobs: 0 }
    }

    /// Runs a job of `.gitlab-ci.yml`; `None` if no rule selects it. `variables` are those of the pipeline.
    pub fn run(&mut self, name: &str, pipeline: Pipeline, variables: &[(&str, &str)]) -> Option<GitlabJob> {
        self.jobs += 1;
        let directory = self.folder.join(format!("job-{}", self.jobs));
        let (Pipeline::Push { branch } | Pipeline::MergeRequest { branch }) = pipeline;
        let clone = ["clone", "--quiet", "--branch", branch, "repository"];
        let cloned = Command::new("git").args(clone).arg(&directory).current_dir(&self.folder).status();
        assert!(cloned.expect("git can be started").success(), "git clones {branch}");
        let job = job_of(&directory, name);
        let mut values = predefined(pipeline, name, &directory);
        values.extend(self.variables.iter().cloned());
        // The precedence: a variable of the job, then of the matching rule, then of the pipeline.
        let add = |values: &mut BTreeMap<String, String>, more: &Value| {
            for (name, value) in more.as_object().into_iter().flatten() {
                let value = expand(text(value), values);
                values.insert(name.clone(), value);
            }
        };
        let given = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let given: Vec<(String, String)> = given.collect();
        let mut for_rules = values.clone();
        add(&mut for_rules, &job["variables"]);
        for_rules.extend(given.iter().cloned());
        let mut rules = job["rules"].as_array().expect("the job has rules").iter();
        let rule = rules.find(|rule| holds(text(&rule["if"]), &for_rules))?;
        add(&mut values, &job["variables"]);
        add(&mut values, &rule["variables"]);
        values.extend(given);

        let cache = &job["cache"];
        let (key, policy) = (expand(text(&cache["key"]), &values), expand(text(&cache["policy"]), &values));
        assert!(!key.contains('/') && !key.contains('$'), "{key} is not a key of a cache");
        assert!(["pull", "push", "pull-push"].contains(&policy.as_str()), "{policy} is not a policy");
        assert_eq!(
            cache["unprotect"], "true",
            "merge requests have no access to caches of protected branches"
        );
        let cached = strings(&cache["paths"]);
        let [cached] = &cached[..] else { panic!("the cache has one directory") };
        if let (true, Some(stored)) = (policy.contains("pull"), self.caches.get(&key)) {
            copy(stored, &directory.join(cached));
        }

        let script = strings(&job["script"]).join("\n");
        let shell = ["-e", "-c", "exec 2>&1; eval \"$1\"", "sh", &script];
        let done = Command::new("sh").args(shell).current_dir(&directory).envs(&values).output();
        let done = done.expect("the shell can be started");
        let status = done.status.code().expect("the shell exits");
        if status == 0 && policy.contains("push") && directory.join(cached).exists() {
            let stored = self.folder.join(format!("cache-{}", self.jobs));
            copy(&directory.join(cached), &stored);
            self.caches.insert(key, stored);
        }

        let artefacts = &job["artifacts"];
        assert_eq!(artefacts["when"], "always", "a failed job keeps its results");
        let paths = strings(&artefacts["paths"]);
        let artefact = paths.iter().flat_map(|path| names(&directory.join(path))).collect::<Vec<_>>();
        let junit = directory.join(text(&artefacts["reports"]["junit"]));
        assert_eq!(junit.exists(), artefact.iter().any(|name| name == "junit.xml"), "{artefact:?}");
        let log = String::from_utf8_lossy(&done.stdout).into_owned();
        Some(GitlabJob { status, artefact, log })
    }
}

/// GitLab's predefined variables.
fn predefined(pipeline: Pipeline, job: &str, directory: &Path) -> BTreeMap<String, String> {
    let mut values = BTreeMap::new();
    let mut set = |name: &str, value: &str| values.insert(name.to_owned(), value.to_owned());
    set("CI", "true");
    set("CI_DEFAULT_BRANCH", "main");
    set("CI_JOB_NAME_SLUG", job);
    set("CI_JOB_TOKEN", "token-of-the-job");
    set("CI_PROJECT_ID", "3");
    set("CI_PROJECT_DIR", &directory.display().to_string());
    match pipeline {
        Pipeline::Push { branch } => {
            set("CI_PIPELINE_SOURCE", "push");
            set("CI_COMMIT_BRANCH", branch);
        }
        Pipeline::MergeRequest { .. } => {
            set("CI_PIPELINE_SOURCE", "merge_request_event");
            set("CI_MERGE_REQUEST_IID", "7");
            set("CI_MERGE_REQUEST_PROJECT_ID", "3");
        }
    }
    values
}

/// Keys of a job, checked against GitLab's keywords, after `include` and `extends`.
fn job_of(directory: &Path, name: &str) -> Value {
    let read = |path: &str| {
        let file = directory.join(path);
        yaml::parse(&fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display())))
    };
    let mut all = read(".gitlab-ci.yml");
    for include in all["include"].as_array().expect("the pipeline includes the template").clone() {
        let included = read(text(&include["local"]));
        check_keywords(&included);
        all = merged(&included, &all);
    }
    let job = &all[name];
    merged(&all[text(&job["extends"])], job)
}

/// Checks the keywords of a template and the types of their values.
pub fn check_keywords(template: &Value) {
    let known = |value: &Value, known: &[&str]| {
        let keys = value.as_object().expect("a mapping").keys();
        let unknown: Vec<&String> = keys.filter(|key| !known.contains(&key.as_str())).collect();
        assert!(unknown.is_empty(), "unknown keywords: {unknown:?}");
    };
    for (name, job) in template.as_object().expect("jobs by name") {
        assert!(name.starts_with('.'), "{name} would run in every pipeline that includes the template");
        known(job, &["rules", "variables", "cache", "script", "artifacts"]);
        known(&job["cache"], &["key", "paths", "policy", "unprotect"]);
        known(&job["artifacts"], &["when", "expose_as", "paths", "reports"]);
        known(&job["artifacts"]["reports"], &["junit"]);
        for rule in job["rules"].as_array().expect("rules") {
            known(rule, &["if", "variables"]);
        }
        assert!(!strings(&job["script"]).is_empty(), "{name} has no script");
        for path in strings(&job["artifacts"]["paths"]) {
            assert!(!path.contains(['$', '*']), "`expose_as` permits no variables and patterns: {path}");
        }
    }
}

/// Adds the keys of `more`, which take precedence. Mappings are merged, and lists are replaced.
fn merged(base: &Value, more: &Value) -> Value {
    let (Some(base), Some(more)) = (base.as_object(), more.as_object()) else { return more.clone() };
    let mut all: Map<String, Value> = base.clone();
    for (key, value) in more {
        let value = base.get(key).map_or_else(|| value.clone(), |base| merged(base, value));
        all.insert(key.clone(), value);
    }
    Value::Object(all)
}

/// Evaluates `rules:if`: `&&` of variables and comparisons of variables with variables, strings and `null`.
fn holds(condition: &str, values: &BTreeMap<String, String>) -> bool {
    let operand = |text: &str| -> Option<String> {
        let text = text.trim();
        match (text.strip_prefix('$'), text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'))) {
            (Some(name), _) => values.get(name).cloned(),
            (_, Some(literal)) => Some(literal.to_owned()),
            _ if text == "null" => None,
            _ => panic!("unexpected operand {text}"),
        }
    };
    condition.split("&&").all(|part| match part.split_once("==") {
        Some((left, right)) => operand(left) == operand(right),
        None => operand(part).is_some_and(|value| !value.is_empty()),
    })
}

/// Replaces `$NAME`. Unknown variables are empty.
fn expand(text: &str, values: &BTreeMap<String, String>) -> String {
    let mut parts = text.split('$');
    let mut expanded = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(part.len());
        expanded += values.get(&part[..end]).map_or("", String::as_str);
        expanded += &part[end..];
    }
    expanded
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().expect("the value is a list").iter().map(|item| text(item).to_owned()).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().expect("the value is a string")
}

/// Names of the files of a directory, in order; none if it does not exist.
fn names(directory: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let name = |entry: fs::DirEntry| entry.file_name().into_string().expect("the name is UTF-8");
    let mut names: Vec<String> = entries.map(|entry| name(entry.expect("the entry can be read"))).collect();
    names.sort();
    names
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the directory can be created");
    for name in names(from) {
        fs::copy(from.join(&name), to.join(&name)).expect("the file can be copied");
    }
}
