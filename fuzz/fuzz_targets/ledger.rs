//! Is every file read without harm, and only what the checksums vouch for believed?

#![no_main]

use libfuzzer_sys::fuzz_target;
use model::durability::{Entry, LedgerEnd};
use store::ledger::Entries;

fuzz_target!(|bytes: &[u8]| {
    let Some(mut entries) = Entries::of(bytes).expect("memory can be read") else { return };
    let known: Vec<Entry> = entries.by_ref().collect();
    let end = entries.end().expect("all was taken");
    assert_eq!(known.last() == Some(&Entry::Closed) && matches!(end, LedgerEnd::Closed), end == LedgerEnd::Closed);
    if let LedgerEnd::Torn { bytes: torn } = end {
        let whole = bytes.len() - torn as usize;
        let mut again = Entries::of(&bytes[..whole]).expect("memory can be read").expect("its header is whole");
        assert_eq!(again.by_ref().collect::<Vec<_>>(), known, "what is cut off changes nothing before it");
    }
});
