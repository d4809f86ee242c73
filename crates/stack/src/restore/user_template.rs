//! Templates that belong to the user, and databases that pgdyno filled as a whole
//!
//! pgdyno never changes a template that belongs to the user, and ends no session in it. A database that contains a copy
//! of a template or of a dump has tables that pgdyno did not create one by one. Its comment therefore states that
//! pgdyno filled it.

use super::{
    CONNECT_TIMEOUT, CopyResult, Error, OWNER_COMMENT, ServerOwnership, Template, check_droppable,
    connect_maintenance, database_comment, database_owner, remaining_sessions, set_comment,
};
use crate::client::{Connection, Target};
use crate::dataset::{quote_identifier, quote_literal};
use crate::location::ALLOW_SCHEMA;

/// Comment on a marked database that pgdyno filled with a copy of other data. pgdyno may drop it with all its tables.
const FILLED_COMMENT: &str = "pgdyno: may be dropped, filled by pgdyno";

impl Template {
    /// Uses the database `template` of an attached server as the template of the marked database `database`. Checks all
    /// conditions of a copy; changes nothing.
    pub fn of_user(superuser: &Target, database: &str, template: &str) -> Result<Template, Error> {
        let mut connection = connect_maintenance(superuser, database)?;
        if database == template {
            return Err(Error::MeasuredTemplate { template: template.to_owned() });
        }
        check_permissions(&mut connection, template)?;
        check_droppable(&mut connection, database, ServerOwnership::Attached)?;
        let Some(owner) = database_owner(&mut connection, database)? else {
            return Err(Error::MissingDatabase { database: database.to_owned() });
        };
        check_no_session(&mut connection, template)?;
        let mut inside = superuser.in_database(database).open(CONNECT_TIMEOUT)?;
        let permits = inside.value(&format!("select to_regnamespace({})", quote_literal(ALLOW_SCHEMA)))?;
        Ok(Template {
            superuser: superuser.clone(),
            database: database.to_owned(),
            template: template.to_owned(),
            owner,
            ownership: ServerOwnership::Attached,
            comment: Some(FILLED_COMMENT.to_owned()),
            is_users: true,
            permits_load: permits.is_some(),
            creation: CopyResult::default(),
        })
    }

    /// Creates the database without tables, marked like the database that was dropped.
    pub(super) fn create_empty(&self, connection: &mut Connection) -> Result<(), Error> {
        let (database, owner) = (quote_identifier(&self.database), quote_identifier(&self.owner));
        connection.query(&format!("create database {database} owner {owner}"))?;
        set_comment(connection, &self.database, OWNER_COMMENT)?;
        if self.permits_load { self.permit_load() } else { Ok(()) }
    }

    /// Creates the schema that permits load, which the replaced database had.
    pub(super) fn permit_load(&self) -> Result<(), Error> {
        let mut inside = self.superuser.in_database(&self.database).open(CONNECT_TIMEOUT)?;
        inside.query(&format!("create schema if not exists {ALLOW_SCHEMA}"))?;
        Ok(())
    }
}

/// Replaces a database that pgdyno filled as a whole by an empty one. Does nothing to other databases.
pub fn empty_filled_database(superuser: &Target, database: &str) -> Result<(), Error> {
    let mut connection = connect_maintenance(superuser, database)?;
    if database_comment(&mut connection, database)?.as_deref() != Some(FILLED_COMMENT) {
        return Ok(());
    }
    // The empty database `template0` is as good a source as any other.
    let filled = Template { comment: None, ..Template::of_user(superuser, database, "template0")? };
    filled.run_without_sessions(
        &mut connection,
        database,
        &format!("drop database {}", quote_identifier(database)),
    )?;
    filled.create_empty(&mut connection)
}

/// Marks a database of an attached server as filled, so that the next run may drop it.
pub fn mark_filled(superuser: &Target, database: &str) -> Result<(), Error> {
    set_comment(&mut connect_maintenance(superuser, database)?, database, FILLED_COMMENT)
}

/// Fails if a session uses the template. The server itself ends autovacuum in it. Closing sessions have one second to
/// end.
pub(super) fn check_no_session(connection: &mut Connection, template: &str) -> Result<(), Error> {
    // Without the privilege to read statistics, the type of another user's session is NULL.
    let from = format!(
        "from pg_stat_activity where datname = {} and pid <> pg_backend_pid() \
         and backend_type is distinct from 'autovacuum worker'",
        quote_literal(template)
    );
    match remaining_sessions(connection, &from)? {
        sessions if sessions.is_empty() => Ok(()),
        sessions => Err(Error::TemplateInUse { template: template.to_owned(), sessions }),
    }
}

/// Checks that the user of the session may copy the template.
fn check_permissions(connection: &mut Connection, template: &str) -> Result<(), Error> {
    let sql = format!(
        "select rolname, rolsuper or rolcreatedb, rolsuper or datistemplate or pg_has_role(datdba, 'usage'), \
         pg_get_userbyid(datdba) from pg_roles left join pg_database on datname = {} where rolname = current_user",
        quote_literal(template)
    );
    let row = connection.query(&sql)?.rows.into_iter().next().unwrap_or_default();
    let text = |at: usize| row.get(at).cloned().flatten().unwrap_or_default();
    let user = text(0);
    if text(3).is_empty() {
        return Err(Error::MissingTemplate { template: template.to_owned() });
    }
    if text(1) != "t" {
        return Err(Error::NoCreateDb { user });
    }
    if text(2) != "t" {
        return Err(Error::ForbiddenTemplate { user, template: template.to_owned(), owner: text(3) });
    }
    Ok(())
}
