//! Tables, foreign keys and sequences of a source database

use super::sample::{ForeignKey, Part, SourceTable};
use crate::client::{Connection, Error};
use std::collections::BTreeMap;

/// Tables that a dump contains, with lists separated by chr(1): outside the system's schemas, not of an extension, not temporary. On a standby, unlogged
/// tables cannot be read.
const TABLES: &str = "select c.oid, coalesce(pg_partition_root(c.oid)::oid, c.oid), format('%I.%I', n.nspname, c.relname), \
    c.relkind, (select string_agg(quote_ident(attname), chr(1) order by attnum) from pg_attribute \
      where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = ''), \
    (select string_agg(quote_ident(a.attname), chr(1) order by k.at) from pg_index i, \
      unnest(i.indkey::int[]) with ordinality k(number, at) join pg_attribute a on a.attnum = k.number \
      where i.indrelid = c.oid and i.indisprimary and a.attrelid = c.oid) \
    from pg_class c join pg_namespace n on n.oid = c.relnamespace \
    where c.relkind in ('r', 'p') and c.relpersistence <> 't' and n.nspname !~ '^(pg_|information_schema$|pgdyno$)' \
    and not (c.relpersistence = 'u' and pg_is_in_recovery()) and not exists (select from pg_depend d \
      where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e') order by 3";

/// Foreign keys, without those that the server derives for partitions. The operators compare the referenced column with
/// the referencing column.
const FOREIGN_KEYS: &str = "select f.conrelid, f.confrelid, k.at, quote_ident(a.attname), quote_ident(b.attname), \
    format('operator(%I.%s)', n.nspname, o.oprname), f.oid from pg_constraint f, \
    unnest(f.conkey::int[], f.confkey::int[], f.conpfeqop) with ordinality k(child, parent, operator, at), \
    pg_attribute a, pg_attribute b, pg_operator o, pg_namespace n \
    where f.contype = 'f' and f.conparentid = 0 and a.attrelid = f.conrelid and a.attnum = k.child \
    and b.attrelid = f.confrelid and b.attnum = k.parent and o.oid = k.operator and n.oid = o.oprnamespace \
    order by f.oid, k.at";

/// Reads tables and foreign keys. Partitions become parts of their partitioned table.
pub fn read(connection: &mut Connection) -> Result<(Vec<SourceTable>, Vec<ForeignKey>), Error> {
    let (mut tables, mut of_oid, mut partitions) = (Vec::<SourceTable>::new(), BTreeMap::new(), Vec::new());
    let rows = connection.query(TABLES)?.rows;
    let text = |row: &[Option<String>], at: usize| row[at].clone().unwrap_or_default();
    let list = |row: &[Option<String>], at: usize| -> Vec<String> {
        row[at].iter().flat_map(|it| it.split('\u{1}')).map(str::to_owned).collect()
    };
    for row in rows.iter().filter(|row| row[0] == row[1]) {
        of_oid.insert(text(row, 0), tables.len());
        let is_partitioned = text(row, 3) == "p";
        let (name, key) = (text(row, 2), list(row, 5));
        tables.push(SourceTable { name, key, is_partitioned, ..SourceTable::default() });
    }
    for row in &rows {
        let Some(&table) = of_oid.get(&text(row, 1)) else { continue };
        if row[0] != row[1] {
            partitions.push((text(row, 0), table));
        }
        if text(row, 3) == "r" {
            tables[table].parts.push(Part { name: text(row, 2), columns: list(row, 4) });
        }
    }
    let mut keys: Vec<(String, ForeignKey)> = Vec::new();
    for row in &connection.query(FOREIGN_KEYS)?.rows {
        let columns = (text(row, 3), text(row, 4), text(row, 5));
        if let Some((_, last)) = keys.last_mut().filter(|it| it.0 == text(row, 6)) {
            last.columns.push(columns);
            continue;
        }
        let partition = |oid: &str| partitions.iter().find(|it| it.0 == oid).map(|it| it.1);
        let mut table = |oid: String| {
            let of_partition = partition(&oid);
            if let Some(table) = of_partition {
                tables[table].is_forced = true;
            }
            of_partition.or_else(|| of_oid.get(&oid).copied())
        };
        let (Some(child), Some(parent)) = (table(text(row, 0)), table(text(row, 1))) else { continue };
        keys.push((text(row, 6), ForeignKey { child, parent, columns: vec![columns] }));
    }
    Ok((tables, keys.into_iter().map(|it| it.1).collect()))
}

/// Names of the sequences that belong to no extension, with their values and whether the value was used.
pub fn sequences(connection: &mut Connection) -> Result<Vec<(String, String, bool)>, Error> {
    let names = connection.query(
        "select format('%I.%I', n.nspname, c.relname) from pg_class c join pg_namespace n on n.oid = c.relnamespace \
         where c.relkind = 'S' and c.relpersistence <> 't' and n.nspname !~ '^(pg_|information_schema$|pgdyno$)' \
         and not (c.relpersistence = 'u' and pg_is_in_recovery()) and not exists (select from pg_depend d \
           where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e') order by 1",
    )?;
    let mut all = Vec::new();
    for name in names.rows.into_iter().filter_map(|row| row.into_iter().next().flatten()) {
        let row = connection.query(&format!("select last_value, is_called from {name}"))?.rows.remove(0);
        all.push((name, row[0].clone().unwrap_or_default(), row[1].as_deref() == Some("t")));
    }
    Ok(all)
}

/// Tables of extensions that contain the user's rows: name, columns, and the condition for these rows.
pub fn extension_tables(connection: &mut Connection) -> Result<Vec<(Part, String)>, Error> {
    let rows = connection.query(
        "select format('%I.%I', n.nspname, c.relname), (select string_agg(quote_ident(attname), chr(1) order by attnum) \
           from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = ''), condition \
         from pg_extension e, unnest(e.extconfig, e.extcondition) t(id, condition), pg_class c, pg_namespace n \
         where c.oid = t.id and n.oid = c.relnamespace and c.relkind = 'r' order by 1",
    )?;
    let part = |row: Vec<Option<String>>| {
        let [name, columns, condition] = <[Option<String>; 3]>::try_from(row).ok()?;
        let columns = columns.iter().flat_map(|it| it.split('\u{1}')).map(str::to_owned).collect();
        Some((Part { name: name?, columns }, condition.unwrap_or_default()))
    };
    Ok(rows.rows.into_iter().filter_map(part).collect())
}
