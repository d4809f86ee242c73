//! A run of a bound document, with its page

use super::Element;
use super::elements::{self, from_blocks};
use crate::lang::Lang;
use crate::page::{Line, Page, Tone, page};
use crate::say;
use crate::view::{Block, ChartsBlock};
use model::run_result::{RunResult, RunState, TrialResult};
use model::search::StepPurpose;

pub struct RunView<'a> {
    pub result: &'a RunResult,
    pub page: Page,
    /// Variant of the language for the run's experiment.
    pub lang: &'a Lang,
    /// Name of the experiment; the name of the run if several runs have the same experiment.
    pub name: String,
}

impl<'a> RunView<'a> {
    /// Views of all runs, in their order.
    pub fn all(runs: &'a [RunResult], lang: &'a Lang) -> Vec<RunView<'a>> {
        let is_unique = |run: &RunResult| {
            runs.iter().filter(|other| other.experiment.name == run.experiment.name).count() == 1
        };
        let view = |result: &'a RunResult| RunView {
            result,
            page: page(result, lang),
            lang: lang.for_experiment(&result.experiment),
            name: if is_unique(result) { &result.experiment.name } else { &result.info.name }.clone(),
        };
        runs.iter().map(view).collect()
    }

    /// Blocks of a section of the page; empty if the page does not have it.
    pub fn blocks(&self, section: &str) -> &[Block] {
        self.page.sections.iter().find(|it| it.id == section).map_or(&[], |it| &it.blocks)
    }

    /// Elements of a section of the page.
    pub fn section(&self, section: &str) -> Vec<Element> {
        from_blocks(self.blocks(section), self.lang)
    }

    /// Heading of a section of the page; `None` if the page does not have it.
    pub fn heading(&self, section: &str) -> Option<&str> {
        self.page.sections.iter().find(|it| it.id == section).map(|it| it.heading.as_str())
    }

    /// Elements of the blocks of a section that `is_part` selects.
    pub fn part(&self, section: &str, is_part: impl Fn(&Block) -> bool) -> Vec<Element> {
        let blocks: Vec<Block> = self.blocks(section).iter().filter(|it| is_part(it)).cloned().collect();
        from_blocks(&blocks, self.lang)
    }

    /// Charts of the page; `None` if no trial has charts.
    pub fn charts(&self) -> Option<&ChartsBlock> {
        self.blocks("charts").iter().find_map(|block| match block {
            Block::Charts(charts) => Some(charts),
            _ => None,
        })
    }

    /// Trials of the unchanged setup with this purpose. The number is the index into [`ChartsBlock::trials`].
    pub fn charted_trials(&self, purpose: StepPurpose) -> Vec<(usize, &'a TrialResult)> {
        let is_kind = |trial: &TrialResult| {
            trial.step.as_ref().is_some_and(|it| it.purpose == purpose && it.perturbation.is_none())
        };
        crate::page::charted(self.result).enumerate().filter(|(_, trial)| is_kind(trial)).collect()
    }

    /// Sentences that qualify all figures of the run: its state, if it is not complete, and its invalid trials.
    pub fn qualifications(&self) -> Vec<Element> {
        let (lang, info) = (self.lang, &self.result.info);
        let mut lines = Vec::new();
        if info.state != RunState::Complete
            && let Some(state) = lang.state(info.state, info.reason.as_ref())
        {
            lines.push(say!(lang, "document-unfinished", state));
        }
        let ended: Vec<&TrialResult> = self.result.trials.iter().filter(|it| it.status.is_some()).collect();
        let invalid = ended.iter().filter(|it| !it.valid).count();
        if invalid > 0 {
            lines.push(say!(lang, "document-invalid-trials", invalid, total = ended.len()));
        }
        lines.into_iter().map(|text| elements::paragraph(&Line { text, tone: Tone::Bad })).collect()
    }
}
