//! `pgdyno serve`: shows stored and running tests in a browser
//!
//! The server only reads run files, on two threads of low priority. Viewers do not disturb the load, even if they are
//! slow.

mod follower;
mod route;
mod run_index;
mod site;
mod snapshot;

use crate::cli::{CommandError, Terminal, os_error_text};
use crate::http_server::guard::{self, Guard};
use crate::http_server::server;
use crate::runs::DIRECTORY;
use crate::terminal;
use clap::Parser;
use run_index::RunIndexHandle;
use site::Site;
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::Duration;

/// Shows runs in a browser: those that are kept, and the one that goes on
#[derive(Clone, Debug, Parser)]
#[command(name = "pgdyno serve")]
struct Args {
    /// Where runs are kept
    #[arg(long, value_name = "DIR", default_value = DIRECTORY)]
    dir: PathBuf,
    /// Where to listen; the next free port unless one is given
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// Listen at this address, for other machines; needs a token
    #[arg(long, value_name = "ADDRESS")]
    host: Option<String>,
    /// Require the token in this file; PGDYNO_TOKEN may hold it as well
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Open it in the browser
    #[arg(long)]
    open: bool,
}

/// Default port, unless it is in use.
const DEFAULT_PORT: u16 = 7417;
/// Timeout for the delivery of the last events to all viewers. Delivery usually takes milliseconds.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(10);
/// Minimum length of a token, which prevents guessing.
const TOKEN_LENGTH_MIN: usize = 16;

/// Runs the command until it is interrupted.
pub fn main(args: &[String]) -> ExitCode {
    let name = std::iter::once("pgdyno serve");
    let args = match Args::try_parse_from(name.chain(args.iter().map(String::as_str))) {
        Ok(it) => it,
        Err(error) => return terminal::usage(&error),
    };
    let voice = Terminal { program: "pgdyno serve".to_owned() };
    match serve(&args) {
        Ok(it) => {
            voice.info(&format!("{} shows the runs in {}; Ctrl-C ends it", it.url(), args.dir.display()));
            if args.open {
                open_browser(it.url(), &voice);
            }
            loop {
                std::thread::park();
            }
        }
        Err(trouble) => {
            trouble.print(&voice);
            ExitCode::FAILURE
        }
    }
}

fn serve(args: &Args) -> Result<Server, CommandError> {
    if !args.dir.is_dir() {
        return Err(CommandError::new(format!("there is no directory \"{}\"", args.dir.display()))
            .with_hint("\"pgdyno run\" makes it; --dir names another one"));
    }
    let token = read_token(args.token_file.as_deref())?;
    Server::start(&args.dir, args.port, args.host.as_deref(), token.as_deref())
}

/// A running server. It stops with the program, and does not keep the program alive.
#[derive(Debug)]
pub struct Server {
    url: String,
    site: Arc<Site>,
}

impl Server {
    /// Serves the runs in `dir`, which need not exist yet. `host` is the name for other machines, and requires a token.
    pub fn start(
        dir: &Path,
        port: Option<u16>,
        host: Option<&str>,
        token: Option<&str>,
    ) -> Result<Server, CommandError> {
        let listener = listen(host, port)?;
        let could_not =
            |error: std::io::Error| CommandError::new(format!("could not serve: {}", os_error_text(&error)));
        let address = listener.local_addr().map_err(could_not)?;
        if !address.ip().is_loopback() && token.is_none() {
            return Err(CommandError::new(format!("{} can be reached from other machines", address.ip()))
                .with_hint("set a token with --token-file or PGDYNO_TOKEN, or leave --host out"));
        }
        let guard = Guard::new(address, host, token).map_err(could_not)?;
        let desk = RunIndexHandle::start(dir.to_owned()).map_err(could_not)?;
        let site = Arc::new(Site::new(guard, desk));
        let serving = Arc::clone(&site);
        let answer = move |request| {
            let site = Arc::clone(&serving);
            async move { site.answer(request).await }
        };
        server::start(listener, "page", answer).map_err(could_not)?;
        let name = host.map_or_else(|| guard::url_host(address.ip()), str::to_owned);
        Ok(Server { url: format!("http://{name}:{}/", address.port()), site })
    }

    /// Serves a run that this process executes. Only this machine can connect.
    pub fn live(dir: &Path, port: Option<u16>) -> Result<Server, CommandError> {
        Server::start(dir, port, None, read_token(None)?.as_deref())
    }

    /// URL of one run.
    pub fn run_url(&self, run: &Path) -> String {
        let name = run.file_stem().unwrap_or_default().to_string_lossy();
        format!("{}runs/{}", self.url, route::encode(&name))
    }

    /// Sends the end of the run to all viewers. Viewers that do not read it are abandoned after a timeout.
    pub fn finish(&self) {
        self.site.finish(FLUSH_TIMEOUT);
    }

    /// URL of the list of runs.
    pub fn url(&self) -> &str {
        &self.url
    }
}

fn listen(host: Option<&str>, port: Option<u16>) -> Result<TcpListener, CommandError> {
    let at = |port: u16| -> std::io::Result<TcpListener> {
        let addresses: Vec<SocketAddr> = match host {
            None => vec![(IpAddr::V4(Ipv4Addr::LOCALHOST), port).into()],
            Some(host) => (host.trim_matches(['[', ']']), port).to_socket_addrs()?.collect(),
        };
        TcpListener::bind(&addresses[..])
    };
    let bound = match (port, at(port.unwrap_or(DEFAULT_PORT))) {
        (None, Err(error)) if error.kind() == ErrorKind::AddrInUse => at(0),
        (_, bound) => bound,
    };
    bound.map_err(|error| {
        let (host, port) = (host.unwrap_or("127.0.0.1"), port.unwrap_or(DEFAULT_PORT));
        CommandError::new(format!("could not listen at {host}:{port}: {}", os_error_text(&error)))
            .with_hint("--port takes another port, --port 0 any that is free")
    })
}

/// Token that viewers must send, from a file or the environment. Process lists and shell histories show neither.
fn read_token(file: Option<&Path>) -> Result<Option<String>, CommandError> {
    let told = match file {
        Some(path) => {
            let text = std::fs::read_to_string(path);
            let text = text.map_err(|it| {
                CommandError::new(format!(
                    "could not read the token from {}: {}",
                    path.display(),
                    os_error_text(&it)
                ))
            })?;
            Some(text.trim().to_owned())
        }
        None => std::env::var("PGDYNO_TOKEN").ok(),
    };
    match told {
        Some(it) if it.len() < TOKEN_LENGTH_MIN => {
            Err(CommandError::new(format!("the token is shorter than {TOKEN_LENGTH_MIN} characters"))
                .with_hint("such as: head -c 24 /dev/urandom | base64 > token"))
        }
        told => Ok(told),
    }
}

fn open_browser(url: &str, voice: &Terminal) {
    let mut command = Command::new("xdg-open");
    command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Err(error) = command.spawn() {
        voice.warning(&format!("could not open a browser with xdg-open: {}", os_error_text(&error)));
    }
}
