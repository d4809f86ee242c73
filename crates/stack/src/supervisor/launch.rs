//! Launch parameters: program, environment, user, limits and stop steps

use super::error::MachineError;
use crate::limits::HostLimits;
use model::plan::Limits;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use wire::pg::Secret;

/// Process to start. It is sent to the keeper as a line of JSON, over a private socket.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Launch {
    /// Name of the node in messages, and of its log file.
    pub name: String,
    /// Full path of the program, and its arguments. Every user of the machine can see them.
    pub argv: Vec<OsString>,
    /// Complete environment except `PATH`, which is inherited from pgdyno. Nothing else is inherited.
    pub env: Vec<(String, OsString)>,
    /// Secret environment variables, never printed. The process's user and root can read them, because they can read
    /// its memory.
    #[serde(with = "hidden")]
    pub secrets: Vec<(String, Secret)>,
    /// Working directory of the process.
    pub directory: PathBuf,
    /// User that runs the process; `None` for the current user.
    pub user: Option<SystemUser>,
    /// Signals that stop the process, gentlest first. After each signal, the process has time to end before the next
    /// signal is sent. SIGKILL always follows.
    pub stop: Vec<StopStep>,
    /// Signal that the kernel sends to the process if the keeper is killed.
    pub orphaned: Sig,
    /// Resource limits. `Supervisor::not_applied` reports those that could not be applied.
    pub limits: Limits,
    /// Host whose limits the process shares with other nodes. [`super::Supervisor::launch`] sets it.
    pub host: Option<HostLimits>,
    /// True if the processes should get separate namespaces, where permitted. They then end and pause together, and
    /// other signals go to the program. `Supervisor::is_isolated` reports the result.
    #[serde(rename = "apart")]
    pub isolated: bool,
    /// Address of an isolated node in a network that only such nodes and this machine share; see
    /// `Supervisor::addresses`. `None` means the machine's own network.
    pub address: Option<Ipv4Addr>,
}

/// One attempt to stop a process.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct StopStep {
    pub signal: Sig,
    pub timeout: Duration,
}

/// Signals to stop, kill, pause, continue or reload a process.
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

/// Operating-system user that runs a process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SystemUser {
    pub name: String,
    pub uid: u32,
    pub gid: u32,
}

impl Launch {
    /// Creates the parameters of a program that ends on SIGTERM.
    pub fn new(name: &str, program: impl Into<OsString>, directory: &Path) -> Launch {
        Launch {
            name: name.to_owned(),
            argv: vec![program.into()],
            env: vec![("LC_ALL".to_owned(), "C".into()), ("HOME".to_owned(), directory.into())],
            secrets: Vec::new(),
            directory: directory.to_owned(),
            user: None,
            stop: vec![StopStep { signal: Sig::Term, timeout: Duration::from_secs(5) }],
            orphaned: Sig::Kill,
            limits: Limits::default(),
            host: None,
            isolated: false,
            address: None,
        }
    }

    pub fn arg(mut self, argument: impl Into<OsString>) -> Launch {
        self.argv.push(argument.into());
        self
    }

    pub fn args<T: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = T>) -> Launch {
        self.argv.extend(arguments.into_iter().map(Into::into));
        self
    }

    pub fn limited(mut self, limits: &Limits) -> Launch {
        self.limits = limits.clone();
        self
    }

    pub fn as_user(mut self, user: Option<&SystemUser>) -> Launch {
        self.user = user.cloned();
        self
    }
}

impl SystemUser {
    /// Chooses the user that runs the stack: the current user (`None`), or for root, `postgres` or else `nobody`.
    ///
    /// PostgreSQL refuses to run as root.
    pub fn unprivileged() -> Result<Option<SystemUser>, MachineError> {
        if !rustix::process::geteuid().is_root() {
            return Ok(None);
        }
        let accounts = std::fs::read_to_string("/etc/passwd").map_err(MachineError::Accounts)?;
        let known =
            ["postgres", "nobody"].into_iter().find_map(|name| SystemUser::in_accounts(&accounts, name));
        known.map(Some).ok_or(MachineError::NoUser)
    }

    /// Finds a user in lines of `passwd(5)`.
    fn in_accounts(accounts: &str, name: &str) -> Option<SystemUser> {
        let fields = accounts.lines().map(|it| it.split(':').collect::<Vec<_>>());
        let found = fields.into_iter().find(|it| it.len() >= 4 && it[0] == name)?;
        Some(SystemUser { name: name.to_owned(), uid: found[2].parse().ok()?, gid: found[3].parse().ok()? })
    }
}

impl From<Sig> for rustix::process::Signal {
    fn from(signal: Sig) -> Self {
        match signal {
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

/// Serialisation of secrets for the keeper.
mod hidden {
    use serde::{Deserialize, Deserializer, Serializer};
    use wire::pg::Secret;

    pub fn serialize<S: Serializer>(variables: &[(String, Secret)], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(variables.iter().map(|(name, secret)| (name, secret.reveal())))
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
            assert_eq!(
                SystemUser::in_accounts(accounts, name).map(|it| (it.uid, it.gid)),
                expected,
                "{name}"
            );
        };
        check("nobody", Some((65534, 65534)));
        check("root", Some((0, 0)));
        check("postgres", None);
        check("bad", None);
        check("missing", None);
    }
}
