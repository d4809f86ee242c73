//! Failure counts by code.

use crate::Code;
use serde::{Deserialize, Serialize};

/// Failure counts by code. The first sixteen codes are counted individually, all other codes together. Counting does
/// not allocate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureCounts {
    by_code: [Option<(Code, u64)>; 16],
    other: u64,
}

impl FailureCounts {
    pub fn count(&mut self, code: Code) {
        self.add(code, 1);
    }

    /// Counts `n` failures with this code.
    pub fn add(&mut self, code: Code, n: u64) {
        for slot in &mut self.by_code {
            match slot {
                Some((known, count)) if *known == code => {
                    *count += n;
                    return;
                }
                Some(_) => {}
                None => {
                    *slot = Some((code, n));
                    return;
                }
            }
        }
        self.other += n;
    }

    pub fn merge(&mut self, other: &FailureCounts) {
        other.iter().for_each(|(code, n)| self.add(code, n));
        self.other += other.other;
    }

    /// Individually counted codes and their counts, in the order of first occurrence.
    pub fn iter(&self) -> impl Iterator<Item = (Code, u64)> + '_ {
        self.by_code.iter().flatten().copied()
    }

    /// Text and count of each code, as in [`FailureCounts::iter`]. If there are further failures, a last item without a
    /// code has their count.
    pub fn by_code(&self) -> impl Iterator<Item = (Option<String>, u64)> + '_ {
        let other = (self.other > 0).then_some((None, self.other));
        self.iter().map(|(code, count)| (Some(code.to_string()), count)).chain(other)
    }

    /// Counts `n` failures whose code is unknown.
    pub fn add_other(&mut self, n: u64) {
        self.other += n;
    }

    /// Number of failures with codes beyond the first sixteen.
    pub fn other(&self) -> u64 {
        self.other
    }

    /// Number of failures without a server's response, including all codes beyond the first sixteen.
    pub fn unanswered(&self) -> u64 {
        self.other + self.iter().filter(|(code, _)| !code.is_answer()).map(|(_, n)| n).sum::<u64>()
    }

    pub fn total(&self) -> u64 {
        self.other + self.iter().map(|(_, n)| n).sum::<u64>()
    }
}
