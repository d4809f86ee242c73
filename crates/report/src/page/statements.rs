//! Section on statements by server time, compared with the baseline

use super::context::PageContext;
use super::figure_table::{FigureColumn, non_empty_columns};
use crate::say;
use crate::text::truncate;
use crate::view::{Block, Column};
use model::run_result::StatementStats;

/// Maximum number of characters that are shown of a statement's text.
const MOST: usize = 400;

pub fn blocks(case: &PageContext<'_>) -> Vec<Block> {
    let lang = case.lang;
    let statements =
        |cell: usize| case.account.cells.get(cell).map(|it| it.statements.as_slice()).unwrap_or_default();
    let mut blocks = Vec::new();
    for &cell in &case.chosen {
        let rows: Vec<&StatementStats> = statements(cell).iter().collect();
        if rows.is_empty() {
            continue;
        }
        let baseline = case.account.matrix.rows[cell].baseline;
        let known = |value: Option<f64>| value.map_or(String::new(), |value| lang.numbers().three(value));
        let percent = |it: f64| lang.number(&format!("{:.1}", 100.0 * it));
        let mut figures: Vec<FigureColumn<'_, StatementStats>> = vec![
            (say!(lang, "page-calls"), 2, Box::new(|it| lang.numbers().three(it.calls))),
            (say!(lang, "page-total-seconds"), 3, Box::new(|it| lang.numbers().three(it.total))),
            (say!(lang, "page-share-percent"), 1, Box::new(move |it| percent(it.share))),
            (say!(lang, "page-mean-milliseconds"), 0, Box::new(|it| lang.numbers().three(1e3 * it.mean))),
        ];
        if let Some(baseline) = baseline {
            let counterpart = move |statement: &StatementStats| {
                statements(baseline).iter().find(|other| other.text == statement.text)
            };
            let mean =
                move |statement: &StatementStats| known(counterpart(statement).map(|other| 1e3 * other.mean));
            figures.push((lang.mean_in(case.name(baseline)), 1, Box::new(mean)));
        }
        figures.extend([
            (
                say!(lang, "page-rows"),
                4,
                Box::new(|it: &StatementStats| lang.numbers().three(it.rows)) as Box<_>,
            ),
            (say!(lang, "page-blocks-hit"), 5, Box::new(move |it: &StatementStats| known(it.hit)) as Box<_>),
            (
                say!(lang, "page-blocks-read"),
                5,
                Box::new(move |it: &StatementStats| known(it.read)) as Box<_>,
            ),
        ]);
        let text = |it: &StatementStats| truncate(&it.text, MOST);
        let first = (Column { heading: say!(lang, "page-statement"), ..Column::default() }, text);
        let mut table = non_empty_columns(first, figures, &rows);
        table.caption = case.name(cell).to_owned();
        blocks.push(Block::Table(table));
    }
    blocks
}
