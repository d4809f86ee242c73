//! `pgdyno bench --http`: measures an HTTP service

use super::connect::address_change;
use super::options::{BenchOptions, HttpOptions, SeedOption};
use super::ready::{self, BenchTargets};
use super::{Bench, guard, setup, usage_status};
use crate::cli::{CommandError, Terminal, os_error_text};
use crate::clock::unix_time;
use crate::exit_status::ExitStatus;
use crate::files;
use crate::measure::LoadPart;
use load::Service;
use load::driver::Address;
use load::script::Program;
use load::script::call::RequestSource;
use model::Nanos;
use model::message;
use model::message::Message;
use model::summary::{Server, ServerTransport};
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
    terminal: &Terminal,
) -> Result<ExitStatus, CommandError> {
    let written = RequestSource {
        method: http_options.method,
        target: &http_options.url.target,
        headers: &http_options.headers,
        body: http_options.body.as_deref(),
        expect: &http_options.expect,
        secrets: secret,
    };
    let given = options.defines.iter().map(|it| it.0.as_str());
    let defined: Vec<&str> = given.chain(super::scripts::PREDEFINED).collect();
    let program = match Program::from_request(&written, &defined) {
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
    let service = Service {
        tls: tls(http_options)?,
        connect_timeout: CONNECT_TIMEOUT,
        first_byte_timeout: http_options.first_byte_timeout,
        response_timeout: http_options.response_timeout,
        ..Service::without_tls(&http_options.url.host_header())
    };
    let (address, server) = probe_service(&http_options.url, &service)?;
    let reached = match &address {
        Address::Unix(path) => stack::client::Address::Unix(path.clone()),
        Address::Tcp(it) => stack::client::Address::Tcp(*it),
    };
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
    let resolved = match (&http_options.url.host, &address) {
        (Host::Tcp(name, _), Address::Tcp(used)) => Some((name, *used)),
        _ => None,
    };
    let targets = BenchTargets { postgres: None, services: vec![(service, address)] };
    let prepared = ready::prepare_for(options, program, targets, 1, seed, LoadPart::All)?;
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
        generators: None,
    };
    let result = bench.measure(prepared)?;
    if let Some(change) = resolved.and_then(|(name, used)| address_change(name, used)) {
        terminal.warning(&options.lang.message(&change));
    }
    result.print(options, terminal)
}

/// Value of `${env:NAME}` in requests.
pub fn secret(name: &str) -> Option<Secret> {
    std::env::var(name).ok().map(Secret::new)
}

/// TLS settings; `None` for a URL without TLS.
fn tls(options: &HttpOptions) -> Result<Option<HttpsClient>, CommandError> {
    let Url { host: Host::Tcp(name, _), tls: true, .. } = &options.url else { return Ok(None) };
    let roots = match &options.roots {
        _ if options.insecure => None,
        Some(path) => Some(read(path)?),
        None => Some(system_certificates()?),
    };
    let identity = TlsIdentity { roots: roots.as_deref(), ..TlsIdentity::default() };
    HttpsClient::new(name, &identity).map(Some).map_err(|it| CommandError::new(&it))
}

/// Connects once before the run. Returns the service's address, and facts about it.
fn probe_service(url: &Url, service: &Service) -> Result<(Address, Server), CommandError> {
    let shown = match &url.host {
        Host::Unix(path) => path.clone(),
        Host::Tcp(..) => url.host_header(),
    };
    let failed = |error: &io::Error| {
        CommandError::new(format!("connection to the service at {shown} failed: {}", os_error_text(error)))
            .with_hint("Is the service running there and accepting connections?")
    };
    let (address, mut stream) = connect(&url.host).map_err(|it| failed(&it))?;
    let (named, protection) = request_head(&mut *stream, url, service).map_err(|it| failed(&it))?;
    let transport = match (&address, protection) {
        (Address::Unix(_), _) => ServerTransport::UnixSocket,
        (Address::Tcp(_), None) => ServerTransport::Tcp,
        (Address::Tcp(_), Some(version)) => ServerTransport::TcpTls { version },
    };
    // The report names no database, because a service has none.
    let version = named.unwrap_or_else(|| "HTTP service".to_owned());
    Ok((address, Server { version, transport, address: shown, ..Server::default() }))
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
