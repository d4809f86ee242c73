//! Section on soaks: leaks and drift

use super::context::PageContext;
use super::maximum::capitalise;
use crate::say;
use crate::view::{Block, Column, Line, Row, Table, Tone};
use model::plan::LoadScale;
use model::run_result::RunState;
use model::search::{FittedValue, LevelOutcome, SoakResult, Trend, TrendMetric, TrendVerdict};

/// Share of the maximum below which a soak proves little.
const MAXIMUM_SHARE_MIN: f64 = 0.5;

pub fn blocks(case: &PageContext<'_>) -> Vec<Block> {
    let mut blocks = Vec::new();
    for soak in &case.account.soaks {
        blocks.push(Block::Text(line(case, soak)));
        blocks.extend(low_level_note(case, soak).map(Block::Text));
        blocks.extend(trends(case, &soak.trends).map(Block::Table));
    }
    blocks
}

/// The run's answer about soaks, for every cell.
pub fn answer(case: &PageContext<'_>) -> Option<Line> {
    let endured = &case.account.soaks;
    endured.first()?;
    let lines: Vec<Line> = endured
        .iter()
        .flat_map(|it| [Some(line(case, it)), low_level_note(case, it)].into_iter().flatten())
        .collect();
    let complete = case.account.info.state == RunState::Complete;
    let has_tone = |tone| lines.iter().any(|it| it.tone == tone);
    let tone = match (has_tone(Tone::Bad), has_tone(Tone::Doubt) || !complete) {
        (true, _) => Tone::Bad,
        (false, true) => Tone::Doubt,
        (false, false) => Tone::Good,
    };
    Some(Line { text: lines.into_iter().map(|it| it.text).collect::<Vec<_>>().join(" "), tone })
}

fn line(case: &PageContext<'_>, soak: &SoakResult) -> Line {
    let several = case.account.experiment.cells.len() > 1;
    let name = if several { case.name(soak.cell) } else { "" };
    let has = |verdict| soak.trends.iter().any(|it| it.verdict == verdict);
    let tone = match &soak.outcome {
        LevelOutcome::Sustained if has(TrendVerdict::Leak) => Tone::Bad,
        LevelOutcome::Sustained if has(TrendVerdict::Drift) || has(TrendVerdict::Unknown) => Tone::Doubt,
        LevelOutcome::Sustained => Tone::Good,
        LevelOutcome::NotSustained { .. } | LevelOutcome::Invalid { .. } => Tone::Bad,
    };
    let text = case.lang.soak_result(soak, scale(case, soak), name);
    Line { text: if several { text } else { capitalise(&text) }, tone }
}

/// Scale of the soak's level: the scale of the cell's maximum. Without a maximum, the scale of the cell's load.
fn scale(case: &PageContext<'_>, soak: &SoakResult) -> LoadScale {
    let searched = case.account.maxima.iter().find(|maximum| maximum.cell == soak.cell);
    let of_load =
        if super::context::is_open(case.account, soak.cell) { LoadScale::Rate } else { LoadScale::Clients };
    searched.map_or(of_load, |it| it.answer.scale)
}

fn low_level_note(case: &PageContext<'_>, soak: &SoakResult) -> Option<Line> {
    let share = soak.share_of_maximum.filter(|it| *it < MAXIMUM_SHARE_MIN)?;
    Some(Line { text: case.lang.low_level_warning(share), tone: Tone::Doubt })
}

fn trends(case: &PageContext<'_>, all: &[Trend]) -> Option<Table> {
    all.first()?;
    let lang = case.lang;
    let text = |heading| Column { heading, ..Column::default() };
    let number = |heading, drop_order| Column { numeric: true, drop_order, ..text(heading) };
    let row = |trend: &Trend| Row {
        cells: vec![
            lang.trend_metric(&trend.metric),
            lang.trend_value(&trend.metric, trend.start),
            lang.trend_value(&trend.metric, trend.end),
            per_hour(case, &trend.metric, &trend.per_hour),
            lang.trend_verdict(trend.verdict),
        ],
        tone: match trend.verdict {
            TrendVerdict::Leak => Tone::Bad,
            TrendVerdict::Drift => Tone::Doubt,
            TrendVerdict::Steady => Tone::Plain,
            TrendVerdict::Unknown => Tone::Faint,
        },
        baseline: false,
    };
    Some(Table {
        columns: vec![
            text(say!(lang, "search-column-metric")),
            number(say!(lang, "search-column-from"), 2),
            number(say!(lang, "search-column-to"), 2),
            number(say!(lang, "search-column-per-hour"), 1),
            text(say!(lang, "search-column-trend")),
        ],
        rows: all.iter().map(row).collect(),
        ..Table::default()
    })
}

/// Formats a slope with its interval, in the metric's unit per hour.
fn per_hour(case: &PageContext<'_>, metric: &TrendMetric, slope: &FittedValue) -> String {
    let amount = |it| case.lang.trend_value(metric, it);
    let among = case.lang.numbers().among();
    let range = slope
        .interval
        .map_or(String::new(), |(low, high)| format!(" [{}{among}{}]", amount(low), amount(high)));
    format!("{}{range}", amount(slope.value))
}
