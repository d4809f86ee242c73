//! Inspection and vacuum of the database before a run

use super::options::Vacuum;
use crate::cli::language;
use crate::cli::{CommandError, Terminal};
use crate::messages::one_line;
use model::Code;
use model::summary::{PartitionMethod, Partitions};
use stack::client::{Connection, Error};

/// Facts about pgbench's tables that the built-in scripts need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tables {
    /// Number of branches.
    pub scale: u32,
    pub partitions: Option<Partitions>,
}

/// Inspects pgbench's tables. Messages contain `database`.
pub fn inspect_tables(
    connection: &mut Connection,
    database: &str,
    program: &str,
) -> Result<Tables, CommandError> {
    let initialise =
        format!("Perhaps you need to do initialization (\"{program} -i\") in database \"{database}\".");
    let branches = connection.value("select count(*) from pgbench_branches").map_err(|error| {
        let command_error =
            CommandError::new(format!("could not count number of branches: {}", libpq_text(&error)));
        if error.code() == UNDEFINED_TABLE { command_error.with_hint(&initialise) } else { command_error }
    })?;
    let scale = branches.and_then(|it| it.parse().ok()).unwrap_or(0);
    let partitions = match connection.query(PARTITIONS) {
        // A server that is too old for partitioned tables rejects the query.
        Err(Error::Server(_)) => None,
        Err(error) => return Err(CommandError::new(libpq_text(&error))),
        Ok(answer) => match answer.rows.first().map(Vec::as_slice) {
            None => {
                let message = "no pgbench_accounts table found in search_path";
                return Err(CommandError::new(message.to_owned()).with_hint(initialise));
            }
            Some([Some(method), Some(count)]) => partitions(method, count)?,
            Some(_) => None,
        },
    };
    Ok(Tables { scale, partitions })
}

const UNDEFINED_TABLE: Code = Code::SqlState(*b"42P01");

/// Query for the partitioning strategy and the number of partitions of the first `pgbench_accounts` in the search path.
const PARTITIONS: &str = "\
    select p.partstrat, count(i.inhrelid) \
    from pg_catalog.pg_class c \
    left join pg_catalog.pg_partitioned_table p on p.partrelid = c.oid \
    left join pg_catalog.pg_inherits i on i.inhparent = c.oid \
    where c.oid = pg_catalog.to_regclass('pgbench_accounts') \
    group by 1";

fn partitions(method: &str, count: &str) -> Result<Option<Partitions>, CommandError> {
    let method = match method {
        "r" => PartitionMethod::Range,
        "h" => PartitionMethod::Hash,
        other => return Err(CommandError::new(format!("unexpected partition method: \"{other}\""))),
    };
    Ok(Some(Partitions { method, count: count.parse().unwrap_or(0) }))
}

/// Vacuums the tables. Errors that the server reports are printed and ignored, as in pgbench.
pub fn vacuum(connection: &mut Connection, scope: Vacuum, terminal: &Terminal) {
    let mut run = |sql: &str| {
        if let Err(error) = connection.query(sql) {
            terminal.error(&libpq_text(&error));
            terminal.detail("(ignoring this error and continuing anyway)");
        }
    };
    if scope == Vacuum::Nothing {
        return;
    }
    err!("starting vacuum...");
    run("vacuum pgbench_branches");
    run("vacuum pgbench_tellers");
    run("truncate pgbench_history");
    errln!("end.");
    if scope == Vacuum::All {
        err!("starting vacuum pgbench_accounts...");
        run("vacuum analyze pgbench_accounts");
        errln!("end.");
    }
}

/// Text of an error in libpq's form. Each part of the server's text is one line.
pub fn libpq_text(error: &Error) -> String {
    match error {
        Error::Server(server_error) => {
            let mut out =
                format!("{}:  {}", one_line(&server_error.severity), one_line(&server_error.message));
            server_error.detail.iter().for_each(|it| out += &format!("\nDETAIL:  {}", one_line(it)));
            server_error.hint.iter().for_each(|it| out += &format!("\nHINT:  {}", one_line(it)));
            out
        }
        other => language::selected().error(other),
    }
}
