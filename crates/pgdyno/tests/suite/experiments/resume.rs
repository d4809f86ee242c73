//! A resumed run measures the nodes that it began with, and reports data that have changed

use super::postgres_servers::start_servers;
use super::workspace::{PGDYNO, RunOutput, Workspace, trials};
use rustix::process::Signal;
use serde_json::Value;
use stack::client::Connection;
use stack::component::postgres::Postgres;
use stack::supervisor::Supervisor;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use store::RunStatus;

/// Two servers with the same role, password and database, and a socket that leads to either of them.
struct Servers {
    servers: [Postgres; 2],
    password: String,
    /// System identifiers of both.
    systems: [String; 2],
    socket: PathBuf,
    _supervisor: Supervisor,
}

impl Servers {
    fn start(folder: &Path) -> Servers {
        let (supervisor, servers) = start_servers(["first", "second"]);
        let password = servers[0].password().reveal().to_owned();
        let alter = format!("alter role postgres password '{password}'");
        let systems = servers.each_ref().map(|server| {
            let mut connection = connect(server);
            let system = connection.value("select system_identifier from pg_control_system()");
            connection.query(&alter).expect("the server answers");
            system.expect("the server answers").expect("a row")
        });
        let socket = folder.join(".s.PGSQL.5432");
        let started = Servers { servers, password, systems, socket, _supervisor: supervisor };
        started.lead_to(0);
        started
    }

    /// Makes the socket lead to one of the servers.
    fn lead_to(&self, server: usize) {
        let server = &self.servers[server];
        let _ = fs::remove_file(&self.socket);
        symlink(server.sockets.join(format!(".s.PGSQL.{}", server.port)), &self.socket)
            .expect("the link can be created");
    }

    fn run(&self, command: &mut Command) -> RunOutput {
        RunOutput::run(command.env("PGPASSWORD", &self.password))
    }
}

fn connect(server: &Postgres) -> Connection {
    server.target().open(Duration::from_secs(10)).unwrap_or_else(|error| panic!("{error:?}"))
}

/// Experiment on the server behind a socket in the folder.
fn workspace(servers: impl FnOnce(&Path) -> Servers) -> (Workspace, Servers) {
    let workspace = Workspace::new("resumed", "");
    let servers = servers(&workspace.folder);
    let yaml = format!(
        "stack: {{ postgres: {{ attach: \"host={} port=5432 user=postgres dbname=postgres\" }} }}
operations: {{ one: {{ sql: SELECT 1 }} }}
load: {{ model: closed, clients: 2, duration: 3s }}
repeat: 3
",
        workspace.folder.display()
    );
    fs::write(workspace.folder.join("resumed.yaml"), yaml).expect("the file can be written");
    (workspace, servers)
}

fn statuses(workspace: &Workspace) -> Vec<RunStatus> {
    trials(&workspace.stored()).into_iter().map(|it| it.1).collect()
}

#[test]
fn resume_rejects_another_server_and_reports_changed_data() {
    let (workspace, servers) = workspace(Servers::start);
    let mut running = workspace.spawn_command(workspace.command(&[]).env("PGPASSWORD", &servers.password));
    running.await_trial(2);
    running.signal(Signal::INT);
    running.wait().expect(2);
    assert_eq!(statuses(&workspace), [RunStatus::Complete, RunStatus::Interrupted]);
    let resume = || {
        let mut command = Command::new(PGDYNO);
        let path = workspace.stored().path().to_owned();
        command.args(["run", "--json", "--resume"]).arg(path).current_dir(&workspace.folder);
        command
    };
    servers.lead_to(1);
    let refused = servers.run(&mut resume());
    refused.expect(2);
    for system in &servers.systems {
        assert!(refused.err.contains(&format!("system identifier {system}")), "{}", refused.err);
    }
    assert!(refused.err.contains("leads to another server than in earlier trials"), "{}", refused.err);
    assert_eq!(statuses(&workspace).len(), 2, "nothing was measured");
    servers.lead_to(0);
    let grown = "create table grown as select repeat('x', 1000) as text from generate_series(1, 10000)";
    connect(&servers.servers[0]).query(grown).expect("the server answers");
    let resumed = servers.run(&mut resume());
    assert!(resumed.err.contains("3/3") && !resumed.err.contains("4/3"), "{}", resumed.err);
    let document = resumed.expect(0).document();
    let completed = statuses(&workspace).into_iter().filter(|it| *it == RunStatus::Complete).count();
    assert_eq!(completed, 3);
    let changed = |it: &&Value| it["circumstance"]["kind"] == "data_changed";
    let findings = document["findings"].as_array().expect("the value is an array");
    let found: Vec<&Value> = findings.iter().filter(changed).collect();
    assert_eq!(found.len(), 1, "{findings:#?}");
    let circumstance = &found[0]["circumstance"];
    assert_eq!(
        (&circumstance["tables_replaced"], &circumstance["restarted"]),
        (&Value::Bool(true), &Value::Bool(false)),
        "{circumstance}"
    );
    let bytes = |name: &str| circumstance[name].as_u64().expect("the value is a count");
    assert!(bytes("max_bytes") > bytes("min_bytes") + 10_000_000, "{circumstance}");
}
