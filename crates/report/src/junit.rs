//! How does continuous integration learn which objectives were kept?
//!
//! A test case for each objective of each cell, one for what outlived its faults, one for reads that were promised to be fresh, and
//! one for each trial: a broken objective, a broken promise, an invalid trial, one in which nothing succeeded for a while, and one whose
//! load did not pass through all nodes of its stack are failures, what could not be told is skipped.

use crate::findings::unused;
use crate::html::escaped;
use crate::lang::Lang;
use crate::lang::failover::Outlived;
use crate::lang::freshness::Fresh;
use crate::lang::page::Term;
use crate::matrix::names;
use crate::page::text::visible;
use model::account::{Account, TrialAccount};
use model::durability::Conclusion;
use model::matrix::Status;
use model::objective::{Judged, Verdict};
use model::summary::Doubt;

/// A document as Jenkins, GitLab and others read it; `answer`: that of the page.
pub fn junit(account: &Account, answer: &str, lang: &dyn Lang) -> String {
    let names = names(&account.matrix);
    let name = |cell: usize| match names.get(cell).map_or("", String::as_str) {
        "" => lang.term(Term::OnlyCell),
        name => name,
    };
    let mut objectives = Suite::new(lang.term(Term::Objectives));
    for (cell, of) in account.experiment.cells.iter().enumerate() {
        let trials = || account.trials.iter().filter(move |it| it.cell == cell && it.valid);
        for (at, objective) in of.setup.objectives.iter().enumerate() {
            let judged: Vec<&Judged> = trials().filter_map(|it| it.judged.get(at)).collect();
            objectives.case(&account.experiment.name, name(cell), objective, judgement(&judged, lang));
        }
    }
    let mut survivals = Suite::new(lang.outlived(Outlived::Failover));
    for it in &account.survivals {
        let Some(conclusion) = it.conclusion else { continue };
        let told = lang.survival(it, "");
        let outcome = match conclusion {
            Conclusion::Kept => Outcome::Passed,
            Conclusion::Broken => Outcome::Failed(told),
            Conclusion::Unknown => Outcome::Skipped(told),
        };
        let which = lang.outlived(Outlived::Conclusion);
        survivals.case(&account.experiment.name, name(it.cell), which, outcome);
    }
    let mut reads = Suite::new(lang.freshness(Fresh::Reads));
    for it in account.freshness.iter().filter(|it| it.promised) {
        let outcome = match it.kept() {
            Some(true) => Outcome::Passed,
            Some(false) => Outcome::Failed(lang.own_writes(it, "")),
            None => Outcome::Skipped(lang.own_writes(it, "")),
        };
        reads.case(&account.experiment.name, name(it.cell), "remote_apply", outcome);
    }
    let mut trials = Suite::new(lang.term(Term::Trials));
    for it in &account.trials {
        let which = lang.trial("", it.repetition + 1);
        let outcome = match (outcome(it, lang), unused(&account.findings, |cell| cell == it.cell)) {
            (Outcome::Passed, nodes) if !nodes.is_empty() => Outcome::Failed(lang.not_passed(&nodes)),
            (outcome, _) => outcome,
        };
        trials.case(&account.experiment.name, name(it.cell), &which, outcome);
    }
    let suites: Vec<&Suite> =
        [&objectives, &survivals, &reads, &trials].into_iter().filter(|it| it.tests > 0).collect();
    let sum = |of: &dyn Fn(&Suite) -> usize| suites.iter().map(|it| of(it)).sum::<usize>();
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" \
         skipped=\"{}\">\n",
        text(&account.experiment.name),
        sum(&|it| it.tests),
        sum(&|it| it.failures),
        sum(&|it| it.errors),
        sum(&|it| it.skipped)
    );
    for it in &suites {
        out += &it.text(&[("run", &account.about.name), ("answer", answer)]);
    }
    out + "</testsuites>\n"
}

/// What became of one case, and why.
enum Outcome {
    Passed,
    Failed(String),
    Error(String),
    Skipped(String),
}

/// Broken by one trial is broken.
fn judgement(all: &[&Judged], lang: &dyn Lang) -> Outcome {
    let first = |verdict| all.iter().find(|it| it.verdict == verdict).map(|it| lang.judged(it));
    match (first(Verdict::Broken), first(Verdict::Unknown), all.is_empty()) {
        (Some(why), ..) => Outcome::Failed(why),
        (None, Some(why), _) => Outcome::Skipped(why),
        (None, None, true) => Outcome::Skipped(lang.status(&Status::Done)),
        (None, None, false) => Outcome::Passed,
    }
}

fn outcome(it: &TrialAccount, lang: &dyn Lang) -> Outcome {
    let reasons: Vec<String> = it.reasons.iter().map(|it| lang.reason(it)).collect();
    match &it.status {
        _ if it.valid => match it.doubts.iter().find(|it| matches!(it, Doubt::Outage { .. })) {
            Some(outage) => Outcome::Failed(lang.valid_but(&lang.doubt(outage, 0))),
            None => Outcome::Passed,
        },
        Some(status @ Status::Failed { .. }) => Outcome::Error(lang.status(status)),
        Some(_) if !reasons.is_empty() => Outcome::Failed(reasons.join("; ")),
        Some(status @ (Status::Skipped { .. } | Status::Interrupted)) => {
            Outcome::Skipped(lang.status(status))
        }
        Some(status) => Outcome::Failed(lang.status(status)),
        None => Outcome::Skipped(lang.status(&Status::Interrupted)),
    }
}

#[derive(Debug)]
struct Suite {
    name: &'static str,
    cases: String,
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
}

impl Suite {
    fn new(name: &'static str) -> Suite {
        Suite { name, cases: String::new(), tests: 0, failures: 0, errors: 0, skipped: 0 }
    }

    fn case(&mut self, experiment: &str, cell: &str, name: &str, outcome: Outcome) {
        self.tests += 1;
        let [class, name] = [format!("{experiment}.{cell}"), name.to_owned()].map(|it| text(&it));
        self.cases += &format!("    <testcase classname=\"{class}\" name=\"{name}\"");
        let (element, why, count) = match outcome {
            Outcome::Passed => {
                self.cases += "/>\n";
                return;
            }
            Outcome::Failed(why) => ("failure", why, &mut self.failures),
            Outcome::Error(why) => ("error", why, &mut self.errors),
            Outcome::Skipped(why) => ("skipped", why, &mut self.skipped),
        };
        *count += 1;
        self.cases += &format!(">\n      <{element} message=\"{}\"/>\n    </testcase>\n", text(&why));
    }

    fn text(&self, properties: &[(&str, &str)]) -> String {
        let Suite { name, cases, tests, failures, errors, skipped } = self;
        let property = |(name, value): &(&str, &str)| {
            format!("      <property name=\"{name}\" value=\"{}\"/>\n", text(value))
        };
        let properties: String = properties.iter().map(property).collect();
        format!(
            "  <testsuite name=\"{}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" \
             skipped=\"{skipped}\">\n    <properties>\n{properties}    </properties>\n{cases}  </testsuite>\n",
            text(name)
        )
    }
}

/// Within an attribute; what XML cannot hold is seen as its escape.
fn text(it: &str) -> String {
    escaped(&visible(it))
}
