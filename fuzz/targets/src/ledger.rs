//! Target for ledger files: they are read without a crash, and only entries with a correct checksum are accepted.

use crc32c::crc32c_append;
use model::durability::{LedgerEnd, LedgerEntry};
use store::ledger::LedgerReader;

/// Runs one input. The first byte selects whether the rest is a file, or frames for which the target computes
/// checksums.
pub fn run(data: &[u8]) {
    let [flags, rest @ ..] = data else { return };
    let bytes = if flags & 1 == 0 { rest.to_vec() } else { sealed(rest) };
    let Some(mut entries) = LedgerReader::from_reader(&bytes[..]).expect("reading from memory cannot fail")
    else {
        return;
    };
    let known: Vec<LedgerEntry> = entries.by_ref().collect();
    let end = entries.end().expect("all entries were read");
    assert_eq!(
        known.last() == Some(&LedgerEntry::Closed) && matches!(end, LedgerEnd::Closed),
        end == LedgerEnd::Closed
    );
    if let LedgerEnd::Torn { bytes: torn } = end {
        let whole = bytes.len() - torn as usize;
        let mut again = LedgerReader::from_reader(&bytes[..whole])
            .expect("reading from memory cannot fail")
            .expect("the header is complete");
        assert_eq!(again.by_ref().collect::<Vec<_>>(), known, "truncation does not change earlier entries");
    }
}

/// Creates a ledger with correct checksums. Each frame of the input has a length of two bytes and a body.
fn sealed(mut frames: &[u8]) -> Vec<u8> {
    let mut file = b"pgdynoL1".to_vec();
    let mut chain = 0;
    while let Some((length, rest)) = frames.split_first_chunk::<2>() {
        let length = usize::from(u16::from_le_bytes(*length)).min(rest.len());
        let (body, behind) = rest.split_at(length);
        let begin = file.len();
        file.extend_from_slice(&(length as u16).to_le_bytes());
        file.extend_from_slice(body);
        chain = crc32c_append(chain, &file[begin..]);
        file.extend_from_slice(&chain.to_le_bytes());
        frames = behind;
    }
    file
}
