//! Whose turn is it among several searches?

use model::plan::Max;
use model::search::{Answer, Nudge, Seen};

/// One search of several: a cell as it is or with one thing changed.
#[derive(Clone, Debug)]
pub struct Subject {
    pub cell: usize,
    pub nudge: Option<Nudge>,
    pub round: u32,
    pub start: f64,
    pub done: Vec<Seen>,
}

impl Subject {
    pub fn new(cell: usize, nudge: Option<Nudge>, round: u32, start: f64) -> Subject {
        Subject { cell, nudge, round, start, done: Vec::new() }
    }
}

/// The one with the fewest steps whose search is not over.
pub fn interleave(max: &Max, all: &[Subject], _seed: u64) -> Option<usize> {
    let open = |it: &&(usize, &Subject)| {
        analysis::search::next(max, it.1.start, &it.1.done) != analysis::search::Next::Done
    };
    all.iter().enumerate().filter(|it| open(&it)).min_by_key(|it| it.1.done.len()).map(|it| it.0)
}

pub fn together(all: &[Answer]) -> Answer {
    all[0].clone()
}
