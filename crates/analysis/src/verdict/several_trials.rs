//! Combined verdict and doubts of several trials

use model::validity::{Doubt, DoubtSummary, Verdict};

/// Summarises the doubts of several trials. Each doubt has the cell, the repetition and the number of clients of its
/// trial, and doubts of a trial are adjacent. Each kind of doubt occurs once, with the figures of the worst trial.
/// Kinds are sorted by their effect on the figures, and kinds of equal effect by the number of their trials.
pub fn summaries<'a>(doubts: impl Iterator<Item = (&'a Doubt, usize, u32, u32)>) -> Vec<DoubtSummary> {
    // Each summary with the last trial that it counted, because several threads of a trial may have doubts of the same
    // kind.
    let mut all: Vec<(DoubtSummary, (usize, u32))> = Vec::new();
    for (doubt, cell, repetition, clients) in doubts {
        let trial = (cell, repetition);
        let new = DoubtSummary { doubt: doubt.clone(), cell, repetition, clients, trials: 1 };
        match all.iter_mut().find(|(known, _)| known.doubt.is_like(doubt)) {
            Some((known, last)) => {
                let trials = known.trials + u32::from(*last != trial);
                if severity(doubt) > severity(&known.doubt) {
                    *known = new;
                }
                (known.trials, *last) = (trials, trial);
            }
            None => all.push((new, trial)),
        }
    }
    let mut summaries: Vec<DoubtSummary> = all.into_iter().map(|(summary, _)| summary).collect();
    summaries.sort_by_key(|it| (rank(&it.doubt), std::cmp::Reverse(it.trials)));
    summaries
}

/// Rank of a doubt by its effect on the figures; the lowest rank is reported first. An outage affects every figure. It
/// is followed by doubts that a different system, work or load was measured, then doubts that times are too long, then
/// doubts about details.
pub(super) fn rank(doubt: &Doubt) -> u8 {
    match doubt {
        Doubt::Outage { .. } => 0,
        Doubt::NodeNotUsed { .. } => 1,
        Doubt::NoRows { .. } | Doubt::ResultsDiffer { .. } | Doubt::MixDiffers { .. } => 2,
        Doubt::FeedExhausted { .. } => 3,
        Doubt::InFlightCapReached { .. } | Doubt::BehindSchedule { .. } => 4,
        Doubt::HostLate { .. } | Doubt::Starved { .. } | Doubt::Stolen { .. } => 5,
        Doubt::UnevenClients { .. } => 6,
        Doubt::SmallAnswers { .. } => 7,
        Doubt::LogIncomplete => 8,
        Doubt::ClockStepped { .. } => 9,
        Doubt::FewSamples { .. } => 10,
    }
}

/// Figure by which doubts of one kind are compared; more is worse.
fn severity(doubt: &Doubt) -> f64 {
    match doubt {
        Doubt::HostLate { lag, .. } => lag.as_secs_f64(),
        Doubt::Stolen { processors } => *processors,
        Doubt::Starved { share, .. } | Doubt::SmallAnswers { share, .. } | Doubt::NoRows { share, .. } => {
            *share
        }
        Doubt::InFlightCapReached { arrivals, waited, dropped } => {
            (waited + dropped) as f64 / *arrivals as f64
        }
        Doubt::ResultsDiffer { results, differing } => *differing as f64 / *results as f64,
        Doubt::BehindSchedule { arrivals, dropped, wait, .. } => {
            *dropped as f64 / *arrivals as f64 * 1e9 + wait.as_secs_f64()
        }
        Doubt::MixDiffers { recorded, measured, .. } => (recorded - measured).abs(),
        Doubt::UnevenClients { jain, .. } => -jain,
        Doubt::Outage { duration, .. } => duration.as_secs_f64(),
        Doubt::FeedExhausted { at, planned, .. } => planned.as_secs_f64() - at.as_secs_f64(),
        Doubt::FewSamples { count } => -(*count as f64),
        Doubt::ClockStepped { step } => step.unsigned_abs() as f64,
        Doubt::NodeNotUsed { .. } | Doubt::LogIncomplete => 0.0,
    }
}

/// Verdict on several trials, from the verdict on each trial.
pub fn verdict(trials: &[Verdict]) -> Verdict {
    let count = |verdict| trials.iter().filter(|it| **it == verdict).count();
    match (count(Verdict::Valid), count(Verdict::Invalid)) {
        (_, invalid) if invalid == trials.len() => Verdict::Invalid,
        (valid, _) if valid == trials.len() => Verdict::Valid,
        _ => Verdict::ValidWithDoubts,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Nanos;

    #[test]
    fn verdict_depends_on_all_trials() {
        use Verdict::{Invalid, Valid, ValidWithDoubts};
        for (trials, expected) in [
            (&[][..], Invalid),
            (&[Valid, Valid], Valid),
            (&[Valid, ValidWithDoubts], ValidWithDoubts),
            (&[Valid, Invalid], ValidWithDoubts),
            (&[ValidWithDoubts, Invalid], ValidWithDoubts),
            (&[Invalid, Invalid], Invalid),
        ] {
            assert_eq!(verdict(trials), expected, "{trials:?}");
        }
    }

    #[test]
    fn summarises_doubts_by_their_worst_trial() {
        let starved = |thread, share| Doubt::Starved { thread, share };
        let unused = |node: &str| Doubt::NodeNotUsed { node: node.to_owned() };
        let (low, high) = (starved(0, 0.1), starved(1, 0.7));
        let (pooler, balancer) = (unused("pooler"), unused("balancer"));
        // Trials of cell 0 with repetitions 0 and 1, and one of cell 1.
        let doubts =
            [(&pooler, 0, 0, 8), (&low, 0, 0, 8), (&high, 0, 0, 8), (&balancer, 0, 1, 8), (&low, 1, 0, 20)];
        let found = summaries(doubts.into_iter());
        let short = |it: &DoubtSummary| (it.doubt.clone(), it.cell, it.repetition, it.clients, it.trials);
        let expected =
            [(pooler.clone(), 0, 0, 8, 1), (balancer.clone(), 0, 1, 8, 1), (high.clone(), 0, 0, 8, 2)];
        assert_eq!(found.iter().map(short).collect::<Vec<_>>(), expected);
        // Two threads of the second trial have the doubt; the first trial is the worst.
        let doubts = [(&high, 0, 0, 8), (&low, 0, 1, 8), (&low, 0, 1, 8)];
        assert_eq!(summaries(doubts.into_iter())[0].trials, 2);
    }

    #[test]
    fn names_the_doubt_first_that_means_most_for_the_figures() {
        let (from, to) = (Nanos::ZERO, Nanos::from_secs(2));
        let outage = Doubt::Outage { count: 1, duration: to, from, to };
        let cap = Doubt::InFlightCapReached { arrivals: 10, waited: 5, dropped: 0 };
        let (starved, stolen) = (Doubt::Starved { thread: 0, share: 0.2 }, Doubt::Stolen { processors: 0.1 });
        // The outage of one trial comes before doubts of two trials. If ranks are equal, the more frequent doubt comes
        // first.
        let of_trials = [(&stolen, 0), (&starved, 0), (&starved, 1), (&cap, 0), (&cap, 1), (&outage, 1)];
        let found = summaries(of_trials.into_iter().map(|(doubt, trial)| (doubt, 0, trial, 8)));
        let doubts: Vec<Doubt> = found.into_iter().map(|it| it.doubt).collect();
        assert_eq!(doubts, [outage, cap, starved, stolen]);
    }
}
