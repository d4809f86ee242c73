//! Blocking NATS client
//!
//! The async client runs on one thread of its own, which does nothing else, so that it answers within microseconds. All
//! other threads call blocking functions. The crate reads no clock: callers pass functions that do.

use crate::clock_offset::RoundTrip;
use async_nats::client::RequestErrorKind;
use async_nats::{Client, ConnectErrorKind, ConnectOptions, Event, Request, StatusCode};
use futures_util::StreamExt as _;
use model::Nanos;
use model::message;
use model::message::Message;
use std::fmt;
use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use tokio::task::AbortHandle;

/// Servers and credentials.
#[derive(Clone, Default)]
pub struct NatsOptions {
    /// Address or several addresses separated by commas, such as `nats://10.0.0.5:4222`.
    pub url: String,
    /// Name of this client in the server's lists.
    pub name: String,
    pub user: Option<String>,
    pub password: Option<String>,
    pub token: Option<String>,
    /// Contents of a credentials file: a user JWT and the seed of its NKEY.
    pub credentials: Option<String>,
    /// File with the authorities that sign the servers' certificates; `None` for the system's.
    pub ca: Option<PathBuf>,
    /// Files with the client's certificate and key.
    pub certificate: Option<(PathBuf, PathBuf)>,
}

impl fmt::Debug for NatsOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NatsOptions").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Reason why the client cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NatsError {
    /// The runtime or its thread could not be started.
    Start(String),
    /// The credentials are wrong: they cannot be read, or the server rejects them.
    Credentials { server: String, reason: String },
    /// No server answers at this address.
    Unreachable { server: String, reason: String },
    /// A subscription failed, because the connection was closed.
    Closed,
}

impl From<&NatsError> for Message {
    fn from(error: &NatsError) -> Message {
        match error {
            NatsError::Start(reason) => message!("nats-start", reason),
            NatsError::Credentials { server, reason } => message!("nats-credentials", server, reason),
            NatsError::Unreachable { server, reason } => message!("nats-unreachable", server, reason),
            NatsError::Closed => message!("nats-closed"),
        }
    }
}

/// Reason why a request has no response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestError {
    /// Nobody listens at the subject.
    NobodyListens,
    TimedOut,
    /// The connection is closed, or the message is too long.
    Failed,
}

/// Connection to a NATS server. It reconnects by itself.
pub struct Nats {
    client: Client,
    runtime: Handle,
    connected: Arc<AtomicBool>,
    /// Dropping it ends the thread.
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl fmt::Debug for Nats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Nats").field("connected", &self.connected).finish_non_exhaustive()
    }
}

/// Task that runs until this guard is dropped.
#[derive(Debug)]
pub struct TaskGuard(AbortHandle);

impl Drop for TaskGuard {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Time for the first connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// Time between two attempts to reconnect.
const RECONNECT_DELAY: Duration = Duration::from_millis(100);

impl Nats {
    pub fn connect(options: &NatsOptions) -> Result<Nats, NatsError> {
        let start = |error: std::io::Error| NatsError::Start(error.to_string());
        let runtime = Builder::new_current_thread().enable_all().build().map_err(start)?;
        let handle = runtime.handle().clone();
        let (end, ended) = oneshot::channel();
        let spawned = thread::Builder::new().name("nats".to_owned()).spawn(move || {
            // Returns when the sender is dropped.
            let _ = runtime.block_on(ended);
        });
        let thread = spawned.map_err(start)?;
        let connected = Arc::new(AtomicBool::new(true));
        let client = handle.block_on(open(options, Arc::clone(&connected)));
        let (client, end, thread) = match client {
            Ok(client) => (client, Some(end), Some(thread)),
            Err(error) => {
                drop(end);
                let _ = thread.join();
                return Err(error);
            }
        };
        Ok(Nats { client, runtime: handle, connected, end, thread })
    }

    /// True unless the connection is broken at the moment.
    pub fn is_connected(&self) -> bool {
        self.connected.load(Ordering::Relaxed)
    }

    /// Sends a request and waits for its response.
    pub fn request(
        &self,
        subject: &str,
        payload: Vec<u8>,
        timeout: Duration,
    ) -> Result<Vec<u8>, RequestError> {
        self.runtime.block_on(request(&self.client, subject, payload, timeout))
    }

    /// Sends requests, pairs of a subject and a payload, all at once. Returns their responses in the same order.
    pub fn request_all(
        &self,
        requests: Vec<(String, Vec<u8>)>,
        timeout: Duration,
    ) -> Vec<Result<Vec<u8>, RequestError>> {
        self.runtime.block_on(async {
            let start = |(subject, payload): (String, Vec<u8>)| {
                let client = self.client.clone();
                tokio::spawn(async move { request(&client, &subject, payload, timeout).await })
            };
            let started: Vec<_> = requests.into_iter().map(start).collect();
            let mut all = Vec::new();
            for task in started {
                all.push(task.await.unwrap_or(Err(RequestError::Failed)));
            }
            all
        })
    }

    /// Sends a request and collects the responses of all listeners, until there are `enough` or `wait` has passed.
    pub fn gather(&self, subject: &str, payload: Vec<u8>, wait: Duration, enough: usize) -> Vec<Vec<u8>> {
        self.runtime.block_on(async {
            let mut all = Vec::new();
            let inbox = self.client.new_inbox();
            let Ok(mut responses) = self.client.subscribe(inbox.clone()).await else { return all };
            let sent = self.client.publish_with_reply(subject.to_owned(), inbox, payload.into()).await;
            if sent.is_err() {
                return all;
            }
            let collect = async {
                while let Some(response) = responses.next().await {
                    if response.status == Some(StatusCode::NO_RESPONDERS) {
                        break;
                    }
                    all.push(response.payload.to_vec());
                    if all.len() >= enough {
                        break;
                    }
                }
            };
            let _ = tokio::time::timeout(wait, collect).await;
            all
        })
    }

    /// Answers each message to `subject` with what `answer` returns; `None` sends no answer. `answer` is called on the
    /// client's thread, so it must not block.
    pub fn serve(
        &self,
        subject: &str,
        mut answer: impl FnMut(&[u8]) -> Option<Vec<u8>> + Send + 'static,
    ) -> Result<TaskGuard, NatsError> {
        let client = self.client.clone();
        let subscribed = self.runtime.block_on(async {
            let subscriber = client.subscribe(subject.to_owned()).await.map_err(|_| NatsError::Closed)?;
            // The server must know the subscription before another client uses the subject.
            client.flush().await.map_err(|_| NatsError::Closed)?;
            Ok(subscriber)
        });
        let mut subscriber = subscribed?;
        Ok(self.spawn(async move {
            while let Some(message) = subscriber.next().await {
                if let (Some(answer), Some(reply)) = (answer(&message.payload), message.reply) {
                    let _ = client.publish(reply, answer.into()).await;
                }
            }
        }))
    }

    /// Asks for a clock reading every `period` and passes each round trip to `on_reply`, or `None` if there was no
    /// response. `reading` extracts the reading from a response. Both functions are called on the client's thread.
    pub fn measure_round_trips(
        &self,
        subject: &str,
        payload: Vec<u8>,
        period: Duration,
        now: impl Fn() -> Nanos + Send + 'static,
        reading: impl Fn(&[u8]) -> Option<Nanos> + Send + 'static,
        mut on_reply: impl FnMut(Option<RoundTrip>) + Send + 'static,
    ) -> TaskGuard {
        let (client, subject) = (self.client.clone(), subject.to_owned());
        self.spawn(async move {
            loop {
                let sent = now();
                let response = request(&client, &subject, payload.clone(), 2 * period).await;
                let received = now();
                let remote = response.ok().and_then(|it| reading(&it));
                on_reply(remote.map(|remote| RoundTrip { sent, remote, received }));
                tokio::time::sleep(period).await;
            }
        })
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> TaskGuard {
        TaskGuard(self.runtime.spawn(task).abort_handle())
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        // Ignore messages that cannot be sent any more.
        let flush = async { tokio::time::timeout(Duration::from_millis(500), self.client.flush()).await };
        let _ = self.runtime.block_on(flush);
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn request(
    client: &Client,
    subject: &str,
    payload: Vec<u8>,
    timeout: Duration,
) -> Result<Vec<u8>, RequestError> {
    let request = Request::new().payload(payload.into()).timeout(Some(timeout));
    // A request also waits while the client reconnects, which its own timeout does not limit.
    let sent = tokio::time::timeout(timeout, client.send_request(subject.to_owned(), request)).await;
    match sent {
        Ok(Ok(response)) => Ok(response.payload.to_vec()),
        Ok(Err(error)) => Err(match error.kind() {
            RequestErrorKind::NoResponders => RequestError::NobodyListens,
            RequestErrorKind::TimedOut => RequestError::TimedOut,
            _ => RequestError::Failed,
        }),
        Err(_) => Err(RequestError::TimedOut),
    }
}

async fn open(options: &NatsOptions, connected: Arc<AtomicBool>) -> Result<Client, NatsError> {
    let server = without_password(&options.url);
    let mut settings = ConnectOptions::new()
        .name(&options.name)
        .connection_timeout(CONNECT_TIMEOUT)
        .max_reconnects(None)
        .reconnect_delay_callback(|_| RECONNECT_DELAY)
        .event_callback(move |event| {
            match event {
                Event::Connected => connected.store(true, Ordering::Relaxed),
                Event::Disconnected | Event::Closed => connected.store(false, Ordering::Relaxed),
                _ => {}
            }
            std::future::ready(())
        });
    if let Some(token) = &options.token {
        settings = settings.token(token.clone());
    }
    if let (Some(user), Some(password)) = (&options.user, &options.password) {
        settings = settings.user_and_password(user.clone(), password.clone());
    }
    if let Some(credentials) = &options.credentials {
        settings = settings
            .credentials(credentials)
            .map_err(|it| NatsError::Credentials { server: server.clone(), reason: it.to_string() })?;
    }
    if let Some(ca) = &options.ca {
        settings = settings.add_root_certificates(ca.clone());
    }
    if let Some((certificate, key)) = &options.certificate {
        settings = settings.add_client_certificate(certificate.clone(), key.clone());
    }
    let addresses: Vec<String> = options.url.split(',').map(|it| it.trim().to_owned()).collect();
    settings.connect(addresses).await.map_err(|error| {
        let reason = error.to_string();
        match error.kind() {
            ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => {
                NatsError::Credentials { server, reason }
            }
            _ => NatsError::Unreachable { server, reason },
        }
    })
}

/// The addresses without what precedes the host names, which may be a password.
pub fn without_password(url: &str) -> String {
    let hidden = |address: &str| {
        let address = address.trim();
        let (scheme, rest) = address.split_once("://").map_or(("", address), |(scheme, rest)| (scheme, rest));
        let host = rest.rsplit_once('@').map_or(rest, |it| it.1);
        if scheme.is_empty() { host.to_owned() } else { format!("{scheme}://{host}") }
    };
    url.split(',').map(hidden).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_addresses_contain_no_password() {
        for (url, expected) in [
            ("nats://me:secret@a:4222", "nats://a:4222"),
            ("me:p@ss@a, tls://token@b", "a,tls://b"),
            ("nats://a", "nats://a"),
            ("", ""),
        ] {
            assert_eq!(without_password(url), expected, "{url}");
        }
        let options = NatsOptions { password: Some("secret".into()), ..NatsOptions::default() };
        assert!(!format!("{options:?}").contains("secret"));
    }

    #[test]
    fn an_address_without_a_server_is_unreachable() {
        // Port 1 of the loopback interface.
        let options = NatsOptions { url: "nats://u:secret@127.0.0.1:1".into(), ..NatsOptions::default() };
        let error = Nats::connect(&options).expect_err("no server listens there");
        let NatsError::Unreachable { server, .. } = error else { panic!("{error:?}") };
        assert_eq!(server, "nats://127.0.0.1:1");
    }
}
