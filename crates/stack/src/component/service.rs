//! HTTP service component
//!
//! The programs belong to the experiment, not to pgdyno. They get their listening addresses and their database in
//! environment variables and in files, whose variables are replaced here.

use super::program::{Executable, ProgramInfo, Programs, Unavailable};
use super::{Component, EndpointTls, InvalidNode, LaunchSpec, NodeContext, NodeEndpoint};
use crate::client::Address;
use crate::log_parser::LogFormat;
use crate::supervisor::{Sig, StopStep, SystemUser, open_to_all};
use model::message;
use model::message::Message;
use model::percent_encode;
use model::plan::{
    AddressPart, DatabasePart, NodeKind, Service, ServiceProgram, ServiceText, ServiceVariable, StatsAddress,
    VariableUse, service_text,
};
use model::product::{self, Product};
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;
use wire::pg::Secret;

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
    let Some((program, arguments)) = service.started_command().split_first() else {
        return Err(missing(message!("service-without-command")));
    };
    let Some(path) = programs.locate(program) else {
        return Err(missing(message!("service-no-program", program)));
    };
    let to_be_run = |word: &&String| {
        let kind = Path::new(word).extension().and_then(|it| it.to_str());
        // A file of a template does not exist yet.
        let is_given = matches!(kind, Some("jar" | "py" | "js")) && !word.contains("${");
        is_given && !programs.directory.join(word).is_file()
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
    let words: Vec<String> = service.started_command().iter().map(short).collect();
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
        let env = service.started_env();
        if let Some((name, _)) = env.iter().find(|it| RESERVED_VARIABLES.contains(&it.0.as_str())) {
            return Err(InvalidNode::ReservedVariable(name.clone()));
        }
        let own = Scope { given, service, address: *address };
        let mut environment = vec![("ADDRESS".to_owned(), address.to_string())];
        let mut secrets = Vec::new();
        if let Some(behind) = given.upstream {
            environment.extend(database_environment(given, behind)?);
            secrets.push(("PGPASSWORD".to_owned(), given.users.app.password.clone()));
        }
        environment.extend([
            // Temporary files are removed with the run's directory when the run ends.
            ("TMPDIR".to_owned(), given.home.display().to_string()),
            (
                "JDK_JAVA_OPTIONS".to_owned(),
                format!("-Djava.io.tmpdir={} -XX:-UsePerfData", given.home.display()),
            ),
            ("LC_ALL".to_owned(), "C.UTF-8".to_owned()),
        ]);
        environment.retain(|it| env.iter().all(|variable| variable.0 != it.0));
        for (name, value) in env {
            let expanded = own.expand(&value)?;
            match has_secret(&value, service) {
                true => secrets.push((name, Secret::new(expanded))),
                false => environment.push((name, expanded)),
            }
        }
        let mut arguments = Vec::new();
        for argument in &service.started_command()[1..] {
            if has_secret(argument, service) {
                // Every user of the machine can read arguments.
                return Err(InvalidNode::NoValue(argument.clone()));
            }
            arguments.push(own.expand(argument)?);
        }
        let serving = match service.serving_program().filter(|_| !service.is_serving()) {
            Some(program) => given.programs.iter().find(|it| it.0 == program.name).map(|it| it.1),
            None => Some(*address),
        };
        let copy = Scope { address: serving.unwrap_or(*address), ..own };
        let own_files = service.program().map_or(&[][..], |it| &it.files);
        let files =
            service.copy_files().iter().map(|it| (it, copy)).chain(own_files.iter().map(|it| (it, own)));
        let files = files.map(|(file, scope)| Ok((file.name.clone(), scope.expand(&file.text)?)));
        Ok(LaunchSpec {
            files: files.collect::<Result<_, _>>()?,
            arguments,
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

/// Programs of the same service that a program mentions, itself excluded.
pub fn mentioned_programs(service: &Service) -> Vec<&ServiceProgram> {
    let own_files = service.program().map_or(&[][..], |it| &it.files);
    let env = service.started_env();
    let pages =
        service.stats.iter().filter(|_| service.is_serving()).filter_map(|page| match &page.address {
            StatsAddress::Url(url) => Some(url.as_str()),
            _ => None,
        });
    let copy_files = || service.copy_files().iter().map(|it| it.text.as_str());
    let texts = service.started_command().iter().map(String::as_str);
    let texts =
        texts.chain(env.iter().map(|it| it.1.as_str())).chain(own_files.iter().map(|it| it.text.as_str()));
    let used: Vec<ServiceVariable> =
        texts.chain(pages).chain(copy_files()).flat_map(|text| variables(text, service)).collect();
    // In the files of a copy, the variables without a program refer to the program that serves its address.
    let uses_serving = copy_files()
        .flat_map(|text| variables(text, service))
        .any(|it| matches!(it, ServiceVariable::Address(None, _)));
    let is_mentioned = |program: &&ServiceProgram| {
        let names = |variable: &ServiceVariable| matches!(variable, ServiceVariable::Address(Some(name), _) if *name == program.name);
        used.iter().any(names) || uses_serving && Some(*program) == service.serving_program()
    };
    let others = service.programs.iter().filter(|it| Some(*it) != service.program());
    others.filter(is_mentioned).collect()
}

/// Replaces the variables of the URL of a page.
pub fn expand_page_url(
    text: &str,
    service: &Service,
    address: SocketAddr,
    programs: &[(String, SocketAddr)],
) -> String {
    let value = |variable: &ServiceVariable| match variable {
        ServiceVariable::Address(None, part) => Some(address_part(address, *part)),
        ServiceVariable::Address(Some(name), part) => {
            let own = service.program().filter(|it| it.name == *name).map(|_| address);
            let other = programs.iter().find(|it| it.0 == *name).map(|it| it.1);
            own.or(other).map(|it| address_part(it, *part))
        }
        _ => None,
    };
    let piece = |piece: ServiceText<'_>| match piece {
        ServiceText::Plain(text) => text.to_owned(),
        ServiceText::Variable(VariableUse { variable, .. }) => {
            variable.ok().and_then(|it| value(&it)).expect("check accepts only addresses of known programs")
        }
    };
    service_text(text, &program_names(service)).into_iter().map(piece).collect()
}

/// Values of the variables in one text.
#[derive(Clone, Copy, Debug)]
struct Scope<'a> {
    given: &'a NodeContext<'a>,
    service: &'a Service,
    /// Value of `${address}`.
    address: SocketAddr,
}

impl Scope<'_> {
    fn expand(&self, text: &str) -> Result<String, InvalidNode> {
        let mut expanded = String::new();
        for piece in service_text(text, &program_names(self.service)) {
            match piece {
                ServiceText::Plain(plain) => expanded += plain,
                ServiceText::Variable(VariableUse { at, variable }) => {
                    let value = variable.ok().map(|it| self.value(&it)).transpose()?.flatten();
                    expanded += &value.ok_or_else(|| InvalidNode::NoValue(text[at].to_owned()))?;
                }
            }
        }
        Ok(expanded)
    }

    /// Value of a variable; `None` if it has none.
    fn value(&self, variable: &ServiceVariable) -> Result<Option<String>, InvalidNode> {
        let given = self.given;
        Ok(match variable {
            ServiceVariable::Address(None, part) => Some(address_part(self.address, *part)),
            ServiceVariable::Address(Some(name), part) => {
                let own = self.service.program().filter(|it| it.name == *name);
                let address = match own {
                    Some(_) => tcp(given.address),
                    None => given.programs.iter().find(|it| it.0 == *name).map(|it| it.1),
                };
                address.map(|it| address_part(it, *part))
            }
            ServiceVariable::Directory => Some(given.directory.display().to_string()),
            ServiceVariable::Copy => match &self.service.instance {
                Some(instance) => instance.copy.map(|it| it.to_string()),
                None => Some("1".to_owned()),
            },
            ServiceVariable::Database { read_only, part } => {
                let Some(behind) = given.upstream else { return Ok(None) };
                let address = if *read_only { behind.read_only.as_ref() } else { Some(&behind.address) };
                let Some(address) = address else { return Ok(None) };
                Some(database_part(given, behind, address, *part)?)
            }
        })
    }
}

fn program_names(service: &Service) -> Vec<&str> {
    service.programs.iter().map(|it| it.name.as_str()).collect()
}

/// Variables in a text of a service.
fn variables(text: &str, service: &Service) -> impl Iterator<Item = ServiceVariable> {
    let pieces = service_text(text, &program_names(service)).into_iter().filter_map(|piece| match piece {
        ServiceText::Variable(it) => it.variable.ok(),
        ServiceText::Plain(_) => None,
    });
    pieces.collect::<Vec<_>>().into_iter()
}

fn has_secret(text: &str, service: &Service) -> bool {
    variables(text, service).any(|it| it.is_secret())
}

fn tcp(address: &Address) -> Option<SocketAddr> {
    match address {
        Address::Tcp(it) => Some(*it),
        Address::Unix(_) => None,
    }
}

fn address_part(address: SocketAddr, part: AddressPart) -> String {
    match part {
        AddressPart::Whole => address.to_string(),
        AddressPart::Host => address.ip().to_string(),
        AddressPart::Port => address.port().to_string(),
    }
}

/// Variables by which programs find their database: those of this project's services, and those of libpq.
fn database_environment(
    given: &NodeContext<'_>,
    behind: &NodeEndpoint<'_>,
) -> Result<Vec<(String, String)>, InvalidNode> {
    let part = |part| database_part(given, behind, &behind.address, part);
    let mut variables = vec![("DATABASE_URL", part(DatabasePart::Url)?)];
    if let Some(address) = &behind.read_only {
        variables.push(("READ_DATABASE_URL", database_part(given, behind, address, DatabasePart::Url)?));
    }
    variables.extend([
        ("PGHOST", part(DatabasePart::Host)?),
        ("PGPORT", part(DatabasePart::Port)?),
        ("PGUSER", part(DatabasePart::User)?),
        ("PGDATABASE", part(DatabasePart::Name)?),
    ]);
    let (mode, root) = tls_mode(&behind.tls);
    variables.push(("PGSSLMODE", mode.to_owned()));
    variables.extend(root.map(|it| ("PGSSLROOTCERT", it)));
    Ok(variables.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// Part of the application's login at a node. Only [`DatabasePart::Password`] contains the password.
fn database_part(
    given: &NodeContext<'_>,
    behind: &NodeEndpoint<'_>,
    address: &Address,
    part: DatabasePart,
) -> Result<String, InvalidNode> {
    let Some(tcp) = tcp(address) else {
        return Err(InvalidNode::transport(
            Some(behind.name),
            message!("service-connects-by-tcp"),
            &["tcp", "tls"],
        ));
    };
    Ok(match part {
        DatabasePart::Url => database_url(given, behind, tcp),
        DatabasePart::Host => address_part(tcp, AddressPart::Host),
        DatabasePart::Port => address_part(tcp, AddressPart::Port),
        DatabasePart::Name => given.users.database.clone(),
        DatabasePart::User => given.users.app.name.clone(),
        DatabasePart::Password => given.users.app.password.reveal().to_owned(),
    })
}

/// Value of libpq's `sslmode`, and the file of the root certificate if it is needed.
fn tls_mode(tls: &EndpointTls) -> (&'static str, Option<String>) {
    match tls {
        EndpointTls::Off => ("disable", None),
        EndpointTls::Unchecked => ("require", None),
        EndpointTls::Checked { root } => ("verify-full", Some(root.display().to_string())),
    }
}

/// Builds the URL of the application's database in libpq's form, without a password.
fn database_url(given: &NodeContext<'_>, behind: &NodeEndpoint<'_>, address: SocketAddr) -> String {
    let (user, database) = (percent_encode(&given.users.app.name), percent_encode(&given.users.database));
    let (mode, root) = tls_mode(&behind.tls);
    let root = root.map_or_else(String::new, |it| format!("&sslrootcert={it}"));
    format!("postgres://{user}@{address}/{database}?sslmode={mode}{root}")
}
