//! `pgdyno bench --http`: measures an HTTP service

use super::connect::address_change;
use super::options::{BenchOptions, HttpOptions, SeedOption};
use super::ready::{self, BenchTargets, PreparedBench};
use super::{Bench, guard, setup, usage_status};
use crate::cli::{CommandError, Terminal, os_error_text};
use crate::clock::unix_time;
use crate::exit_status::ExitStatus;
use crate::files;
use crate::fleet::assignment::{BenchLoad, RecordedEnvironment};
use crate::measure::{LoadPart, load_address};
use crate::secrets::{self, ENVIRONMENT};
use load::Service;
use load::script::Program;
use load::script::call::{RequestSource, SecretLookup};
use model::Nanos;
use model::message;
use model::message::Message;
use model::summary::{Server, ServerTransport};
use stack::client::Address;
use stack::location;
use std::fs;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;
use wire::http::{Channel, Event, Host, Method, Request, Retain, TemplatePart, Url, compile};
use wire::pg::Secret;
use wire::tls::{HttpsClient, TlsIdentity};
use wire::{Template, TemplateBuilder};

/// Timeout for the probe before the run.
const PROBE_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout for opening a connection.
const CONNECT_TIMEOUT: Nanos = Nanos::from_secs(30);
/// Usual paths of the PEM file with the system's trusted certificates.
const CERTIFICATE_FILES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

pub fn run(
    options: &BenchOptions,
    http_options: &HttpOptions,
    args: &[String],
    terminal: &Terminal,
) -> Result<ExitStatus, CommandError> {
    let program = match compile(options, http_options, ENVIRONMENT) {
        Ok(it) => it,
        Err(diagnostics) => {
            diagnostics.iter().for_each(|it| terminal.print_error(it, options.lang));
            return Ok(usage_status(terminal));
        }
    };
    let Some(objectives) = super::parse_objectives(options, &[setup::request_name(http_options)]) else {
        return Ok(usage_status(terminal));
    };
    let seed = ready::seed(options.seed, unix_time())?;
    if options.seed != (SeedOption::Time { explicit: false }) {
        terminal.info(&format!("setting random seed to {seed}"));
    }
    let roots = roots(http_options)?;
    let service = service(http_options, roots.as_deref())?;
    let (reached, server) = probe_service(&http_options.url, &service)?;
    let fleet = options.fleet.as_ref().map(|it| super::lease(it, &reached)).transpose()?;
    guard::check_load_allowed(
        &location::locate_listener(&reached),
        &server.address,
        options.yes_load.as_deref(),
        terminal,
    )?;
    if !options.json {
        outln!("{}", report::bench::banner(&server.version));
    }
    let named = format!("at {}", server.address);
    let resolved = match (&http_options.url.host, &reached) {
        (Host::Tcp(name, _), Address::Tcp(used)) => Some((name, *used)),
        _ => None,
    };
    let targets = BenchTargets { postgres: None, services: vec![(service, load_address(&reached))] };
    let part = fleet.as_ref().map_or(LoadPart::All, |it| LoadPart::Coordinator { agents: it.len() });
    let prepared = ready::prepare_for(options, program, targets, 1, seed, part)?;
    let generators = fleet.map(|fleet| {
        let load = BenchLoad {
            arguments: args.to_vec(),
            scripts: Vec::new(),
            scale: 1,
            environment: recorded_environment(http_options, roots.as_deref()),
        };
        super::assign(fleet, load, &prepared, seed)
    });
    let signals = super::listen()?;
    let bench = Bench {
        options,
        server: &server,
        named: &named,
        tables: None,
        objectives: &objectives,
        system: setup::service(options, http_options, &server),
        seed,
        signals: &signals,
        terminal,
        generators,
    };
    let result = bench.measure(prepared)?;
    if let Some(change) = resolved.and_then(|(name, used)| address_change(name, used)) {
        terminal.warning(&options.lang.message(&change));
    }
    result.print(options, terminal)
}

/// Compiles the request of the options, or returns all errors.
fn compile(
    options: &BenchOptions,
    http_options: &HttpOptions,
    secrets: SecretLookup<'_>,
) -> Result<Program, Vec<Message>> {
    let written = RequestSource {
        method: http_options.method,
        target: &http_options.url.target,
        headers: &http_options.headers,
        body: http_options.body.as_deref(),
        expect: &http_options.expect,
        secrets,
    };
    let given = options.defines.iter().map(|it| it.0.as_str());
    let defined: Vec<&str> = given.chain(super::scripts::PREDEFINED).collect();
    Program::from_request(&written, &defined)
}

/// Prepares an agent's part of a load. `allow` is an error for an address that the agent may not load.
pub fn prepare_part(
    options: &BenchOptions,
    http_options: &HttpOptions,
    environment: &RecordedEnvironment,
    (seed, part): (u64, LoadPart),
    allow: impl Fn(&Address) -> Result<(), CommandError>,
) -> Result<PreparedBench, CommandError> {
    let lookup = |name: &str| environment.variables.get(name).cloned().map(Secret::new);
    let program = compile(options, http_options, SecretLookup(&lookup))
        .map_err(|_| CommandError::new(message!("agents-lost-damaged")))?;
    let sent = http_options.roots.as_ref().and_then(|path| environment.files.get(path));
    let roots = match sent {
        Some(sent) => Some(sent.clone().into_bytes()),
        None => roots(http_options)?,
    };
    let service = service(http_options, roots.as_deref())?;
    match &http_options.url.host {
        Host::Unix(path) => allow(&Address::Unix(path.into()))?,
        Host::Tcp(name, port) => {
            let found = (name.as_str(), *port).to_socket_addrs();
            let found = found.map_err(|error| unreachable(&http_options.url, &error))?;
            found.map(Address::Tcp).try_for_each(|it| allow(&it))?;
        }
    }
    let (address, stream) =
        connect(&http_options.url.host).map_err(|error| unreachable(&http_options.url, &error))?;
    drop(stream);
    let targets = BenchTargets { postgres: None, services: vec![(service, load_address(&address))] };
    ready::prepare_for(options, program, targets, 1, seed, part)
}

/// Secrets of the request, and the trusted certificates if the options name a file, for agents.
fn recorded_environment(options: &HttpOptions, roots: Option<&[u8]>) -> RecordedEnvironment {
    let texts = options.headers.iter().map(String::as_str);
    let texts = texts.chain([options.url.target.as_str()]).chain(options.body.as_deref());
    let certificates = options.roots.clone().zip(roots.map(|it| String::from_utf8_lossy(it).into_owned()));
    RecordedEnvironment {
        variables: secrets::values(texts),
        files: certificates.into_iter().collect(),
        ..RecordedEnvironment::default()
    }
}

fn service(options: &HttpOptions, roots: Option<&[u8]>) -> Result<Service, CommandError> {
    let tls = match &options.url {
        Url { host: Host::Tcp(name, _), tls: true, .. } => {
            let identity = TlsIdentity { roots, ..TlsIdentity::default() };
            Some(HttpsClient::new(name, &identity).map_err(|it| CommandError::new(&it))?)
        }
        _ => None,
    };
    Ok(Service {
        tls,
        connect_timeout: CONNECT_TIMEOUT,
        first_byte_timeout: options.first_byte_timeout,
        response_timeout: options.response_timeout,
        ..Service::without_tls(&options.url.host_header())
    })
}

/// Trusted certificates as PEM; `None` without TLS, or if the certificate is not verified.
fn roots(options: &HttpOptions) -> Result<Option<Vec<u8>>, CommandError> {
    match &options.roots {
        _ if options.insecure || !options.url.tls => Ok(None),
        Some(path) => read(path).map(Some),
        None => system_certificates().map(Some),
    }
}

/// Connects once before the run. Returns the service's address, and facts about it.
fn probe_service(url: &Url, service: &Service) -> Result<(Address, Server), CommandError> {
    let (address, mut stream) = connect(&url.host).map_err(|it| unreachable(url, &it))?;
    let (named, protection) = request_head(&mut *stream, url, service).map_err(|it| unreachable(url, &it))?;
    let transport = match (&address, protection) {
        (Address::Unix(_), _) => ServerTransport::UnixSocket,
        (Address::Tcp(_), None) => ServerTransport::Tcp,
        (Address::Tcp(_), Some(version)) => ServerTransport::TcpTls { version },
    };
    // The report names no database, because a service has none.
    let version = named.unwrap_or_else(|| "HTTP service".to_owned());
    Ok((address, Server { version, transport, address: shown(url), ..Server::default() }))
}

/// Host and port, or path of the socket.
fn shown(url: &Url) -> String {
    match &url.host {
        Host::Unix(path) => path.clone(),
        Host::Tcp(..) => url.host_header(),
    }
}

fn unreachable(url: &Url, error: &io::Error) -> CommandError {
    let (address, error) = (shown(url), os_error_text(error));
    CommandError::new(format!("connection to the service at {address} failed: {error}"))
        .with_hint("Is the service running there and accepting connections?")
}

/// Certificates that this system trusts, as PEM.
pub fn system_certificates() -> Result<Vec<u8>, CommandError> {
    let named = std::env::var("SSL_CERT_FILE").ok();
    let known =
        CERTIFICATE_FILES.iter().map(|it| (*it).to_owned()).find(|it| fs::exists(it).unwrap_or(false));
    let path = named.or(known).ok_or_else(|| {
        CommandError::new(message!("bench-no-trusted-certificates"))
            .with_hint("set SSL_CERT_FILE or --cacert to a file, or disable the check with --insecure")
    })?;
    read(&path)
}

fn read(path: &str) -> Result<Vec<u8>, CommandError> {
    files::read(Path::new(path)).map_err(|error| {
        CommandError::new(message!(
            "feed-file-unreadable",
            path = format!("\"{path}\""),
            error = Message::from(&error)
        ))
    })
}

trait ByteStream: Read + Write {}
impl<T: Read + Write> ByteStream for T {}

fn connect(host: &Host) -> io::Result<(Address, Box<dyn ByteStream>)> {
    let (name, port) = match host {
        Host::Unix(path) => {
            let stream = UnixStream::connect(path)?;
            stream.set_read_timeout(Some(PROBE_TIMEOUT))?;
            return Ok((Address::Unix(path.into()), Box::new(stream)));
        }
        Host::Tcp(name, port) => (name.as_str(), *port),
    };
    let found: Vec<SocketAddr> = (name, port).to_socket_addrs()?.collect();
    let mut failed = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in found {
        match TcpStream::connect_timeout(&address, PROBE_TIMEOUT) {
            Ok(stream) => {
                stream.set_read_timeout(Some(PROBE_TIMEOUT))?;
                return Ok((Address::Tcp(address), Box::new(stream)));
            }
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

/// Sends a HEAD request for the measured URL. Returns the Server header and the TLS version.
fn request_head(
    stream: &mut dyn ByteStream,
    url: &Url,
    service: &Service,
) -> io::Result<(Option<String>, Option<String>)> {
    let broken = |it: wire::http::Error| io::Error::new(io::ErrorKind::InvalidData, it.to_string());
    let keep = Retain { head: true, ..Retain::default() };
    let request = template(url);
    let mut channel = Channel::default();
    let mut input = vec![0; 16 << 10];
    let ask = |channel: &mut Channel| {
        channel.request(Method::Head, keep, |out| request.render(out, |_, _| false));
    };
    if channel.open(service.tls.as_ref()).map_err(broken)? {
        ask(&mut channel);
    }
    loop {
        let n = channel.outgoing().len();
        stream.write_all(channel.outgoing())?;
        channel.sent(n);
        let n = stream.read(&mut input)?;
        if n == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut rest = &input[..n];
        loop {
            match channel.receive(&mut rest).map_err(broken)? {
                Event::More => break,
                Event::Opened => ask(&mut channel),
                Event::Response(_) => {
                    let named = channel.reader().header("server").map(String::from_utf8_lossy);
                    let version =
                        channel.protection().map(|it| it.version.trim_start_matches("TLSv").to_owned());
                    return Ok((named.map(Into::into), version));
                }
            }
        }
    }
}

fn template(url: &Url) -> Template {
    // In the probe, the names of variables replace their values.
    let target: String = url.target.replace(['$', '{', '}'], "");
    let agent = [TemplatePart::Text(concat!("pgdyno/", env!("CARGO_PKG_VERSION")))];
    let mut builder = TemplateBuilder::default();
    compile::request(
        &mut builder,
        &Request {
            method: Method::Head,
            target: &[TemplatePart::Text(&target)],
            host: &url.host_header(),
            headers: &[("User-Agent", &agent)],
            body: None,
        },
    );
    builder.build()
}
