//! Restores a database to its state before a trial
//!
//! The updates of one trial slow down the next trial until the table is rewritten. Each trial therefore starts with a
//! copy of a template database that does not accept connections.

mod cache_state;
mod state;
mod user_template;

pub use cache_state::{
    CachePreparation, EvictionResult, database_directory, evict_page_cache, prepare_cache, warm_cache,
};
pub use state::{DatabaseState, TableState, query_state};
pub use user_template::{empty_filled_database, mark_filled};

use crate::client::{self, Connection, Target};
use crate::dataset::{self, quote_identifier, quote_literal};
use model::message;
use model::message::Message;
use std::thread::sleep;
use std::time::{Duration, Instant};
use wire::Code;

/// Origin of the server, which determines what pgdyno may drop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerOwnership {
    /// pgdyno started the server, so every session in the database belongs to pgdyno's stack.
    Ours,
    /// The server existed before.
    ///
    /// Only databases with pgdyno's comment are dropped: databases that [`create_database`] created, and empty
    /// databases whose owner set the comment. Only sessions whose `application_name` begins with `pgdyno` are ended.
    Attached,
}

/// Template from which a database can be restored: a copy of the database.
#[derive(Clone, Debug)]
pub struct Template {
    /// Login that may create and drop databases. Its database differs from the restored one.
    superuser: Target,
    database: String,
    template: String,
    owner: String,
    ownership: ServerOwnership,
    /// Comment of the database; `None` if it has none.
    comment: Option<String>,
    /// True if the template belongs to the user. Then it is only read.
    is_users: bool,
    /// True if the database has the schema that permits load. A copy of the user's template gets this schema too.
    permits_load: bool,
    pub creation: CopyResult,
}

/// Cost of making one copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CopyResult {
    /// Total duration of the copy.
    pub took: Duration,
    /// Part of `took` for copying files.
    pub copy_duration: Duration,
    /// Part of `took` for the checkpoint, which would otherwise run during the trial; `None` if the user is not
    /// permitted to run a checkpoint.
    pub checkpoint: Option<Duration>,
    /// Number of sessions that were ended.
    pub sessions_ended: u32,
    /// Size of the new copy, bytes.
    pub bytes: u64,
}

/// Reason why there is no copy.
#[derive(Debug)]
pub enum Error {
    Client(client::Error),
    /// The database does not exist.
    MissingDatabase {
        database: String,
    },
    /// The database would have to be dropped, but pgdyno did not create it.
    ForeignDatabase {
        database: String,
    },
    /// The database of an attached server has no comment that lets pgdyno drop it.
    UnmarkedDatabase {
        database: String,
    },
    /// A database whose owner marked it has a table that pgdyno did not create.
    ForeignTable {
        database: String,
        table: String,
    },
    /// Sessions of other programs use the database: process, user and application of each.
    InUse {
        database: String,
        sessions: Vec<String>,
    },
    /// The template that the user named does not exist.
    MissingTemplate {
        template: String,
    },
    /// The template that the user named is the measured database.
    MeasuredTemplate {
        template: String,
    },
    /// Sessions use the template that the user named: process, user and application of each.
    TemplateInUse {
        template: String,
        sessions: Vec<String>,
    },
    /// The user may not create databases.
    NoCreateDb {
        user: String,
    },
    /// The user may neither create a copy of the template nor become its owner.
    ForbiddenTemplate {
        user: String,
        template: String,
        owner: String,
    },
    /// Server files could not be accessed.
    Files {
        path: std::path::PathBuf,
        error: std::io::Error,
    },
    /// The server did not restart.
    Server(crate::supervisor::NodeError),
}

/// Prefix of the comment on databases that pgdyno created.
const COMMENT_PREFIX: &str = "pgdyno: ";
/// Comment with which the owner of an empty database lets pgdyno drop it.
const OWNER_COMMENT: &str = "pgdyno: may be dropped";
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum number of attempts to run a statement that requires a database without sessions.
const MAX_ATTEMPTS: u32 = 5;
/// Maximum number of checks whether an ended session has left.
const MAX_SETTLE_POLLS: u32 = 50;
/// Interval between checks whether an ended session has left.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
const IN_USE: Code = Code::SqlState(*b"55006");
const NO_SUCH_DATABASE: Code = Code::SqlState(*b"3D000");
const FORBIDDEN: Code = Code::SqlState(*b"42501");

/// Creates an empty database, marked as pgdyno's, so that it can be restored later. `owner` must exist.
pub fn create_database(superuser: &Target, database: &str, owner: &str) -> Result<(), Error> {
    let mut connection = connect_maintenance(superuser, database)?;
    connection.query(&format!(
        "create database {} owner {}",
        quote_identifier(database),
        quote_identifier(owner)
    ))?;
    comment_database(&mut connection, database, "made to be measured")
}

impl Template {
    /// Checks that [`create`](Template::create) may copy `database`. Call it before anything is loaded into the
    /// database.
    pub fn check(superuser: &Target, database: &str, ownership: ServerOwnership) -> Result<(), Error> {
        let mut connection = connect_maintenance(superuser, database)?;
        if database_owner(&mut connection, database)?.is_none() {
            return Err(Error::MissingDatabase { database: database.to_owned() });
        }
        check_droppable(&mut connection, database, ownership)?;
        let template = template_of(database);
        if database_owner(&mut connection, &template)?.is_some() && !is_ours(&mut connection, &template)? {
            return Err(Error::ForeignDatabase { database: template });
        }
        if ownership == ServerOwnership::Attached {
            check_unused(&mut connection, database)?;
            if database_comment(&mut connection, database)?.as_deref() == Some(OWNER_COMMENT) {
                check_no_foreign_table(superuser, database)?;
            }
        }
        Ok(())
    }

    /// Copies `database` to `<database>_template`; drops an older copy that pgdyno made. Ends the sessions in
    /// `database`.
    ///
    /// `superuser` may be a login to any database. A copy does not include privileges and settings of the database
    /// itself (`GRANT … ON DATABASE`, `ALTER DATABASE … SET`).
    pub fn create(superuser: &Target, database: &str, ownership: ServerOwnership) -> Result<Template, Error> {
        let begun = Instant::now();
        let mut connection = connect_maintenance(superuser, database)?;
        let Some(owner) = database_owner(&mut connection, database)? else {
            return Err(Error::MissingDatabase { database: database.to_owned() });
        };
        let template = template_of(database);
        let mut made = Template {
            superuser: superuser.clone(),
            database: database.to_owned(),
            template,
            owner,
            ownership,
            comment: database_comment(&mut connection, database)?,
            is_users: false,
            permits_load: false,
            creation: CopyResult::default(),
        };
        check_droppable(&mut connection, database, ownership)?;
        made.drop_old_template(&mut connection)?;
        // Reject new connections, because poolers reconnect as soon as their sessions are ended.
        set_allow_connections(&mut connection, database, false)?;
        let copied = made.copy_database(&mut connection, database, &made.template);
        let allowed = set_allow_connections(&mut connection, database, true);
        made.creation = copied?;
        allowed?;
        comment_database(&mut connection, &made.template, &format!("template of {database}"))?;
        let sealed = format!(
            "alter database {} with is_template true allow_connections false",
            quote_identifier(&made.template)
        );
        connection.query(&sealed)?;
        made.creation.checkpoint = checkpoint(&mut connection)?;
        made.creation.took = begun.elapsed();
        Ok(made)
    }

    /// Drops the database and replaces it with a copy of the template. Ends all sessions in the database.
    ///
    /// Clients must not connect through poolers during this call. Otherwise poolers may refuse to reconnect for some
    /// seconds afterwards.
    pub fn restore(&self) -> Result<CopyResult, Error> {
        let begun = Instant::now();
        let mut connection = connect_maintenance(&self.superuser, &self.database)?;
        let mut ended = 0;
        if self.is_users {
            // Check this before the database is dropped.
            user_template::check_no_session(&mut connection, &self.template)?;
        }
        // The database may be missing if an earlier restore was interrupted.
        if database_owner(&mut connection, &self.database)?.is_some() {
            check_droppable(&mut connection, &self.database, self.ownership)?;
            set_allow_connections(&mut connection, &self.database, false)?;
            let force = if connection.server_version() >= 130_000 { " with (force)" } else { "" };
            // FORCE would also end sessions of other programs.
            let force = if self.ownership == ServerOwnership::Ours { force } else { "" };
            let sql = format!("drop database {}{force}", quote_identifier(&self.database));
            let dropped = self.run_without_sessions(&mut connection, &self.database, &sql);
            if dropped.is_err() {
                // The database is unchanged, so it must accept connections again.
                let _ = set_allow_connections(&mut connection, &self.database, true);
            }
            ended = dropped?;
        }
        let copied = self.copy_database(&mut connection, &self.template, &self.database);
        if copied.is_err() && self.is_users {
            // Otherwise the next run would lack its database.
            let _ = self.create_empty(&mut connection);
        }
        let mut copied = copied?;
        if let Some(comment) = &self.comment {
            set_comment(&mut connection, &self.database, comment)?;
        }
        if self.permits_load {
            self.permit_load()?;
        }
        copied.sessions_ended += ended;
        copied.checkpoint = checkpoint(&mut connection)?;
        copied.took = begun.elapsed();
        Ok(copied)
    }

    /// Ends the sessions in the database and returns the server's next transaction id.
    ///
    /// As long as this id is unchanged, the rows are unchanged. `None` for attached servers, where other programs may
    /// write, and if a session does not end.
    pub fn end_sessions_and_read_xmax(&self) -> Result<Option<u64>, Error> {
        if self.ownership == ServerOwnership::Attached {
            return Ok(None);
        }
        let mut connection = connect_maintenance(&self.superuser, &self.database)?;
        for _ in 0..MAX_SETTLE_POLLS {
            if self.end_sessions(&mut connection, &self.database)? == 0 {
                let next = connection.value("select txid_snapshot_xmax(txid_current_snapshot())")?;
                return Ok(next.and_then(|it| it.parse().ok()));
            }
            sleep(POLL_INTERVAL);
        }
        Ok(None)
    }

    /// True if the server is attached.
    pub fn is_attached(&self) -> bool {
        self.ownership == ServerOwnership::Attached
    }

    /// Drops the template, unless it belongs to the user. The database does not change.
    pub fn drop_template(&self) -> Result<(), Error> {
        if self.is_users {
            return Ok(());
        }
        let mut connection = connect_maintenance(&self.superuser, &self.database)?;
        self.drop_old_template(&mut connection)
    }

    fn drop_old_template(&self, connection: &mut Connection) -> Result<(), Error> {
        if database_owner(connection, &self.template)?.is_none() {
            return Ok(());
        }
        if !is_ours(connection, &self.template)? {
            return Err(Error::ForeignDatabase { database: self.template.clone() });
        }
        connection
            .query(&format!("alter database {} with is_template false", quote_identifier(&self.template)))?;
        connection.query(&format!("drop database {}", quote_identifier(&self.template)))?;
        Ok(())
    }

    fn copy_database(&self, connection: &mut Connection, from: &str, to: &str) -> Result<CopyResult, Error> {
        // FILE_COPY does not use shared buffers; the alternative, WAL_LOG, writes everything twice.
        let strategy = if connection.server_version() >= 150_000 { " strategy file_copy" } else { "" };
        let sql = format!(
            "create database {} template {} owner {}{strategy}",
            quote_identifier(to),
            quote_identifier(from),
            quote_identifier(&self.owner)
        );
        let begun = Instant::now();
        let ended = self.run_without_sessions(connection, from, &sql)?;
        let copying = begun.elapsed();
        let bytes = connection.value(&format!("select pg_database_size({})", quote_literal(to)))?;
        let bytes = bytes.and_then(|it| it.parse().ok()).unwrap_or(0);
        Ok(CopyResult {
            took: copying,
            copy_duration: copying,
            checkpoint: None,
            sessions_ended: ended,
            bytes,
        })
    }

    /// Runs a statement that requires a database without sessions; returns the number of sessions that were ended.
    fn run_without_sessions(
        &self,
        connection: &mut Connection,
        database: &str,
        sql: &str,
    ) -> Result<u32, Error> {
        let mut ended = 0;
        for left in (0..MAX_ATTEMPTS).rev() {
            ended += self.end_sessions(connection, database)?;
            match connection.query(sql) {
                // The server has already waited 5 s for the sessions to end.
                Err(error) if left > 0 && error.code() == IN_USE => {}
                answer => return Ok(answer.map(|_| ended)?),
            }
        }
        unreachable!("the last attempt returns")
    }

    fn end_sessions(&self, connection: &mut Connection, database: &str) -> Result<u32, Error> {
        if self.is_users && database == self.template {
            user_template::check_no_session(connection, database)?;
            return Ok(0);
        }
        if self.ownership == ServerOwnership::Attached {
            check_unused(connection, database)?;
        }
        let ended =
            connection.query(&format!("select pg_terminate_backend(pid) {}", sessions_in(database)))?;
        Ok(ended.rows.len() as u32)
    }
}

fn template_of(database: &str) -> String {
    format!("{database}_template")
}

fn check_droppable(
    connection: &mut Connection,
    database: &str,
    ownership: ServerOwnership,
) -> Result<(), Error> {
    // Other programs use `postgres` and `template1`, even on a server that pgdyno started.
    let system = ["postgres", "template0", "template1"].contains(&database);
    if system {
        return Err(Error::ForeignDatabase { database: database.to_owned() });
    }
    if ownership == ServerOwnership::Attached && !is_ours(connection, database)? {
        return Err(Error::UnmarkedDatabase { database: database.to_owned() });
    }
    Ok(())
}

/// Builds `FROM` and `WHERE` clauses that select all sessions in a database except this session.
fn sessions_in(database: &str) -> String {
    let database = quote_literal(database);
    format!(
        "from pg_stat_activity where datname = {database} and pid <> pg_backend_pid() and backend_type = 'client backend'"
    )
}

/// Fails if a session in the database does not belong to pgdyno. Closing sessions have one second to end.
fn check_unused(connection: &mut Connection, database: &str) -> Result<(), Error> {
    let others = format!("{} and application_name not like 'pgdyno%'", sessions_in(database));
    match remaining_sessions(connection, &others)? {
        sessions if sessions.is_empty() => Ok(()),
        sessions => Err(Error::InUse { database: database.to_owned(), sessions }),
    }
}

/// Describes the selected sessions, which have one second to end; empty if all have ended.
fn remaining_sessions(connection: &mut Connection, from: &str) -> Result<Vec<String>, client::Error> {
    let sql = format!(
        "select concat('process ', pid, ', user ', usename, ', application ', application_name) {from}"
    );
    let mut sessions: Vec<String> = Vec::new();
    for _ in 0..MAX_SETTLE_POLLS {
        let answer = connection.query(&sql)?;
        sessions = answer.rows.into_iter().filter_map(|row| row.into_iter().next().flatten()).collect();
        if sessions.is_empty() {
            break;
        }
        sleep(POLL_INTERVAL);
    }
    Ok(sessions)
}

/// Fails if the database has a table that neither pgdyno nor an extension created.
fn check_no_foreign_table(superuser: &Target, database: &str) -> Result<(), Error> {
    let mut connection = superuser.in_database(database).open(CONNECT_TIMEOUT)?;
    let recorded = dataset::recorded_tables(&mut connection)?;
    let tables = connection.query(
        "select c.oid::regclass from pg_class c join pg_namespace n on n.oid = c.relnamespace \
         where c.relkind in ('r', 'p', 'm', 'v', 'f') and n.nspname !~ '^(pg_|pgdyno$|information_schema$)' \
         and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid \
         and d.deptype = 'e') order by c.oid",
    )?;
    let mut tables = tables.rows.into_iter().filter_map(|row| row.into_iter().next().flatten());
    match tables.find(|it| !recorded.contains(it)) {
        Some(table) => Err(Error::ForeignTable { database: database.to_owned(), table }),
        None => Ok(()),
    }
}

/// Opens a session in a database other than `database`, which can then be dropped.
fn connect_maintenance(superuser: &Target, database: &str) -> Result<Connection, Error> {
    let other = if database == "postgres" { "template1" } else { "postgres" };
    let mut connection = match superuser.in_database(other).open(CONNECT_TIMEOUT) {
        Err(error) if error.code() == NO_SUCH_DATABASE => {
            superuser.in_database("template1").open(CONNECT_TIMEOUT)?
        }
        answer => answer?,
    };
    // Copying may take longer than any timeout.
    connection.set_timeout(None);
    Ok(connection)
}

fn database_owner(connection: &mut Connection, database: &str) -> Result<Option<String>, client::Error> {
    let sql = format!(
        "select pg_get_userbyid(datdba) from pg_database where datname = {}",
        quote_literal(database)
    );
    connection.value(&sql)
}

fn set_allow_connections(
    connection: &mut Connection,
    database: &str,
    yes: bool,
) -> Result<(), client::Error> {
    connection
        .query(&format!("alter database {} with allow_connections {yes}", quote_identifier(database)))
        .map(drop)
}

fn comment_database(connection: &mut Connection, database: &str, suffix: &str) -> Result<(), Error> {
    set_comment(connection, database, &format!("{COMMENT_PREFIX}{suffix}"))
}

fn set_comment(connection: &mut Connection, database: &str, comment: &str) -> Result<(), Error> {
    let (database, comment) = (quote_identifier(database), quote_literal(comment));
    connection.query(&format!("comment on database {database} is {comment}"))?;
    Ok(())
}

/// Reads the comment of a database; `None` if it has none.
fn database_comment(connection: &mut Connection, database: &str) -> Result<Option<String>, client::Error> {
    let name = quote_literal(database);
    connection.value(&format!(
        "select shobj_description(oid, 'pg_database') from pg_database where datname = {name}"
    ))
}

fn is_ours(connection: &mut Connection, database: &str) -> Result<bool, client::Error> {
    Ok(database_comment(connection, database)?.is_some_and(|it| it.starts_with(COMMENT_PREFIX)))
}

/// Runs a checkpoint, so that its writes do not fall into the trial; `None` if the user is not permitted to run one.
fn checkpoint(connection: &mut Connection) -> Result<Option<Duration>, client::Error> {
    let begun = Instant::now();
    match connection.query("checkpoint") {
        Ok(_) => Ok(Some(begun.elapsed())),
        Err(error) if error.code() == FORBIDDEN => Ok(None),
        Err(error) => Err(error),
    }
}

impl From<client::Error> for Error {
    fn from(error: client::Error) -> Error {
        Error::Client(error)
    }
}

impl From<&Error> for Message {
    fn from(error: &Error) -> Message {
        match error {
            Error::Client(error) => error.into(),
            Error::MissingDatabase { database } => message!("restore-no-database", database),
            Error::ForeignDatabase { database } => message!("restore-foreign-database", database),
            Error::UnmarkedDatabase { database } => {
                message!(
                    "restore-unmarked-database",
                    database,
                    identifier = quote_identifier(database),
                    comment = OWNER_COMMENT
                )
            }
            Error::ForeignTable { database, table } => message!("restore-foreign-table", database, table),
            Error::InUse { database, sessions } => {
                message!("restore-in-use", database, sessions = sessions.join("\n  "))
            }
            Error::MissingTemplate { template } => message!("restore-no-template", template),
            Error::MeasuredTemplate { template } => message!("restore-same-template", template),
            Error::TemplateInUse { template, sessions } => {
                message!("restore-template-in-use", template, sessions = sessions.join("\n  "))
            }
            Error::NoCreateDb { user } => {
                message!("restore-no-createdb", user, identifier = quote_identifier(user))
            }
            Error::ForbiddenTemplate { user, template, owner } => {
                let identifier = quote_identifier(template);
                message!("restore-template-forbidden", user, template, owner, identifier)
            }
            Error::Files { path, error } => Message::of_file(path, error),
            Error::Server(error) => error.into(),
        }
    }
}
