//! Replay of other stop rules on the trials of a stored run

use crate::check::parse_rule;
use crate::cli::CommandError;
use analysis::verdict::rule::{Rule, RuleContext};
use model::plan::Experiment;
use report::lang::english;
use serde::Deserialize;
use std::fmt::Write as _;
use std::path::Path;
use store::{Run, State};

/// Report with one line per trial and rule. The engine is the one that evaluates rules during a run.
pub fn render(path: &Path, rules: &[String]) -> Result<String, CommandError> {
    let trouble = |it: store::Error| CommandError::new(it.to_string());
    let run = Run::open(path).map_err(trouble)?;
    let header = run.header().map_err(trouble)?;
    let experiment = Experiment::deserialize(&header.experiment).map_err(|it| {
        CommandError::new(format!("{} was written by another version: {it}", path.display()))
    })?;
    let mut out = String::new();
    for recorded in run.trials().map_err(trouble)? {
        let trial = &recorded.trial;
        let scene = RuleContext::for_setup(&experiment.cells[trial.cell as usize].setup);
        let mut watching =
            rules.iter().map(|it| parse(it, &scene)).collect::<Result<Vec<Rule>, CommandError>>()?;
        let mut fired = vec![None; rules.len()];
        let mut ticks = run.ticks(recorded.id).map_err(trouble)?;
        // The last tick of a completed trial is the partial second at its end.
        let rest = usize::from(matches!(recorded.state, State::Ended(_)));
        while ticks.remaining() > rest {
            let Some(tick) = ticks.next() else { break };
            let tick = tick.map_err(trouble)?;
            for (rule, fired) in watching.iter_mut().zip(&mut fired) {
                *fired = fired.take().or_else(|| rule.tick(&tick));
            }
        }
        let name: Vec<&str> = trial.label.iter().map(|it| it.1.as_str()).collect();
        let name = format!("{}, repeat {}", name.join("/"), trial.repetition + 1);
        for (rule, fired) in rules.iter().zip(&fired) {
            let what = fired
                .as_ref()
                .map_or_else(|| format!("{rule} would not have fired"), |it| english().fired(it));
            let _ = writeln!(out, "{name}: {what}");
        }
    }
    Ok(out)
}

fn parse(text: &str, scene: &RuleContext) -> Result<Rule, CommandError> {
    parse_rule(text, scene).map(|it| it.rule).map_err(|it| {
        let at = it.offset + 1;
        CommandError::new(format!("`{text}`, column {at}: {}", it.found))
            .with_hint(format!("write {}", it.hint))
    })
}
