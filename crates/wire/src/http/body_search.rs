//! Text search in a body that arrives in pieces.

/// Text that is searched for with the Knuth–Morris–Pratt algorithm. Between two pieces, the state of the search is one
/// number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BodySearch {
    text: Box<[u8]>,
    /// Number of bytes that still match after a mismatch, indexed by the number of bytes that matched before it.
    fallback: Box<[u32]>,
}

impl BodySearch {
    pub fn new(text: &[u8]) -> BodySearch {
        let mut fallback = vec![0; text.len()];
        let mut found = 0;
        for (at, byte) in text.iter().enumerate().skip(1) {
            fallback[at] = found;
            while found > 0 && text[found as usize] != *byte {
                found = fallback[found as usize];
            }
            found += u32::from(text[found as usize] == *byte);
        }
        BodySearch { text: text.into(), fallback: fallback.into() }
    }

    /// Length of the text in bytes; `advance` returns it when the whole text was found.
    pub fn len(&self) -> u32 {
        self.text.len() as u32
    }

    /// True for the empty text, which every body contains.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Number of matching bytes after `piece`; `found` is the number before it. A complete match is final.
    pub fn advance(&self, mut found: u32, piece: &[u8]) -> u32 {
        let mut rest = piece;
        while found < self.len() {
            if found == 0 {
                let Some(at) = rest.iter().position(|it| *it == self.text[0]) else { return 0 };
                rest = &rest[at + 1..];
                found = 1;
                continue;
            }
            let Some((byte, after)) = rest.split_first() else { return found };
            if self.text[found as usize] == *byte {
                rest = after;
                found += 1;
            } else {
                // Compare the same byte again with a shorter match.
                found = self.fallback[found as usize];
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn finds_text_across_pieces() {
        proptest!(|(text in "[ab]{0,6}", body in "[abc]{0,40}", cuts: Vec<u8>)| {
            let needle = BodySearch::new(text.as_bytes());
            let mut rest = body.as_bytes();
            let mut found = 0;
            for cut in cuts {
                let (piece, after) = rest.split_at(usize::from(cut).min(rest.len()));
                found = needle.advance(found, piece);
                rest = after;
            }
            found = needle.advance(found, rest);
            prop_assert_eq!(found == needle.len(), body.contains(&text), "{} in {}", text, body);
        });
    }
}
