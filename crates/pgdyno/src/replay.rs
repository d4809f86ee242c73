//! Replay of other stop rules on the trials of a stored run

use crate::check::parse_rule;
use crate::cli::CommandError;
use analysis::verdict::rule::{Rule, RuleContext};
use model::plan::Experiment;
use report::lang::Lang;
use report::say;
use serde::Deserialize;
use std::fmt::Write as _;
use std::path::Path;
use store::{Run, State};

/// Report with one line per trial and rule. The rules are evaluated by the same code as during a run.
pub fn render(path: &Path, rules: &[String], lang: &Lang) -> Result<String, CommandError> {
    let run = Run::open(path)?;
    let header = run.header()?;
    let experiment = Experiment::deserialize(&header.experiment).map_err(|error| {
        let (path, error) = (path.display().to_string(), error.to_string());
        CommandError::new(say!(lang, "runs-other-version", path, error))
    })?;
    let mut out = String::new();
    for recorded in run.trials()? {
        let trial = &recorded.trial;
        let context = RuleContext::for_setup(&experiment.cells[trial.cell as usize].setup);
        let mut active_rules = rules
            .iter()
            .map(|rule| parse(rule, &context, lang))
            .collect::<Result<Vec<Rule>, CommandError>>()?;
        let mut fired = vec![None; rules.len()];
        let mut ticks = run.ticks(recorded.id)?;
        // The last tick of a completed trial is the partial second at its end.
        let rest = usize::from(matches!(recorded.state, State::Ended(_)));
        while ticks.remaining() > rest {
            let Some(tick) = ticks.next() else { break };
            let tick = tick?;
            for (rule, fired) in active_rules.iter_mut().zip(&mut fired) {
                *fired = fired.take().or_else(|| rule.tick(&tick));
            }
        }
        let name: Vec<&str> = trial.label.iter().map(|it| it.1.as_str()).collect();
        let repetition = (trial.repetition + 1).to_string();
        let name = say!(lang, "runs-repetition", cell = name.join("/"), repetition);
        for (rule, fired) in rules.iter().zip(&fired) {
            let outcome = match fired {
                Some(fired) => lang.fired(fired),
                None => say!(lang, "runs-not-fired", rule),
            };
            let _ = writeln!(out, "{name}: {outcome}");
        }
    }
    Ok(out)
}

fn parse(text: &str, context: &RuleContext, lang: &Lang) -> Result<Rule, CommandError> {
    parse_rule(text, context).map(|parsed| parsed.rule).map_err(|diagnostic| {
        let column = text[..diagnostic.span.start].chars().count() + 1;
        let error = lang.message(&diagnostic.message);
        let hint = lang.help(&diagnostic.message);
        CommandError::usage(say!(lang, "runs-rule-error", rule = text, column, error)).with_hint(hint)
    })
}
