//! Status of a running stack

use crate::connect_commands::{ConnectCommand, ConnectRole};
use model::Nanos;
use report::json_document::JsonDocument;
use report::lang::Lang;
use report::say;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::path::PathBuf;

/// Stacks that are up: `pgdyno stack up`, `pgdyno stack status`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StackDocument<'a> {
    pub stacks: Vec<&'a StackStatus>,
}

impl JsonDocument for StackDocument<'_> {
    const NAME: &'static str = "stack";
    const VERSION: u32 = 1;
}

/// Status of one stack, as its holder reports it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StackStatus {
    pub name: String,
    /// Absolute path of the experiment file.
    pub file: PathBuf,
    /// Labels of the cell, by axis of the file's matrix.
    pub cell: Vec<(String, String)>,
    /// Process id of the holder.
    pub pid: u32,
    /// Seconds since the stack was requested.
    #[serde(rename = "elapsed_s", alias = "seconds")]
    pub seconds: u64,
    /// Seconds until the stack ends because of its limited lifetime.
    #[serde(rename = "remaining_s", alias = "seconds_left")]
    pub seconds_left: Option<u64>,
    pub state: StackState,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StackState {
    /// Starting, with the current activity.
    Starting(String),
    /// Running nodes; the node that accepts the clients' connections comes first.
    Up(Vec<NodeStatus>),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodeStatus {
    pub name: String,
    /// Product, version and configuration, such as `PostgreSQL 15.4 (50 connections)`.
    #[serde(alias = "what")]
    pub description: String,
    pub condition: NodeState,
    pub pid: Option<u32>,
    pub program: Option<PathBuf>,
    pub address: String,
    pub transport: String,
    #[serde(alias = "ways")]
    pub connect_commands: Vec<ConnectCommand>,
    /// Limits that were applied.
    pub limits: Vec<String>,
    #[serde(rename = "unapplied_limits", alias = "not_applied")]
    pub not_applied: Vec<String>,
    pub log: Option<PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NodeState {
    #[serde(alias = "runs")]
    Running,
    /// Ended, with the reason, such as `it was ended by signal 9`.
    Ended(String),
    /// Not started by pgdyno, and not monitored.
    Attached,
}

impl StackStatus {
    /// True if no node that pgdyno started has ended.
    pub fn is_healthy(&self) -> bool {
        match &self.state {
            StackState::Starting(_) => true,
            StackState::Up(nodes) => nodes.iter().all(|it| !matches!(it.condition, NodeState::Ended(_))),
        }
    }

    /// Text for people.
    pub fn render(&self, lang: &Lang) -> String {
        let time = |seconds| lang.numbers().duration(Nanos::from_secs(seconds));
        let (name, elapsed) = (&self.name, time(self.seconds));
        let mut out = match &self.state {
            StackState::Starting(activity) => say!(lang, "stack-starting", name, since = elapsed, activity),
            StackState::Up(_) => say!(lang, "stack-is-up", name, since = elapsed),
        };
        out.push('\n');
        write_line(&mut out, &say!(lang, "stack-file"), &self.file.display().to_string());
        let cell: Vec<String> = self.cell.iter().map(|(axis, value)| format!("{axis}: {value}")).collect();
        if !cell.is_empty() {
            write_line(&mut out, &say!(lang, "stack-cell"), &cell.join(", "));
        }
        let process = say!(lang, "stack-process", pid = self.pid.to_string());
        write_line(&mut out, &say!(lang, "stack-holder"), &process);
        if let Some(left) = self.seconds_left {
            write_line(&mut out, &say!(lang, "stack-stops-in"), &time(left));
        }
        if let StackState::Up(nodes) = &self.state {
            nodes.iter().for_each(|node| node.write(&mut out, lang));
        }
        out
    }
}

/// Width of a label in columns, including the blank after it.
const LABEL: usize = 14;

fn write_line(out: &mut String, label: &str, value: &str) {
    let _ = writeln!(out, "  {label:<LABEL$}{value}");
}

impl NodeStatus {
    fn write(&self, out: &mut String, lang: &Lang) {
        let condition = match &self.condition {
            NodeState::Running => say!(lang, "stack-running", pid = self.pid.map(|pid| pid.to_string())),
            NodeState::Ended(reason) => say!(lang, "stack-ended", reason),
            NodeState::Attached => say!(lang, "stack-attached"),
        };
        let _ = writeln!(out, "\n{}: {}\n  {condition}", self.name, self.description);
        write_line(out, &say!(lang, "stack-address"), &format!("{} ({})", self.address, self.transport));
        for connect in &self.connect_commands {
            let label = match connect.role {
                ConnectRole::Application => say!(lang, "stack-application"),
                ConnectRole::Superuser => say!(lang, "stack-superuser"),
                ConnectRole::Console => say!(lang, "stack-console"),
                ConnectRole::Statistics => say!(lang, "stack-statistics"),
            };
            write_line(out, &label, &connect.command);
        }
        if !self.limits.is_empty() {
            write_line(out, &say!(lang, "stack-limits"), &self.limits.join(", "));
        }
        self.not_applied.iter().for_each(|limit| write_line(out, &say!(lang, "stack-not-limited"), limit));
        if let Some(program) = &self.program {
            write_line(out, &say!(lang, "stack-program"), &program.display().to_string());
        }
        if let Some(log) = &self.log {
            write_line(out, &say!(lang, "stack-log"), &log.display().to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use report::lang::english;

    fn node(condition: NodeState) -> NodeStatus {
        let connect =
            ConnectCommand { role: ConnectRole::Application, command: "psql 'host=/run'".to_owned() };
        NodeStatus {
            name: "postgres".to_owned(),
            description: "PostgreSQL 15.1".to_owned(),
            condition,
            pid: Some(7),
            program: Some("/bin/postgres".into()),
            address: "127.0.0.1:5433".to_owned(),
            transport: "tcp".to_owned(),
            connect_commands: vec![connect],
            limits: vec!["0.5 CPU".to_owned()],
            not_applied: vec!["memory is not limited: no".to_owned()],
            log: Some("/run/postgres.log".into()),
        }
    }

    fn stack_status(state: StackState) -> StackStatus {
        StackStatus {
            name: "book".to_owned(),
            file: "/home/book.yaml".into(),
            cell: vec![("way".to_owned(), "tcp".to_owned()), ("load.clients".to_owned(), "8".to_owned())],
            pid: 5,
            seconds: 200,
            seconds_left: None,
            state,
        }
    }

    #[test]
    fn renders_every_state() {
        let check = |status: &StackStatus, healthy: bool, expected: &str| {
            assert_eq!(status.render(english()), expected);
            assert_eq!(status.is_healthy(), healthy);
            let again: StackStatus =
                serde_json::from_str(&serde_json::to_string(status).expect("plain")).expect("ours");
            assert_eq!(&again, status);
        };
        check(
            &stack_status(StackState::Starting("starting postgres".to_owned())),
            true,
            "\
book has been starting for 3m20s: starting postgres
  file          /home/book.yaml
  cell          way: tcp, load.clients: 8
  holder        process 5
",
        );
        let lines = "
  address       127.0.0.1:5433 (tcp)
  application   psql 'host=/run'
  limits        0.5 CPU
  NOT LIMITED   memory is not limited: no
  program       /bin/postgres
  log           /run/postgres.log
";
        let head = "\
book has been up for 3m20s
  file          /home/book.yaml
  cell          way: tcp, load.clients: 8
  holder        process 5

postgres: PostgreSQL 15.1
";
        let up = |it| stack_status(StackState::Up(vec![node(it)]));
        check(&up(NodeState::Running), true, &format!("{head}  running, process 7{lines}"));
        let ended = up(NodeState::Ended("it was ended by signal 9".to_owned()));
        check(&ended, false, &format!("{head}  ENDED: it was ended by signal 9{lines}"));
        check(
            &up(NodeState::Attached),
            true,
            &format!("{head}  attached: not started by pgdyno, and never stopped by it{lines}"),
        );
    }

    #[test]
    fn labels_fit_their_column_in_every_language() {
        for lang in report::lang::all() {
            for label in [
                say!(lang, "stack-file"),
                say!(lang, "stack-cell"),
                say!(lang, "stack-holder"),
                say!(lang, "stack-stops-in"),
                say!(lang, "stack-address"),
                say!(lang, "stack-application"),
                say!(lang, "stack-superuser"),
                say!(lang, "stack-console"),
                say!(lang, "stack-statistics"),
                say!(lang, "stack-limits"),
                say!(lang, "stack-not-limited"),
                say!(lang, "stack-program"),
                say!(lang, "stack-log"),
            ] {
                assert!(label.chars().count() < LABEL, "{}: {label}", lang.code());
            }
        }
    }
}
