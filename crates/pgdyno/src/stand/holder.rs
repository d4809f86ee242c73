//! Who keeps a stack up while nobody waits for it?
//!
//! Our own program, executed again in a session of its own. It owns the lab; whoever asks for the stack does so at its
//! socket. When it ends, in whatever way, the keeper ends the stack.

use super::place::Place;
use super::told::{Condition, Node, State, Told};
use super::ways;
use crate::check;
use crate::run::lab::{Hindrance, Lab};
use crate::run::news;
use crate::run::trial::transport;
use model::plan::{AttachedRole, Kind, Limits, Setup};
use report::lang::En;
use report::lang::live::LiveWords as _;
use report::live::Doing;
use rustix::event::{PollFd, PollFlags, poll};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use stack::chain::Running;
use stack::limits::{Limit, NotApplied};
use stack::supervisor::NodeId;
use std::fs::OpenOptions;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What is to be kept up.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Order {
    pub name: String,
    /// The directory of the [`Place`].
    pub place: PathBuf,
    pub file: PathBuf,
    pub cell: Vec<(String, String)>,
    pub setup: Setup,
    /// In seconds; for ever when `None`.
    pub lifetime: Option<u64>,
}

/// What whoever asked for it hears, until it is up or cannot be.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Word {
    /// What takes a while.
    Doing(String),
    /// What is worth keeping on the screen.
    Done(String),
    Up(Told),
    /// And a hint. Everything is gone.
    Failed(String, Option<String>),
}

/// What can be asked at the socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Question {
    /// Answered with [`Told`].
    Status,
    /// Answered with [`Told`] as it was, and then by the end of the connection, when everything is gone.
    Down,
}

/// Whoever connects to the socket and does not ask within this time is not heard.
const PATIENCE: Duration = Duration::from_secs(2);

/// Runs the holder: standard input is a socket to whoever wants the stack. Never of use to a person.
pub fn main() -> ExitCode {
    let caller = match rustix::io::fcntl_dupfd_cloexec(io::stdin(), 3) {
        Ok(it) => UnixStream::from(it),
        Err(_) => return ExitCode::from(2),
    };
    // A session of our own: the end of the terminal is not ours.
    let _ = rustix::process::setsid();
    let Ok(order) = hear::<Order>(&caller) else { return ExitCode::from(2) };
    let left = Left { place: Place::known(order.place.clone()), name: order.name.clone() };
    let ended = hold(&order, &left.place, &caller);
    // Whoever hears that it failed finds nothing any more.
    drop(left);
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err((why, hint)) => {
            say(&caller, &Word::Failed(why, hint));
            ExitCode::FAILURE
        }
    }
}

/// What we leave in the place, removed at our end.
struct Left {
    place: Place,
    name: String,
}

impl Drop for Left {
    fn drop(&mut self) {
        self.place.clear(&self.name);
    }
}

/// What the one who listens tells the one who works.
enum Message {
    Asked(Question, UnixStream),
    End,
}

/// Known to both.
struct Shared {
    order: Order,
    begun: Instant,
    stop: Arc<AtomicBool>,
    up: AtomicBool,
    doing: Mutex<String>,
}

/// Until somebody wants the end. Everything that was started is gone when it returns.
fn hold(order: &Order, place: &Place, caller: &UnixStream) -> Result<(), (String, Option<String>)> {
    let failed =
        |error: &dyn std::fmt::Display| (format!("who holds the stack could not begin: {error}"), None);
    let shared = Arc::new(Shared {
        order: order.clone(),
        begun: Instant::now(),
        stop: Arc::default(),
        up: AtomicBool::new(false),
        doing: Mutex::new("it has just begun".to_owned()),
    });
    let signals = signals(&shared.stop).map_err(|it| failed(&it))?;
    let socket = place.socket(&order.name);
    let listener =
        UnixListener::bind(&socket).map_err(|it| failed(&format!("{}: {it}", socket.display())))?;
    let ears = Ears { listener, signals, caller: Some(caller.try_clone().map_err(|it| failed(&it))?) };
    let (tell, told) = channel();
    let heard = Arc::clone(&shared);
    std::thread::spawn(move || ears.listen(&heard, &tell));

    let mut lab = Lab::start(Arc::clone(&shared.stop), Arc::default()).map_err(|it| (it.what, it.hint))?;
    let mut last = Instant::now();
    lab.set_up(&order.setup, &mut |it| {
        let Some(told) = news::told(&it) else { return };
        let often = matches!(told, news::Told::Passing(Doing::Loading { .. }));
        if often && last.elapsed() < news::OFTEN {
            return;
        }
        last = Instant::now();
        let word = word(&told);
        if let Word::Doing(it) = &word {
            shared.doing.lock().unwrap_or_else(PoisonError::into_inner).clone_from(it);
        }
        say(caller, &word);
    })
    .map_err(|it| (it.to_string(), None))?;
    if shared.stop.load(Ordering::Relaxed) {
        return Err((Hindrance::Stopped.to_string(), None));
    }
    let mut held =
        Held::new(lab, &shared).map_err(|it| (format!("could not write the passwords: {it}"), None))?;
    shared.up.store(true, Ordering::Relaxed);
    say(caller, &Word::Up(held.told(&shared)));
    held.serve(&shared, &told);
    Ok(())
}

/// The stack, up.
struct Held {
    lab: Lab,
    /// What does not change of each node.
    nodes: Vec<(Option<NodeId>, Node)>,
    until: Option<Instant>,
}

impl Held {
    fn new(lab: Lab, shared: &Shared) -> io::Result<Held> {
        // The keeper removes its directory, and with it the passwords.
        let directory = lab.supervisor.directory();
        let passwords = directory.join("pgpass");
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&passwords)?;
        file.write_all(ways::passwords(lab.chain().nodes()).as_bytes())?;
        let root = directory.join("tls-root.pem");
        let node = |it: &Running| {
            let not_applied = it.node.map_or(&[][..], |id| lab.supervisor.not_applied(id));
            let node = Node {
                name: it.plan.name.clone(),
                what: what(it),
                condition: Condition::Attached,
                pid: None,
                program: it.program.clone(),
                address: it.entrance.address.to_string(),
                transport: transport(&it.hop).to_owned(),
                ways: ways::to(it, &passwords, &root),
                limits: check::limits(&applied(&it.plan.limits, not_applied)),
                not_applied: not_applied.iter().map(ToString::to_string).collect(),
                log: it.log.clone(),
            };
            (it.node, node)
        };
        let nodes = lab.chain().nodes().iter().map(node).collect();
        let until = shared.order.lifetime.map(|it| Instant::now() + Duration::from_secs(it));
        Ok(Held { lab, nodes, until })
    }

    /// Answers until somebody wants the end.
    fn serve(&mut self, shared: &Shared, told: &Receiver<Message>) {
        loop {
            let message = match self.until {
                Some(it) => told.recv_timeout(it.saturating_duration_since(Instant::now())),
                None => told.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match message {
                Ok(Message::Asked(Question::Status, stream)) => say(&stream, &self.told(shared)),
                Ok(Message::Asked(Question::Down, stream)) => {
                    say(&stream, &self.told(shared));
                    // It stays open until we are gone.
                    std::mem::forget(stream);
                    return;
                }
                Ok(Message::End) | Err(_) => return,
            }
        }
    }

    fn told(&mut self, shared: &Shared) -> Told {
        let supervisor = &mut self.lab.supervisor;
        let mut now = |(id, node): &(Option<NodeId>, Node)| {
            let Some(id) = *id else { return node.clone() };
            let ended = supervisor.ended(id).map(|it| format!("it {it}{}", supervisor.end_reason(id)));
            let pid = supervisor.pid(id);
            // Had the keeper been killed we would hear of no end.
            let gone = || pid.is_some_and(|it| !Path::new(&format!("/proc/{it}")).exists());
            let ended = ended.or_else(|| gone().then(|| "its process is gone".to_owned()));
            Node { condition: ended.map_or(Condition::Runs, Condition::Ended), pid, ..node.clone() }
        };
        let nodes = self.nodes.iter().map(&mut now).collect();
        let left = self.until.map(|it| it.saturating_duration_since(Instant::now()).as_secs());
        Told { seconds_left: left, ..shared.told(State::Up(nodes)) }
    }
}

impl Shared {
    fn told(&self, state: State) -> Told {
        Told {
            name: self.order.name.clone(),
            file: self.order.file.clone(),
            cell: self.order.cell.clone(),
            pid: std::process::id(),
            seconds: self.begun.elapsed().as_secs(),
            seconds_left: None,
            state,
        }
    }
}

/// Everything that may be heard.
struct Ears {
    listener: UnixListener,
    /// Readable after a signal.
    signals: UnixStream,
    /// Who asked for the stack; whatever comes from there before it is up means that it is wanted no more.
    caller: Option<UnixStream>,
}

impl Ears {
    fn listen(mut self, shared: &Shared, tell: &Sender<Message>) {
        let end = || {
            shared.stop.store(true, Ordering::Relaxed);
            let _ = tell.send(Message::End);
        };
        loop {
            let mut fds =
                vec![PollFd::new(&self.listener, PollFlags::IN), PollFd::new(&self.signals, PollFlags::IN)];
            fds.extend(self.caller.as_ref().map(|it| PollFd::from_borrowed_fd(it.as_fd(), PollFlags::IN)));
            let _ = poll(&mut fds, None);
            let ready: Vec<bool> = fds.iter().map(|it| !it.revents().is_empty()).collect();
            if ready[1] {
                let _ = self.signals.read(&mut [0; 64]);
                end();
            }
            if ready.get(2) == Some(&true) {
                if !shared.up.load(Ordering::Relaxed) {
                    end();
                }
                self.caller = None;
            }
            if ready[0]
                && let Ok((stream, _)) = self.listener.accept()
            {
                let _ = stream.set_read_timeout(Some(PATIENCE));
                let _ = stream.set_write_timeout(Some(PATIENCE));
                let Ok(question) = hear::<Question>(&stream) else { continue };
                if !shared.up.load(Ordering::Relaxed) {
                    let doing = shared.doing.lock().unwrap_or_else(PoisonError::into_inner).clone();
                    say(&stream, &shared.told(State::Starting(doing)));
                    if question == Question::Status {
                        continue;
                    }
                }
                if question == Question::Down {
                    shared.stop.store(true, Ordering::Relaxed);
                }
                let _ = tell.send(Message::Asked(question, stream));
            }
        }
    }
}

/// The first signal ends what goes on, and is heard here; the second one ends us at once.
fn signals(stop: &Arc<AtomicBool>) -> io::Result<UnixStream> {
    let (ours, theirs) = UnixStream::pair()?;
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
        signal_hook::flag::register_conditional_default(signal, Arc::clone(stop))?;
        signal_hook::flag::register(signal, Arc::clone(stop))?;
        signal_hook::low_level::pipe::register(signal, theirs.try_clone()?)?;
    }
    Ok(ours)
}

fn word(it: &news::Told) -> Word {
    match it {
        news::Told::Passing(it) => Word::Doing(En.doing(it)),
        news::Told::Lasting(it) => Word::Done(En.milestone(it)),
    }
}

/// `PostgreSQL 15.18`.
fn what(it: &Running) -> String {
    let name = match &it.plan.kind {
        Kind::Postgres(_) => "PostgreSQL",
        Kind::PgBouncer(_) => "PgBouncer",
        Kind::Odyssey(_) => "Odyssey",
        Kind::HaProxy(_) => "HAProxy",
        Kind::Service(_) => "service",
        Kind::Attached(it) => match it.role {
            AttachedRole::Postgres => "PostgreSQL",
            AttachedRole::PgBouncer => "PgBouncer",
            AttachedRole::Odyssey => "Odyssey",
            AttachedRole::Balancer => "balancer",
        },
    };
    // Poolers tell their name too.
    let named = it.version.to_lowercase().starts_with(&name.to_lowercase());
    if named { it.version.clone() } else { format!("{name} {}", it.version) }
}

/// Those limits that hold.
fn applied(wanted: &Limits, not: &[NotApplied]) -> Limits {
    let mut hold = wanted.clone();
    for it in not {
        match it.limit {
            Limit::Cpu => hold.cpu = None,
            Limit::Memory => hold.memory = None,
            Limit::ReadIops => hold.read_iops = None,
            Limit::WriteIops => hold.write_iops = None,
            Limit::ReadBps => hold.read_bps = None,
            Limit::WriteBps => hold.write_bps = None,
            Limit::Cpus => hold.cpus.clear(),
        }
    }
    hold
}

/// One line. Who does not listen any more is none of our business.
pub fn say(mut to: &UnixStream, it: &impl Serialize) {
    let mut line = serde_json::to_vec(it).expect("plain data");
    line.push(b'\n');
    let _ = to.write_all(&line);
}

/// One line, and nothing behind it.
pub fn hear<T: DeserializeOwned>(from: &UnixStream) -> io::Result<T> {
    let mut line = String::new();
    let mut reader = BufReader::new(from);
    reader.read_line(&mut line)?;
    if !reader.buffer().is_empty() {
        return Err(io::ErrorKind::InvalidData.into());
    }
    serde_json::from_str(&line).map_err(Into::into)
}
