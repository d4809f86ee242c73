//! Test server, and runs of pgdyno against it

use serde_json::Value;
use stack::client::Connection;
use stack::component::postgres::{Postgres, Settings};
use stack::find::InstallationSearch;
use stack::supervisor::{KeeperProgram, Supervisor};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::LazyLock;
use std::time::Duration;

pub const PGDYNO: &str = env!("CARGO_BIN_EXE_pgdyno");

/// A server and the keeper that stops it.
pub struct TestServer {
    pub supervisor: Supervisor,
    pub postgres: Postgres,
}

/// Server for tests that do not change it, with pgbench's tables at scale 1. Its keeper stops it with this process.
pub static SHARED: LazyLock<TestServer> = LazyLock::new(|| {
    let server = TestServer::start(&Settings::default());
    let made = server.bench(&["-i", "-q", "-s", "1"]);
    assert!(made.status.success(), "{}", combined_output(&made));
    server
});

impl TestServer {
    pub fn start(settings: &Settings) -> TestServer {
        let installation = InstallationSearch::from_environment(None, None)
            .find_first()
            .unwrap_or_else(|none| panic!("{none:?}"));
        let keeper = KeeperProgram { program: PathBuf::from(PGDYNO), arguments: vec!["keeper"] };
        let mut supervisor = Supervisor::start(&keeper).unwrap_or_else(|error| panic!("{error:?}"));
        let postgres = Postgres::start(&mut supervisor, &installation, settings)
            .unwrap_or_else(|error| panic!("{error:?}"));
        TestServer { supervisor, postgres }
    }

    pub fn connect(&self) -> Connection {
        self.postgres.target().open(Duration::from_secs(10)).unwrap_or_else(|error| panic!("{error:?}"))
    }

    /// Command `pgdyno bench` with these arguments, and an environment that names this server.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(PGDYNO);
        command.arg("bench").args(arguments).envs(self.postgres.client_environment()).stdin(Stdio::null());
        command
    }

    /// Command with the name `pgbench` and these arguments, and an environment that names this server.
    pub fn command_as_pgbench(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(PGDYNO);
        command.arg0("pgbench").args(arguments).envs(self.postgres.client_environment()).stdin(Stdio::null());
        command
    }

    pub fn bench(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("pgdyno can be run")
    }

    /// Starts a run whose output is read later.
    pub fn spawn(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("pgdyno can be run")
    }

    /// Runs with `--json`. Returns the document and the exit status.
    pub fn measure(&self, arguments: &[&str]) -> (Value, i32) {
        let arguments = [&["--json", "-n"], arguments].concat();
        document(&self.bench(&arguments))
    }
}

/// JSON document of a run, and its exit status.
pub fn document(output: &Output) -> (Value, i32) {
    let document = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("no document ({error}):\n{}", combined_output(output)));
    crate::schema::check(&document);
    (document, output.status.code().expect("the program exited"))
}

/// Standard output and standard error of a program.
pub fn combined_output(output: &Output) -> String {
    [&output.stdout[..], &output.stderr[..]].map(String::from_utf8_lossy).concat()
}

/// Script file that is removed on drop.
pub struct Script(PathBuf);

impl Script {
    pub fn new(name: &str, text: &(impl AsRef<[u8]> + ?Sized)) -> Script {
        let path = std::env::temp_dir().join(format!("pgdyno-test-{}-{name}.sql", std::process::id()));
        std::fs::write(&path, text).expect("the temporary directory can be written to");
        Script(path)
    }

    pub fn path(&self) -> &str {
        self.0.to_str().expect("the path is UTF-8")
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

pub fn count(document: &Value, name: &str) -> u64 {
    document["total"]["counts"][name].as_u64().unwrap_or_else(|| panic!("no count of {name} in {document}"))
}
