//! Consistent copy of a source database, which is only read
//!
//! All sessions read one snapshot, which a session exports and keeps open. `pg_dump` reads the schema, and all rows
//! unless only a sample is wanted. The files are restored like other dumps.

mod catalog;
mod sample;

use crate::chain::connect_source;
use crate::client::{self, Connection};
use crate::dataset::{describe_dump, find_program};
use crate::supervisor::{Launch, NodeError, Supervisor};
use model::copied_data::{SampledRows, Snapshot};
use model::message;
use model::message::Message;
use model::plan::{DumpFile, Extract, SourceDatabase};
use sample::{Part, Rule, Sample, set_sequence};
use std::fs::{DirBuilder, File};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use wire::pg::Secret;

/// Reader of a source database.
#[derive(Debug)]
pub struct SourceReader<'a> {
    pub supervisor: &'a mut Supervisor,
    /// Directory of the measured server's programs; `None` searches `PATH` and the installed servers.
    pub programs: Option<PathBuf>,
    /// Major version of the measured server.
    pub major_version: u32,
    /// Seed of the sample.
    pub seed: u64,
}

/// Files that contain the copy, in the order in which they are restored.
#[derive(Clone, Debug)]
pub struct SourceDump {
    pub files: Vec<DumpFile>,
    pub snapshot: Snapshot,
    /// Numbers of rows of each table in the sample and in the source; empty unless a sample was read.
    pub sampled: Vec<(String, SampledRows)>,
}

/// Reason why a source could not be read.
#[derive(Debug)]
pub enum SourceError {
    /// The connection string is invalid, or no host accepts a login.
    Unreachable(Message),
    Client(client::Error),
    /// The source has a newer major version than the measured server: source, measured server.
    NewerVersion(u32, u32),
    MissingProgram,
    /// `pg_dump` failed.
    Failed(NodeError),
    File {
        path: PathBuf,
        error: io::Error,
    },
}

/// Limit of the duration of one dump.
const TIMEOUT: Duration = Duration::from_secs(24 * 3600);
/// Settings under which rows are read, so that their text does not depend on the source's settings.
const SESSION: &str = "set statement_timeout = 0; set lock_timeout = '60s'; set idle_in_transaction_session_timeout = 0; \
    set datestyle = iso; set intervalstyle = postgres; set extra_float_digits = 3; set bytea_output = hex; \
    set timezone = 'UTC'; set client_encoding = 'UTF8'; set row_security = off; set search_path = ''";
/// Beginning of the file with the rows. The settings are the same as those of `pg_dump`.
const DATA_HEADER: &str = "SET statement_timeout = 0;\nSET client_encoding = 'UTF8';\n\
    SET standard_conforming_strings = on;\nSELECT pg_catalog.set_config('search_path', '', false);\n\
    SET check_function_bodies = false;\nSET row_security = off;\nSET datestyle = iso;\nSET intervalstyle = postgres;\n\n";

/// Reads a source into files below the run directory, which is removed when the run ends.
pub fn dump(source: &SourceDatabase, reader: &mut SourceReader<'_>) -> Result<SourceDump, SourceError> {
    let target = connect_source(&source.dsn).map_err(SourceError::Unreachable)?;
    let mut connection = target.open(Duration::from_secs(30))?;
    connection.set_timeout(None);
    connection.query(SESSION)?;
    connection.query("begin transaction isolation level repeatable read, read only")?;
    let (snapshot, id) = export_snapshot(&mut connection, &target.address.to_string())?;
    if snapshot.major_version > reader.major_version {
        return Err(SourceError::NewerVersion(snapshot.major_version, reader.major_version));
    }
    let directory = (1..)
        .map(|number| reader.supervisor.directory().join(format!("source-{number}")))
        .find(|it| !it.exists())
        .expect("the numbers are unlimited");
    let file_error = |error| SourceError::File { path: directory.clone(), error };
    DirBuilder::new().mode(0o700).create(&directory).map_err(file_error)?;
    let mut paths = Vec::new();
    let mut sampled = Vec::new();
    let mut dump = |name: &str, options: &[&str]| -> Result<(), SourceError> {
        let path = directory.join(name);
        reader.pg_dump(source, &id, &path, options)?;
        paths.push(path);
        Ok(())
    };
    match source.extract {
        Extract::All => dump("all.dump", &["--blobs"])?,
        Extract::Schema => dump("schema.dump", &["--schema-only"])?,
        Extract::Sample { fraction } => {
            dump("1-schema.dump", &["--section=pre-data", "--blobs"])?;
            if connection.value("select 1 from pg_largeobject_metadata limit 1")?.is_some() {
                dump("2-large-objects.dump", &["--section=data", "--blobs", "--exclude-table-data=*.*"])?;
            }
            let path = directory.join("3-rows.sql");
            let file_error = |error| SourceError::File { path: path.clone(), error };
            let (tables, keys) = catalog::read(&mut connection)?;
            let sample = Sample::new(tables, keys, fraction, reader.seed);
            let mut file = BufWriter::new(File::create_new(&path).map_err(file_error)?);
            sampled = write_sample(&sample, &mut connection, &mut file, &file_error)?;
            file.flush().map_err(file_error)?;
            paths.push(path);
            // One session restores SQL. Several sessions of pg_restore deadlock on foreign keys that form a cycle, because
            // an archive without tables does not show which foreign keys lock the same tables.
            let path = directory.join("4-keys.sql");
            reader.pg_dump(source, &id, &path, &["--section=post-data", "--format=plain", "--compress=0"])?;
            paths.push(path);
        }
    }
    let describe =
        |path: &PathBuf| describe_dump(path).map_err(|error| SourceError::File { path: path.clone(), error });
    let files = paths.iter().map(describe).collect::<Result<_, _>>()?;
    Ok(SourceDump { files, snapshot, sampled })
}

impl SourceReader<'_> {
    /// Runs `pg_dump` on the exported snapshot. libpq resolves the connection string, which contains no password, and
    /// the same environment as pgdyno.
    fn pg_dump(
        &mut self,
        source: &SourceDatabase,
        snapshot: &str,
        path: &Path,
        options: &[&str],
    ) -> Result<(), SourceError> {
        let program = find_program(self.programs.as_deref(), "pg_dump").ok_or(SourceError::MissingProgram)?;
        let mut launch = Launch::new("source", program, &self.supervisor.home())
            .args(["--format=custom", "--compress=1", "--no-password", "--lock-wait-timeout=60s"])
            .args(["--no-subscriptions", "--no-publications"])
            .args(options)
            .arg(format!("--snapshot={snapshot}"))
            .arg(format!("--dbname={}", source.dsn));
        let mut file = std::ffi::OsString::from("--file=");
        file.push(path);
        launch = launch.arg(file);
        for (name, value) in std::env::vars_os() {
            let Ok(name) = name.into_string() else { continue };
            if name == "PGPASSWORD" {
                launch.secrets.push((name, Secret::new(value.to_string_lossy())));
            } else if name == "HOME" || name.starts_with("PG") {
                launch.env.retain(|it| it.0 != name);
                launch.env.push((name, value));
            }
        }
        self.supervisor.run(launch, TIMEOUT).map_err(SourceError::Failed)
    }
}

/// Exports the snapshot of this session; returns its description and identifier.
fn export_snapshot(connection: &mut Connection, address: &str) -> Result<(Snapshot, String), SourceError> {
    let answer = connection.query(
        "select pg_export_snapshot(), current_database(), current_setting('server_version_num')::int / 10000, \
         pg_is_in_recovery(), to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') || ' UTC', \
         has_function_privilege('pg_control_system()', 'execute')",
    )?;
    let text = |at: usize| answer.rows[0][at].clone().unwrap_or_default();
    let system = match text(5).as_str() {
        "t" => connection.value("select system_identifier from pg_control_system()")?,
        _ => None,
    };
    let snapshot = Snapshot {
        address: address.to_owned(),
        database: text(1),
        system,
        major_version: text(2).parse().unwrap_or(0),
        is_standby: text(3) == "t",
        taken_at: text(4),
    };
    Ok((snapshot, text(0)))
}

/// Writes the rows of the sample and the values of the sequences as SQL. Returns the numbers of rows by table.
fn write_sample(
    sample: &Sample,
    connection: &mut Connection,
    file: &mut impl Write,
    file_error: &dyn Fn(io::Error) -> SourceError,
) -> Result<Vec<(String, SampledRows)>, SourceError> {
    let mut sampled = Vec::new();
    file.write_all(DATA_HEADER.as_bytes()).map_err(file_error)?;
    for (at, table) in sample.tables.iter().enumerate() {
        let mut rows = SampledRows { kept: 0, total: 0 };
        for part in &table.parts {
            let kept = copy_rows(connection, part, &sample.select(at, part), file)
                .map_err(|it| it.or(file_error))?;
            rows.kept += kept;
            rows.total += match sample.rules[at] {
                Rule::All => kept,
                Rule::Key | Rule::References => {
                    let count = connection.value(&format!("select count(*) from only {}", part.name))?;
                    count.and_then(|it| it.parse().ok()).unwrap_or(0)
                }
            };
        }
        sampled.push((table.name.clone(), rows));
    }
    for (part, condition) in catalog::extension_tables(connection)? {
        let select = format!("select {} from only {} {condition}", part.columns.join(", "), part.name);
        copy_rows(connection, &part, &select, file).map_err(|it| it.or(file_error))?;
    }
    for (name, value, is_called) in catalog::sequences(connection)? {
        file.write_all(set_sequence(&name, &value, is_called).as_bytes()).map_err(file_error)?;
    }
    Ok(sampled)
}

/// Error of the source or of the file.
enum CopyError {
    Client(client::Error),
    File(io::Error),
}

impl CopyError {
    fn or(self, file_error: &dyn Fn(io::Error) -> SourceError) -> SourceError {
        match self {
            CopyError::Client(error) => error.into(),
            CopyError::File(error) => file_error(error),
        }
    }
}

/// Writes the selected rows as a COPY for `psql`; returns their number.
fn copy_rows(
    connection: &mut Connection,
    part: &Part,
    select: &str,
    file: &mut impl Write,
) -> Result<u64, CopyError> {
    let columns = part.columns.join(", ");
    writeln!(file, "COPY {} ({columns}) FROM stdin;", part.name).map_err(CopyError::File)?;
    let mut written = Ok(());
    let copied = connection.copy_out(&format!("copy ({select}) to stdout"), &mut |row| {
        if written.is_ok() {
            written = file.write_all(row);
        }
    });
    let count = copied.map_err(CopyError::Client)?;
    written.and_then(|()| file.write_all(b"\\.\n\n")).map_err(CopyError::File)?;
    Ok(count)
}

impl From<client::Error> for SourceError {
    fn from(error: client::Error) -> SourceError {
        SourceError::Client(error)
    }
}

impl From<&SourceError> for Message {
    fn from(error: &SourceError) -> Message {
        let error = match error {
            SourceError::Unreachable(error) => error.clone(),
            SourceError::Client(error) => error.into(),
            SourceError::NewerVersion(source, measured) => {
                message!("source-newer", source = source.to_string(), measured = measured.to_string())
            }
            SourceError::MissingProgram => {
                message!("dump-program", program = "pg_dump", package = "postgresql-client")
            }
            SourceError::Failed(error) => error.into(),
            SourceError::File { path, error } => Message::of_file(path, error),
        };
        message!("source-unreadable", error)
    }
}
