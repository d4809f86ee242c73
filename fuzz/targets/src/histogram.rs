//! Target for stored histograms: they are rejected, or read as HdrHistogram's own reader reads them.

use flate2::Compression;
use flate2::write::ZlibEncoder;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use model::{EncodedHistogram, LatencyHistogram};
use std::io::Write;

/// Runs one input. The first byte selects whether the rest is compressed first. The next eight bytes are the stored
/// sample count.
pub fn run(data: &[u8]) {
    let Some(([flags, count @ ..], bytes)) = data.split_first_chunk::<9>() else { return };
    let v2 = if *flags & 1 == 0 { bytes.to_vec() } else { compressed(bytes) };
    let count = u64::from_le_bytes(*count);
    let packed = EncodedHistogram { count, sum: 7, sum_of_squares: 7.0, min: 1, max: 1 << 40, v2 };
    let Ok(decoded) = LatencyHistogram::decode(&packed) else { return };
    assert_eq!(decoded.count(), count);
    let reference: Histogram<u64> =
        Deserializer::new().deserialize(&mut packed.v2.as_slice()).expect("a decoded histogram is valid");
    assert_eq!(reference.len(), count);
}

/// Wraps bytes in HdrHistogram's compressed format V2: cookie, length, compressed bytes.
fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("writing to memory cannot fail");
    let body = encoder.finish().expect("writing to memory cannot fail");
    let length = u32::try_from(body.len()).expect("inputs are short");
    [&0x1c84_9314_u32.to_be_bytes()[..], &length.to_be_bytes(), &body].concat()
}
