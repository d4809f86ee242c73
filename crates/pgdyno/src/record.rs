//! `pgdyno record`: forwards the connections of clients to a server and writes a recording of their requests

mod http;

use crate::bench;
use crate::bench::connect;
use crate::bench::options::TargetOptions;
use crate::capture;
use crate::cli::language::LanguageArgs;
use crate::cli::{CommandError, Terminal, os_error_text};
use crate::clock;
use crate::command;
use crate::exit_status::ExitStatus;
use crate::files;
use crate::recording::{self, RecordingFileWriter};
use crate::signals::Signals;
use clap::Parser;
use model::message;
use model::message::Message;
use report::lang::Lang;
use report::say;
use rustix::fd::OwnedFd;
use stack::client::Address;
use stack::tls_files;
use std::fs;
use std::io::{self, Write};
use std::net::TcpListener;
use std::num::NonZeroUsize;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use traffic::proxy::serve::{Proxy, ProxyEvent, Upstream, UpstreamTls, serve};
use wire::pg::SslMode;
use wire::pg::conninfo::Settings;
use wire::tls::{TlsConfigError, TlsServer};

/// Address on which clients connect.
const LISTEN: &str = "127.0.0.1:6433";
/// Name of PostgreSQL's protocol in ALPN.
const PROTOCOL: &str = "postgresql";

/// Record the requests of clients, which connect to this program instead of to the server
#[derive(Clone, Debug, Parser)]
#[command(name = "pgdyno record")]
pub struct Args {
    /// Address on which clients connect: HOST:PORT, or the path of a Unix socket such as /tmp/.s.PGSQL.6433 [default:
    /// 127.0.0.1:6433, with --http 127.0.0.1:8081]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// Server, as a connection string or URI. Clients send their own user, database and password. With --http: the service,
    /// such as http://127.0.0.1:8080
    #[arg(long, value_name = "SERVER")]
    to: String,
    /// Record the requests to an HTTP service as a HAR file without secrets, for pgdyno import
    #[arg(long)]
    http: bool,
    /// Recording to write, such as shop.traffic or shop.har. No file is replaced
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
    /// Offer TLS to clients, with a certificate for localhost and 127.0.0.1 that is made for this recording
    #[arg(long, conflicts_with = "tls_cert")]
    tls: bool,
    /// Offer TLS to clients, with the certificates in this PEM file
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// Private key of the certificate, as a PEM file without a password
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Number of threads that forward requests
    #[arg(short = 'j', long, value_name = "N", default_value = "1")]
    threads: NonZeroUsize,
    #[command(flatten)]
    language: LanguageArgs,
}

/// Runs the command until the first signal. The exit status is 2 for wrong arguments, and 1 if the recording cannot be
/// written or contains no request.
pub fn main(args: &[String]) -> ExitStatus {
    command::run("pgdyno record", args, run)
}

fn run(args: &Args, terminal: &Terminal) -> Result<ExitStatus, CommandError> {
    let lang = args.language.lang()?;
    if args.out.symlink_metadata().is_ok() {
        return Err(CommandError::usage(message!("distil-exists", path = args.out.display().to_string())));
    }
    if args.http {
        return http::run(args, terminal, lang);
    }
    let address = args.listen.as_deref().unwrap_or(LISTEN);
    let target = TargetOptions { database: Some(args.to.clone()), ..TargetOptions::default() };
    let Some(settings) = connect::settings(&target, terminal, lang) else {
        return Ok(ExitStatus::Incomplete);
    };
    let tls = tls_server(args, PROTOCOL)?;
    let upstream = upstream(&settings)?;
    let listener = Listener::open(address).map_err(|error| {
        let error = Message::from(&error);
        CommandError::new(message!("error-of", subject = address, error))
    })?;
    let signals = bench::listen()?;
    let of_file = |error: &io::Error| CommandError::new(Message::of_file(&args.out, error));
    let recording = recording::create(&args.out).map_err(|error| of_file(&error))?;
    let to = settings.hosts.iter().map(|host| format!("{}:{}", host.host, host.port));
    let to = to.collect::<Vec<String>>().join(", ");
    outln!("{}", say!(lang, "record-listening", listen = address, to = &to));
    let written =
        record(args, &listener, (upstream, tls), recording, &signals, &Reporter::new(terminal, lang));
    drop(listener);
    written.map_err(|error| of_file(&error))?;
    let is_empty = recording::open(&args.out).is_ok_and(|recording| recording.requests() == 0);
    if is_empty {
        fs::remove_file(&args.out).map_err(|error| of_file(&error))?;
        return Err(CommandError::new(message!("record-nothing")));
    }
    capture::print_summary(&args.out, lang)
}

/// Certificate and key for clients; `None` if TLS is refused. `protocol` is its name in ALPN.
fn tls_server(args: &Args, protocol: &str) -> Result<Option<TlsServer>, CommandError> {
    if args.tls {
        let (_, certificate, key) = tls_files::certificates()
            .map_err(|error| CommandError::new(message!("record-certificate", reason = error.to_string())))?;
        let server = TlsServer::new(certificate.as_bytes(), key.as_bytes(), protocol);
        return Ok(Some(server.expect("the certificate that pgdyno created is valid")));
    }
    let (Some(certificate), Some(key)) = (&args.tls_cert, &args.tls_key) else { return Ok(None) };
    let read = |path: &Path| files::read(path).map_err(|it| CommandError::usage(Message::of_file(path, &it)));
    let server = TlsServer::new(&read(certificate)?, &read(key)?, protocol).map_err(|error| {
        let path = |it: &Path| it.display().to_string();
        let (certificate, key) = (path(certificate), path(key));
        CommandError::usage(match error {
            TlsConfigError::Pem { what: "key", .. } => message!("record-no-key", path = key),
            TlsConfigError::Pem { .. } => message!("record-no-certificate", path = certificate),
            TlsConfigError::OtherKey => message!("record-other-key", certificate, key),
            other => message!("error-of", subject = key, error = Message::from(&other)),
        })
    })?;
    Ok(Some(server))
}

/// Addresses of the server. With `sslmode=allow`, connections are not encrypted, because a proxy cannot repeat a login.
fn upstream(settings: &Settings) -> Result<Vec<Upstream>, CommandError> {
    let tls = settings.tls.as_ref().filter(|_| !matches!(settings.ssl, SslMode::Disable | SslMode::Allow));
    let mut upstream = Vec::new();
    for host in &settings.hosts {
        let addresses = connect::addresses(host).map_err(CommandError::new)?;
        upstream.extend(addresses.into_iter().map(|address| match (address, tls) {
            (Address::Unix(path), _) => Upstream::Unix(path),
            (Address::Tcp(address), None) => Upstream::Tcp(address),
            (Address::Tcp(address), Some(config)) => {
                let (config, host) = (config.clone(), settings.login(host).host);
                let is_required = settings.ssl != SslMode::Prefer;
                Upstream::Tls(address, UpstreamTls { config, host, is_required })
            }
        }));
    }
    Ok(upstream)
}

/// Forwards until the first signal, and finishes the recording.
fn record(
    args: &Args,
    listener: &Listener,
    (upstream, tls): (Vec<Upstream>, Option<TlsServer>),
    recording: RecordingFileWriter,
    signals: &Signals,
    reporter: &Reporter<'_>,
) -> io::Result<()> {
    let report = |event: ProxyEvent<'_>| reporter.report(&event);
    let proxy = Proxy {
        listener: listener.socket.try_clone()?,
        upstream,
        tls,
        threads: args.threads.get(),
        clock: &clock::unix_time,
        stop: &signals.interrupted,
        report: &report,
    };
    serve(&proxy, recording)?.flush()
}

/// Listening socket. The file of a Unix socket is removed with it.
struct Listener {
    socket: OwnedFd,
    file: Option<PathBuf>,
}

impl Listener {
    fn open(address: &str) -> io::Result<Listener> {
        if address.starts_with('/') {
            let socket = UnixListener::bind(address)?.into();
            return Ok(Listener { socket, file: Some(address.into()) });
        }
        Ok(Listener { socket: TcpListener::bind(address)?.into(), file: None })
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Some(file) = &self.file {
            let _ = fs::remove_file(file);
        }
    }
}

/// Prints the proxy's events, but no event twice in succession.
struct Reporter<'a> {
    terminal: &'a Terminal,
    lang: &'a Lang,
    last: Mutex<String>,
}

impl<'a> Reporter<'a> {
    fn new(terminal: &'a Terminal, lang: &'a Lang) -> Reporter<'a> {
        Reporter { terminal, lang, last: Mutex::default() }
    }

    fn report(&self, event: &ProxyEvent<'_>) {
        let lang = self.lang;
        let text = match event {
            ProxyEvent::ConnectFailed(error) => {
                say!(lang, "record-connect-failed", error = os_error_text(error))
            }
            ProxyEvent::ChannelBindingRemoved => say!(lang, "record-channel-binding"),
            ProxyEvent::AcceptFailed(error) => {
                say!(lang, "record-accept-failed", error = os_error_text(error))
            }
            ProxyEvent::RecordingFailed(error) => {
                say!(lang, "record-writing-failed", error = os_error_text(error))
            }
        };
        let mut last = self.last.lock().expect("no thread panics");
        if *last != text {
            self.terminal.warning(&text);
            *last = text;
        }
    }
}
