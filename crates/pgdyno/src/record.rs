//! `pgdyno record`: forwards the connections of clients to a server and writes a recording of their requests

use crate::bench;
use crate::bench::connect;
use crate::bench::options::TargetOptions;
use crate::capture;
use crate::cli::language::LanguageArgs;
use crate::cli::{CommandError, Terminal, os_error_text};
use crate::clock;
use crate::command;
use crate::exit_status::ExitStatus;
use crate::recording::{self, RecordingFileWriter};
use crate::signals::Signals;
use clap::Parser;
use model::message;
use model::message::Message;
use report::lang::Lang;
use report::say;
use rustix::fd::OwnedFd;
use stack::client::Address;
use std::fs;
use std::io::{self, Write};
use std::net::TcpListener;
use std::num::NonZeroUsize;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::sync::Mutex;
use traffic::proxy::serve::{Proxy, ProxyEvent, Upstream, serve};
use wire::pg::SslMode;

/// Record the requests of clients, which connect to this program instead of to the server, for the load model replay
#[derive(Clone, Debug, Parser)]
#[command(name = "pgdyno record")]
pub struct Args {
    /// Address on which clients connect: HOST:PORT, or the path of a Unix socket such as /tmp/.s.PGSQL.6433
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:6433")]
    listen: String,
    /// Server, as a connection string or URI. Clients send their own user, database and password
    #[arg(long, value_name = "SERVER")]
    to: String,
    /// Recording to write, such as shop.traffic. No file is replaced
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
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
    let target = TargetOptions { database: Some(args.to.clone()), ..TargetOptions::default() };
    let Some(settings) = connect::settings(&target, terminal, lang) else {
        return Ok(ExitStatus::Incomplete);
    };
    if matches!(settings.ssl, SslMode::Require | SslMode::VerifyCa | SslMode::VerifyFull) {
        return Err(CommandError::usage(message!("record-tls")));
    }
    let mut upstream = Vec::new();
    for host in &settings.hosts {
        let addresses = connect::addresses(host).map_err(CommandError::new)?;
        upstream.extend(addresses.into_iter().map(|address| match address {
            Address::Unix(path) => Upstream::Unix(path),
            Address::Tcp(address) => Upstream::Tcp(address),
        }));
    }
    let listener = Listener::open(&args.listen).map_err(|error| {
        let error = Message::from(&error);
        CommandError::new(message!("error-of", subject = &*args.listen, error))
    })?;
    let signals = bench::listen()?;
    let of_file = |error: &io::Error| CommandError::new(Message::of_file(&args.out, error));
    let recording = recording::create(&args.out).map_err(|error| of_file(&error))?;
    let to = settings.hosts.iter().map(|host| format!("{}:{}", host.host, host.port));
    let to = to.collect::<Vec<String>>().join(", ");
    outln!("{}", say!(lang, "record-listening", listen = &args.listen, to = &to));
    let written = record(args, &listener, upstream, recording, &signals, &Reporter::new(terminal, lang));
    drop(listener);
    written.map_err(|error| of_file(&error))?;
    let is_empty = recording::open(&args.out).is_ok_and(|recording| recording.requests() == 0);
    if is_empty {
        fs::remove_file(&args.out).map_err(|error| of_file(&error))?;
        return Err(CommandError::new(message!("record-nothing")));
    }
    capture::print_summary(&args.out, lang)
}

/// Forwards until the first signal, and finishes the recording.
fn record(
    args: &Args,
    listener: &Listener,
    upstream: Vec<Upstream>,
    recording: RecordingFileWriter,
    signals: &Signals,
    reporter: &Reporter<'_>,
) -> io::Result<()> {
    let report = |event: ProxyEvent<'_>| reporter.report(&event);
    let proxy = Proxy {
        listener: listener.socket.try_clone()?,
        upstream,
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
