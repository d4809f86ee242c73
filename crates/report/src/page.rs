//! Report of a run in one language, as a [view model](crate::view)

mod advice;
mod agents;
mod answer;
mod caveats;
mod charts;
mod context;
mod drawing;
mod environment;
mod failover;
mod fault_phases;
mod figure_table;
mod findings;
mod freshness;
mod heat_map;
mod logs;
mod maximum;
mod objectives;
mod overview;
mod plateau;
mod results;
mod scalability;
mod soak;
mod stages;
mod statements;
mod states;
mod steps;
mod tables;
mod time_parts;

pub use charts::{chart, mark};
pub(crate) use context::{charted, is_open};
pub(crate) use results::sizes;
pub(crate) use steps::{failures as step_failures, table as step_table};

use crate::lang::Lang;
use crate::say;
use crate::terms;
use crate::view::{Block, Section};
pub use crate::view::{Line, Page, Tone};
use context::PageContext;
use model::plan::PoolMode;
use model::run_result::RunResult;

/// Builds the report of a run in one language, without empty sections.
pub fn page(account: &RunResult, lang: &Lang) -> Page {
    let lang = lang.for_experiment(&account.experiment);
    let case = PageContext::new(account, lang);
    let mut matrix = Vec::new();
    if account.experiment.cells.len() > 1 {
        matrix.push(Block::Table(crate::matrix::table(&account.matrix, &account.findings, lang)));
        matrix.extend(heat_map::blocks(&case));
    }
    let sections = [
        ("goals", say!(lang, "page-goals"), objectives::blocks(&case)),
        ("stack", say!(lang, "page-stack"), drawing::blocks(&case)),
        ("failover", say!(lang, "failover-heading"), failover::blocks(&case)),
        ("freshness", say!(lang, "freshness-heading"), freshness::blocks(&case)),
        ("maximum", say!(lang, "search-heading-maximum"), maximum::blocks(&case)),
        ("scalability", say!(lang, "search-heading-scalability"), scalability::blocks(&case)),
        ("endured", say!(lang, "search-heading-soak"), soak::blocks(&case)),
        ("plateau", say!(lang, "search-heading-plateau"), plateau::blocks(&case)),
        ("results", say!(lang, "page-results"), [results::blocks(&case), steps::blocks(&case)].concat()),
        ("matrix", say!(lang, "page-matrix"), matrix),
        ("charts", say!(lang, "page-charts"), charts::blocks(&case)),
        ("agents", say!(lang, "agents-heading"), agents::blocks(&case)),
        ("statements", say!(lang, "page-statements"), statements::blocks(&case)),
        ("tables", say!(lang, "tables-heading"), tables::blocks(&case)),
        ("states", say!(lang, "states-heading"), states::blocks(&case)),
        ("logs", say!(lang, "logs-heading"), logs::blocks(&case)),
        ("advice", say!(lang, "page-advice"), advice::blocks(&case)),
        ("findings", say!(lang, "page-findings"), findings::blocks(&case)),
        ("doubts", say!(lang, "page-doubts"), caveats::blocks(&case)),
        ("stand", say!(lang, "page-environment"), environment::blocks(&case)),
        ("repeat", say!(lang, "page-repeat"), environment::repeat_blocks(&case)),
    ];
    let section = |(id, heading, blocks)| Section { id, heading, blocks };
    let mut sections: Vec<Section> =
        sections.into_iter().filter(|it| !it.2.is_empty()).map(section).collect();
    let overview = overview::overview(&case);
    let hops = account.matrix.rows.iter().flat_map(|it| &it.hops);
    let modes: Vec<PoolMode> = hops.filter_map(|it| it.mode).collect();
    sections.extend(terms::section(overview.as_ref(), &sections, &modes, lang));
    Page {
        lang: lang.code(),
        language: lang.name(),
        title: account.experiment.name.clone(),
        question: answer::question(&case),
        answer: answer::answer(&case, &account.matrix.doubts),
        overview,
        facts: answer::facts(&case),
        sections,
        words: script_words(lang),
    }
}

/// Builds the answer at the top of a run's page, in one sentence.
pub fn answer(account: &RunResult, lang: &Lang) -> Line {
    answer::answer(&PageContext::new(account, lang), &account.matrix.doubts)
}

/// Builds the short answer of a run: the sentence of its first screen, or the whole answer if nothing was measured.
pub fn headline(account: &RunResult, lang: &Lang) -> Line {
    let case = PageContext::new(account, lang);
    let whole = || answer::answer(&case, &account.matrix.doubts);
    overview::overview(&case).map_or_else(whole, |overview| overview.summary)
}

/// Short answer of a run, for the last lines of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShortAnswer {
    /// One line per pair of compared cells, or the sentence of the first screen, or the whole answer if nothing was
    /// measured.
    pub answer: Vec<String>,
    /// Verdict, and the number of valid trials; `None` if nothing was measured.
    pub verdict: Option<(String, String)>,
    /// Doubts of the first screen.
    pub doubts: Vec<String>,
}

/// Builds the short answer of a run.
pub fn short_answer(account: &RunResult, lang: &Lang) -> ShortAnswer {
    let case = PageContext::new(account, lang);
    let Some(overview) = overview::overview(&case) else {
        let answer = answer::answer(&case, &account.matrix.doubts).text;
        return ShortAnswer { answer: vec![answer], verdict: None, doubts: Vec::new() };
    };
    let verdict = overview::validity(&case);
    let answer = overview::lines(&case, &overview);
    let more = Some(overview.more_doubts).filter(|it| !it.is_empty());
    ShortAnswer {
        answer,
        verdict: Some((verdict.value, verdict.detail)),
        doubts: overview.doubts.into_iter().map(|it| it.text).chain(more).collect(),
    }
}

/// Builds the durability verdict of each cell, without details of trials. Empty without faults and ledgers.
pub(crate) fn failover_blocks(account: &RunResult, lang: &Lang) -> Vec<Block> {
    failover::summary_blocks(&PageContext::new(account, lang))
}

/// Indexes of the cells that the page shows in full.
pub(crate) fn chosen_cells(account: &RunResult, lang: &Lang) -> Vec<usize> {
    PageContext::new(account, lang).chosen
}

/// Indexes into [`charted`] of the representative trials of the [`chosen_cells`].
pub(crate) fn representative_trials(account: &RunResult, lang: &Lang) -> Vec<usize> {
    let case = PageContext::new(account, lang);
    case.chosen.iter().filter_map(|cell| case.trial_of(*cell)).collect()
}

/// Lists words that the page's script displays, by their keys.
pub fn script_words(lang: &Lang) -> Vec<(String, String)> {
    lang.catalogue().with_prefix("web-").collect()
}

/// Maximum number of trials that are shown without folding.
const TRIALS_SHOWN_MAX: usize = 12;

#[cfg(test)]
pub(crate) mod tests;
