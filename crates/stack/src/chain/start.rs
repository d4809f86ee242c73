//! How does one node come up?

use super::{Chain, Kept, PATIENCE, Problem, Running, Step, attach, console, failed, login, remove_socket};
use crate::ask::{Address, Target};
use crate::component::postgres::{Postgres, Settings, memory};
use crate::component::program::{Program, Programs};
use crate::component::{self, Door, DoorTls, Given, Users, service};
use crate::find::Installation;
use crate::supervisor::{Failure, Launch, Supervisor};
use crate::tls_files::TlsFiles;
use model::plan::{self, Entrance, Kind, Node};
use model::summary::Hop;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use wire::http::{Host, Url};
use wire::pg::SslMode;

/// The program that makes a node; nothing for what is attached.
#[derive(Clone, Debug)]
pub(super) enum Found {
    Postgres(Installation),
    /// And where it runs, if that is not at home.
    Program(Program, Option<PathBuf>),
    Attached,
}

/// How often a port may turn out to be taken.
const PORTS: u32 = 5;

impl Found {
    pub(super) fn of(
        node: &Node,
        programs: &Programs,
        tell: &mut dyn FnMut(Step<'_>),
    ) -> Result<Found, Problem> {
        let least = match &node.kind {
            Kind::Postgres(it) => {
                let fetching = |major| tell(Step::Fetching(major));
                return Ok(Found::Postgres(programs.postgres(it.version, fetching)?));
            }
            Kind::Attached(_) => return Ok(Found::Attached),
            Kind::PgBouncer(it) => it.version,
            Kind::Service(it) if it.url.is_some() => return Ok(Found::Attached),
            Kind::Service(it) => {
                return Ok(Found::Program(service::find(it, programs)?, Some(programs.directory.clone())));
            }
            Kind::Odyssey(_) | Kind::HaProxy(_) => None,
        };
        let component = component::of(&node.kind).expect("the table has every kind that we start");
        Ok(Found::Program(programs.find(component.names(), least)?, None))
    }
}

impl Chain {
    /// Starts a node in front of the others.
    pub(super) fn start(
        &mut self,
        supervisor: &mut Supervisor,
        node: Node,
        found: Found,
    ) -> Result<Running, Problem> {
        match (found, &node.kind) {
            (Found::Postgres(installation), Kind::Postgres(wanted)) => {
                let wanted = counting_statements(wanted, &installation);
                Ok(self.start_postgres(supervisor, node, &wanted, &installation)?)
            }
            (Found::Attached, Kind::Attached(wanted)) => {
                let (running, app) = attach::attach(&node, wanted)?;
                // The rest of the chain logs in as whom we were told to.
                if let Some((user, database)) = app {
                    self.users.app = user;
                    self.users.database = database;
                }
                Ok(running)
            }
            (Found::Attached, Kind::Service(wanted)) => {
                let url = wanted.url.as_deref().expect("it has one, or it were to be started");
                super::service::attach(&node, wanted, url)
            }
            (Found::Program(program, directory), _) => {
                self.start_program(supervisor, node, &program, directory.as_deref())
            }
            (found, _) => unreachable!("{} was found for {}", debug(&found), node.name),
        }
    }

    fn start_postgres(
        &mut self,
        supervisor: &mut Supervisor,
        node: Node,
        wanted: &plan::Postgres,
        installation: &Installation,
    ) -> Result<Running, Failure> {
        let tls = self.tls.as_ref().filter(|_| node.entrance == Entrance::Tls);
        let more = match &self.wanted {
            Some(_) => ready_for_replicas(&wanted.settings),
            None => wanted.settings.clone(),
        };
        let settings = Settings {
            name: node.name.clone(),
            max_connections: wanted.max_connections,
            more,
            tls: tls.cloned(),
            limits: node.limits.clone(),
            apart: self.wanted.is_some(),
            address: self.address(supervisor, &node.name)?,
            disk: self.disk(supervisor, &node.name)?,
            ports: self.ports,
        };
        let postgres = match self.resting.take() {
            Some(mut postgres) => {
                let again = postgres.reconfigure(supervisor, &settings);
                if again.is_err() {
                    // It would be in the way of a new one.
                    let _ = std::fs::remove_dir_all(&postgres.reach);
                }
                again?;
                postgres
            }
            None => {
                let postgres = Postgres::start(supervisor, installation, &settings)?;
                self.make_application(&node.name, &postgres.target())?;
                Box::new(postgres)
            }
        };
        running(&self.users, supervisor, node, postgres, self.tls.as_ref())
    }

    /// Where a server is to listen: in a network of its own, if it is to be cut off.
    pub(super) fn address(&self, supervisor: &mut Supervisor, name: &str) -> Result<Ipv4Addr, Failure> {
        if !self.wanted.as_ref().is_some_and(|it| it.apart) {
            return Ok(Ipv4Addr::LOCALHOST);
        }
        let taken: Vec<Ipv4Addr> = self.addresses();
        let free = supervisor.addresses().and_then(|mut it| it.find(|it| !taken.contains(it)));
        free.ok_or_else(|| failed(name, "have a network of its own", &"all of 198.18.0.0/16 is taken"))
    }

    /// Where its data are to be: on a disk of its own, if that is to be full.
    pub(super) fn disk(&self, supervisor: &mut Supervisor, name: &str) -> Result<Option<PathBuf>, Failure> {
        let wanted = self.wanted.as_ref().is_some_and(|it| it.disks);
        if wanted { supervisor.disk(name).map(Some) } else { Ok(None) }
    }

    /// The application's user and database.
    fn make_application(&self, node: &str, admin: &Target) -> Result<(), Failure> {
        let app = &self.users.app;
        let failure = |it: crate::ask::Error| failed(node, "make the application's database", &it);
        let verifier = app.verifier.as_ref().unwrap_or(&app.password).reveal();
        let mut connection = admin.open(PATIENCE).map_err(failure)?;
        // Names are ours: they need no quotes.
        let role = format!("create role {} login password '{verifier}'", app.name);
        connection.query(&role).map_err(failure)?;
        let database = format!("create database {} owner {}", self.users.database, app.name);
        connection.query(&database).map_err(failure)?;
        let mut inside = admin.in_database(&self.users.database).open(PATIENCE).map_err(failure)?;
        // Refused where its library is not loaded; then statements are not counted, and the probe says so.
        let _ = inside.query("create extension pg_stat_statements");
        Ok(())
    }

    fn start_program(
        &self,
        supervisor: &mut Supervisor,
        node: Node,
        program: &Program,
        directory: Option<&Path>,
    ) -> Result<Running, Problem> {
        let impossible = |why: String| Problem::Impossible { node: node.name.clone(), why };
        let component = component::of(&node.kind).expect("the table has every kind that we start");
        let next = match node.kind {
            // Past its copies, and other services.
            Kind::Service(_) => self.nodes.iter().find(|it| it.url.is_none()),
            _ => self.nodes.first(),
        };
        let is_balancer = matches!(node.kind, Kind::HaProxy(_));
        let copies = super::service::copies(&self.nodes).filter(|_| is_balancer);
        let ready = match (&node.kind, &copies) {
            (Kind::Service(it), _) => Some((it.ready.clone(), super::service::patience(&node, it))),
            (_, Some(it)) => Some((it.ready.to_owned(), PATIENCE)),
            _ => None,
        };
        match next {
            None if ready.is_none() => return Err(impossible("nothing stands behind it".to_owned())),
            Some(it) if it.url.is_some() && copies.is_none() => {
                let why = format!("it speaks SQL, and {} behind it HTTP", it.plan.name);
                return Err(impossible(why));
            }
            _ => {}
        }
        // It would take any certificate where we were told to check it.
        let strict = |it: &Running| matches!(it.entrance.login.ssl, SslMode::VerifyCa | SslMode::VerifyFull);
        if next.is_some_and(|it| strict(it) && it.is_attached()) && !matches!(node.kind, Kind::HaProxy(_)) {
            let why =
                "cannot check the certificate of what is attached: write sslmode=require in its address";
            return Err(impossible(why.to_owned()));
        }
        let behind = next.map(|it| Door {
            name: &it.plan.name,
            address: it.entrance.address.clone(),
            read_only: it.read_only.as_ref().map(|it| it.address.clone()),
            tls: it.door.clone(),
        });
        let tls = self.tls.as_ref().filter(|_| node.entrance == Entrance::Tls);
        let (files, home) = (supervisor.directory().to_owned(), supervisor.home());
        let place = directory.unwrap_or(&home);
        for attempt in 1.. {
            let port = (self.ports)().map_err(|it| failed(&node.name, "get a port", &it))?;
            let address = match node.entrance {
                Entrance::Unix => Address::Unix(home.join(format!(".s.PGSQL.{port}"))),
                Entrance::Tcp | Entrance::Tls => Address::Tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, port))),
            };
            let before = self.replicas.is_some() && self.nodes.len() == 1 && is_balancer;
            let read_only = match before {
                true => Some((self.ports)().map_err(|it| failed(&node.name, "get a port", &it))?),
                false => None,
            };
            let servers = read_only.and_then(|it| self.before_servers(it));
            let given = Given {
                node: &node,
                version: program.version,
                address: &address,
                tls,
                behind: behind.as_ref(),
                copies: copies.as_ref(),
                servers: servers.as_ref(),
                users: &self.users,
                files: &files,
                home: &home,
                memory: memory(),
            };
            let recipe = component.recipe(&given).map_err(impossible)?;
            let masked = self.users.masked();
            let shown = component.recipe(&Given { users: &masked, ..given }).map_err(impossible)?;
            for (name, contents) in &recipe.files {
                write(supervisor, name, contents).map_err(|it| failed(&node.name, "be configured", &it))?;
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
            let console = recipe.console.map(|database| {
                let user = &self.users.console;
                Target { address: address.clone(), login: login(&user.name, &user.password, database, tls) }
            });
            let mut running = Running {
                node: Some(supervisor.launch(launch.clone())?),
                program: Some(program.path.clone()),
                version: program.text.clone(),
                entrance: self.entrance(address.clone(), tls),
                admin: console,
                statistics: recipe.statistics,
                read_only: read_only.map(|it| self.read_only(it)),
                url: ready.as_ref().map(|_| Url { host: host(&address), tls: false, target: "/".to_owned() }),
                ready: ready.clone(),
                log: Some(log(supervisor, &name)),
                arguments: recipe.arguments,
                configuration: shown.files.into_iter().chain(environment(&recipe.environment)).collect(),
                // Of HTTP it is this one; others are found out.
                hop: Hop::Tcp,
                door: door_tls(tls),
                kept: Kept::Program {
                    launch: Box::new(launch),
                    found: Found::Program(program.clone(), directory.map(Path::to_owned)),
                },
                plan: node.clone(),
            };
            match console::await_service(supervisor, &mut running) {
                Ok(()) => return Ok(running),
                Err(failure) => {
                    let dead = running.node.is_none_or(|it| supervisor.ended(it).is_some());
                    if let Some(id) = running.node.filter(|_| !dead) {
                        supervisor.stop(id)?;
                    }
                    // Odyssey ends without a word when its port is taken; who ended leaves no port behind.
                    if !(dead && is_taken(&address)) || attempt == PORTS {
                        return Err(Failure { node: node.name, ..failure }.into());
                    }
                }
            }
        }
        unreachable!("the last attempt returns")
    }

    /// How the application reaches a node of ours.
    pub(super) fn entrance(&self, address: Address, tls: Option<&TlsFiles>) -> Target {
        entrance(&self.users, address, tls)
    }
}

/// A server of ours that serves, as a node of the chain.
pub(super) fn running(
    users: &Users,
    supervisor: &Supervisor,
    node: Node,
    postgres: Box<Postgres>,
    tls: Option<&TlsFiles>,
) -> Result<Running, Failure> {
    let tls = tls.filter(|_| node.entrance == Entrance::Tls);
    let admin = postgres.target();
    let address = match node.entrance {
        Entrance::Unix => admin.address.clone(),
        Entrance::Tcp | Entrance::Tls => postgres.target_tcp().address,
    };
    let component = component::of(&node.kind).expect("the table has PostgreSQL");
    let Kind::Postgres(wanted) = &node.kind else { unreachable!("it is a PostgreSQL") };
    let wanted = plan::Postgres { settings: postgres.settings().more.clone(), ..wanted.clone() };
    let configured = Node { kind: Kind::Postgres(wanted), ..node.clone() };
    let home = supervisor.home();
    let given = Given {
        node: &configured,
        version: (postgres.installation.version.major, 0),
        address: &address,
        tls,
        behind: None,
        copies: None,
        servers: None,
        users,
        files: supervisor.directory(),
        home: &home,
        memory: memory(),
    };
    let recipe = component.recipe(&given).map_err(|it| failed(&node.name, "be written down", &it))?;
    let mut entrance = entrance(users, address, tls);
    Arc::make_mut(&mut entrance.login).cancels = true;
    Ok(Running {
        node: Some(postgres.node),
        program: Some(postgres.installation.bin.join("postgres")),
        version: postgres.installation.version.text.clone(),
        entrance,
        admin: Some(admin),
        statistics: None,
        read_only: None,
        url: None,
        ready: None,
        log: Some(log(supervisor, &node.name)),
        arguments: postgres.arguments(supervisor),
        configuration: recipe.files,
        hop: Hop::default(),
        door: door_tls(tls),
        kept: Kept::Postgres(postgres),
        plan: node,
    })
}

/// How the application reaches a node of ours.
fn entrance(users: &Users, address: Address, tls: Option<&TlsFiles>) -> Target {
    Target { address, login: login(&users.app.name, &users.app.password, &users.database, tls) }
}

/// A server's lines with those that let it have replicas, become one, and go back to where a newer primary began.
pub(super) fn ready_for_replicas(wanted: &[(String, String)]) -> Vec<(String, String)> {
    let ours = [
        // Without it pg_rewind cannot tell which pages differ.
        ("wal_log_hints", "on"),
        // What a replica may lack when it comes back.
        ("wal_keep_size", "1GB"),
        // How long it waits before it tries another time; five seconds would be most of a failover.
        ("wal_retrieve_retry_interval", "200ms"),
    ];
    let told = |name: &str| wanted.iter().any(|it| it.0 == name);
    let ours =
        ours.into_iter().filter(|it| !told(it.0)).map(|(name, value)| (name.to_owned(), value.to_owned()));
    ours.chain(wanted.iter().cloned()).collect()
}

/// With the library that counts statements, where it is installed and no other ones are asked for: what a pooler or an
/// application really sends is known from it alone.
fn counting_statements(wanted: &plan::Postgres, installation: &Installation) -> plan::Postgres {
    let (key, library) = ("shared_preload_libraries", "pg_stat_statements");
    let mut wanted = wanted.clone();
    let told = wanted.settings.iter().any(|it| it.0 == key);
    if !told && installation.has_library(library) {
        wanted.settings.insert(0, (key.to_owned(), library.to_owned()));
    }
    wanted
}

/// The node's name, or, if an earlier one has left a log under it, the name and a number.
fn free_name(supervisor: &Supervisor, name: &str) -> String {
    let numbered = |n: u32| if n == 1 { name.to_owned() } else { format!("{name}-{n}") };
    (1..).map(numbered).find(|it| !log(supervisor, it).exists()).expect("numbers do not end")
}

fn is_taken(address: &Address) -> bool {
    let Address::Tcp(it) = address else { return false };
    TcpListener::bind(it).is_err_and(|it| it.kind() == ErrorKind::AddrInUse)
}

fn host(address: &Address) -> Host {
    match address {
        Address::Tcp(it) => Host::Tcp(it.ip().to_string(), it.port()),
        Address::Unix(path) => Host::Unix(path.display().to_string()),
    }
}

/// What a program was told by variables, as a file of its configuration.
fn environment(of: &[(String, String)]) -> Option<(String, String)> {
    let lines: String = of.iter().map(|(name, value)| format!("{name}={value}\n")).collect();
    (!lines.is_empty()).then(|| ("environment".to_owned(), lines))
}

/// Writes a private file, in place of one of an earlier node of the name.
pub(super) fn write(supervisor: &Supervisor, name: &str, contents: &str) -> std::io::Result<()> {
    let _ = std::fs::remove_file(supervisor.directory().join(name));
    supervisor.private_file(name, contents.as_bytes()).map(drop)
}

fn door_tls(tls: Option<&TlsFiles>) -> DoorTls {
    tls.map_or(DoorTls::Off, |it| DoorTls::Checked { root: it.root.clone() })
}

fn log(supervisor: &Supervisor, name: &str) -> PathBuf {
    supervisor.directory().join("log").join(format!("{name}.log"))
}

fn debug(found: &Found) -> &'static str {
    match found {
        Found::Postgres(_) => "PostgreSQL",
        Found::Program(..) => "a program",
        Found::Attached => "nothing",
    }
}
