//! Section with the states of sessions, pools and servers

use super::context::PageContext;
use super::failover::has_several_cells;
use super::figure_table::{FigureColumn, non_empty_columns};
use crate::lang::Lang;
use crate::say;
use crate::view::{Block, Column, Table};
use model::Nanos;
use model::states::{CellStates, Gauge, PoolStates, ServerStates, SessionGroup};
use std::collections::BTreeSet;

/// Maximum number of rows of a cell in a table.
const ROWS_MAX: usize = 20;

/// Builds a folded table of sessions, of pools, and of the balancers' servers; empty if nothing was sampled.
pub fn blocks(case: &PageContext<'_>) -> Vec<Block> {
    let tables = [sessions(case), pools(case), servers(case)].into_iter().flatten();
    let folded = |table: Table| Block::Details {
        name: say!(case.lang, "logs-folded", name = table.caption.clone(), count = table.rows.len()),
        blocks: vec![Block::Table(table)],
    };
    tables.map(folded).collect()
}

/// Builds a table of the entries of the chosen cells, without empty columns; `None` without entries.
fn table<'a, T: 'a>(
    case: &PageContext<'a>,
    (caption, heading): (String, String),
    entries: impl Fn(&'a CellStates) -> &'a [T],
    first: impl Fn(&T) -> String,
    figures: Vec<FigureColumn<'_, T>>,
) -> Option<Table> {
    let chosen = case.account.states.iter().filter(|it| case.chosen.contains(&it.cell));
    let rows: Vec<(usize, &T)> =
        chosen.flat_map(|it| entries(it).iter().take(ROWS_MAX).map(|entry| (it.cell, entry))).collect();
    let entries: Vec<&T> = rows.iter().map(|it| it.1).collect();
    let mut table = non_empty_columns((Column { heading, ..Column::default() }, first), figures, &entries);
    if has_several_cells(case) {
        let heading = say!(case.lang, "tables-column-cell");
        table.columns.insert(0, Column { heading, ..Column::default() });
        for (row, (cell, _)) in table.rows.iter_mut().zip(&rows) {
            row.cells.insert(0, case.name(*cell).to_owned());
        }
    }
    table.caption = caption;
    (!rows.is_empty()).then_some(table)
}

/// Mean and maximum; empty without samples.
fn gauge(gauge: Option<Gauge>, lang: &Lang) -> String {
    let numbers = lang.numbers();
    let text = |Gauge { mean, max }: Gauge| {
        say!(lang, "states-gauge", mean = numbers.fixed(mean, 1), max = numbers.fixed(max, 0))
    };
    gauge.map_or(String::new(), text)
}

fn count(value: Option<f64>, lang: &Lang) -> String {
    value.map_or(String::new(), |it| lang.numbers().fixed(it, 0))
}

fn percent(share: Option<f64>, lang: &Lang) -> String {
    share.map_or(String::new(), |it| lang.numbers().percent(it, 0))
}

fn sessions(case: &PageContext<'_>) -> Option<Table> {
    let lang = case.lang;
    let figures: Vec<FigureColumn<'_, SessionGroup>> = vec![
        (say!(lang, "states-column-user"), 0, Box::new(|it| it.user.clone())),
        (say!(lang, "states-column-client"), 2, Box::new(|it| it.client.clone())),
        (say!(lang, "states-column-state"), 0, Box::new(|it| it.state.clone())),
        (say!(lang, "states-column-sessions"), 0, Box::new(move |it| gauge(Some(it.sessions), lang))),
    ];
    let nodes: BTreeSet<&str> =
        case.account.states.iter().flat_map(|it| &it.sessions).map(|it| it.node.as_str()).collect();
    let name = |group: &SessionGroup| match nodes.len() {
        0 | 1 => group.application.clone(),
        _ => format!("{}: {}", group.node, group.application),
    };
    let words = (say!(lang, "states-sessions"), say!(lang, "states-column-application"));
    let mut table = table(case, words, |it| &it.sessions, name, figures)?;
    let last = table.columns.len() - 1;
    table.columns[..last].iter_mut().for_each(|it| it.numeric = false);
    Some(table)
}

fn pools(case: &PageContext<'_>) -> Option<Table> {
    let lang = case.lang;
    let time = |seconds: f64| lang.time(Nanos::from_secs_f64(seconds));
    let wait = move |pool: &PoolStates| pool.longest_wait.map_or(String::new(), time);
    let figures: Vec<FigureColumn<'_, PoolStates>> = vec![
        (say!(lang, "states-column-clients-active"), 0, Box::new(move |it| gauge(it.clients_active, lang))),
        (say!(lang, "states-column-clients-waiting"), 0, Box::new(move |it| gauge(it.clients_waiting, lang))),
        (say!(lang, "states-column-longest-wait"), 0, Box::new(wait)),
        (say!(lang, "states-column-servers-active"), 0, Box::new(move |it| gauge(it.servers_active, lang))),
        (say!(lang, "states-column-servers-idle"), 1, Box::new(move |it| gauge(it.servers_idle, lang))),
        (say!(lang, "states-column-size"), 0, Box::new(move |it| count(it.size, lang))),
        (say!(lang, "states-column-reserve"), 4, Box::new(move |it| count(it.reserve, lang))),
        (say!(lang, "states-column-connections"), 3, Box::new(move |it| gauge(it.connections, lang))),
        (
            say!(lang, "states-column-paused"),
            4,
            Box::new(move |it| percent(it.paused.filter(|share| *share > 0.0), lang)),
        ),
    ];
    let name = |it: &PoolStates| format!("{}: {}", it.node, it.pool);
    let words = (say!(lang, "states-pools"), say!(lang, "states-column-pool"));
    table(case, words, |it| &it.pools, name, figures)
}

fn servers(case: &PageContext<'_>) -> Option<Table> {
    let lang = case.lang;
    let figures: Vec<FigureColumn<'_, ServerStates>> = vec![
        (say!(lang, "states-column-up"), 0, Box::new(move |it| percent(it.up, lang))),
        (say!(lang, "states-column-sessions"), 0, Box::new(move |it| gauge(it.sessions, lang))),
        (say!(lang, "states-column-begun"), 2, Box::new(move |it| count(it.begun, lang))),
        (say!(lang, "states-column-queue"), 0, Box::new(move |it| gauge(it.queue, lang))),
        (
            say!(lang, "states-column-connection-errors"),
            1,
            Box::new(move |it| count(it.connection_errors, lang)),
        ),
        (say!(lang, "states-column-response-errors"), 3, Box::new(move |it| count(it.response_errors, lang))),
        (say!(lang, "states-column-retries"), 4, Box::new(move |it| count(it.retries, lang))),
    ];
    let name = |it: &ServerStates| format!("{}: {}", it.node, it.server);
    let words = (say!(lang, "states-servers"), say!(lang, "states-column-server"));
    table(case, words, |it| &it.servers, name, figures)
}
