//! Planner statistics of a table

use crate::client::{Connection, Error};
use crate::dataset::quote_literal;
use model::explain::{ColumnStats, ExistingIndex, TableStats};

/// Reads the row count of one table, its columns, and its indexes' columns in their order.
pub(super) fn table_statistics(
    connection: &mut Connection,
    schema: &str,
    name: &str,
) -> Result<TableStats, Error> {
    let (of_schema, of_name) = (quote_literal(schema), quote_literal(name));
    let table_id = format!(
        "(select c.oid from pg_class c join pg_namespace n on n.oid = c.relnamespace \
         where n.nspname = {of_schema} and c.relname = {of_name})"
    );
    let size = connection.query(&format!(
        "select reltuples, pg_table_size(oid), pg_stat_get_live_tuples(oid), pg_stat_get_dead_tuples(oid), \
               pg_stat_get_mod_since_analyze(oid) from pg_class where oid = {table_id}"
    ))?;
    let columns = connection.query(&format!(
        "select a.attname, case when s.n_distinct < 0 then -s.n_distinct * c.reltuples else s.n_distinct end, \
           s.correlation \
         from pg_attribute a join pg_class c on c.oid = a.attrelid \
           left join pg_stats s on s.schemaname = {of_schema} and s.tablename = {of_name} \
             and s.attname = a.attname and not s.inherited \
         where a.attrelid = {table_id} and a.attnum > 0 and not a.attisdropped order by a.attnum"
    ))?;
    let indexes = connection.query(&format!(
        "select i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid, k, true), \
           (i.indpred is null and m.amname = 'btree' and i.indisvalid)::text \
         from pg_index i join pg_class c on c.oid = i.indexrelid join pg_am m on m.oid = c.relam, \
           generate_series(1, i.indnkeyatts) k \
         where i.indrelid = {table_id} order by 1, k"
    ))?;
    let size = size.rows.first().cloned().unwrap_or_default();
    let mut known: Vec<ExistingIndex> = Vec::new();
    for row in &indexes.rows {
        let [Some(name), Some(column), plain] = row.as_slice() else { continue };
        if known.last().is_none_or(|it| it.name != *name) {
            let plain = plain.as_deref() == Some("true");
            known.push(ExistingIndex { name: name.clone(), columns: Vec::new(), plain });
        }
        known.last_mut().expect("the loop adds an entry first").columns.push(unquote_identifier(column));
    }
    let column = |row: &Vec<Option<String>>| {
        let name = row.first()?.clone()?;
        Some(ColumnStats {
            name,
            distinct: parse_number(row.get(1)?),
            correlation: parse_number(row.get(2)?),
        })
    };
    let counter = |at: usize| size.get(at).and_then(parse_number);
    // A copied database has no counters yet.
    let is_counted = [2, 3, 4].iter().any(|at| counter(*at).is_some_and(|it| it > 0.0));
    let counter = |at: usize| counter(at).filter(|_| is_counted);
    Ok(TableStats {
        schema: schema.to_owned(),
        name: name.to_owned(),
        // The row count is negative if the table was never vacuumed or analyzed.
        rows: size.first().and_then(parse_number).unwrap_or(0.0).max(0.0),
        bytes: size.get(1).and_then(parse_number).unwrap_or(0.0) as u64,
        live_rows: counter(2),
        dead_rows: counter(3),
        changed_rows: counter(4),
        columns: columns.rows.iter().filter_map(column).collect(),
        indexes: known,
    })
}

fn parse_number(text: &Option<String>) -> Option<f64> {
    text.as_ref()?.parse().ok()
}

/// Column name without SQL's quotes.
fn unquote_identifier(name: &str) -> String {
    match name.strip_prefix('"').and_then(|it| it.strip_suffix('"')) {
        Some(inside) => inside.replace("\"\"", "\""),
        None => name.to_owned(),
    }
}
