//! What of the lab's news is told, and is it passing or lasting?

use super::lab::News;
use report::live::{Doing, Milestone};
use stack::chain::Step;
use stack::dataset::Stage;
use stack::restore::Warmth;
use std::time::Duration;

/// Rows that are loading are told no more often.
pub const OFTEN: Duration = Duration::from_millis(200);

#[derive(Clone, Debug, PartialEq)]
pub enum Told {
    Passing(Doing),
    Lasting(Milestone),
}

/// `None`: it takes no time and leaves nothing to know.
pub fn told(it: &News<'_>) -> Option<Told> {
    Some(match it {
        News::Chain(Step::Fetching(major)) => Told::Passing(Doing::Fetching { major: *major }),
        News::Chain(Step::Starting(node)) => Told::Passing(Doing::Starting { node: node.name.clone() }),
        News::Chain(Step::Ready(node, took)) => {
            Told::Lasting(Milestone::Ready { node: node.plan.name.clone(), took: (*took).into() })
        }
        News::Chain(Step::Stopping(_)) => return None,
        News::Loading(Stage::Rows(sent), of) => Told::Passing(Doing::Loading { sent: *sent, of: *of }),
        News::Loading(Stage::Dropping, _) => Told::Passing(Doing::Dropping),
        News::Loading(Stage::Keys, _) => Told::Passing(Doing::Keys),
        News::Loading(Stage::Statistics, _) => Told::Passing(Doing::Statistics),
        News::Loaded(it) if it.reused => Told::Lasting(Milestone::There { rows: it.rows }),
        News::Loaded(it) => {
            let (rows, took, rate) = (it.rows, it.took.into(), model::PerSecond(it.rows_per_second));
            Told::Lasting(Milestone::Loaded { rows, took, rate })
        }
        News::Restored(it) => Told::Passing(Doing::Restored { took: it.took.into() }),
        News::Kept => Told::Passing(Doing::Kept),
        News::Warmed(Warmth::NotCold) => Told::Lasting(Milestone::NotCold),
        News::Leftover(it) => Told::Lasting(Milestone::Leftover((*it).clone())),
        News::Warmed(_) => Told::Passing(Doing::Warmed),
    })
}
