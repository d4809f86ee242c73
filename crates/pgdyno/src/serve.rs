//! `pgdyno serve`: shows stored and running tests in a browser
//!
//! The server only reads run files, on two threads of low priority. Even slow viewers do not affect the load.

mod follower;
mod route;
mod run_index;
mod run_list;
mod site;
mod snapshot;

use crate::cli::language::LanguageArgs;
use crate::cli::{CommandError, Terminal, os_error_text};
use crate::command;
use crate::exit_status::ExitStatus;
use crate::http_server::guard::{self, Guard};
use crate::http_server::server;
use crate::run_name::DIRECTORY;
use clap::Parser;
use model::percent_encode;
use report::lang::Lang;
use report::say;
use run_index::RunIndexHandle;
pub use run_list::RunListDocument;
use site::Site;
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

/// Show stored and current runs in a browser
#[derive(Clone, Debug, Parser)]
#[command(name = "pgdyno serve")]
pub struct Args {
    /// Directory of the stored runs
    #[arg(long, value_name = "DIR", default_value = DIRECTORY)]
    dir: PathBuf,
    /// TCP port [default: 7417, else a free one]
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// Listen address; requires a token unless loopback [default: 127.0.0.1]
    #[arg(long, value_name = "ADDRESS")]
    host: Option<String>,
    /// File with the required token [default: PGDYNO_TOKEN]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Open the page in a browser
    #[arg(long)]
    open: bool,
    #[command(flatten)]
    language: LanguageArgs,
}

/// Default port. If it is in use, a free port is chosen.
const DEFAULT_PORT: u16 = 7417;
/// Timeout for the delivery of the last events to all viewers. Delivery usually takes milliseconds.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(10);
/// Minimum length of a token, which prevents guessing.
const TOKEN_LENGTH_MIN: usize = 16;

/// Runs the command until it is interrupted.
pub fn main(args: &[String]) -> ExitStatus {
    command::run("pgdyno serve", args, serve)
}

/// Serves until the process ends.
fn serve(args: &Args, terminal: &Terminal) -> Result<ExitStatus, CommandError> {
    let lang = args.language.lang()?;
    let directory = args.dir.display().to_string();
    if !args.dir.is_dir() {
        return Err(CommandError::new(say!(lang, "site-no-directory", directory))
            .with_hint(say!(lang, "site-no-directory-hint")));
    }
    let token = read_token(args.token_file.as_deref(), lang)?;
    let server = Server::start(&args.dir, args.port, args.host.as_deref(), token.as_deref(), lang)?;
    terminal.info(&say!(lang, "site-running", url = server.url(), directory));
    if args.open {
        open_browser(server.url(), terminal, lang);
    }
    loop {
        std::thread::park();
    }
}

/// A running server. It stops with the program, and does not keep the program alive.
#[derive(Debug)]
pub struct Server {
    url: String,
    site: Arc<Site>,
}

impl Server {
    /// Serves the runs in `dir`, which need not exist yet. `host` is the name by which other machines reach the server,
    /// and requires a token.
    pub fn start(
        dir: &Path,
        port: Option<u16>,
        host: Option<&str>,
        token: Option<&str>,
        lang: &Lang,
    ) -> Result<Server, CommandError> {
        let listener = listen(host, port, lang)?;
        let failed = |error: std::io::Error| {
            CommandError::new(say!(lang, "site-failed", error = os_error_text(&error)))
        };
        let address = listener.local_addr().map_err(failed)?;
        if !address.ip().is_loopback() && token.is_none() {
            let address = address.ip().to_string();
            return Err(CommandError::new(say!(lang, "site-needs-token", address))
                .with_hint(say!(lang, "site-needs-token-hint")));
        }
        let guard = Guard::new(address, host, token).map_err(failed)?;
        let index = RunIndexHandle::start(dir.to_owned()).map_err(failed)?;
        let site = Arc::new(Site::new(guard, index));
        let serving = Arc::clone(&site);
        let answer = move |request| {
            let site = Arc::clone(&serving);
            async move { site.answer(request).await }
        };
        server::start(listener, "page", answer).map_err(failed)?;
        let name = host.map_or_else(|| guard::url_host(address.ip()), str::to_owned);
        Ok(Server { url: format!("http://{name}:{}/", address.port()), site })
    }

    /// Serves a run that this process executes. Only this machine can connect.
    pub fn live(dir: &Path, port: Option<u16>, lang: &Lang) -> Result<Server, CommandError> {
        Server::start(dir, port, None, read_token(None, lang)?.as_deref(), lang)
    }

    /// URL of one run.
    pub fn run_url(&self, run: &Path) -> String {
        let name = run.file_stem().unwrap_or_default().to_string_lossy();
        format!("{}runs/{}", self.url, percent_encode(&name))
    }

    /// Sends the end of the run to all viewers. After a timeout, viewers that have not received it are disconnected.
    pub fn finish(&self) {
        self.site.finish(FLUSH_TIMEOUT);
    }

    /// URL of the list of runs.
    pub fn url(&self) -> &str {
        &self.url
    }
}

fn listen(host: Option<&str>, port: Option<u16>, lang: &Lang) -> Result<TcpListener, CommandError> {
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
        let (address, error) = (format!("{host}:{port}"), os_error_text(&error));
        CommandError::new(say!(lang, "site-cannot-listen", address, error))
            .with_hint(say!(lang, "site-cannot-listen-hint"))
    })
}

/// Token that viewers must send. It comes from a file or the environment, because process lists and shell histories
/// show arguments.
fn read_token(file: Option<&Path>, lang: &Lang) -> Result<Option<String>, CommandError> {
    let token = match file {
        Some(path) => {
            let text = std::fs::read_to_string(path).map_err(|error| {
                let (path, error) = (path.display().to_string(), os_error_text(&error));
                CommandError::new(say!(lang, "site-token-unreadable", path, error))
            })?;
            Some(text.trim().to_owned())
        }
        None => std::env::var("PGDYNO_TOKEN").ok(),
    };
    match token {
        Some(token) if token.len() < TOKEN_LENGTH_MIN => {
            Err(CommandError::new(say!(lang, "site-token-short", characters = TOKEN_LENGTH_MIN))
                .with_hint(say!(lang, "site-token-short-hint")))
        }
        token => Ok(token),
    }
}

fn open_browser(url: &str, terminal: &Terminal, lang: &Lang) {
    let mut command = Command::new("xdg-open");
    command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Err(error) = command.spawn() {
        terminal.warning(&say!(lang, "site-no-browser", error = os_error_text(&error)));
    }
}
