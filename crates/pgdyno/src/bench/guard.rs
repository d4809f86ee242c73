//! Checks before `bench` generates load on another machine or drops tables

use super::prepare::libpq_text;
use crate::cli::language;
use crate::cli::{CommandError, Terminal};
use crate::messages::one_line;
use stack::client::Connection;
use stack::location::Location;
use stack::other_runs;
use std::io::{IsTerminal, stderr, stdin};

/// Names of pgbench's tables, each with some of its columns.
const TABLES: [(&str, &str); 4] = [
    ("pgbench_accounts", "'aid', 'bid', 'abalance', 'filler'"),
    ("pgbench_branches", "'bid', 'bbalance', 'filler'"),
    ("pgbench_history", "'tid', 'bid', 'aid', 'delta', 'mtime', 'filler'"),
    ("pgbench_tellers", "'tid', 'bid', 'tbalance', 'filler'"),
];

/// Checks a server on another machine, unless the value of `--yes-load` contains it. `address` is `host:port`.
///
/// On a terminal, such a server is rejected, because the user can add the option. Otherwise, a warning is printed, so
/// that scripts written for pgbench continue to work.
pub fn check_load_allowed(
    location: &Location,
    address: &str,
    yes_load: Option<&str>,
    terminal: &Terminal,
) -> Result<(), CommandError> {
    if *location == Location::ThisMachine || is_named(yes_load, address) {
        return Ok(());
    }
    // Convert to one line, because the location may contain text from the server.
    let message =
        one_line(&format!("{address} {}, and would be put under load", language::selected().error(location)));
    if stdin().is_terminal() && stderr().is_terminal() {
        return Err(CommandError::new(message).with_hint(hint(address)));
    }
    terminal.warning(&message);
    terminal.hint(&hint(address));
    Ok(())
}

/// Warns if another pgdyno process uses the database, because the two loads would affect each other's results.
pub fn warn_if_shared(connection: &mut Connection, terminal: &Terminal) {
    // If this query fails, the load continues.
    if let Ok(Some(other)) = other_runs::find_other_run(connection) {
        terminal.warning(&one_line(&format!(
            "another pgdyno is running in this database ({other}): each measures the load of the other"
        )));
    }
}

/// Rejects an initialization that would drop tables of other programs: tables with pgbench's names, but other columns.
/// On a remote server that is not in `yes_load`, the initialization is rejected if any table has one of these names.
pub fn check_drop_allowed(
    connection: &mut Connection,
    location: &Location,
    address: &str,
    yes_load: Option<&str>,
) -> Result<(), CommandError> {
    let may = *location == Location::ThisMachine || is_named(yes_load, address);
    for (name, columns) in TABLES {
        let sql = format!(
            "select to_regclass('{name}'), count(*) from pg_attribute \
             where attrelid = to_regclass('{name}') and attname in ({columns}) and not attisdropped"
        );
        let answer = connection.query(&sql).map_err(|it| CommandError::new(libpq_text(&it)))?;
        let Some([Some(table), Some(count)]) = answer.rows.first().map(Vec::as_slice) else { continue };
        if count.parse() != Ok(columns.split(',').count()) {
            let message = format!(
                "table {table} does not have the columns of pgbench's table of that name, and is not dropped"
            );
            return Err(
                CommandError::new(message).with_hint("use another database, or drop the table yourself")
            );
        }
        if !may {
            let message = one_line(&format!(
                "{address} {}, and -i would drop its table {table}",
                language::selected().error(location)
            ));
            return Err(CommandError::new(message).with_hint(hint(address)));
        }
    }
    Ok(())
}

fn hint(address: &str) -> String {
    format!("if you may put load on this server, add --yes-load={address}")
}

/// True if the comma-separated list `yes_load` contains `address` or its host.
fn is_named(yes_load: Option<&str>, address: &str) -> bool {
    let host = address.rsplit_once(':').map_or(address, |it| it.0);
    let names = |it: &str| it.eq_ignore_ascii_case(address) || it.eq_ignore_ascii_case(host);
    yes_load.is_some_and(|hosts| hosts.split(',').any(|it| names(it.trim())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_hosts_match_with_and_without_port() {
        for (named, address, expected) in [
            (None, "db:5432", false),
            (Some("db"), "db:5432", true),
            (Some("DB"), "db:5432", true),
            (Some("db:5432"), "db:5432", true),
            (Some("a, db"), "db:5432", true),
            (Some("db:5433"), "db:5432", false),
            (Some("d"), "db:5432", false),
            (Some(""), "db:5432", false),
            (Some("/tmp"), "/tmp:5432", true),
            (Some("::1"), "::1:5432", true),
        ] {
            assert_eq!(is_named(named, address), expected, "{named:?} {address}");
        }
    }

    #[test]
    fn loads_local_servers_silently_and_remote_ones_only_if_named() {
        let terminal = Terminal { program: "bench".to_owned() };
        assert_eq!(check_load_allowed(&Location::ThisMachine, "localhost:5432", None, &terminal), Ok(()));
        assert_eq!(check_load_allowed(&Location::OtherMachine, "db:5432", Some("db"), &terminal), Ok(()));
    }
}
