//! Merges the seconds of all agents, as those of threads are merged

use crate::measure::ProcessMeasurement;
use agent::interval;
use agent::protocol::AgentMeasurement;
use model::{CompactInterval, HistogramDecoder, Interval, LatencyHistogram, Nanos};
use std::collections::VecDeque;

/// Seconds that agents have reported but that are not complete yet.
#[derive(Debug)]
pub struct SecondMerger {
    agents: Vec<AgentSeconds>,
    /// Sum of the seconds that are merged at the moment.
    sum: Interval,
}

#[derive(Debug, Default)]
struct AgentSeconds {
    waiting: VecDeque<CompactInterval>,
    end: Option<AgentEnd>,
}

/// Reason why nothing follows from an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentEnd {
    Done,
    Lost,
}

impl SecondMerger {
    /// Creates a merger; `empty` is an interval of the workload.
    pub fn new(agents: usize, empty: Interval) -> SecondMerger {
        SecondMerger { agents: (0..agents).map(|_| AgentSeconds::default()).collect(), sum: empty }
    }

    pub fn push(&mut self, agent: usize, second: CompactInterval) {
        self.agents[agent].waiting.push_back(second);
    }

    pub fn end(&mut self, agent: usize, end: AgentEnd) {
        self.agents[agent].end.get_or_insert(end);
    }

    /// Next second that all agents have reported, except those that were lost before.
    pub fn next_second(&mut self) -> Option<&Interval> {
        let is_complete =
            |agent: &AgentSeconds| !agent.waiting.is_empty() || agent.end == Some(AgentEnd::Lost);
        if !self.agents.iter().all(is_complete) {
            return None;
        }
        let parts = self.agents.iter_mut().filter_map(|it| it.waiting.pop_front());
        sum_up(&mut self.sum, parts).then_some(&self.sum)
    }

    /// Sum of everything that is left at the end; `rest` are the last intervals of the agents.
    pub fn rest(&mut self, rest: Vec<CompactInterval>) -> Option<&Interval> {
        let left = self.agents.iter_mut().flat_map(|it| it.waiting.drain(..)).chain(rest);
        sum_up(&mut self.sum, left).then_some(&self.sum)
    }
}

/// Sums up intervals; false if there are none.
fn sum_up(sum: &mut Interval, parts: impl Iterator<Item = CompactInterval>) -> bool {
    sum.clear();
    let mut is_first = true;
    for part in parts {
        if is_first {
            (sum.from, sum.to) = (part.from, part.to);
            is_first = false;
        }
        sum.merge_compact(&part);
    }
    !is_first
}

/// Measurement of all agents together, besides intervals, in the order of their threads. Lost agents are missing.
pub fn merge_measurements(parts: Vec<AgentMeasurement>) -> ProcessMeasurement {
    let mut all = ProcessMeasurement {
        window: Nanos::ZERO,
        clients: Vec::new(),
        thread_usage: Vec::new(),
        connect_time: Nanos::ZERO,
        aborted_clients: 0,
        jitter: LatencyHistogram::new(),
        suspended: Nanos::ZERO,
        steal_time: None,
        exhausted_connects: 0,
    };
    let mut decoder = HistogramDecoder::new();
    for part in parts {
        all.window = all.window.max(part.window);
        all.clients.extend(part.clients);
        all.thread_usage.extend(part.thread_usage);
        all.connect_time = all.connect_time.max(part.connect_time);
        all.aborted_clients += part.aborted_clients;
        // A damaged histogram of jitter leaves too few samples, which is a doubt already.
        if let Ok(jitter) = interval::decode_histogram(&part.jitter, &mut decoder) {
            all.jitter.merge_sparse(&jitter);
        }
        all.suspended = all.suspended.max(part.suspended);
        all.steal_time = match (all.steal_time, part.steal_time) {
            (Some(sum), Some(stolen)) => Some(sum + stolen),
            (sum, stolen) => sum.or(stolen),
        };
        all.exhausted_connects += part.exhausted_connects;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use AgentEnd::{Done, Lost};

    fn second(started: u64) -> CompactInterval {
        CompactInterval { started, ..CompactInterval::with_commands(&[0]) }
    }

    /// Seconds that are complete after these reports of three agents, and the rest.
    fn merged(seconds: [&[u64]; 3], ends: [Option<AgentEnd>; 3]) -> (Vec<u64>, Option<u64>) {
        let mut merger = SecondMerger::new(3, Interval::new(&[0]));
        for (agent, seconds) in seconds.iter().enumerate() {
            seconds.iter().for_each(|it| merger.push(agent, second(*it)));
        }
        for (agent, end) in ends.into_iter().enumerate() {
            end.into_iter().for_each(|it| merger.end(agent, it));
        }
        let complete = std::iter::from_fn(|| merger.next_second().map(|it| it.started)).collect();
        (complete, merger.rest(Vec::new()).map(|it| it.started))
    }

    #[test]
    fn seconds_are_complete_when_all_agents_have_reported_them() {
        let running = [None; 3];
        assert_eq!(merged([&[1, 2], &[10], &[100, 200]], running), (vec![111], Some(202)));
        assert_eq!(merged([&[1], &[], &[100]], running), (vec![], Some(101)));
        assert_eq!(merged([&[], &[], &[]], running), (vec![], None));
        // A lost agent is not waited for, and its seconds count.
        assert_eq!(merged([&[1, 2], &[10], &[100, 200]], [None, Some(Lost), None]), (vec![111, 202], None));
        // The last seconds are complete, even if all agents are done.
        assert_eq!(merged([&[1, 2], &[10, 20], &[100, 200]], [Some(Done); 3]), (vec![111, 222], None));
        assert_eq!(merged([&[1, 2], &[10], &[100]], [Some(Done); 3]), (vec![111], Some(2)));
        assert_eq!(merged([&[1], &[], &[]], [Some(Lost); 3]), (vec![1], None));
    }
}
