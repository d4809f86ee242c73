//! Check of a whole plan: the statements of all cells, and one execution of each operation

use super::execution::Execution;
use super::{CheckedOperations, Preflight, has_statements, is_executed, trace_text, without_replicas};
use crate::cli::language;
use crate::run::display::RunDisplay;
use crate::run::known_nodes::KnownNodes;
use crate::run::test_bed::{SetupError, TestBed};
use model::plan::Experiment;
use report::lang::Lang;
use report::say;

/// Results of the check of a plan.
#[derive(Debug, Default)]
pub struct PlanCheck {
    pub preflight: Preflight,
    /// True if an operation has SQL statements.
    has_statements: bool,
    executions: Vec<CheckedExecution>,
    /// Operations that were not executed, because their effects would remain.
    not_executed: Vec<String>,
    /// Operations that were not checked, because the file excludes them.
    excluded: Vec<String>,
    /// True if a load replays a recording, whose statements are not checked.
    has_replay: bool,
}

/// Execution of one operation of a cell.
#[derive(Debug)]
struct CheckedExecution {
    cell: usize,
    operation: String,
    execution: Execution,
}

impl PlanCheck {
    /// For each group of cells with the same operations and schema, sets up the first cell, prepares the statements,
    /// and executes each operation once. If a component of the cell is not available, the cell is skipped and the
    /// reason is printed. The results so far are kept if a cell cannot be set up.
    pub fn run(
        &mut self,
        experiment: &Experiment,
        (test_bed, display): (&mut TestBed, &mut RunDisplay),
    ) -> Result<(), SetupError> {
        for (number, cell) in experiment.cells.iter().enumerate() {
            let operations = CheckedOperations::new(&cell.setup);
            if self.preflight.executed.contains(&operations) {
                continue;
            }
            let setup = without_replicas(&cell.setup);
            display.begin_trial(0, number, None);
            let ready = test_bed.set_up(&setup, &KnownNodes::default(), &mut |it| display.update(&it));
            display.cancel_trial();
            if let Err(SetupError::Unavailable(reason)) = &ready {
                display.print_diagnostic(&language::selected().message(reason));
                continue;
            }
            ready?;
            let failed = |it: crate::cli::CommandError| SetupError::Failed(it.message);
            self.preflight.prepare(&experiment.cells, &setup, test_bed).map_err(failed)?;
            for operation in setup.on_start_and_operations() {
                self.has_statements |= has_statements(operation);
                if operation.kind.is_recorded() {
                    self.has_replay = true;
                } else if !operation.preflight {
                    add_name(&mut self.excluded, &operation.name);
                } else if !is_executed(&setup, operation) {
                    add_name(&mut self.not_executed, &operation.name);
                } else if let Some(execution) =
                    self.preflight.execute(&setup, operation, test_bed, experiment.seed).map_err(failed)?
                {
                    let operation = operation.name.clone();
                    self.executions.push(CheckedExecution { cell: number, operation, execution });
                }
            }
            self.preflight.executed.push(operations);
        }
        Ok(())
    }

    /// True if all statements were prepared, and each executed operation received a response and has no error.
    pub fn is_successful(&self) -> bool {
        let is_answered = self.executions.iter().all(|it| !it.execution.is_unanswered());
        self.preflight.errors.is_empty() && self.preflight.all_prepared && is_answered
    }

    /// Statements and requests with their responses. `names` are the names of the cells.
    pub fn exchanges(&self, names: &[String], lang: &Lang) -> String {
        let (mut text, mut shown) = (String::new(), None);
        for CheckedExecution { cell, operation, execution } in &self.executions {
            if shown.replace(*cell) != Some(*cell) {
                text += &trace_text::cell_heading(*cell, names.len(), &names[*cell], lang);
            }
            text += &trace_text::describe(operation, execution, lang);
        }
        text
    }

    /// Sentences that state what was checked and what was not, one per line.
    pub fn conclusion(&self, lang: &Lang) -> String {
        let names = |unanswered: bool| {
            let mut names = Vec::new();
            let chosen = self.executions.iter().filter(|it| it.execution.is_unanswered() == unanswered);
            chosen.for_each(|it| add_name(&mut names, &it.operation));
            names.join(", ")
        };
        let statements = match (self.has_statements, self.preflight.all_prepared) {
            (false, _) => None,
            (true, true) => Some(say!(lang, "check-statements-accepted")),
            (true, false) => Some(say!(lang, "check-statements-unchecked")),
        };
        let succeeded = |names: String| say!(lang, "check-operations-succeeded", names);
        let unanswered = |names: String| say!(lang, "check-operations-unanswered", names);
        let not_executed = |names: String| say!(lang, "check-operations-not-executed", names);
        let excluded = |names: String| say!(lang, "check-operations-excluded", names);
        let non_empty = |names: String| Some(names).filter(|it| !it.is_empty());
        let lines = [
            statements,
            non_empty(names(false)).map(succeeded),
            non_empty(names(true)).map(unanswered),
            non_empty(self.not_executed.join(", ")).map(not_executed),
            non_empty(self.excluded.join(", ")).map(excluded),
            self.has_replay.then(|| say!(lang, "check-replay-excluded")),
        ];
        lines.into_iter().flatten().map(|it| it + "\n").collect()
    }
}

/// Adds a name unless it is present.
fn add_name(names: &mut Vec<String>, name: &str) {
    if !names.iter().any(|it| it == name) {
        names.push(name.to_owned());
    }
}
