//! How does a database get back to what it held before the trial?
//!
//! One trial's updates slow the next one down, until the table is rewritten. So each begins with a copy of a template that
//! nobody may log in to.

mod state;
mod warmth;

pub use state::{Bloat, State, TableState, state};
pub use warmth::{Evicted, Warmth, cache, directory, evict, warm};

use crate::ask::{self, Connection, Target};
use crate::dataset::{literal, quoted};
use std::fmt;
use std::thread::sleep;
use std::time::{Duration, Instant};
use wire::Code;

/// Who else may be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// A server that we started: whoever is connected to our database came through us.
    Ours,
    /// One that was there before: only databases that [`create_database`] made are dropped, and only sessions whose
    /// `application_name` begins with `pgdyno` are ended.
    Attached,
}

/// A copy of a database, and the way back to it.
#[derive(Clone, Debug)]
pub struct Template {
    /// May create and drop databases; of a database beside ours.
    superuser: Target,
    database: String,
    template: String,
    owner: String,
    whose: Whose,
    /// What the database held when the copy was made.
    pub state: State,
    pub made: Copied,
}

/// What one copy cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copied {
    /// All of it.
    pub took: Duration,
    /// Of that, copying files.
    pub copying: Duration,
    /// Of that, the checkpoint, so that the trial does not pay for it; `None`: we may not ask for one.
    pub checkpoint: Option<Duration>,
    /// Sessions that were ended.
    pub ended: u32,
    /// Of the new copy.
    pub bytes: u64,
}

/// Why there is no copy.
#[derive(Debug)]
pub enum Error {
    Ask(ask::Error),
    /// There is no such database.
    Missing {
        database: String,
    },
    /// A database that we did not make; it would have to be dropped.
    Foreign {
        database: String,
    },
    /// Sessions that are not ours: process, user and application of each.
    InUse {
        database: String,
        sessions: Vec<String>,
    },
    /// Files of the server's that we could not reach.
    Files {
        path: std::path::PathBuf,
        error: std::io::Error,
    },
    /// The server did not come back.
    Server(crate::supervisor::Failure),
}

/// What databases of ours are commented with.
const MARK: &str = "pgdyno: ";
const PATIENCE: Duration = Duration::from_secs(30);
/// Of tries to get the last session out.
const TRIES: u32 = 5;
/// Looks at whether a session that was ended is gone, and the time between them.
const SETTLING: u32 = 50;
const BETWEEN: Duration = Duration::from_millis(20);
const IN_USE: Code = Code::SqlState(*b"55006");
const NO_SUCH_DATABASE: Code = Code::SqlState(*b"3D000");
const FORBIDDEN: Code = Code::SqlState(*b"42501");

/// Makes an empty database, marked as ours, so that it can be restored later. `owner` must be there.
pub fn create_database(superuser: &Target, database: &str, owner: &str) -> Result<(), Error> {
    let mut connection = maintenance(superuser, database)?;
    connection.query(&format!("create database {} owner {}", quoted(database), quoted(owner)))?;
    mark(&mut connection, database, "made to be measured")
}

impl Template {
    /// Whether [`make`](Template::make) may copy `database`: to be asked before anything is put into it.
    pub fn check(superuser: &Target, database: &str, whose: Whose) -> Result<(), Error> {
        let mut connection = maintenance(superuser, database)?;
        if owner(&mut connection, database)?.is_none() {
            return Err(Error::Missing { database: database.to_owned() });
        }
        may_drop(&mut connection, database, whose)?;
        let template = template_of(database);
        if owner(&mut connection, &template)?.is_some() && !marked(&mut connection, &template)? {
            return Err(Error::Foreign { database: template });
        }
        if whose == Whose::Attached {
            check_unused(&mut connection, database)?;
        }
        Ok(())
    }

    /// Copies `database` to `<database>_template`; an older copy of ours is dropped. Ends the sessions in `database`.
    ///
    /// `superuser` may be logged in to any database. Privileges and settings of the database itself (`GRANT … ON DATABASE`,
    /// `ALTER DATABASE … SET`) are no part of a copy.
    pub fn make(superuser: &Target, database: &str, whose: Whose) -> Result<Template, Error> {
        let begun = Instant::now();
        let mut connection = maintenance(superuser, database)?;
        let Some(owner) = owner(&mut connection, database)? else {
            return Err(Error::Missing { database: database.to_owned() });
        };
        let state = state(&mut superuser.in_database(database).open(PATIENCE)?)?;
        let template = template_of(database);
        let mut made = Template {
            superuser: superuser.clone(),
            database: database.to_owned(),
            template,
            owner,
            whose,
            state,
            made: Copied {
                took: Duration::ZERO,
                copying: Duration::ZERO,
                checkpoint: None,
                ended: 0,
                bytes: 0,
            },
        };
        may_drop(&mut connection, database, whose)?;
        made.discard_old(&mut connection)?;
        // Poolers connect again as soon as they are thrown out.
        allow(&mut connection, database, false)?;
        let copied = made.copy(&mut connection, database, &made.template);
        let allowed = allow(&mut connection, database, true);
        made.made = copied?;
        allowed?;
        mark(&mut connection, &made.template, &format!("template of {database}"))?;
        let sealed = format!(
            "alter database {} with is_template true allow_connections false",
            quoted(&made.template)
        );
        connection.query(&sealed)?;
        made.made.checkpoint = checkpoint(&mut connection)?;
        made.made.took = begun.elapsed();
        Ok(made)
    }

    /// Drops the database and copies the template in its place. Sessions in it are ended: poolers must not be asked to
    /// connect meanwhile, or may hold off afterwards (PgBouncer for its `server_login_retry` of 15 s).
    pub fn restore(&self) -> Result<Copied, Error> {
        let begun = Instant::now();
        let mut connection = maintenance(&self.superuser, &self.database)?;
        let mut ended = 0;
        // It may be missing: a restore before this one was cut short.
        if owner(&mut connection, &self.database)?.is_some() {
            may_drop(&mut connection, &self.database, self.whose)?;
            allow(&mut connection, &self.database, false)?;
            let force = if connection.server_version() >= 130_000 { " with (force)" } else { "" };
            // With force, sessions of others would be ended too.
            let force = if self.whose == Whose::Ours { force } else { "" };
            let sql = format!("drop database {}{force}", quoted(&self.database));
            let dropped = self.alone(&mut connection, &self.database, &sql);
            if dropped.is_err() {
                // It is still what it was; nobody shall be locked out of it.
                let _ = allow(&mut connection, &self.database, true);
            }
            ended = dropped?;
        }
        let mut copied = self.copy(&mut connection, &self.template, &self.database)?;
        if self.whose == Whose::Attached {
            mark(&mut connection, &self.database, "made to be measured")?;
        }
        copied.ended += ended;
        copied.checkpoint = checkpoint(&mut connection)?;
        copied.took = begun.elapsed();
        Ok(copied)
    }

    /// Ends the sessions in the database. Then, how far transactions that write have got on the whole server: while that is the
    /// same, so are the rows. `None` where others may be at work, or a session does not end.
    pub fn settle(&self) -> Result<Option<u64>, Error> {
        if self.whose == Whose::Attached {
            return Ok(None);
        }
        let mut connection = maintenance(&self.superuser, &self.database)?;
        for _ in 0..SETTLING {
            if self.end_sessions(&mut connection, &self.database)? == 0 {
                let next = connection.value("select txid_snapshot_xmax(txid_current_snapshot())")?;
                return Ok(next.and_then(|it| it.parse().ok()));
            }
            sleep(BETWEEN);
        }
        Ok(None)
    }

    /// Drops the template; the database stays as it is.
    pub fn discard(self) -> Result<(), Error> {
        let mut connection = maintenance(&self.superuser, &self.database)?;
        self.discard_old(&mut connection)
    }

    fn discard_old(&self, connection: &mut Connection) -> Result<(), Error> {
        if owner(connection, &self.template)?.is_none() {
            return Ok(());
        }
        if !marked(connection, &self.template)? {
            return Err(Error::Foreign { database: self.template.clone() });
        }
        connection.query(&format!("alter database {} with is_template false", quoted(&self.template)))?;
        connection.query(&format!("drop database {}", quoted(&self.template)))?;
        Ok(())
    }

    fn copy(&self, connection: &mut Connection, from: &str, to: &str) -> Result<Copied, Error> {
        // Copies files as they are and leaves the server's cache alone; the other way, by WAL, writes everything twice.
        let strategy = if connection.server_version() >= 150_000 { " strategy file_copy" } else { "" };
        let sql = format!(
            "create database {} template {} owner {}{strategy}",
            quoted(to),
            quoted(from),
            quoted(&self.owner)
        );
        let begun = Instant::now();
        let ended = self.alone(connection, from, &sql)?;
        let copying = begun.elapsed();
        let bytes = connection.value(&format!("select pg_database_size({})", literal(to)))?;
        let bytes = bytes.and_then(|it| it.parse().ok()).unwrap_or(0);
        Ok(Copied { took: copying, copying, checkpoint: None, ended, bytes })
    }

    /// Runs a statement that needs a database without sessions; how many were ended.
    fn alone(&self, connection: &mut Connection, database: &str, sql: &str) -> Result<u32, Error> {
        let mut ended = 0;
        for left in (0..TRIES).rev() {
            ended += self.end_sessions(connection, database)?;
            match connection.query(sql) {
                // The server has waited 5 s for them.
                Err(error) if left > 0 && error.code() == IN_USE => {}
                answer => return Ok(answer.map(|_| ended)?),
            }
        }
        unreachable!("the last try returns")
    }

    fn end_sessions(&self, connection: &mut Connection, database: &str) -> Result<u32, Error> {
        if self.whose == Whose::Attached {
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

fn may_drop(connection: &mut Connection, database: &str, whose: Whose) -> Result<(), Error> {
    // `postgres`, `template1`: others rely on them, even on a server of ours.
    let system = ["postgres", "template0", "template1"].contains(&database);
    if system || (whose == Whose::Attached && !marked(connection, database)?) {
        return Err(Error::Foreign { database: database.to_owned() });
    }
    Ok(())
}

/// `FROM` and `WHERE` of all sessions in a database but our own.
fn sessions_in(database: &str) -> String {
    let database = literal(database);
    format!(
        "from pg_stat_activity where datname = {database} and pid <> pg_backend_pid() and backend_type = 'client backend'"
    )
}

/// Nobody but pgdyno is connected to the database.
fn check_unused(connection: &mut Connection, database: &str) -> Result<(), Error> {
    let others = connection.query(&format!(
        "select concat('process ', pid, ', user ', usename, ', application ', application_name) {} \
         and application_name not like 'pgdyno%'",
        sessions_in(database)
    ))?;
    let sessions: Vec<String> =
        others.rows.into_iter().filter_map(|row| row.into_iter().next().flatten()).collect();
    if sessions.is_empty() { Ok(()) } else { Err(Error::InUse { database: database.to_owned(), sessions }) }
}

/// A session beside the database that is to be dropped.
fn maintenance(superuser: &Target, database: &str) -> Result<Connection, Error> {
    let beside = if database == "postgres" { "template1" } else { "postgres" };
    let mut connection = match superuser.in_database(beside).open(PATIENCE) {
        Err(error) if error.code() == NO_SUCH_DATABASE => {
            superuser.in_database("template1").open(PATIENCE)?
        }
        answer => answer?,
    };
    // Copying takes as long as it takes.
    connection.patience(None).map_err(|it| connection.net(it))?;
    Ok(connection)
}

fn owner(connection: &mut Connection, database: &str) -> Result<Option<String>, ask::Error> {
    let sql =
        format!("select pg_get_userbyid(datdba) from pg_database where datname = {}", literal(database));
    connection.value(&sql)
}

fn allow(connection: &mut Connection, database: &str, yes: bool) -> Result<(), ask::Error> {
    connection.query(&format!("alter database {} with allow_connections {yes}", quoted(database))).map(drop)
}

fn mark(connection: &mut Connection, database: &str, what: &str) -> Result<(), Error> {
    let comment = literal(&format!("{MARK}{what}"));
    connection.query(&format!("comment on database {} is {comment}", quoted(database)))?;
    Ok(())
}

fn marked(connection: &mut Connection, database: &str) -> Result<bool, ask::Error> {
    let sql = format!(
        "select shobj_description(oid, 'pg_database') like '{MARK}%' from pg_database where datname = {}",
        literal(database)
    );
    Ok(connection.value(&sql)?.as_deref() == Some("t"))
}

/// Writes out what would be written during the trial; `None` without the right to.
fn checkpoint(connection: &mut Connection) -> Result<Option<Duration>, ask::Error> {
    let begun = Instant::now();
    match connection.query("checkpoint") {
        Ok(_) => Ok(Some(begun.elapsed())),
        Err(error) if error.code() == FORBIDDEN => Ok(None),
        Err(error) => Err(error),
    }
}

impl From<ask::Error> for Error {
    fn from(error: ask::Error) -> Error {
        Error::Ask(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Ask(it) => it.fmt(f),
            Error::Missing { database } => write!(f, "there is no database {database}"),
            Error::Foreign { database } => write!(
                f,
                "database {database} was not made by pgdyno, and is not dropped: name one that is not there yet"
            ),
            Error::InUse { database, sessions } => write!(
                f,
                "database {database} is in use by others; end their sessions, or name another database:\n  {}",
                sessions.join("\n  ")
            ),
            Error::Files { path, error } => write!(f, "{}: {error}", path.display()),
            Error::Server(it) => it.fmt(f),
        }
    }
}

impl std::error::Error for Error {}
