//! Temporary NATS server and agents on this machine

use super::discovery::{discover, random_id};
use crate::cli::CommandError;
use agent::nats::{Nats, NatsOptions};
use model::message;
use model::message::Message;
use stack::component::program::{ProgramInfo, Programs};
use stack::supervisor::{KeeperProgram, Launch, NodeId, Readiness, Supervisor, free_port};
use std::time::Duration;
use wire::pg::Secret;

/// Server and agents; none of them outlives this process.
#[derive(Debug)]
pub struct LocalAgents {
    _supervisor: Supervisor,
}

static NATS_SERVER: ProgramInfo = ProgramInfo {
    name: "NATS",
    program: "nats-server",
    package: Some("nats-server"),
    version_argument: "--version",
    env_var: "PGDYNO_NATS_SERVER",
    install_hint: || message!("install-package", package = "nats-server"),
};

/// Time in which the server and the agents become ready.
const READY_TIMEOUT: Duration = Duration::from_secs(15);

impl LocalAgents {
    /// Starts a server and `count` agents. Returns them with the options of a connection to the server.
    pub fn start(count: u16) -> Result<(LocalAgents, NatsOptions), CommandError> {
        let server = Programs::from_environment()
            .find(&NATS_SERVER, None)
            .map_err(|missing| CommandError::usage(missing.reason.and(missing.install_hint)))?;
        let supervisor = Supervisor::start(&KeeperProgram::ourselves());
        let mut supervisor = supervisor.map_err(|it| CommandError::new(&it))?;
        // Other users of this machine must not command the agents, which may load any target.
        let token = random_id()? + &random_id()?;
        let port = free_port()?;
        let settings = format!("listen: \"127.0.0.1:{port}\"\nauthorization {{ token: \"{token}\" }}\n");
        let file = supervisor.private_file("nats.conf", settings.as_bytes())?;
        let home = supervisor.home();
        let launch =
            Launch::new("nats-server", server.path, &home).arg("-c").arg(file).as_user(supervisor.user());
        let node = supervisor.launch(launch).map_err(|it| CommandError::new(&it))?;
        let url = format!("nats://127.0.0.1:{port}");
        let name = "pgdyno coordinator".to_owned();
        let options =
            NatsOptions { url: url.clone(), name, token: Some(token.clone()), ..NatsOptions::default() };
        let nats = await_server(&mut supervisor, node, &options)?;
        let program = std::env::current_exe()?;
        let mut agents = Vec::new();
        for number in 1..=count {
            let name = format!("local-{number}");
            let mut launch = Launch::new(&name, &program, &home)
                .args(["agent", "--name", &name, "--allow", "any", "--nats", &url]);
            launch.secrets.push(("NATS_TOKEN".to_owned(), Secret::new(token.clone())));
            agents.push(supervisor.launch(launch).map_err(|it| CommandError::new(&it))?);
        }
        await_agents(&mut supervisor, &agents, &nats)?;
        Ok((LocalAgents { _supervisor: supervisor }, options))
    }
}

fn await_server(
    supervisor: &mut Supervisor,
    node: NodeId,
    options: &NatsOptions,
) -> Result<Nats, CommandError> {
    let connect = || match Nats::connect(options) {
        Ok(nats) => Readiness::Ready(nats),
        Err(error) => Readiness::NotYet(Message::from(&error)),
    };
    supervisor.await_ready(node, READY_TIMEOUT, connect).map_err(|it| CommandError::new(&it))
}

fn await_agents(supervisor: &mut Supervisor, agents: &[NodeId], nats: &Nats) -> Result<(), CommandError> {
    let Some(last) = agents.last() else { return Ok(()) };
    let ready = || match discover(nats, agents.len()).len() {
        found if found >= agents.len() => Readiness::Ready(()),
        _ => Readiness::NotYet(message!("agents-refused-silent")),
    };
    supervisor.await_ready(*last, READY_TIMEOUT, ready).map_err(|it| CommandError::new(&it))
}
