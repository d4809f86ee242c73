//! Status of a running stack

use crate::check::format_duration;
use crate::connect_commands::ConnectCommand;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::path::PathBuf;

/// Status of one stack, as its holder reports it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StackStatus {
    pub name: String,
    /// Absolute path of the experiment file.
    pub file: PathBuf,
    /// Labels of the cell, by axis of the file's matrix.
    pub cell: Vec<(String, String)>,
    /// Process id of the holder.
    pub pid: u32,
    /// Seconds since the stack was requested.
    pub seconds: u64,
    /// Seconds until the stack ends by itself.
    pub seconds_left: Option<u64>,
    pub state: StackState,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StackState {
    /// Starting, with the current activity.
    Starting(String),
    /// Running nodes, the first endpoint first.
    Up(Vec<NodeStatus>),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeStatus {
    pub name: String,
    /// Product, version and configuration, such as `PostgreSQL 15.4 (50 connections)`.
    #[serde(rename = "what")]
    pub description: String,
    pub condition: NodeState,
    pub pid: Option<u32>,
    pub program: Option<PathBuf>,
    pub address: String,
    pub transport: String,
    #[serde(rename = "ways")]
    pub connect_commands: Vec<ConnectCommand>,
    /// Limits that were applied.
    pub limits: Vec<String>,
    pub not_applied: Vec<String>,
    pub log: Option<PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeState {
    #[serde(rename = "runs")]
    Running,
    /// Ended, with the reason, such as `it was ended by signal 9`.
    Ended(String),
    /// Not started by pgdyno, and not monitored.
    Attached,
}

impl StackStatus {
    /// True if no started node has ended.
    pub fn is_healthy(&self) -> bool {
        match &self.state {
            StackState::Starting(_) => true,
            StackState::Up(nodes) => nodes.iter().all(|it| !matches!(it.condition, NodeState::Ended(_))),
        }
    }

    /// Text for people.
    pub fn render(&self) -> String {
        let mut out = String::new();
        let since = format_duration(self.seconds as f64);
        let _ = match &self.state {
            StackState::Starting(doing) => writeln!(out, "{} is starting, for {since}: {doing}", self.name),
            StackState::Up(_) => writeln!(out, "{} is up, for {since}", self.name),
        };
        let cell: Vec<String> = self.cell.iter().map(|(axis, it)| format!("{axis}: {it}")).collect();
        let mut line = |label: &str, it: &str| {
            let _ = writeln!(out, "  {label:<14}{it}");
        };
        line("file", &self.file.display().to_string());
        if !cell.is_empty() {
            line("cell", &cell.join(", "));
        }
        line("held by", &format!("process {}", self.pid));
        if let Some(left) = self.seconds_left {
            line("ends in", &format_duration(left as f64));
        }
        if let StackState::Up(nodes) = &self.state {
            nodes.iter().for_each(|it| it.write(&mut out));
        }
        out
    }
}

impl NodeStatus {
    fn write(&self, out: &mut String) {
        let condition = match (&self.condition, self.pid) {
            (NodeState::Running, Some(pid)) => format!("runs, process {pid}"),
            (NodeState::Running, None) => "runs".to_owned(),
            (NodeState::Ended(how), _) => format!("HAS ENDED: {how}"),
            (NodeState::Attached, _) => "was there before, and stays".to_owned(),
        };
        let _ = writeln!(out, "\n{}: {}\n  {condition}", self.name, self.description);
        let mut line = |label: &str, it: &str| {
            let _ = writeln!(out, "  {label:<14}{it}");
        };
        line("listens", &format!("{} ({})", self.address, self.transport));
        self.connect_commands.iter().for_each(|it| line(&it.role, &it.command));
        if !self.limits.is_empty() {
            line("limited to", &self.limits.join(", "));
        }
        self.not_applied.iter().for_each(|it| line("NOT LIMITED", it));
        if let Some(program) = &self.program {
            line("program", &program.display().to_string());
        }
        if let Some(log) = &self.log {
            line("log", &log.display().to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(condition: NodeState) -> NodeStatus {
        let way = ConnectCommand { role: "application".to_owned(), command: "psql 'host=/run'".to_owned() };
        NodeStatus {
            name: "postgres".to_owned(),
            description: "PostgreSQL 15.1".to_owned(),
            condition,
            pid: Some(7),
            program: Some("/bin/postgres".into()),
            address: "127.0.0.1:5433".to_owned(),
            transport: "tcp".to_owned(),
            connect_commands: vec![way],
            limits: vec!["0.5 cpu".to_owned()],
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
        let check = |it: &StackStatus, whole: bool, expected: &str| {
            assert_eq!(it.render(), expected);
            assert_eq!(it.is_healthy(), whole);
            let again: StackStatus =
                serde_json::from_str(&serde_json::to_string(it).expect("plain")).expect("ours");
            assert_eq!(&again, it);
        };
        check(
            &stack_status(StackState::Starting("starting postgres".to_owned())),
            true,
            "\
book is starting, for 3m20s: starting postgres
  file          /home/book.yaml
  cell          way: tcp, load.clients: 8
  held by       process 5
",
        );
        let lines = "
  listens       127.0.0.1:5433 (tcp)
  application   psql 'host=/run'
  limited to    0.5 cpu
  NOT LIMITED   memory is not limited: no
  program       /bin/postgres
  log           /run/postgres.log
";
        let head = "\
book is up, for 3m20s
  file          /home/book.yaml
  cell          way: tcp, load.clients: 8
  held by       process 5

postgres: PostgreSQL 15.1
";
        let up = |it| stack_status(StackState::Up(vec![node(it)]));
        check(&up(NodeState::Running), true, &format!("{head}  runs, process 7{lines}"));
        let ended = up(NodeState::Ended("it was ended by signal 9".to_owned()));
        check(&ended, false, &format!("{head}  HAS ENDED: it was ended by signal 9{lines}"));
        check(&up(NodeState::Attached), true, &format!("{head}  was there before, and stays{lines}"));
    }
}
