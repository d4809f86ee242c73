//! What had been promised for a write when it was acknowledged?

use super::survey::Survey;
use model::Nanos;
use model::durability::{Attempt, History, Kind, Promise, Server};

/// What each server promised, and since when.
#[derive(Debug)]
pub(super) struct Promises<'a> {
    /// In the order of time.
    all: Vec<(Nanos, &'a Server, &'a Promise)>,
    survey: &'a Survey,
}

/// Of all that may have been in force, the weakest and the strongest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strength {
    /// It outlives the primary.
    Outlives,
    /// On the primary's disk, or further, but no more than that for sure.
    Local,
    None,
    /// It changed, from what does not outlive the primary to what does, or back.
    Ambiguous,
    /// Nobody asked.
    Unknown,
}

/// A change takes effect in each session at its own time: what was in force this long before or after counts as well.
pub(super) const MARGIN: Nanos = Nanos::from_secs(1);

impl<'a> Promises<'a> {
    pub fn of(history: &'a History, survey: &'a Survey) -> Promises<'a> {
        let all = history.promised.iter().map(|it| (it.at, &it.server, &it.promise)).collect();
        Promises { all, survey }
    }

    /// What holds for this acknowledged attempt.
    pub fn at(&self, attempt: &Attempt) -> Strength {
        let server = attempt.server.and_then(|it| self.survey.server(it));
        let (from, to) = (attempt.invoked - MARGIN, attempt.ended + MARGIN);
        let mut settled: Vec<&Server> = Vec::new();
        let mut in_force = Vec::new();
        for &(at, of, promise) in self.all.iter().rev().filter(|it| it.0 <= to) {
            let may_be_it = server.is_none_or(|it| it.is_same_process(of));
            if may_be_it && !settled.iter().any(|it| it.is_same_process(of)) {
                in_force.push(promise);
                settled.extend((at <= from).then_some(of));
            }
        }
        let mut strengths = in_force.into_iter();
        let Some(first) = strengths.next() else { return Strength::Unknown };
        let (mut least, mut most) = (first, first);
        for it in strengths {
            (least, most) = (least.min(it), most.max(it));
        }
        match (least.outlives_primary(), most.outlives_primary(), least) {
            (true, _, _) => Strength::Outlives,
            (false, true, _) => Strength::Ambiguous,
            (false, false, Promise::None) => Strength::None,
            (false, false, _) => Strength::Local,
        }
    }
}

impl Strength {
    /// What it is called when the write is gone.
    pub fn kind_of_loss(self) -> Kind {
        match self {
            Strength::Outlives => Kind::Lost,
            Strength::Local | Strength::None => Kind::LostUnpromised,
            Strength::Ambiguous | Strength::Unknown => Kind::LostAmbiguous,
        }
    }
}
