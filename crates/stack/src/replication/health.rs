//! HTTP health endpoints for balancers
//!
//! `/primary` returns 200 if the server accepts writes, `/replica` if it does not. Otherwise, or if the server does not
//! respond, both return 503. Each server has a separate thread, so that a hanging server does not delay the others.

use crate::client::{Connection, Target};
use std::io::{self, BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Health endpoint of one server; stops when it is dropped.
#[derive(Debug)]
pub struct HealthServer {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Cached role of a server.
struct RoleProbe {
    target: Target,
    session: Option<Connection>,
    /// Time of the last query, and the role.
    last: Option<(Instant, Option<Role>)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Primary,
    Replica,
}

/// Timeout for a query; a server that takes longer counts as unhealthy.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(1);
/// Time for which a role is cached, because both listeners of a balancer check at about the same time.
const CACHE_DURATION: Duration = Duration::from_millis(50);

impl HealthServer {
    /// Starts the endpoint of the server at `target` on a free port of the loopback interface.
    pub fn start(name: &str, target: &Target) -> io::Result<HealthServer> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let stop = Arc::new(AtomicBool::new(false));
        let mut probe = RoleProbe { target: target.clone(), session: None, last: None };
        let stopped = Arc::clone(&stop);
        let answer = move || {
            for stream in listener.incoming() {
                if stopped.load(Ordering::Relaxed) {
                    return;
                }
                // A client that disconnects is not an error.
                let _ = stream.and_then(|it| probe.answer(&it));
            }
        };
        let thread = std::thread::Builder::new().name(format!("health {name}")).spawn(answer)?;
        Ok(HealthServer { address, stop, thread: Some(thread) })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for HealthServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // The thread waits for a connection, so connect to wake it.
        let woken = TcpStream::connect(self.address);
        if let (Ok(_), Some(thread)) = (woken, self.thread.take()) {
            let _ = thread.join();
        }
    }
}

impl RoleProbe {
    fn answer(&mut self, stream: &TcpStream) -> io::Result<()> {
        stream.set_read_timeout(Some(REQUEST_TIMEOUT))?;
        stream.set_write_timeout(Some(REQUEST_TIMEOUT))?;
        let mut lines = BufReader::new(stream).lines();
        let first = lines.next().unwrap_or(Ok(String::new()))?;
        // Read the whole request: closing a socket with unread bytes resets the connection.
        for line in lines {
            if line?.is_empty() {
                break;
            }
        }
        let path = first.split(' ').nth(1).unwrap_or_default();
        let role = self.role();
        let status = match (path, role) {
            ("/primary", Some(Role::Primary)) | ("/replica", Some(Role::Replica)) | ("/health", Some(_)) => {
                "200 OK"
            }
            _ => "503 Service Unavailable",
        };
        let body = match role {
            Some(Role::Primary) => "{\"role\":\"primary\"}",
            Some(Role::Replica) => "{\"role\":\"replica\"}",
            None => "{\"role\":null}",
        };
        let length = body.len();
        write!(
            &mut &*stream,
            "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
             Connection: close\r\n\r\n{body}"
        )
    }

    fn role(&mut self) -> Option<Role> {
        if let Some((at, role)) = self.last
            && at.elapsed() < CACHE_DURATION
        {
            return role;
        }
        let role = self.query_role();
        if role.is_none() {
            self.session = None;
        }
        self.last = Some((Instant::now(), role));
        role
    }

    fn query_role(&mut self) -> Option<Role> {
        if self.session.is_none() {
            self.session = Some(self.target.open(REQUEST_TIMEOUT).ok()?);
        }
        match self.session.as_mut()?.value("select pg_is_in_recovery()").ok()?.as_deref() {
            Some("t") => Some(Role::Replica),
            Some("f") => Some(Role::Primary),
            _ => None,
        }
    }
}
