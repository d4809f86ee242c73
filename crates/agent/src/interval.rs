//! Intervals as agents send them: JSON, with histograms in HdrHistogram's compressed format V2

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::{
    CompactInterval, EncodedHistogram, HistogramDecoder, HistogramEncoder, Interval, LatencyHistogram,
    SparseHistogram,
};
use serde::{Deserialize, Serialize};
use std::cell::{Cell, RefCell};

/// Histogram with its exact values; `None` without samples.
pub type SentHistogram = Option<HistogramParts>;

/// Interval as it is sent.
pub type SentInterval = Interval<SentHistogram>;

/// Parts of a histogram with samples.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HistogramParts {
    count: u64,
    sum: u128,
    /// Bits of the sum of squares, because decimal digits may not be exact.
    squares: u64,
    min: u64,
    max: u64,
    v2: String,
}

/// Error: bytes that are no histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeError;

/// Converts one histogram to the form that is sent.
pub fn encode_histogram(histogram: &LatencyHistogram, encoder: &mut HistogramEncoder) -> SentHistogram {
    (histogram.count() > 0).then(|| {
        let EncodedHistogram { count, sum, sum_of_squares, min, max, v2 } = encoder.encode(histogram);
        HistogramParts { count, sum, squares: sum_of_squares.to_bits(), min, max, v2: STANDARD.encode(v2) }
    })
}

/// Histogram that [`encode_histogram`] converted.
pub fn decode_histogram(
    sent: &SentHistogram,
    decoder: &mut HistogramDecoder,
) -> Result<SparseHistogram, DecodeError> {
    let Some(parts) = sent else { return Ok(SparseHistogram::default()) };
    let HistogramParts { count, sum, squares, min, max, v2 } = parts;
    let v2 = STANDARD.decode(v2).map_err(|_| DecodeError)?;
    let (count, sum, min, max) = (*count, *sum, *min, *max);
    let encoded = EncodedHistogram { count, sum, sum_of_squares: f64::from_bits(*squares), min, max, v2 };
    decoder.decode(&encoded).map_err(|_| DecodeError)
}

/// Converts an interval to the form that is sent.
pub fn encode(interval: &Interval) -> SentInterval {
    let encoder = RefCell::new(HistogramEncoder::new());
    interval.convert(|it| encode_histogram(it, &mut encoder.borrow_mut()))
}

/// Interval that [`encode`] converted. It has exactly the values of the original.
pub fn decode(sent: &SentInterval, decoder: &mut HistogramDecoder) -> Result<CompactInterval, DecodeError> {
    let (damaged, decoder) = (Cell::new(false), RefCell::new(decoder));
    let interval = sent.convert(|histogram| {
        decode_histogram(histogram, &mut decoder.borrow_mut()).unwrap_or_else(|_| {
            damaged.set(true);
            SparseHistogram::default()
        })
    });
    if damaged.get() { Err(DecodeError) } else { Ok(interval) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{ClientId, Code, Nanos, Outcome, Record, ScriptId, SizeUnit, StatementKind};
    use proptest::prelude::*;

    /// Interval with these records of two scripts.
    fn interval(records: &[(u16, u64, u8)]) -> Interval {
        let mut interval = Interval::new(&[1, 0]).with_answer_sizes(&[(0, 0)]);
        for &(script, nanos, outcome) in records {
            let outcome = match outcome {
                0 => Outcome::Failed(Code::SqlState(*b"40001")),
                1 => Outcome::Unknown(Code::RESET),
                2 => Outcome::Dropped,
                _ => Outcome::Ok,
            };
            let (intended, started) = (Nanos(1000), Nanos(1000 + nanos / 2));
            let finished = Nanos(1000 + nanos);
            let (script, client) = (ScriptId(script), ClientId(3));
            let record = Record { script, client, outcome, intended, started, finished, tries: 2 };
            interval.started += 1;
            interval.scripts[usize::from(script.0)].record(&record, Nanos(500), Nanos(1 << 40));
            interval.send_lag.record(started - intended);
            if outcome == Outcome::Ok {
                interval.record_success(finished);
                interval.record_answer((0, 0), SizeUnit::Rows(StatementKind::Select), nanos % 100);
            }
        }
        interval
    }

    fn text(interval: &Interval) -> String {
        serde_json::to_string(&encode(interval)).expect("plain data can be serialised")
    }

    #[test]
    fn what_was_sent_equals_what_was_measured() {
        let record = (0_u16..2, 0_u64..1 << 42, 0_u8..8);
        proptest!(ProptestConfig::with_cases(64), |(parts in prop::collection::vec(prop::collection::vec(record, 0..60), 1..4))| {
            let mut decoder = HistogramDecoder::new();
            let mut direct = interval(&[]);
            let mut sent = interval(&[]);
            for part in &parts {
                let part = interval(part);
                let text = text(&part);
                let read: SentInterval = serde_json::from_str(&text).expect("what was written can be read");
                let read = decode(&read, &mut decoder).expect("it is complete");
                prop_assert_eq!(format!("{read:?}"), format!("{:?}", part.convert(SparseHistogram::from)));
                direct.merge(&part);
                sent.merge_compact(&read);
            }
            prop_assert_eq!(format!("{:?}", encode(&sent)), format!("{:?}", encode(&direct)));
        });
    }

    #[test]
    fn rejects_damaged_histograms() {
        let good = encode(&interval(&[(0, 700, 9), (1, 80_000, 9)]));
        let damage = |change: fn(&mut HistogramParts)| {
            let mut sent = good.clone();
            change(sent.scripts[0].response.as_mut().expect("it has a sample"));
            decode(&sent, &mut HistogramDecoder::new()).is_err()
        };
        assert!(damage(|it| it.v2.truncate(12)));
        assert!(damage(|it| it.v2.insert(0, '!')));
        assert!(damage(|it| it.count += 1));
        assert!(!damage(|_| {}));
    }
}
