//! What is to be started, as whom, and how is it asked to stop?

use model::plan::Limits;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use wire::pg::Secret;

/// One process to start. It travels to the keeper as a line of JSON, over a socket that nobody else holds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Launch {
    /// Names the node in messages, and its log file.
    pub name: String,
    /// Program, by its full path, and arguments. Visible to every user of the machine.
    pub argv: Vec<OsString>,
    /// The whole environment but for `PATH`, which is ours. Nothing is inherited.
    pub env: Vec<(String, OsString)>,
    /// The same, not to be shown. Its user and root can see them, as they can see its memory.
    #[serde(with = "hidden")]
    pub secrets: Vec<(String, Secret)>,
    /// Working directory.
    pub directory: PathBuf,
    /// Whom it runs as; ourselves when `None`.
    pub user: Option<User>,
    /// How it is asked to stop, politely first; each step waits for the end before the next. SIGKILL follows in any case.
    pub stop: Vec<StopStep>,
    /// What the kernel sends it if the keeper itself is killed.
    pub orphaned: Sig,
    /// What it may use of the machine. What could not be applied is told by `Supervisor::not_applied`.
    pub limits: Limits,
    /// Whether its processes are a world of their own, where we may make one: they end together, are paused together, and
    /// polite signals go to the program. Told by `Supervisor::is_apart`.
    #[serde(rename = "apart")]
    pub isolated: bool,
    /// Of one that is apart: its address in a network that only such nodes and this machine share; see
    /// `Supervisor::addresses`. The machine's own network when `None`.
    pub address: Option<Ipv4Addr>,
}

/// One attempt to stop a process.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct StopStep {
    pub signal: Sig,
    pub patience: Duration,
}

/// The signals of which a clean or a quick end can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sig {
    Hup,
    Int,
    Quit,
    Term,
    Kill,
    Stop,
    Cont,
}

/// Someone to run as.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct User {
    pub name: String,
    pub uid: u32,
    pub gid: u32,
}

impl Launch {
    /// A program that ends on SIGTERM.
    pub fn new(name: &str, program: impl Into<OsString>, directory: &Path) -> Launch {
        Launch {
            name: name.to_owned(),
            argv: vec![program.into()],
            env: vec![("LC_ALL".to_owned(), "C".into()), ("HOME".to_owned(), directory.into())],
            secrets: Vec::new(),
            directory: directory.to_owned(),
            user: None,
            stop: vec![StopStep { signal: Sig::Term, patience: Duration::from_secs(5) }],
            orphaned: Sig::Kill,
            limits: Limits::default(),
            isolated: false,
            address: None,
        }
    }

    pub fn arg(mut self, it: impl Into<OsString>) -> Launch {
        self.argv.push(it.into());
        self
    }

    pub fn args<T: Into<OsString>>(mut self, many: impl IntoIterator<Item = T>) -> Launch {
        self.argv.extend(many.into_iter().map(Into::into));
        self
    }

    pub fn limited(mut self, limits: &Limits) -> Launch {
        self.limits = limits.clone();
        self
    }

    pub fn as_user(mut self, user: Option<&User>) -> Launch {
        self.user = user.cloned();
        self
    }
}

impl User {
    /// Whom the stack runs as: ourselves (`None`) unless we are root; then `postgres`, or else `nobody`.
    ///
    /// Servers refuse to run as root, and so they should.
    pub fn unprivileged() -> Result<Option<User>, String> {
        if !rustix::process::geteuid().is_root() {
            return Ok(None);
        }
        let accounts = std::fs::read_to_string("/etc/passwd").map_err(|it| format!("/etc/passwd: {it}"))?;
        let known = ["postgres", "nobody"].into_iter().find_map(|name| User::in_accounts(&accounts, name));
        let missing =
            "we are root, and there is neither a user `postgres` nor a user `nobody` to run servers as";
        known.map(Some).ok_or_else(|| missing.to_owned())
    }

    /// Reads lines of `passwd(5)`.
    fn in_accounts(accounts: &str, name: &str) -> Option<User> {
        let fields = accounts.lines().map(|it| it.split(':').collect::<Vec<_>>());
        let found = fields.into_iter().find(|it| it.len() >= 4 && it[0] == name)?;
        Some(User { name: name.to_owned(), uid: found[2].parse().ok()?, gid: found[3].parse().ok()? })
    }
}

impl From<Sig> for rustix::process::Signal {
    fn from(it: Sig) -> Self {
        match it {
            Sig::Hup => Self::HUP,
            Sig::Int => Self::INT,
            Sig::Quit => Self::QUIT,
            Sig::Term => Self::TERM,
            Sig::Kill => Self::KILL,
            Sig::Stop => Self::STOP,
            Sig::Cont => Self::CONT,
        }
    }
}

/// Secrets on their way to the keeper.
mod hidden {
    use serde::{Deserialize, Deserializer, Serializer};
    use wire::pg::Secret;

    pub fn serialize<S: Serializer>(it: &[(String, Secret)], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(it.iter().map(|(name, secret)| (name, secret.reveal())))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<(String, Secret)>, D::Error> {
        let all = Vec::<(String, String)>::deserialize(from)?;
        Ok(all.into_iter().map(|(name, secret)| (name, Secret::new(secret))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_serialised_but_not_printed() {
        let mut launch = Launch::new("it", "/bin/true", Path::new("/"));
        launch.secrets.push(("PGPASSWORD".to_owned(), Secret::new("apple")));
        assert!(!format!("{launch:?}").contains("apple"));
        let line = serde_json::to_string(&launch).unwrap();
        let launch: Launch = serde_json::from_str(&line).unwrap();
        assert_eq!(launch.secrets, [("PGPASSWORD".to_owned(), Secret::new("apple"))]);
    }

    #[test]
    fn users() {
        let accounts =
            "root:x:0:0::/root:/bin/sh\nnobody:x:65534:65534::/:/bin/false\nbad\npostgres:x:q:1::/:/\n";
        let check = |name: &str, expected: Option<(u32, u32)>| {
            assert_eq!(User::in_accounts(accounts, name).map(|it| (it.uid, it.gid)), expected, "{name}");
        };
        check("nobody", Some((65534, 65534)));
        check("root", Some((0, 0)));
        check("postgres", None);
        check("bad", None);
        check("missing", None);
    }
}
