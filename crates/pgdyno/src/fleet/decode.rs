//! Decodes the reports of agents, on several threads if many have arrived

use super::event::SentEvent;
use agent::interval::decode;
use agent::protocol::{Report, from_bytes};
use model::{CompactInterval, HistogramDecoder};
use std::num::NonZero;
use std::thread;

/// Report with decoded intervals; `None` if it could not be read.
pub type DecodedReport = Option<Report<SentEvent, Box<CompactInterval>>>;

/// Number of reports per thread below which another thread costs more than it saves: decoding a report takes about as
/// long as starting a thread.
const REPORTS_PER_THREAD: usize = 16;

/// Decodes reports, pairs of the number of the agent and its bytes. The result has the same order.
pub fn decode_all(reports: &[(u16, Vec<u8>)]) -> Vec<(usize, DecodedReport)> {
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    let threads = reports.len().div_ceil(REPORTS_PER_THREAD).clamp(1, processors);
    let mut chunks = reports.chunks(reports.len().div_ceil(threads).max(1));
    let first = chunks.next().unwrap_or_default();
    thread::scope(|scope| {
        let others: Vec<_> = chunks.map(|chunk| scope.spawn(move || decode_chunk(chunk))).collect();
        let mut all = decode_chunk(first);
        for other in others {
            all.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        all
    })
}

fn decode_chunk(reports: &[(u16, Vec<u8>)]) -> Vec<(usize, DecodedReport)> {
    let mut decoder = HistogramDecoder::new();
    let mut decoded = |bytes: &[u8]| {
        let Report { trial, body } = from_bytes::<Report<SentEvent>>(bytes)?;
        let body = body.with_interval(|sent| decode(&sent, &mut decoder).ok().map(Box::new))?;
        Some(Report { trial, body })
    };
    reports.iter().map(|(agent, bytes)| (usize::from(*agent), decoded(bytes))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent::interval::encode;
    use agent::protocol::{ReportBody, to_bytes};
    use model::{Interval, Nanos};

    /// Number that a report contains.
    fn number(report: &DecodedReport) -> Option<u64> {
        match &report.as_ref()?.body {
            ReportBody::Second { interval, .. } => Some(interval.started),
            ReportBody::Settled { connected } => Some(u64::from(*connected)),
            _ => None,
        }
    }

    #[test]
    fn the_order_does_not_depend_on_the_number_of_threads() {
        for count in [0, 1, 15, 16, 17, 500] {
            let report = |n: u16| {
                let mut interval = Interval::new(&[0]);
                interval.started = n.into();
                let cpu = Nanos::ZERO;
                let body = match n % 3 {
                    0 => ReportBody::Settled { connected: n.into() },
                    _ => ReportBody::Second { interval: Box::new(encode(&interval)), cpu },
                };
                // A damaged report does not disturb the others.
                let bytes =
                    if n == 7 { b"{".to_vec() } else { to_bytes(&Report::<SentEvent> { trial: 1, body }) };
                (n % 5, bytes)
            };
            let decoded = decode_all(&(0..count).map(report).collect::<Vec<_>>());
            let found: Vec<_> = decoded.iter().map(|(agent, report)| (*agent, number(report))).collect();
            let expected = |n: u16| (usize::from(n % 5), (n != 7).then_some(u64::from(n)));
            assert_eq!(found, (0..count).map(expected).collect::<Vec<_>>(), "{count} reports");
        }
    }
}
