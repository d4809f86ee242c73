//! What is in the database before the run, and is it vacuumed?

use super::options::Vacuum;
use crate::voice::{Trouble, Voice};
use model::Code;
use model::summary::{PartitionMethod, Partitions};
use stack::ask::{Connection, Error};

/// pgbench's tables, as the built-in scripts need them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tables {
    /// Number of branches.
    pub scale: u32,
    pub partitions: Option<Partitions>,
}

/// Looks at pgbench's tables. `database` is named in messages.
pub fn survey(connection: &mut Connection, database: &str, program: &str) -> Result<Tables, Trouble> {
    let initialise =
        format!("Perhaps you need to do initialization (\"{program} -i\") in database \"{database}\".");
    let branches = connection.value("select count(*) from pgbench_branches").map_err(|error| {
        let trouble = Trouble::new(format!("could not count number of branches: {}", words(&error)));
        if error.code() == UNDEFINED_TABLE { trouble.hint(&initialise) } else { trouble }
    })?;
    let scale = branches.and_then(|it| it.parse().ok()).unwrap_or(0);
    let partitions = match connection.query(PARTITIONS) {
        // A server too old for partitions has none.
        Err(Error::Server(_)) => None,
        Err(error) => return Err(Trouble::new(words(&error))),
        Ok(answer) => match answer.rows.first().map(Vec::as_slice) {
            None => {
                let what = "no pgbench_accounts table found in search_path";
                return Err(Trouble::new(what).hint(initialise));
            }
            Some([Some(method), Some(count)]) => partitions(method, count)?,
            Some(_) => None,
        },
    };
    Ok(Tables { scale, partitions })
}

const UNDEFINED_TABLE: Code = Code::SqlState(*b"42P01");

/// Of the first `pgbench_accounts` in the search path: how it is partitioned, and into how many.
const PARTITIONS: &str = "\
    select p.partstrat, count(i.inhrelid) \
    from pg_catalog.pg_class c \
    left join pg_catalog.pg_partitioned_table p on p.partrelid = c.oid \
    left join pg_catalog.pg_inherits i on i.inhparent = c.oid \
    where c.oid = pg_catalog.to_regclass('pgbench_accounts') \
    group by 1";

fn partitions(method: &str, count: &str) -> Result<Option<Partitions>, Trouble> {
    let method = match method {
        "r" => PartitionMethod::Range,
        "h" => PartitionMethod::Hash,
        other => return Err(Trouble::new(format!("unexpected partition method: \"{other}\""))),
    };
    Ok(Some(Partitions { method, count: count.parse().unwrap_or(0) }))
}

/// Vacuums, and says so. What the server refuses is told and passed over, as pgbench does.
pub fn vacuum(connection: &mut Connection, what: Vacuum, voice: &Voice) {
    let mut run = |sql: &str| {
        if let Err(error) = connection.query(sql) {
            voice.error(&words(&error));
            voice.detail("(ignoring this error and continuing anyway)");
        }
    };
    if what == Vacuum::Nothing {
        return;
    }
    err!("starting vacuum...");
    run("vacuum pgbench_branches");
    run("vacuum pgbench_tellers");
    run("truncate pgbench_history");
    errln!("end.");
    if what == Vacuum::All {
        err!("starting vacuum pgbench_accounts...");
        run("vacuum analyze pgbench_accounts");
        errln!("end.");
    }
}

/// What went wrong, in libpq's form.
pub fn words(error: &Error) -> String {
    match error {
        Error::Server(it) => {
            let mut out = format!("{}:  {}", it.severity, it.message);
            it.detail.iter().for_each(|it| out += &format!("\nDETAIL:  {it}"));
            it.hint.iter().for_each(|it| out += &format!("\nHINT:  {it}"));
            out
        }
        other => other.to_string(),
    }
}
