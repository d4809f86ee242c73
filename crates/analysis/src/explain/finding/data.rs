//! Finding on an attached server whose data changed between the trials of a cell

use super::{CellTrials, Finding};
use model::finding::Circumstance;
use model::target::DataState;

/// Smallest reported growth of the data, in per cent. A short trial with writes adds less.
const GROWTH_PERCENT_MIN: f64 = 10.0;
/// Smallest reported difference between data sizes, in bytes. Smaller differences, such as a few pages of an index, do
/// not matter.
const SIZE_DIFFERENCE_MIN: u64 = 1 << 20;

/// Finding if the sizes of the data differ, tables were replaced, or the server was restarted.
pub fn changed(cell: &CellTrials<'_>) -> Option<Finding> {
    let states: Vec<&DataState> = cell.trials.iter().filter_map(|it| it.data).collect();
    let first = states.first()?;
    let least = states.iter().map(|it| it.bytes).min()?;
    let most = states.iter().map(|it| it.bytes).max()?;
    let tables_replaced = states.iter().any(|it| it.tables != first.tables);
    let restarted = states.iter().any(|it| it.started_us != first.started_us);
    let grew = 100.0 * (most - least) as f64 >= GROWTH_PERCENT_MIN * least as f64
        && most - least >= SIZE_DIFFERENCE_MIN;
    let circumstance = Circumstance::DataChanged {
        min_bytes: least,
        max_bytes: most,
        tables_replaced,
        restarted,
        trials: states.len() as u32,
    };
    (grew || tables_replaced || restarted)
        .then_some(Finding::Circumstance { cell: cell.number, circumstance })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::finding::{TrialFacts, findings};
    use crate::fixture::trial::{TestRun, experiment};

    #[test]
    fn trials_with_different_data_are_reported() {
        let state = |started_us, tables: &str, mebibytes: u64| DataState {
            started_us,
            tables: tables.to_owned(),
            bytes: mebibytes << 20,
        };
        let experiment = experiment(&["direct"], None);
        for (second, expected) in [
            (state(1, "a", 100), None),
            (state(1, "a", 109), None),
            (state(1, "a", 110), Some((100, 110, false, false))),
            (state(1, "a", 50), Some((50, 100, false, false))),
            (state(1, "b", 100), Some((100, 100, true, false))),
            (state(2, "a", 100), Some((100, 100, false, true))),
        ] {
            let states = [state(1, "a", 100), second];
            let runs = [TestRun::new(0, 0), TestRun::new(0, 1)];
            let facts: Vec<TrialFacts<'_>> = runs
                .iter()
                .zip(&states)
                .map(|(it, data)| TrialFacts { data: Some(data), ..it.facts(&experiment) })
                .collect();
            let changed =
                findings(&experiment, &facts).into_iter().find_map(|finding| match finding {
                    Finding::Circumstance {
                        circumstance:
                            Circumstance::DataChanged {
                                min_bytes,
                                max_bytes,
                                tables_replaced,
                                restarted,
                                trials: 2,
                            },
                        ..
                    } => Some((min_bytes >> 20, max_bytes >> 20, tables_replaced, restarted)),
                    _ => None,
                });
            assert_eq!(changed, expected, "{:?}", states[1]);
        }
    }
}
