//! JUnit report of objectives for continuous integration
//!
//! Each cell has one test case per objective. If faults were injected, it has one for durability; if reads are promised
//! to be fresh, it has one for this promise. Each trial is a test case too. A test case fails if an objective is
//! violated, a promise is broken, a trial is invalid, an outage occurred, or a trial's load bypassed a node of the
//! stack. Test cases without a result are skipped.

use crate::cells::cell_names;
use crate::findings::unused_nodes;
use crate::html::escape;
use crate::lang::Lang;
use crate::say;
use crate::text::visible;
use model::durability::Conclusion;
use model::matrix::TrialStatus;
use model::objective::{ObjectiveResult, ObjectiveVerdict};
use model::run_result::{RunResult, TrialResult};
use model::validity::Doubt;

/// Renders a document that Jenkins, GitLab and other programs can read. `answer` is the page's answer.
pub fn junit(account: &RunResult, answer: &str, lang: &Lang) -> String {
    let names = cell_names(&account.matrix);
    let only_cell = say!(lang, "page-only-cell");
    let name = |cell: usize| match names.get(cell).map_or("", String::as_str) {
        "" => only_cell.as_str(),
        name => name,
    };
    let mut objectives = TestSuite::new(say!(lang, "page-objectives"));
    for (cell, planned_cell) in account.experiment.cells.iter().enumerate() {
        let trials = || account.trials.iter().filter(move |it| it.cell == cell && it.valid);
        for objective in &planned_cell.setup.objectives {
            let of_trials = trials().flat_map(|it| &it.objectives);
            let of_failovers =
                account.failovers.iter().filter(|it| it.cell == cell).flat_map(|it| &it.objectives);
            let judged: Vec<&ObjectiveResult> =
                of_trials.chain(of_failovers).filter(|it| it.objective == objective.trim()).collect();
            objectives.case(
                &account.experiment.name,
                name(cell),
                objective,
                objective_outcome(&judged, lang),
            );
        }
    }
    let mut survivals = TestSuite::new(say!(lang, "failover-heading"));
    for failover in &account.failovers {
        let Some(conclusion) = failover.conclusion else { continue };
        let text = lang.failover_result(failover, "");
        let outcome = match conclusion {
            Conclusion::Kept => CaseOutcome::Passed,
            Conclusion::Broken => CaseOutcome::Failed(text),
            Conclusion::Unknown => CaseOutcome::Skipped(text),
        };
        let case_name = say!(lang, "failover-column-conclusion");
        survivals.case(&account.experiment.name, name(failover.cell), &case_name, outcome);
    }
    let mut reads = TestSuite::new(say!(lang, "freshness-heading"));
    for freshness in account.freshness.iter().filter(|it| it.promised) {
        let outcome = match freshness.is_promise_kept() {
            Some(true) => CaseOutcome::Passed,
            Some(false) => CaseOutcome::Failed(lang.own_writes(freshness, "")),
            None => CaseOutcome::Skipped(lang.own_writes(freshness, "")),
        };
        reads.case(&account.experiment.name, name(freshness.cell), "remote_apply", outcome);
    }
    let mut trials = TestSuite::new(say!(lang, "page-trials"));
    for trial in &account.trials {
        let case_name = lang.trial("", trial.repetition + 1);
        let clients = account.matrix.rows.get(trial.cell).map_or(0, |it| it.clients);
        let outcome = match (
            trial_outcome(trial, clients, lang),
            unused_nodes(&account.findings, |cell| cell == trial.cell),
        ) {
            (CaseOutcome::Passed | CaseOutcome::PassedWith(_), nodes) if !nodes.is_empty() => {
                CaseOutcome::Failed(lang.unused_nodes(&nodes))
            }
            (outcome, _) => outcome,
        };
        trials.case(&account.experiment.name, name(trial.cell), &case_name, outcome);
    }
    let suites: Vec<&TestSuite> =
        [&objectives, &survivals, &reads, &trials].into_iter().filter(|it| it.tests > 0).collect();
    let sum = |count: &dyn Fn(&TestSuite) -> usize| suites.iter().map(|it| count(it)).sum::<usize>();
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" \
         skipped=\"{}\">\n",
        escape_attribute(&account.experiment.name),
        sum(&|it| it.tests),
        sum(&|it| it.failures),
        sum(&|it| it.errors),
        sum(&|it| it.skipped)
    );
    for suite in &suites {
        out += &suite.to_xml(&[("run", &account.info.name), ("answer", answer)]);
    }
    out + "</testsuites>\n"
}

/// Outcome of one test case, with its reason.
enum CaseOutcome {
    Passed,
    /// Passed, with a remark.
    PassedWith(String),
    Failed(String),
    Error(String),
    Skipped(String),
}

/// Outcome for an objective. If any trial violates the objective, the test case fails.
fn objective_outcome(all: &[&ObjectiveResult], lang: &Lang) -> CaseOutcome {
    let first = |verdict| all.iter().find(|it| it.verdict == verdict).map(|it| lang.judged(it));
    match (first(ObjectiveVerdict::Violated), first(ObjectiveVerdict::Unknown), all.is_empty()) {
        (Some(reason), ..) => CaseOutcome::Failed(reason),
        (None, Some(reason), _) => CaseOutcome::Skipped(reason),
        (None, None, true) => CaseOutcome::Skipped(lang.status(&TrialStatus::Done)),
        (None, None, false) => CaseOutcome::Passed,
    }
}

fn trial_outcome(trial: &TrialResult, clients: u32, lang: &Lang) -> CaseOutcome {
    let reasons: Vec<String> = trial.reasons.iter().map(|it| lang.reason(it)).collect();
    match &trial.status {
        _ if trial.valid => {
            let doubts = || trial.doubts.iter().filter(|it| it.is_in_verdict());
            let text = doubts().map(|it| lang.doubt(it, clients)).collect::<Vec<_>>().join("; ");
            // Statements that find no row do not fail the test case, because only the user knows whether this is an
            // error.
            let fails = |doubt: &Doubt| doubt.concerns_load() && !matches!(doubt, Doubt::NoRows { .. });
            match text.is_empty() {
                true => CaseOutcome::Passed,
                false if doubts().any(fails) => CaseOutcome::Failed(lang.valid_but(&text)),
                false => CaseOutcome::PassedWith(lang.valid_but(&text)),
            }
        }
        Some(status @ TrialStatus::Failed { .. }) => CaseOutcome::Error(lang.status(status)),
        Some(_) if !reasons.is_empty() => CaseOutcome::Failed(reasons.join("; ")),
        Some(status @ (TrialStatus::Skipped { .. } | TrialStatus::Interrupted)) => {
            CaseOutcome::Skipped(lang.status(status))
        }
        Some(status) => CaseOutcome::Failed(lang.status(status)),
        None => CaseOutcome::Skipped(lang.status(&TrialStatus::Interrupted)),
    }
}

#[derive(Debug)]
struct TestSuite {
    name: String,
    cases: String,
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
}

impl TestSuite {
    fn new(name: String) -> TestSuite {
        TestSuite { name, cases: String::new(), tests: 0, failures: 0, errors: 0, skipped: 0 }
    }

    fn case(&mut self, experiment: &str, cell: &str, name: &str, outcome: CaseOutcome) {
        self.tests += 1;
        let [class, name] = [format!("{experiment}.{cell}"), name.to_owned()].map(|it| escape_attribute(&it));
        self.cases += &format!("    <testcase classname=\"{class}\" name=\"{name}\"");
        let (element, message, count) = match outcome {
            CaseOutcome::Passed => {
                self.cases += "/>\n";
                return;
            }
            CaseOutcome::PassedWith(text) => {
                let text = escape_attribute(&text);
                self.cases += &format!(">\n      <system-out>{text}</system-out>\n    </testcase>\n");
                return;
            }
            CaseOutcome::Failed(message) => ("failure", message, &mut self.failures),
            CaseOutcome::Error(message) => ("error", message, &mut self.errors),
            CaseOutcome::Skipped(message) => ("skipped", message, &mut self.skipped),
        };
        *count += 1;
        self.cases +=
            &format!(">\n      <{element} message=\"{}\"/>\n    </testcase>\n", escape_attribute(&message));
    }

    fn to_xml(&self, properties: &[(&str, &str)]) -> String {
        let TestSuite { name, cases, tests, failures, errors, skipped } = self;
        let property = |(name, value): &(&str, &str)| {
            format!("      <property name=\"{name}\" value=\"{}\"/>\n", escape_attribute(value))
        };
        let properties: String = properties.iter().map(property).collect();
        format!(
            "  <testsuite name=\"{}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" \
             skipped=\"{skipped}\">\n    <properties>\n{properties}    </properties>\n{cases}  </testsuite>\n",
            escape_attribute(name)
        )
    }
}

/// Escapes text for an attribute. Characters that XML forbids become visible escapes.
fn escape_attribute(text: &str) -> String {
    escape(&visible(text))
}
