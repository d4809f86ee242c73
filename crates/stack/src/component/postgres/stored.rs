//! Start of a server from stored data

use super::{Postgres, SUPERUSER, Settings, random_password};
use crate::client::{Error, Target};
use crate::data_cache::{StoredData, copy_data};
use crate::file_hash::hash_file;
use crate::find::Installation;
use crate::supervisor::{NodeError, NodeId, Supervisor};
use model::message;
use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Version of the way in which pgdyno prepares a server; incremented when the same key gives other data.
const FORMAT: u32 = 1;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
/// Id of a server that was never launched.
const NOT_LAUNCHED: NodeId = NodeId(u32::MAX);
/// Settings that do not influence the data that a load stores. All others are part of the key.
const NEUTRAL_SETTINGS: [&str; 30] = [
    "checkpoint_completion_target",
    "checkpoint_timeout",
    "commit_delay",
    "commit_siblings",
    "deadlock_timeout",
    "effective_cache_size",
    "effective_io_concurrency",
    "fsync",
    "full_page_writes",
    "hot_standby",
    "huge_pages",
    "jit",
    "listen_addresses",
    "maintenance_work_mem",
    "max_connections",
    "max_locks_per_transaction",
    "max_wal_size",
    "min_wal_size",
    "random_page_cost",
    "seq_page_cost",
    "shared_buffers",
    "synchronous_commit",
    "track_io_timing",
    "wal_buffers",
    "wal_compression",
    "wal_keep_size",
    "wal_log_hints",
    "wal_writer_delay",
    "work_mem",
    "wal_retrieve_retry_interval",
];
/// Prefixes of names of such settings.
const NEUTRAL_PREFIXES: [&str; 4] = ["log_", "bgwriter_", "max_parallel_", "pg_stat_statements."];

impl Postgres {
    /// Text that is equal for servers that hold equal data after the same content was loaded. `content` identifies the
    /// content, and `users` the users and databases that pgdyno creates.
    pub fn data_key(
        installation: &Installation,
        settings: &Settings,
        (content, users): (&str, &str),
    ) -> io::Result<String> {
        let mut key = format!("pgdyno data {FORMAT} {}\n", env!("CARGO_PKG_VERSION"));
        let binary = hash_file(&installation.bin.join("postgres"))?;
        let mut line = |text: &str| writeln!(key, "{text}").expect("writing to a String cannot fail");
        line(&format!("server {} {binary} {}", installation.version.text, std::env::consts::ARCH));
        line(&format!("initdb {}", super::initdb_arguments().join(" ")));
        line(&format!("users {users}"));
        let is_neutral = |name: &str| {
            NEUTRAL_SETTINGS.contains(&name) || NEUTRAL_PREFIXES.iter().any(|it| name.starts_with(it))
        };
        for (name, value) in settings.extra_lines.iter().filter(|it| !is_neutral(&it.0)) {
            line(&format!("setting {name} = {value:?}"));
        }
        line(content);
        Ok(key)
    }

    /// Creates a server with a copy of stored data that does not run yet. If this fails, no data are left.
    pub fn from_stored(
        supervisor: &Supervisor,
        installation: &Installation,
        settings: &Settings,
        stored: &StoredData,
    ) -> Result<Postgres, NodeError> {
        let failure = |it: io::Error| NodeError::new(&settings.name, message!("attempt-copy-data"), &it);
        let password = random_password().map_err(failure)?;
        let postgres = Postgres::new(supervisor, installation, settings, password);
        let owner = supervisor.user().map(|it| (it.uid, it.gid));
        let copied = copy_data(stored.path(), &postgres.local_data, owner);
        if copied.is_err() {
            let _ = std::fs::remove_dir_all(&postgres.local_data);
        }
        copied.map(|()| postgres).map_err(failure)
    }

    /// Starts a server from [`Postgres::from_stored`], and sets a new password of the superuser. If this fails, the server
    /// is stopped and its data are removed.
    pub fn start_stored(&mut self, supervisor: &mut Supervisor) -> Result<(), NodeError> {
        self.node = NOT_LAUNCHED;
        let started = self.launch_with_new_password(supervisor);
        if started.is_err() {
            if self.node != NOT_LAUNCHED {
                self.stop(supervisor)?;
            }
            let _ = std::fs::remove_dir_all(&self.local_data);
        }
        started
    }

    fn launch_with_new_password(&mut self, supervisor: &mut Supervisor) -> Result<(), NodeError> {
        let name = self.settings.name.clone();
        let failure = |it: io::Error| NodeError::new(&name, message!("attempt-copy-data"), &it);
        // The stored password is unknown. Only the server's user can reach the socket, so the superuser may log in there
        // without a password until the new password is set.
        let access = self.local_data.join("pg_hba.conf");
        let original = std::fs::read_to_string(&access).map_err(failure)?;
        std::fs::write(&access, format!("local all {SUPERUSER} trust\n{original}")).map_err(failure)?;
        self.launch_on_free_port(supervisor)?;
        self.cluster = self.node;
        std::fs::write(&access, original).map_err(failure)?;
        let refused = |it: Error| NodeError::new(&name, message!("attempt-copy-data"), &it);
        let mut connection = self.target().open(CONNECT_TIMEOUT).map_err(refused)?;
        // The server may log its statements, so they contain only the verifier.
        let salt = crate::client::nonce().map_err(failure)?;
        let salt: &[u8; 16] = salt.first_chunk().expect("a nonce has 18 bytes");
        let verifier = wire::pg::scram_verifier(self.password.reveal(), salt);
        connection.query(&format!("alter role {SUPERUSER} password '{verifier}'")).map_err(refused)?;
        connection.query("select pg_reload_conf()").map_err(refused)?;
        Ok(())
    }

    /// Files outside the data directory on which the data of the database `database` depend: those of its extensions.
    /// `None` if its indexes or columns depend on the version of a collation, which may change.
    pub fn required_files(database: &Target) -> Result<Option<Vec<PathBuf>>, Error> {
        let mut connection = database.open(CONNECT_TIMEOUT)?;
        let versioned = "select 1 from pg_attribute join pg_collation c on c.oid = attcollation \
             where attrelid >= 16384 and collversion is not null limit 1";
        if connection.value(versioned)?.is_some() {
            return Ok(None);
        }
        let extensions = "select (select setting from pg_config where name = 'SHAREDIR') || '/extension/' || extname \
             || '.control' from pg_extension";
        let rows = connection.query(extensions)?.rows;
        Ok(Some(
            rows.into_iter().filter_map(|row| row.into_iter().next().flatten()).map(PathBuf::from).collect(),
        ))
    }
}
