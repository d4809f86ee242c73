//! `pgdyno record --http`: forwards HTTP connections to a service, and writes a HAR file without secrets

use super::{Args, Listener, Reporter, tls_server};
use crate::bench;
use crate::bench::http::system_certificates;
use crate::cli::{CommandError, Terminal};
use crate::clock;
use crate::distil::random_key;
use crate::exit_status::ExitStatus;
use crate::files;
use model::message;
use model::message::Message;
use report::lang::Lang;
use report::say;
use std::fs;
use std::io::{self, BufWriter};
use std::net::ToSocketAddrs;
use std::sync::{Mutex, PoisonError};
use traffic::proxy::serve::{Proxy, ProxyEvent, Upstream, UpstreamTls, serve_http};
use traffic::web::{HttpRecording, HttpSummary};
use wire::http::{Host, Url};
use wire::tls::{HttpsClient, TlsIdentity};

/// Name of the protocol in ALPN.
const PROTOCOL: &str = "http/1.1";
/// Address on which clients connect.
pub const LISTEN: &str = "127.0.0.1:8081";

pub fn run(args: &Args, terminal: &Terminal, lang: &Lang) -> Result<ExitStatus, CommandError> {
    let (service, upstream) = service(&args.to)?;
    let tls = tls_server(args, PROTOCOL)?;
    let address = args.listen.as_deref().unwrap_or(LISTEN);
    let listener = Listener::open(address).map_err(|error| {
        CommandError::new(message!("error-of", subject = address, error = Message::from(&error)))
    })?;
    let signals = bench::listen()?;
    let of_file = |error: &io::Error| CommandError::new(Message::of_file(&args.out, error));
    let key = random_key().map_err(|error| CommandError::new(Message::from(&error)))?;
    // The file is created first, so that a recording is not lost because it cannot be.
    let file = files::create_private(&args.out).map_err(|error| of_file(&error))?;
    let listen = format!("{}://{address}", if tls.is_some() { "https" } else { "http" });
    outln!("{}", say!(lang, "record-http-listening", listen, to = &service));
    let recording = Mutex::new(HttpRecording::default());
    let reporter = Reporter::new(terminal, lang);
    let report = |event: ProxyEvent<'_>| reporter.report(&event);
    let forwarded = listener.socket.try_clone().and_then(|listener| {
        let (threads, stop) = (args.threads.get(), &signals.interrupted);
        let proxy =
            Proxy { listener, upstream, tls, threads, clock: &clock::unix_time, stop, report: &report };
        serve_http(&proxy, &|event| recording.lock().unwrap_or_else(PoisonError::into_inner).add(event))
    });
    drop(listener);
    let recording = recording.into_inner().unwrap_or_else(PoisonError::into_inner);
    let version = env!("CARGO_PKG_VERSION");
    let summary =
        recording.write(&service, key, version, &mut BufWriter::new(file)).map_err(|it| of_file(&it))?;
    forwarded.map_err(|error| CommandError::new(Message::from(&error)))?;
    for line in omissions(&summary, lang) {
        outln!("  {line}");
    }
    if summary.requests == 0 {
        fs::remove_file(&args.out).map_err(|error| of_file(&error))?;
        return Err(CommandError::new(message!("record-nothing")));
    }
    let (requests, secrets) = (summary.requests, summary.secrets);
    outln!("{}", say!(lang, "record-http-written", path = args.out.display().to_string(), requests, secrets));
    Ok(ExitStatus::Success)
}

/// Origin of the service, and its addresses.
fn service(url: &str) -> Result<(String, Vec<Upstream>), CommandError> {
    let invalid = || CommandError::usage(message!("record-http-url"));
    let url = Url::parse(url).map_err(|_| invalid())?;
    let Host::Tcp(name, port) = &url.host else { return Err(invalid()) };
    if url.target != "/" && !url.target.is_empty() {
        return Err(invalid());
    }
    let tls = match url.tls {
        true => {
            let roots = system_certificates()?;
            let identity = TlsIdentity { roots: Some(&roots), ..TlsIdentity::default() };
            let client = HttpsClient::new(name, &identity).map_err(|error| CommandError::new(&error))?;
            Some(UpstreamTls { config: client.config().clone(), host: name.clone(), is_required: true })
        }
        false => None,
    };
    let found = (name.as_str(), *port).to_socket_addrs().map_err(|error| {
        CommandError::new(message!("bench-host-unknown", host = name, error = error.to_string()))
    })?;
    let address = |address| match &tls {
        Some(tls) => Upstream::Tls(address, tls.clone()),
        None => Upstream::Tcp(address),
    };
    let scheme = if url.tls { "https" } else { "http" };
    Ok((format!("{scheme}://{}", url.host_header()), found.map(address).collect()))
}

/// Lines about what the recording does not contain, or may not contain.
fn omissions(summary: &HttpSummary, lang: &Lang) -> Vec<String> {
    let HttpSummary { cut, binary, past, upgraded, unreadable, unfinished, overflow, .. } = *summary;
    let all = [
        (cut, say!(lang, "record-http-cut", count = cut)),
        (binary, say!(lang, "record-http-binary", count = binary)),
        (past, say!(lang, "record-http-past", count = past)),
        (upgraded, say!(lang, "record-http-upgraded", count = upgraded)),
        (unreadable, say!(lang, "record-http-unreadable", count = unreadable)),
        (unfinished, say!(lang, "record-http-unfinished", count = unfinished)),
        (overflow, say!(lang, "record-http-overflow", count = overflow)),
    ];
    all.into_iter().filter(|(count, _)| *count > 0).map(|(_, line)| line).collect()
}
