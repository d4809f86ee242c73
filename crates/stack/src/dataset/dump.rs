//! Restore of dumps into the database under test
//!
//! `pg_restore` and `psql` execute the dumps as a superuser. On a server that pgdyno started, pgdyno creates the roles
//! that a dump names. The load's user becomes a member of each role and thus has the rights of the tables' owners.

mod format;
mod quoting;
mod requirements;

pub use format::describe;

use super::dataset_record::{self, DatasetRecord};
use super::{CopyProgress, Error, LoadResult, Stage, quote_identifier, quote_literal};
use crate::client::{Address, Connection, Target};
use crate::find;
use crate::supervisor::{Launch, NodeError, Supervisor};
use format::DumpFormat;
use model::message;
use model::message::Message;
use model::plan::DumpFile;
use requirements::Requirements;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Target and options of a restore.
#[derive(Debug)]
pub struct DumpLoader<'a> {
    pub supervisor: &'a mut Supervisor,
    /// Login to the database to fill. On a server that pgdyno started, it is the login of a superuser.
    pub login: Target,
    /// Role of the load. It may use everything that is restored.
    pub role: &'a str,
    /// Directory of the server's programs; `None` searches `PATH` and the installed servers.
    pub programs: Option<PathBuf>,
    /// Number of concurrent sessions of `pg_restore`, at least 1.
    pub jobs: u16,
    /// True if pgdyno started the server, so that it may create the roles that a dump names.
    pub creates_roles: bool,
}

/// Reason why a dump was not restored.
#[derive(Debug)]
pub enum DumpError {
    Unreadable {
        path: PathBuf,
        error: io::Error,
    },
    /// The file differs from the file that was planned.
    Changed {
        path: PathBuf,
    },
    /// `psql`, `pg_restore` or a decompressor is not installed.
    MissingProgram {
        program: String,
    },
    /// Extensions that the dump creates and the server does not have.
    MissingExtensions {
        path: PathBuf,
        extensions: Vec<String>,
        major: u32,
    },
    /// The dump connects to a database of its own.
    OtherDatabase {
        path: PathBuf,
        line: u64,
    },
    /// The database contains tables that are not from these dumps.
    NotEmpty {
        database: String,
        table: String,
    },
    /// The dumps created no table.
    NoTable,
    /// A program failed.
    Failed(NodeError),
}

/// Limit of the duration of one restore. A restore of terabytes takes hours.
const TIMEOUT: Duration = Duration::from_secs(24 * 3600);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// Tables and views outside the system's schemas that belong to no extension.
const USER_RELATIONS: &str = "from pg_class c join pg_namespace n on n.oid = c.relnamespace \
     where n.nspname !~ '^(pg_|information_schema$|pgdyno$)' and not exists (select from pg_depend d \
     where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')";

/// Restores dumps in the given order into an empty database, and runs `VACUUM (FREEZE, ANALYZE)`.
///
/// Does nothing if the database already contains these dumps. After an error, the database contains a part of the
/// dumps. The caller then drops the database.
pub fn load(
    files: &[DumpFile],
    loader: &mut DumpLoader<'_>,
    on_progress: &mut dyn FnMut(Stage),
) -> Result<LoadResult, Error> {
    let begun = Instant::now();
    let key = dataset_record::dump_key(files);
    let mut connection = loader.login.open(CONNECT_TIMEOUT)?;
    connection.set_timeout(None);
    if let Some(record) = DatasetRecord::read(&mut connection)?
        && record.matches(&key)
    {
        let sent = CopyProgress { rows: record.rows, bytes: record.bytes };
        return Ok(LoadResult::new(sent, Duration::ZERO, begun.elapsed(), true));
    }
    let first = format!("select c.oid::regclass {USER_RELATIONS} order by c.oid limit 1");
    if let Some(table) = connection.value(&first)? {
        let database = loader.login.login.database.clone();
        return Err(DumpError::NotEmpty { database, table }.into());
    }
    on_progress(Stage::Dump);
    for file in files {
        loader.restore(file, &mut connection)?;
    }
    let copying = begun.elapsed();
    if loader.creates_roles {
        take_ownership(&mut connection, loader.role)?;
    }
    on_progress(Stage::Statistics);
    connection.query("vacuum (freeze, analyze)")?;
    let tables = format!(
        "select count(*), coalesce(sum(reltuples), 0)::bigint {USER_RELATIONS} and c.relkind in ('r', 'm')"
    );
    let answer = connection.query(&tables)?;
    let number = |at: usize| answer.rows[0][at].as_deref().and_then(|it| it.parse().ok()).unwrap_or(0);
    let (count, rows): (u64, u64) = (number(0), number(1));
    if count == 0 {
        return Err(DumpError::NoTable.into());
    }
    let bytes = files.iter().map(|file| file.bytes).sum();
    dataset_record::insert_record(&mut connection, &key, &[], &[])?;
    dataset_record::mark_complete(&mut connection, rows, bytes)?;
    Ok(LoadResult::new(CopyProgress { rows, bytes }, copying, begun.elapsed(), false))
}

impl DumpLoader<'_> {
    fn restore(&mut self, file: &DumpFile, connection: &mut Connection) -> Result<(), Error> {
        let unreadable = |error| DumpError::Unreadable { path: file.path.clone(), error };
        if describe(&file.path).map_err(unreadable)? != *file {
            return Err(DumpError::Changed { path: file.path.clone() }.into());
        }
        let format = DumpFormat::detect(&file.path).map_err(unreadable)?;
        let pg_restore = || self.program("pg_restore");
        let text = match format {
            DumpFormat::Archive { .. } => requirements::of_archive(&pg_restore()?, &file.path),
            DumpFormat::Sql(compression) => {
                let program = compression.program().map(|name| self.program(name)).transpose()?;
                requirements::of_sql(program.as_deref(), &file.path)
            }
        };
        let requirements = text.map_err(unreadable)?;
        if let Some(line) = requirements.other_database {
            return Err(DumpError::OtherDatabase { path: file.path.clone(), line }.into());
        }
        self.check_extensions(file, &requirements, connection)?;
        if self.creates_roles {
            create_roles(connection, &requirements, self.role)?;
        }
        let mut arguments: Vec<OsString> = Vec::new();
        let program = match format {
            DumpFormat::Archive { parallel } => {
                arguments.extend(["--exit-on-error", "--no-password", "--dbname"].map(Into::into));
                arguments.push(self.login.login.database.clone().into());
                if parallel && self.jobs > 1 {
                    arguments.push(format!("--jobs={}", self.jobs).into());
                }
                arguments.push(file.path.clone().into());
                pg_restore()?
            }
            DumpFormat::Sql(compression) => {
                let psql = self.program("psql")?;
                let options = ["-X", "-q", "-w", "-o", "/dev/null", "-v", "ON_ERROR_STOP=1"];
                match compression.program() {
                    None => {
                        arguments.extend(options.map(Into::into));
                        arguments.extend(["-f".into(), file.path.clone().into()]);
                        psql
                    }
                    Some(name) => {
                        let decompress = self.program(name)?;
                        arguments.extend(["-c".into(), PIPE.into(), "sh".into()]);
                        arguments.extend([decompress.into(), file.path.clone().into(), psql.into()]);
                        arguments.extend(options.map(Into::into));
                        "/bin/sh".into()
                    }
                }
            }
        };
        let home = self.supervisor.home();
        let mut launch = Launch::new("restore", program, &home).args(arguments);
        launch.env.extend(self.environment());
        launch.env.push(("PATH".to_owned(), std::env::var_os("PATH").unwrap_or_default()));
        if let Some(password) = &self.login.login.password {
            launch.secrets.push(("PGPASSWORD".to_owned(), password.clone()));
        }
        self.supervisor.run(launch, TIMEOUT).map_err(|it| DumpError::Failed(it).into())
    }

    /// Connection settings of libpq, except the password.
    fn environment(&self) -> Vec<(String, OsString)> {
        let (host, port) = match &self.login.address {
            Address::Tcp(address) => (address.ip().to_string().into(), address.port().to_string()),
            // The file is named `.s.PGSQL.PORT`.
            Address::Unix(path) => (
                path.parent().unwrap_or(Path::new("/")).as_os_str().to_owned(),
                path.extension().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default(),
            ),
        };
        let login = &self.login.login;
        vec![
            ("PGHOST".to_owned(), host),
            ("PGPORT".to_owned(), port.into()),
            ("PGUSER".to_owned(), login.user.clone().into()),
            ("PGDATABASE".to_owned(), login.database.clone().into()),
            ("PGAPPNAME".to_owned(), "pgdyno restore".into()),
            ("PGOPTIONS".to_owned(), "-c client_min_messages=warning -c statement_timeout=0".into()),
        ]
    }

    fn program(&self, name: &str) -> Result<PathBuf, Error> {
        let path = find_program(self.programs.as_deref(), name);
        path.ok_or_else(|| DumpError::MissingProgram { program: name.to_owned() }.into())
    }

    fn check_extensions(
        &self,
        file: &DumpFile,
        requirements: &Requirements,
        connection: &mut Connection,
    ) -> Result<(), Error> {
        let mut extensions = Vec::new();
        for name in &requirements.extensions {
            let sql = format!(
                "select 1 from pg_available_extensions where quote_ident(name) = {}",
                quote_literal(name)
            );
            if connection.value(&sql)?.is_none() {
                extensions.push(name.trim_matches('"').to_owned());
            }
        }
        if extensions.is_empty() {
            return Ok(());
        }
        let major = connection.server_version() / 10_000;
        Err(DumpError::MissingExtensions { path: file.path.clone(), extensions, major }.into())
    }
}

/// Finds a program in the directory of the server's programs, in `PATH`, or else in an installed server.
pub(crate) fn find_program(programs: Option<&Path>, name: &str) -> Option<PathBuf> {
    let variable = std::env::var_os("PATH").unwrap_or_default();
    let directories = programs.map(Path::to_owned).into_iter().chain(std::env::split_paths(&variable));
    let installed = find::InstallationSearch::default().find_first().ok().map(|it| it.bin);
    directories.chain(installed).map(|it| it.join(name)).find(|it| it.is_file())
}

/// Script that pipes a decompressed file into `psql`. It fails if the decompressor or `psql` fails. Arguments:
/// decompressor, file, psql, options.
const PIPE: &str = r#"decompress=$1 file=$2
shift 2
statuses=$({ { "$decompress" -dc -- "$file"; echo $? >&3; } | "$@" >&2; echo $? >&3; } 3>&1)
[ "$(echo $statuses)" = "0 0" ]"#;

/// Creates the roles that a dump names, and makes `role` a member of each.
fn create_roles(connection: &mut Connection, requirements: &Requirements, role: &str) -> Result<(), Error> {
    for name in &requirements.roles {
        let query = format!(
            "select rolsuper from pg_roles where quote_ident(rolname) = {0} or rolname = {0}",
            quote_literal(name)
        );
        match connection.value(&query)?.as_deref() {
            // A superuser's objects are handed over after the restore.
            Some("t") => continue,
            Some(_) => {}
            None => drop(connection.query(&format!("create role {name}"))?),
        }
        if name != role && !name.starts_with("pg_") {
            connection.query(&format!("grant {name} to {}", quote_identifier(role)))?;
        }
    }
    Ok(())
}

/// Makes `role` the owner of the schemas, relations and functions that belong to the superuser of this session and to
/// no extension. `REASSIGN OWNED` would do the same, but is not permitted for the first superuser.
fn take_ownership(connection: &mut Connection, role: &str) -> Result<(), Error> {
    let owned = |class: &str, object: &str| {
        format!(
            "and pg_get_userbyid({object}owner) = current_user and not exists (select from pg_depend d \
             where d.classid = '{class}'::regclass and d.objid = o.oid and d.objsubid = 0 and d.deptype in ('e', 'a', 'i'))"
        )
    };
    let visible = "n.nspname !~ '^(pg_|information_schema$|pgdyno$)'";
    let statements = format!(
        "select format('alter schema %I owner to', o.nspname) from pg_namespace o join pg_namespace n on n.oid = o.oid \
           where {visible} {schemas} \
         union all select format('alter %s %I.%I owner to', case relkind when 'v' then 'view' \
           when 'm' then 'materialized view' when 'S' then 'sequence' when 'f' then 'foreign table' else 'table' end, \
           nspname, relname) from pg_class o join pg_namespace n on n.oid = relnamespace \
           where relkind in ('r', 'p', 'v', 'm', 'f', 'S') and {visible} {relations} \
         union all select format('alter routine %s owner to', o.oid::regprocedure) from pg_proc o \
           join pg_namespace n on n.oid = pronamespace where {visible} {functions}",
        schemas = owned("pg_namespace", "o.nsp"),
        relations = owned("pg_class", "o.rel"),
        functions = owned("pg_proc", "o.pro"),
    );
    let answer = connection.query(&statements)?;
    for statement in answer.rows.into_iter().filter_map(|row| row.into_iter().next().flatten()) {
        connection.query(&format!("{statement} {}", quote_identifier(role)))?;
    }
    Ok(())
}

impl From<DumpError> for Error {
    fn from(error: DumpError) -> Error {
        Error::Dump(error)
    }
}

impl From<&DumpError> for Message {
    fn from(error: &DumpError) -> Message {
        let shown = |path: &Path| path.display().to_string();
        match error {
            DumpError::Unreadable { path, error } => Message::of_file(path, error),
            DumpError::Changed { path } => message!("dump-changed", path = shown(path)),
            DumpError::MissingProgram { program } => message!(
                "dump-program",
                program,
                package =
                    if ["gzip", "zstd"].contains(&program.as_str()) { program } else { "postgresql-client" }
            ),
            DumpError::MissingExtensions { path, extensions, major } => message!(
                "dump-extensions",
                path = shown(path),
                extensions = extensions.join(", "),
                count = extensions.len(),
                package = package(&extensions[0], *major)
            ),
            DumpError::OtherDatabase { path, line } => {
                message!("dump-other-database", path = shown(path), line = line.to_string())
            }
            DumpError::NotEmpty { database, table } => message!("dump-not-empty", database, table),
            DumpError::NoTable => message!("dump-no-table"),
            DumpError::Failed(error) => error.into(),
        }
    }
}

/// Debian package that contains an extension.
fn package(extension: &str, major: u32) -> String {
    /// Extensions of PostgreSQL's own `contrib` that dumps use most.
    const CONTRIB: [&str; 12] = [
        "btree_gin",
        "btree_gist",
        "citext",
        "cube",
        "fuzzystrmatch",
        "hstore",
        "intarray",
        "ltree",
        "pg_trgm",
        "pgcrypto",
        "unaccent",
        "uuid-ossp",
    ];
    match extension {
        it if CONTRIB.contains(&it) => "postgresql-contrib".to_owned(),
        "vector" => format!("postgresql-{major}-pgvector"),
        it if it.starts_with("postgis") => format!("postgresql-{major}-postgis-3"),
        it => format!("postgresql-{major}-{}", it.trim_start_matches("pg_").replace('_', "-")),
    }
}
