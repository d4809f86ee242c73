//! HTTP service component
//!
//! The program belongs to the experiment, not to pgdyno. It gets its listening address and its database in environment
//! variables.

use super::program::{Executable, ProgramInfo, Programs, Unavailable};
use super::{Component, EndpointTls, InvalidNode, LaunchSpec, NodeContext, NodeEndpoint};
use crate::client::Address;
use crate::log_parser::LogFormat;
use crate::supervisor::{Sig, StopStep, SystemUser, open_to_all};
use model::message;
use model::message::Message;
use model::percent_encode;
use model::plan::{NodeKind, Service};
use model::product::{self, Product};
use std::path::Path;
use std::time::Duration;

#[derive(Debug)]
pub struct ServiceComponent;

/// Placeholder. A service's program is found by its command, not by these names.
static NAMES: ProgramInfo = ProgramInfo {
    name: "the service",
    program: "",
    package: None,
    version_argument: "",
    env_var: "",
    install_hint: || message!("install-service"),
};

/// Environment variables that only pgdyno sets.
const RESERVED_VARIABLES: [&str; 3] = ["ADDRESS", "DATABASE_URL", "PGPASSWORD"];

/// Finds the program of the service's command. A bare name is looked up in the search path; a path is relative to the
/// experiment's directory. If the program is an interpreter, the file that it runs must exist too.
pub fn find(service: &Service, programs: &Programs) -> Result<Executable, Unavailable> {
    let missing =
        |reason: Message| Unavailable { component: NAMES.name, reason, install_hint: (NAMES.install_hint)() };
    let Some((program, arguments)) = service.command.split_first() else {
        return Err(missing(message!("service-without-command")));
    };
    let Some(path) = programs.locate(program) else {
        return Err(missing(message!("service-no-program", program)));
    };
    let to_be_run = |word: &&String| {
        let kind = Path::new(word).extension().and_then(|it| it.to_str());
        matches!(kind, Some("jar" | "py" | "js")) && !programs.directory.join(word).is_file()
    };
    if let Some(file) = arguments.iter().find(to_be_run) {
        return Err(missing(message!("service-no-file", file)));
    }
    // Resolve all links: a Python virtual environment links to the interpreter that created it.
    let real = path.canonicalize().unwrap_or_else(|_| path.clone());
    if let Some(user) = SystemUser::unprivileged().ok().flatten() {
        let closed = [programs.directory.as_path(), real.as_path()].into_iter().find(|it| !open_to_all(it));
        if let Some(closed) = closed {
            let path = closed.display().to_string();
            let reason = message!("service-unreadable", user = &user.name, path);
            let install_hint = message!("service-unreadable-remedy");
            return Err(Unavailable { component: NAMES.name, reason, install_hint });
        }
    }
    let short = |it: &String| it.rsplit('/').next().unwrap_or_default().to_owned();
    let words: Vec<String> = service.command.iter().map(short).collect();
    Ok(Executable { path, version: (0, 0), text: words.join(" ") })
}

impl Component for ServiceComponent {
    fn names(&self) -> &'static ProgramInfo {
        &NAMES
    }

    fn product(&self) -> &'static Product {
        &product::SERVICE
    }

    fn log_format(&self) -> LogFormat {
        LogFormat::Service
    }

    fn launch_spec(&self, given: &NodeContext<'_>) -> Result<LaunchSpec, InvalidNode> {
        let NodeKind::Service(service) = &given.node.kind else {
            unreachable!("the product table selects the component of the node")
        };
        let Address::Tcp(address) = given.address else {
            return Err(InvalidNode::transport(None, message!("service-listens-by-tcp"), &["tcp"]));
        };
        if let Some((name, _)) = service.env.iter().find(|it| RESERVED_VARIABLES.contains(&it.0.as_str())) {
            return Err(InvalidNode::ReservedVariable(name.clone()));
        }
        let mut environment = vec![
            ("ADDRESS".to_owned(), address.to_string()),
            // Temporary files are removed with the run's directory when the run ends.
            ("TMPDIR".to_owned(), given.home.display().to_string()),
            (
                "JDK_JAVA_OPTIONS".to_owned(),
                format!("-Djava.io.tmpdir={} -XX:-UsePerfData", given.home.display()),
            ),
            ("LC_ALL".to_owned(), "C.UTF-8".to_owned()),
        ];
        let mut secrets = Vec::new();
        if let Some(behind) = given.upstream {
            environment.insert(1, ("DATABASE_URL".to_owned(), database_url(given, behind, &behind.address)?));
            if let Some(address) = &behind.read_only {
                environment
                    .insert(2, ("READ_DATABASE_URL".to_owned(), database_url(given, behind, address)?));
            }
            secrets.push(("PGPASSWORD".to_owned(), given.users.app.password.clone()));
        }
        environment.retain(|it| service.env.iter().all(|variable| variable.0 != it.0));
        environment.extend(service.env.iter().cloned());
        Ok(LaunchSpec {
            files: Vec::new(),
            arguments: service.command[1..].to_vec(),
            environment,
            secrets,
            // Within 5 s, a request in flight can complete.
            stop: vec![StopStep { signal: Sig::Term, timeout: Duration::from_secs(5) }],
            orphaned: Sig::Kill,
            console: None,
            statistics: None,
        })
    }
}

/// Builds the URL of the application's database in libpq's form, without a password.
fn database_url(
    given: &NodeContext<'_>,
    behind: &NodeEndpoint<'_>,
    address: &Address,
) -> Result<String, InvalidNode> {
    let Address::Tcp(address) = address else {
        return Err(InvalidNode::transport(
            Some(behind.name),
            message!("service-connects-by-tcp"),
            &["tcp", "tls"],
        ));
    };
    let (user, database) = (percent_encode(&given.users.app.name), percent_encode(&given.users.database));
    let tls = match &behind.tls {
        EndpointTls::Off => "disable".to_owned(),
        EndpointTls::Unchecked => "require".to_owned(),
        EndpointTls::Checked { root } => format!("verify-full&sslrootcert={}", root.display()),
    };
    Ok(format!("postgres://{user}@{address}/{database}?sslmode={tls}"))
}
