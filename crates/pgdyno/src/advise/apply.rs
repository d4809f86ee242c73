//! Measures the benefit and the cost of advised indexes
//!
//! The advised cell is measured again, without and with the indexes, which are built into its data before each trial.
//! The measurement is a run of two cells. It is stored like any other run, and resumes in the same way after an
//! interruption.

use super::Args;
use crate::cli::{CommandError, Terminal};
use crate::connect_commands::shell_quote;
use crate::exit_status::ExitStatus;
use crate::run::{self, request};
use crate::run_file;
use crate::run_name;
use crate::run_result::{self, index_advice};
use crate::terminal;
use model::Nanos;
use model::advice::Advice;
use model::plan::{Baseline, Cell, Experiment, Goal, LoadModel, NodeKind, Setup};
use model::run_result::RunResult;
use report::lang::Lang;
use report::say;

/// Number of clients of the closed-loop load that replaces an open-loop load. An open-loop load would deliver the same
/// rate with and without indexes, and so hide their effect.
const CLIENTS: u32 = 16;
/// Maximum length of an experiment's name, in characters.
const LONGEST: usize = 64;

pub fn apply(args: &Args, terminal: &Terminal) -> Result<ExitStatus, CommandError> {
    let lang = args.language.lang()?;
    let path = run_name::find(&args.dir, &args.run, terminal, lang)?;
    request::check_owner(&path, lang)?;
    let account = run_result::from_file(&path)?;
    let experiment = experiment(&account, args.repeat, lang)?;
    let indexes = added_indexes(&experiment);
    outln!("{}", lang.index_trial(indexes, args.repeat));
    let command =
        format!("pgdyno advise {} --apply --repeat {}", shell_quote(&path.to_string_lossy()), args.repeat);
    let run_file = run_file::create_unmeasured(&args.dir, &experiment, account.info.text.clone(), command)?;
    // Resume the new run file, which contains no trials yet. The run then proceeds like the run of an experiment file.
    let words =
        ["--resume".to_owned(), run_file.display().to_string(), "--lang".to_owned(), lang.code().to_owned()];
    let status = run::main(&words);
    if let Some(effects) = index_advice::index_effects(&run_file)? {
        terminal::text(&report::advice::effect_text(&effects, lang));
    }
    Ok(status)
}

/// Number of indexes that only the second cell has.
fn added_indexes(experiment: &Experiment) -> usize {
    let after =
        |cell: usize| experiment.cells[cell].setup.dataset.as_ref().map_or(0, |it| it.post_load.len());
    after(1) - after(0)
}

/// Experiment of two cells: the advised cell without and with the indexes.
fn experiment(account: &RunResult, repeat: u32, lang: &Lang) -> Result<Experiment, CommandError> {
    let original = &account.experiment;
    if original.cells.iter().any(|it| uses_attached_server(&it.setup)) {
        return Err(
            CommandError::new(say!(lang, "advise-attached")).with_hint(say!(lang, "advise-attached-hint"))
        );
    }
    let applicable = account.advice.iter().find(|it| !it.indexes.is_empty());
    let advice = applicable.ok_or_else(|| CommandError::new(say!(lang, "advise-no-index")))?;
    let mut setup = original.cells[hardest_loaded_cell(original, advice)].setup.clone();
    let Some(dataset) = &mut setup.dataset else {
        return Err(CommandError::new(say!(lang, "advise-no-dataset"))
            .with_hint(say!(lang, "advise-no-dataset-hint")));
    };
    // Both cells get the same data before each trial.
    (dataset.keep, dataset.between) = (false, Vec::new());
    let mut after = dataset.post_load.clone();
    after.extend(advice.indexes.iter().map(|it| it.ddl.clone()));
    if matches!(original.goal, Goal::Once | Goal::Failover) {
        saturate(&mut setup);
    }
    let mut indexed = setup.clone();
    if let Some(dataset) = &mut indexed.dataset {
        dataset.post_load = after;
    }
    let cell = |value: &str, setup| Cell {
        label: vec![("indexes".to_owned(), value.to_owned())],
        control_of: None,
        setup,
    };
    let mut name = format!("{}-indexes", original.name);
    name.drain(..name.len().saturating_sub(LONGEST));
    Ok(Experiment {
        name,
        seed: original.seed,
        repeat,
        cells: vec![cell("before", setup), cell("after", indexed)],
        baseline: Some(Baseline::Single(0)),
        goal: original.goal.clone(),
        generators: None,
        document: None,
    })
}

fn uses_attached_server(setup: &Setup) -> bool {
    let is_attached = |kind: &NodeKind| match kind {
        NodeKind::Attached(_) => true,
        NodeKind::Service(it) => it.url.is_some(),
        _ => false,
    };
    setup.stack.nodes.iter().any(|it| is_attached(&it.kind))
}

/// Among the advised cells, the closed-loop cell with the most clients. If no advised cell is closed-loop, the first
/// one.
fn hardest_loaded_cell(experiment: &Experiment, advice: &Advice) -> usize {
    let model = |it: usize| &experiment.cells[it].setup.load.model;
    let closed = advice.cells.iter().copied().filter(|it| !model(*it).is_open());
    let first = advice.cells.first().copied().unwrap_or(0);
    closed.max_by_key(|it| model(*it).clients()).unwrap_or(first)
}

/// Replaces an open load with a closed load of the same duration, so that throughput shows the capacity of the system.
fn saturate(setup: &mut Setup) {
    if !setup.load.model.is_open() {
        return;
    }
    setup.load.duration = Some(run_result::stored::load_duration(setup));
    let clients = setup.load.model.clients().min(CLIENTS);
    setup.load.model = LoadModel::Closed { clients, think: Nanos::ZERO };
    // Operations with their own schedule have no weight, because they are not part of the mix.
    for operation in setup.operations.iter_mut().filter(|it| it.schedule.is_some()) {
        (operation.schedule, operation.weight) = (None, 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Spacing;
    use model::plan::AttachedNode;
    use report::lang::english;
    use std::path::Path;

    /// Run of a closed load on books that have no indexes on names and authors.
    const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/advice/books.dyno");

    fn account() -> RunResult {
        run_result::from_file(Path::new(FIXTURE)).unwrap_or_else(|it| panic!("{:?}", it.message))
    }

    #[test]
    fn experiment_has_the_cell_without_and_with_indexes() {
        let account = account();
        let made = experiment(&account, 3, english()).unwrap_or_else(|it| panic!("{:?}", it.message));
        assert_eq!(
            (made.name.as_str(), made.repeat, made.baseline.clone()),
            ("books-indexes", 3, Some(Baseline::Single(0)))
        );
        let [plain, indexed] = made.cells.as_slice() else { panic!("{:?}", made.cells) };
        assert_eq!(plain.setup, account.experiment.cells[0].setup);
        let after = &indexed.setup.dataset.as_ref().unwrap().post_load;
        assert_eq!(*after, ["CREATE INDEX ON book.bookv2 (name)", "CREATE INDEX ON book.bookv2 (author)"]);
        assert_eq!(added_indexes(&made), 2);
        let mut same = indexed.setup.clone();
        same.dataset.clone_from(&plain.setup.dataset);
        assert_eq!(same, plain.setup, "nothing else differs");
    }

    /// The second cell would otherwise find the data of the first one, without its index.
    #[test]
    fn data_are_restored_for_both_cells() {
        let mut account = account();
        let dataset = account.experiment.cells[0].setup.dataset.as_mut().unwrap();
        (dataset.keep, dataset.between) = (true, vec!["VACUUM".to_owned()]);
        let made = experiment(&account, 1, english()).unwrap_or_else(|it| panic!("{:?}", it.message));
        for dataset in made.cells.iter().filter_map(|it| it.setup.dataset.as_ref()) {
            assert_eq!((dataset.keep, dataset.between.len()), (false, 0));
        }
    }

    #[test]
    fn turns_an_open_load_into_a_closed_one() {
        let mut account = account();
        let load = &mut account.experiment.cells[0].setup.load;
        let schedule = "const(50, 7s)".to_owned();
        load.model = LoadModel::Open { schedule, arrivals: Spacing::Even, max_in_flight: 200 };
        load.duration = None;
        let made = experiment(&account, 1, english()).unwrap_or_else(|it| panic!("{:?}", it.message));
        for cell in &made.cells {
            let load = &cell.setup.load;
            assert_eq!(load.model, LoadModel::Closed { clients: CLIENTS, think: Nanos::ZERO });
            assert_eq!(load.duration, Some(Nanos::from_secs(7)));
        }
    }

    #[test]
    fn rejects_runs_without_applicable_advice() {
        let check = |spoil: fn(&mut RunResult), expected: &str| {
            let mut account = account();
            spoil(&mut account);
            let error = experiment(&account, 1, english()).expect_err(expected);
            let message = english().message(&error.message);
            assert!(message.contains(expected), "{message}");
        };
        let attach = |result: &mut RunResult| {
            let attached = AttachedNode {
                dsn: "host=db".to_owned(),
                admin: None,
                product: &model::product::POSTGRESQL,
                allow: None,
                other_sessions: 0,
                metrics: Vec::new(),
                servers: Vec::new(),
            };
            result.experiment.cells[0].setup.stack.nodes[0].kind = NodeKind::Attached(attached);
        };
        check(attach, "never changes such a database");
        check(|it| it.advice.clear(), "no index would help");
        check(|it| it.experiment.cells[0].setup.dataset = None, "no dataset");
    }
}
