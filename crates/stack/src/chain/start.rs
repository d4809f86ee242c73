//! Start of a single node

use super::service::{ProgramPlace, ReadyCheck, url_host, write_service_file};
use super::{
    Chain, ChainError, ChainProgress, NodeHandle, READY_TIMEOUT, RunningNode, attach, console, make_login,
    node_error, remove_socket,
};
use crate::client::{Address, Connection, Target};
use crate::component::postgres::{Postgres, Settings, physical_memory};
use crate::component::program::{Executable, Programs};
use crate::component::{
    self, Console, EndpointTls, InvalidNode, NodeContext, NodeEndpoint, User, Users, service,
};
use crate::find::Installation;
use crate::page::SampledPage;
use crate::supervisor::{Launch, NodeError, Supervisor};
use crate::tls_files::TlsFiles;
use model::LogSession;
use model::message;
use model::message::Message;
use model::plan::{self, Node, NodeKind, Transport};
use model::summary::ServerTransport;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use wire::http::Url;
use wire::pg::SslMode;

/// Program that runs a node; `Attached` for nodes that pgdyno does not start.
#[derive(Clone, Debug)]
pub(super) enum NodeProgram {
    Postgres(Installation),
    /// Program, and its working directory if that differs from the run's home.
    Program(Executable, Option<PathBuf>),
    Attached,
}

/// Number of ports that are tried before a start fails.
const PORT_ATTEMPTS: u32 = 5;

impl NodeProgram {
    pub(super) fn find(
        node: &Node,
        programs: &Programs,
        on_progress: &mut dyn FnMut(ChainProgress<'_>),
    ) -> Result<NodeProgram, ChainError> {
        let least = match &node.kind {
            NodeKind::Postgres(postgres) => {
                let fetching = |major| on_progress(ChainProgress::Fetching(major));
                return Ok(NodeProgram::Postgres(programs.postgres(postgres.version, fetching)?));
            }
            NodeKind::Attached(_) => return Ok(NodeProgram::Attached),
            NodeKind::Pooler(it) => it.version,
            NodeKind::Service(it) if it.url.is_some() => return Ok(NodeProgram::Attached),
            NodeKind::Service(service) => {
                return Ok(NodeProgram::Program(
                    service::find(service, programs)?,
                    Some(programs.directory.clone()),
                ));
            }
            NodeKind::Balancer(_) => None,
        };
        let component =
            component::for_kind(&node.kind).expect("every kind of node that pgdyno starts has a component");
        Ok(NodeProgram::Program(programs.find(component.names(), least)?, None))
    }
}

impl Chain {
    /// Starts a node in front of the running nodes.
    pub(super) fn start(
        &mut self,
        supervisor: &mut Supervisor,
        node: Node,
        found: NodeProgram,
    ) -> Result<RunningNode, ChainError> {
        match (found, &node.kind) {
            (NodeProgram::Postgres(installation), NodeKind::Postgres(requested)) => {
                let postgres = with_statement_statistics(requested, &installation);
                Ok(self.start_postgres(supervisor, node, &postgres, &installation)?)
            }
            (NodeProgram::Attached, NodeKind::Attached(attached)) => {
                let (running, app) = attach::attach(&node, attached)?;
                // The other nodes of the chain use the attached server's login.
                if let Some((user, database)) = app {
                    self.users.app = user;
                    self.users.database = database;
                }
                Ok(running)
            }
            (NodeProgram::Attached, NodeKind::Service(service)) => {
                let url = service.url.as_deref().expect("an attached service has a URL");
                super::service::attach(&node, service, url)
            }
            (NodeProgram::Program(program, directory), _) => {
                let place = self.prepare_place(supervisor, &node)?;
                let running =
                    self.start_program(supervisor, node, (&program, directory.as_deref()), &place)?;
                self.remember_port(&running);
                Ok(running)
            }
            (found, _) => unreachable!("{} was found for {}", program_kind(&found), node.name),
        }
    }

    fn start_postgres(
        &mut self,
        supervisor: &mut Supervisor,
        node: Node,
        planned: &plan::Postgres,
        installation: &Installation,
    ) -> Result<RunningNode, NodeError> {
        let tls = self.tls.as_ref().filter(|_| node.transport == Transport::Tls);
        let more = match &self.requested_replication {
            Some(_) => with_replica_settings(&planned.settings),
            None => planned.settings.clone(),
        };
        let settings = Settings {
            name: node.name.clone(),
            max_connections: planned.max_connections,
            extra_lines: more,
            tls: tls.cloned(),
            limits: node.limits.clone(),
            isolated: self.requested_replication.is_some(),
            address: self.choose_address(supervisor, &node.name)?,
            disk: self.choose_disk(supervisor, &node.name)?,
            programs: self.choose_programs(supervisor, &node.name, &installation.bin)?,
            ports: self.ports,
        };
        let postgres = match self.stopped_postgres.take() {
            Some(mut postgres) => {
                let reconfigured = postgres.reconfigure(supervisor, &settings);
                if reconfigured.is_err() {
                    // Remove the data, because it would prevent a new server with this name from starting.
                    let _ = std::fs::remove_dir_all(&postgres.local_data);
                }
                reconfigured?;
                postgres
            }
            None => match self.start_from_cache(supervisor, installation, &settings)? {
                Some(postgres) => Box::new(postgres),
                None => {
                    let postgres = Postgres::start(supervisor, installation, &settings)?;
                    self.create_application(&node.name, &postgres.target())?;
                    Box::new(postgres)
                }
            },
        };
        running_postgres(&self.users, supervisor, node, postgres, self.tls.as_ref())
    }

    /// Chooses the address on which a server listens. The address is in a separate network if the plan requests one.
    pub(super) fn choose_address(
        &self,
        supervisor: &mut Supervisor,
        name: &str,
    ) -> Result<Ipv4Addr, NodeError> {
        if !self.requested_replication.as_ref().is_some_and(|it| it.separate_networks) {
            return Ok(Ipv4Addr::LOCALHOST);
        }
        let taken: Vec<Ipv4Addr> = self.own_addresses();
        let free = supervisor.addresses().and_then(|mut addresses| addresses.find(|it| !taken.contains(it)));
        free.ok_or_else(|| node_error(name, message!("attempt-get-network"), message!("node-no-network")))
    }

    /// Returns the directory of the disk for a server's data if the plan requests separate disks.
    pub(super) fn choose_disk(
        &self,
        supervisor: &mut Supervisor,
        name: &str,
    ) -> Result<Option<PathBuf>, NodeError> {
        let separate = self.requested_replication.as_ref().is_some_and(|it| it.separate_disks);
        if separate { supervisor.disk(name).map(Some) } else { Ok(None) }
    }

    /// Returns the directory of programs that give a server a clock of its own if the plan requests separate clocks.
    pub(super) fn choose_programs(
        &self,
        supervisor: &Supervisor,
        name: &str,
        bin: &Path,
    ) -> Result<Option<PathBuf>, NodeError> {
        let separate = self.requested_replication.as_ref().is_some_and(|it| it.separate_clocks);
        if separate { supervisor.separate_clock(name, bin).map(Some) } else { Ok(None) }
    }

    /// Creates the application's user and database.
    fn create_application(&self, node: &str, admin: &Target) -> Result<(), NodeError> {
        let app = &self.users.app;
        let failure = |it: crate::client::Error| node_error(node, message!("attempt-create-database"), &it);
        let verifier = app.verifier.as_ref().unwrap_or(&app.password).reveal();
        let mut connection = admin.open(READY_TIMEOUT).map_err(failure)?;
        // pgdyno chose these names, so they need no quotes.
        let role = format!("create role {} login password '{verifier}'", app.name);
        connection.query(&role).map_err(failure)?;
        self.create_database(node, admin, &mut connection)
    }

    /// Replaces the application's database by an empty one, on a server that pgdyno started.
    pub fn recreate_database(&self) -> Result<(), NodeError> {
        let server = self.nodes.last().expect("a chain has a node");
        let admin = server.admin.as_ref().expect("a server that pgdyno started has a superuser's login");
        let failure = |it| node_error(&server.plan.name, message!("attempt-create-database"), &it);
        let mut connection = admin.open(READY_TIMEOUT).map_err(failure)?;
        connection.set_timeout(None);
        let name = &self.users.database;
        let end = format!("select pg_terminate_backend(pid) from pg_stat_activity where datname = '{name}'");
        connection.query(&end).map_err(failure)?;
        connection.query(&format!("drop database {name}")).map_err(failure)?;
        self.create_database(&server.plan.name, admin, &mut connection)
    }

    /// Creates the application's database. `connection` belongs to the superuser.
    fn create_database(
        &self,
        node: &str,
        admin: &Target,
        connection: &mut Connection,
    ) -> Result<(), NodeError> {
        let failure = |it: crate::client::Error| node_error(node, message!("attempt-create-database"), &it);
        let database = format!("create database {} owner {}", self.users.database, self.users.app.name);
        connection.query(&database).map_err(failure)?;
        let mut inside = admin.in_database(&self.users.database).open(READY_TIMEOUT).map_err(failure)?;
        // Creation fails if the library is not loaded. The probe then reports that statements are not counted.
        let _ = inside.query("create extension pg_stat_statements");
        Ok(())
    }

    fn start_program(
        &self,
        supervisor: &mut Supervisor,
        node: Node,
        (program, directory): (&Executable, Option<&Path>),
        own_place: &ProgramPlace,
    ) -> Result<RunningNode, ChainError> {
        let impossible = |reason: Message| ChainError::InvalidPlan { node: node.name.clone(), reason };
        let invalid = |it: InvalidNode| impossible((&it).into());
        let component =
            component::for_kind(&node.kind).expect("every kind of node that pgdyno starts has a component");
        let next = match node.kind {
            // Services do not connect to their copies or to other services.
            NodeKind::Service(_) => self.nodes.iter().find(|it| it.is_database()),
            _ => self.nodes.first(),
        };
        let is_balancer = matches!(node.kind, NodeKind::Balancer(_));
        let copies = super::service::balanced_copies(&self.nodes).filter(|_| is_balancer);
        let service = match &node.kind {
            NodeKind::Service(service) => Some(service),
            _ => None,
        };
        match next {
            None if service.is_none() && copies.is_none() => {
                return Err(impossible((&InvalidNode::NoUpstream).into()));
            }
            Some(upstream) if !upstream.is_database() && copies.is_none() => {
                let name = &upstream.plan.name;
                return Err(impossible(message!("node-upstream-http", upstream = name)));
            }
            _ => {}
        }
        // Odyssey would accept any certificate, although the address of the attached node requires verification.
        let strict =
            |it: &RunningNode| matches!(it.endpoint.login.ssl, SslMode::VerifyCa | SslMode::VerifyFull);
        if next.is_some_and(|it| strict(it) && it.is_attached())
            && !matches!(node.kind, NodeKind::Balancer(_))
        {
            return Err(impossible(message!("node-no-verification")));
        }
        let behind = next.map(|running| NodeEndpoint {
            name: &running.plan.name,
            address: running.endpoint.address.clone(),
            read_only: running.read_only.as_ref().map(|it| it.address.clone()),
            tls: running.endpoint_tls.clone(),
        });
        let tls = self.tls.as_ref().filter(|_| node.transport == Transport::Tls);
        let (files, home) = (supervisor.directory().to_owned(), supervisor.home());
        let place = directory.unwrap_or(&home);
        for attempt in 1.. {
            let port = match own_place.port {
                Some(port) => port,
                None => {
                    (self.ports)().map_err(|it| node_error(&node.name, message!("attempt-get-port"), &it))?
                }
            };
            let address = match node.transport {
                Transport::Unix => Address::Unix(home.join(format!(".s.PGSQL.{port}"))),
                Transport::Tcp | Transport::Tls => {
                    Address::Tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))
                }
            };
            let before = self.replicas.is_some() && self.nodes.len() == 1 && is_balancer;
            let read_only = match before {
                true => Some(
                    (self.ports)().map_err(|it| node_error(&node.name, message!("attempt-get-port"), &it))?,
                ),
                false => None,
            };
            let servers = read_only.and_then(|it| self.balanced_servers(it));
            let given = NodeContext {
                node: &node,
                version: program.version,
                address: &address,
                tls,
                upstream: behind.as_ref(),
                copies: copies.as_ref(),
                servers: servers.as_ref(),
                users: &self.users,
                files: &files,
                home: &home,
                directory: &own_place.directory,
                programs: &own_place.programs,
                memory: physical_memory(),
            };
            let recipe = component.launch_spec(&given).map_err(invalid)?;
            let masked = self.users.masked();
            let shown = component.launch_spec(&NodeContext { users: &masked, ..given }).map_err(invalid)?;
            for (name, contents) in &recipe.files {
                let written = match service {
                    Some(_) => write_service_file(supervisor, &own_place.directory, name, contents),
                    None => write_private_file(supervisor, name, contents),
                };
                written.map_err(|it| node_error(&node.name, message!("attempt-configure"), &it))?;
            }
            let name = free_name(supervisor, &node.name);
            let mut launch = Launch::new(&name, &program.path, &home)
                .as_user(supervisor.user())
                .limited(&node.limits)
                .args(&recipe.arguments);
            launch.directory = place.to_owned();
            let variables = recipe.environment.iter().map(|(name, value)| (name.clone(), value.into()));
            launch.env.extend(variables);
            launch.secrets = recipe.secrets;
            launch.stop = recipe.stop;
            launch.orphaned = recipe.orphaned;
            remove_socket(&address);
            let console = recipe.console.map(|console| match console {
                Console::Database(database) => {
                    let User { name, password, .. } = &self.users.console;
                    let login = make_login("pgdyno", name, password, database, tls);
                    Target::new(address.clone(), login)
                }
                Console::Application => {
                    let User { name, password, .. } = &self.users.app;
                    let login = make_login("pgdyno", name, password, &self.users.database, tls);
                    Target::new(address.clone(), login)
                }
            });
            let url = Url { host: url_host(&address), tls: false, target: "/".to_owned() };
            let url = Some(url).filter(|_| match service {
                Some(service) => service.is_serving(),
                None => copies.is_some(),
            });
            let ready = match (service, &copies) {
                (Some(service), _) => {
                    Some(ReadyCheck::of_service(&node, service, &address, &own_place.directory))
                }
                (None, Some(copies)) => Some(ReadyCheck::path(copies.ready, READY_TIMEOUT)),
                (None, None) => None,
            };
            let pages = service.zip(url.as_ref());
            let pages =
                pages.map_or(Vec::new(), |(it, url)| SampledPage::of_service(it, url, &own_place.programs));
            let mut running = RunningNode {
                node: Some(supervisor.launch(launch.clone())?),
                program: Some(program.path.clone()),
                version: program.text.clone(),
                endpoint: self.app_target(address.clone(), tls),
                admin: console,
                statistics: recipe.statistics,
                read_only: read_only.map(|it| self.read_only_target(it)),
                other_hosts: Vec::new(),
                host: None,
                url,
                ready,
                pages,
                log: Some(log_path(supervisor, &name)),
                arguments: recipe.arguments,
                configuration: shown.files.into_iter().chain(environment_file(&recipe.environment)).collect(),
                // This transport is correct for HTTP nodes; for other nodes, `find_hops` replaces it.
                hop: ServerTransport::Tcp,
                endpoint_tls: endpoint_tls(tls),
                handle: NodeHandle::Program {
                    launch: Box::new(launch),
                    program: NodeProgram::Program(program.clone(), directory.map(Path::to_owned)),
                },
                plan: node.clone(),
            };
            match console::await_service(supervisor, &mut running) {
                Ok(()) => return Ok(running),
                Err(failure) => {
                    let dead = running.node.is_none_or(|it| supervisor.end_of(it).is_some());
                    if let Some(id) = running.node.filter(|_| !dead) {
                        supervisor.stop(id)?;
                    }
                    // A program may exit without a message if its port is in use. If the node has ended and the port is
                    // still in use, another program uses it.
                    if !(dead && is_taken(&address)) || attempt == PORT_ATTEMPTS || own_place.port.is_some() {
                        return Err(NodeError { node: node.name, ..failure }.into());
                    }
                }
            }
        }
        unreachable!("the last attempt returns")
    }

    /// Returns the address of a node that pgdyno started, with the application's login.
    pub(super) fn app_target(&self, address: Address, tls: Option<&TlsFiles>) -> Target {
        make_app_target(&self.users, address, tls)
    }
}

/// Wraps a running PostgreSQL server as a node of the chain.
pub(super) fn running_postgres(
    users: &Users,
    supervisor: &Supervisor,
    node: Node,
    postgres: Box<Postgres>,
    tls: Option<&TlsFiles>,
) -> Result<RunningNode, NodeError> {
    let tls = tls.filter(|_| node.transport == Transport::Tls);
    let admin = postgres.target();
    let address = match node.transport {
        Transport::Unix => admin.address.clone(),
        Transport::Tcp | Transport::Tls => postgres.target_tcp().address,
    };
    let component = component::for_kind(&node.kind).expect("the table has PostgreSQL");
    let NodeKind::Postgres(planned) = &node.kind else { unreachable!("the node is a PostgreSQL") };
    let planned = plan::Postgres { settings: postgres.settings().extra_lines.clone(), ..planned.clone() };
    let configured = Node { kind: NodeKind::Postgres(planned), ..node.clone() };
    let home = supervisor.home();
    let given = NodeContext {
        node: &configured,
        version: (postgres.installation.version.major, 0),
        address: &address,
        tls,
        upstream: None,
        copies: None,
        servers: None,
        users,
        files: supervisor.directory(),
        home: &home,
        directory: &home,
        programs: &[],
        memory: physical_memory(),
    };
    let recipe = component
        .launch_spec(&given)
        .map_err(|it| node_error(&node.name, message!("attempt-describe"), &it))?;
    let mut endpoint = make_app_target(users, address, tls);
    Arc::make_mut(&mut endpoint.login).send_cancel = true;
    Ok(RunningNode {
        node: Some(postgres.node),
        program: Some(postgres.installation.bin.join("postgres")),
        version: postgres.installation.version.text.clone(),
        endpoint,
        admin: Some(admin),
        statistics: None,
        read_only: None,
        other_hosts: Vec::new(),
        host: None,
        url: None,
        ready: None,
        pages: Vec::new(),
        log: Some(log_path(supervisor, &node.name)),
        arguments: postgres.arguments(supervisor),
        configuration: recipe.files,
        hop: ServerTransport::default(),
        endpoint_tls: endpoint_tls(tls),
        handle: NodeHandle::Postgres(postgres),
        plan: node,
    })
}

/// Returns the address of a node that pgdyno started, with the application's login.
fn make_app_target(users: &Users, address: Address, tls: Option<&TlsFiles>) -> Target {
    let User { name, password, .. } = &users.app;
    Target::new(address, make_login(LogSession::LOAD, name, password, &users.database, tls))
}

/// Adds the settings that allow replicas, promotion and `pg_rewind`. The given settings take precedence.
pub(super) fn with_replica_settings(settings: &[(String, String)]) -> Vec<(String, String)> {
    let defaults = [
        // Without this setting, pg_rewind cannot determine which pages differ.
        ("wal_log_hints", "on"),
        // Keep the WAL that a replica may lack when it reconnects.
        ("wal_keep_size", "1GB"),
        // Interval between attempts to fetch WAL. The default of 5 s would take up most of a failover.
        ("wal_retrieve_retry_interval", "200ms"),
    ];
    let is_set = |name: &str| settings.iter().any(|it| it.0 == name);
    let defaults = defaults
        .into_iter()
        .filter(|it| !is_set(it.0))
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
    defaults.chain(settings.iter().cloned()).collect()
}

/// Preloads `pg_stat_statements` if it is installed and the settings name no preloaded library, and lets PostgreSQL count
/// the time of procedural functions.
///
/// The extension is the only source for the statements that a pooler or application sends.
fn with_statement_statistics(postgres: &plan::Postgres, installation: &Installation) -> plan::Postgres {
    let (key, library) = ("shared_preload_libraries", "pg_stat_statements");
    let mut postgres = postgres.clone();
    let is_set = postgres.settings.iter().any(|it| it.0 == key);
    if !is_set && installation.has_library(library) {
        postgres.settings.insert(0, (key.to_owned(), library.to_owned()));
    }
    let functions = "track_functions";
    if !postgres.settings.iter().any(|it| it.0 == functions) {
        postgres.settings.insert(0, (functions.to_owned(), "pl".to_owned()));
    }
    postgres
}

/// Returns the node's name. Appends a number if an earlier node has left a log with that name.
fn free_name(supervisor: &Supervisor, name: &str) -> String {
    let numbered = |n: u32| if n == 1 { name.to_owned() } else { format!("{name}-{n}") };
    (1..).map(numbered).find(|it| !log_path(supervisor, it).exists()).expect("the numbers are unlimited")
}

fn is_taken(address: &Address) -> bool {
    let Address::Tcp(socket) = address else { return false };
    TcpListener::bind(socket).is_err_and(|it| it.kind() == ErrorKind::AddrInUse)
}

/// Formats environment variables of a program as a configuration file for display; `None` if there are none.
fn environment_file(variables: &[(String, String)]) -> Option<(String, String)> {
    let lines: String = variables.iter().map(|(name, value)| format!("{name}={value}\n")).collect();
    (!lines.is_empty()).then(|| ("environment".to_owned(), lines))
}

/// Writes a private file. Replaces a file of this name that an earlier node left.
pub(super) fn write_private_file(supervisor: &Supervisor, name: &str, contents: &str) -> std::io::Result<()> {
    let _ = std::fs::remove_file(supervisor.directory().join(name));
    supervisor.private_file(name, contents.as_bytes()).map(drop)
}

fn endpoint_tls(tls: Option<&TlsFiles>) -> EndpointTls {
    tls.map_or(EndpointTls::Off, |it| EndpointTls::Checked { root: it.root.clone() })
}

fn log_path(supervisor: &Supervisor, name: &str) -> PathBuf {
    supervisor.directory().join("log").join(format!("{name}.log"))
}

fn program_kind(found: &NodeProgram) -> &'static str {
    match found {
        NodeProgram::Postgres(_) => "PostgreSQL",
        NodeProgram::Program(..) => "a program",
        NodeProgram::Attached => "nothing",
    }
}
