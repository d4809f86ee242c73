//! Encoding of a histogram in HdrHistogram's format.

use super::LatencyHistogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use std::fmt;

/// Histogram in HdrHistogram's compressed format V2, together with exact values that the format cannot store.
#[derive(Clone, Debug, PartialEq)]
pub struct EncodedHistogram {
    pub count: u64,
    /// Sum of all samples in nanoseconds.
    pub sum: u128,
    /// Sum of the squares of all samples in ns².
    pub sum_of_squares: f64,
    /// Shortest sample in nanoseconds; [`u64::MAX`] without samples.
    pub min: u64,
    /// Longest sample in nanoseconds; zero without samples.
    pub max: u64,
    /// Bytes in the "V2 compressed" format that other HdrHistogram libraries can read; values are nanoseconds.
    pub v2: Vec<u8>,
}

/// Error: the bytes are not a histogram with the bounds of [`LatencyHistogram`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeError;

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a damaged histogram")
    }
}

impl std::error::Error for DecodeError {}

/// Encoder that reuses its buffers.
pub struct HistogramEncoder(V2DeflateSerializer);

impl fmt::Debug for HistogramEncoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Packer")
    }
}

impl HistogramEncoder {
    pub fn new() -> HistogramEncoder {
        HistogramEncoder(V2DeflateSerializer::new())
    }

    pub fn encode(&mut self, histogram: &LatencyHistogram) -> EncodedHistogram {
        let mut v2 = Vec::new();
        self.0.serialize(&histogram.histogram, &mut v2).expect("writing to memory cannot fail");
        EncodedHistogram {
            count: histogram.count(),
            sum: histogram.sum,
            sum_of_squares: histogram.sum_of_squares,
            min: histogram.min,
            max: histogram.max,
            v2,
        }
    }
}

impl Default for HistogramEncoder {
    fn default() -> HistogramEncoder {
        HistogramEncoder::new()
    }
}

/// Cookies of format V2 and of its compressed form. Source: `AbstractHistogram.java` of HdrHistogram,
/// `getEncodingCookie`.
const COOKIE: u32 = 0x1c84_9313;
pub(super) const COMPRESSED_COOKIE: u32 = 0x1c84_9314;

/// Length of the V2 header before the counts: cookie, length, offset, digits, lowest, highest, ratio.
/// Source: `AbstractHistogram.java` of HdrHistogram, `ENCODING_HEADER_SIZE`.
pub(super) const HEADER_LENGTH: usize = 40;

/// Upper bound of the length of the encoded counts, in bytes: more than nine bytes for each bucket.
pub(super) const MAX_LENGTH: u32 = 1 << 20;

/// True if the 40-byte header describes a histogram with the bounds of [`LatencyHistogram`] and `length` bytes of
/// counts.
pub(super) fn has_our_bounds(header: &[u8], length: usize) -> bool {
    let word = |at: usize| u32::from_be_bytes(header[at..at + 4].try_into().expect("four bytes"));
    let long = |at: usize| (u64::from(word(at)) << 32) | u64::from(word(at + 4));
    let bounds = word(12) == u32::from(super::SIGNIFICANT_DIGITS)
        && long(16) == super::LOWEST_VALUE
        && long(24) == super::HIGHEST_VALUE;
    word(0) == COOKIE && word(4) as usize == length && word(8) == 0 && bounds && long(32) == 1f64.to_bits()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Nanos;
    use hdrhistogram::Histogram;
    use hdrhistogram::serialization::Deserializer;

    fn latency(values: &[u64]) -> LatencyHistogram {
        let mut histogram = LatencyHistogram::new();
        values.iter().for_each(|&value| histogram.record(Nanos(value)));
        histogram
    }

    #[test]
    fn encoding_round_trips() {
        let rows: [&[u64]; 6] = [
            &[],
            &[0],
            &[1, 1, 1],
            &[u64::MAX],
            &[999, 1_000_001, 59_999_999_999, 3_600_000_000_001],
            &[7; 40],
        ];
        for values in rows {
            let original = latency(values);
            let packed = HistogramEncoder::new().encode(&original);
            let back = LatencyHistogram::decode(&packed).expect("the encoding is complete");
            assert_eq!(HistogramEncoder::new().encode(&back), packed, "{values:?}");
            assert_eq!(
                (back.count(), back.sum(), back.min(), back.max(), back.mean(), back.deviation()),
                (
                    original.count(),
                    original.sum(),
                    original.min(),
                    original.max(),
                    original.mean(),
                    original.deviation()
                )
            );
            assert!(back.histogram == original.histogram, "{values:?}");
            let reference: Histogram<u64> = Deserializer::new()
                .deserialize(&mut packed.v2.as_slice())
                .expect("the HdrHistogram crate decodes our encoding");
            assert!(reference == original.histogram, "{values:?}");
        }
    }

    #[test]
    fn merge_of_decoded_equals_merge_of_originals() {
        let (a, b) = (latency(&[10, 20, 30_000]), latency(&[5, 400_000_000]));
        let mut direct = a.clone();
        direct.merge(&b);
        let mut pack = HistogramEncoder::new();
        let mut merged = LatencyHistogram::new();
        for part in [&a, &b] {
            merged.merge(&LatencyHistogram::decode(&pack.encode(part)).expect("the encoding is complete"));
        }
        assert_eq!(pack.encode(&merged), pack.encode(&direct));
    }

    #[test]
    fn rejects_damaged_bytes() {
        let good = HistogramEncoder::new().encode(&latency(&[10, 20, 30]));
        let other = Histogram::<u64>::new_with_bounds(1, 1000, 2).expect("bounds are valid");
        let mut v2 = Vec::new();
        V2DeflateSerializer::new().serialize(&other, &mut v2).expect("writing to memory cannot fail");
        let rows = [
            EncodedHistogram { v2: vec![], ..good.clone() },
            EncodedHistogram { v2: good.v2[..good.v2.len() / 2].to_vec(), ..good.clone() },
            EncodedHistogram { v2, ..good.clone() },
            EncodedHistogram { count: 4, ..good.clone() },
            EncodedHistogram { min: 31, ..good.clone() },
        ];
        for row in rows {
            assert!(LatencyHistogram::decode(&row).is_err(), "{row:?}");
        }
        // Damaged bytes: the cookie or the length before the compressed bytes.
        for at in 0..8 {
            let mut v2 = good.v2.clone();
            v2[at] ^= 1;
            assert!(LatencyHistogram::decode(&EncodedHistogram { v2, ..good.clone() }).is_err(), "byte {at}");
        }
        for at in 8..good.v2.len() {
            for bit in 0..8 {
                let mut v2 = good.v2.clone();
                v2[at] ^= 1 << bit;
                // The result may still be a histogram, but decoding must not panic.
                let _ = LatencyHistogram::decode(&EncodedHistogram { v2, ..good.clone() });
            }
        }
    }
}
