//! Start of a server from stored data

use super::{Postgres, Settings, random_password};
use crate::client::Target;
use crate::data_cache::{StoredData, copy_data};
use crate::file_hash::hash_file;
use crate::find::Installation;
use crate::supervisor::{NodeError, Supervisor};
use model::message;
use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Version of the way in which pgdyno prepares a server; incremented when the same key gives other data.
const FORMAT: u32 = 1;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
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

    /// Starts a server from a copy of stored data, with a new password of the superuser. If this fails, no data are left.
    pub fn start_stored(
        supervisor: &mut Supervisor,
        installation: &Installation,
        settings: &Settings,
        stored: &StoredData,
    ) -> Result<Postgres, NodeError> {
        let name = &settings.name;
        let password =
            random_password().map_err(|it| NodeError::new(name, message!("attempt-get-password"), &it))?;
        let mut postgres = Postgres::new(supervisor, installation, settings, password);
        let started = postgres.copy_and_launch(supervisor, stored);
        if started.is_err() {
            let ended = supervisor.end_of(postgres.node).is_some() || postgres.node.0 == 0;
            if !ended {
                supervisor.stop(postgres.node)?;
            }
            let _ = std::fs::remove_dir_all(&postgres.local_data);
        }
        started.map(|()| postgres)
    }

    fn copy_and_launch(&mut self, supervisor: &mut Supervisor, stored: &StoredData) -> Result<(), NodeError> {
        let failure = |it: io::Error| NodeError::new(&self.settings.name, message!("attempt-copy-data"), &it);
        let owner = supervisor.user().map(|it| (it.uid, it.gid));
        copy_data(stored.path(), &self.local_data, owner).map_err(failure)?;
        // The stored password is unknown. Only the server's user can reach the socket, so the superuser may log in there
        // without a password until the new password is set.
        let access = self.local_data.join("pg_hba.conf");
        let original = std::fs::read_to_string(&access).map_err(failure)?;
        std::fs::write(&access, format!("local all {} trust\n{original}", super::SUPERUSER))
            .map_err(failure)?;
        self.launch_on_free_port(supervisor)?;
        self.cluster = self.node;
        let failure = |it: io::Error| NodeError::new(&self.settings.name, message!("attempt-copy-data"), &it);
        std::fs::write(&access, original).map_err(failure)?;
        let refused = |it: crate::client::Error| {
            NodeError::new(&self.settings.name, message!("attempt-copy-data"), &it)
        };
        let mut connection = self.target().open(CONNECT_TIMEOUT).map_err(refused)?;
        let password = self.password.reveal();
        connection
            .query(&format!("alter role {} password '{password}'", super::SUPERUSER))
            .map_err(refused)?;
        connection.query("select pg_reload_conf()").map_err(refused)?;
        Ok(())
    }

    /// Files outside the data directory on which the data of the database `database` depend: those of its extensions.
    /// `None` if its indexes or columns depend on the version of a collation, which may change.
    pub fn required_files(database: &Target) -> Result<Option<Vec<PathBuf>>, crate::client::Error> {
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
