//! Text search in a body that arrives in pieces.

/// Texts that are searched for with the Knuth–Morris–Pratt algorithm. Between two pieces, the state of the search is one
/// number per text.
#[derive(Clone, Debug, Default)]
pub struct BodySearch {
    texts: Vec<SearchText>,
}

/// Maximum number of texts of one search.
pub const TEXTS_MAX: usize = 16;

/// Number of bytes of each text that match so far. A complete match is final.
pub(super) type SearchState = [u32; TEXTS_MAX];

#[derive(Clone, Debug, Default)]
struct SearchText {
    text: Vec<u8>,
    /// Number of bytes that still match after a mismatch, indexed by the number of bytes that matched before it.
    fallback: Vec<u32>,
}

impl BodySearch {
    /// Search for texts; at most [`TEXTS_MAX`].
    pub fn new<'a>(texts: impl IntoIterator<Item = &'a [u8]>) -> BodySearch {
        let mut search = BodySearch::default();
        for (number, text) in texts.into_iter().enumerate() {
            search.set(number, |out| out.extend_from_slice(text));
        }
        search
    }

    /// Search with `texts` empty texts, and memory for texts of `room` bytes.
    pub fn with_room(texts: usize, room: usize) -> BodySearch {
        let text = |_| SearchText { text: Vec::with_capacity(room), fallback: Vec::with_capacity(room) };
        BodySearch { texts: (0..texts).map(text).collect() }
    }

    /// Sets text number `number` to what `write` appends. Allocates only if the text is longer than all texts that had
    /// the number before.
    pub fn set(&mut self, number: usize, write: impl FnOnce(&mut Vec<u8>)) {
        assert!(number < TEXTS_MAX, "a search has at most {TEXTS_MAX} texts");
        if self.texts.len() <= number {
            self.texts.resize_with(number + 1, SearchText::default);
        }
        let SearchText { text, fallback } = &mut self.texts[number];
        text.clear();
        write(text);
        fallback.clear();
        fallback.resize(text.len(), 0);
        let mut found = 0;
        for (at, byte) in text.iter().enumerate().skip(1) {
            fallback[at] = found;
            while found > 0 && text[found as usize] != *byte {
                found = fallback[found as usize];
            }
            found += u32::from(text[found as usize] == *byte);
        }
    }

    /// True if text number `number` is empty.
    pub fn is_empty(&self, number: usize) -> bool {
        self.texts[number].text.is_empty()
    }

    /// True if the search found text number `number`. The empty text is in every body.
    pub(super) fn has_found(&self, state: &SearchState, number: usize) -> bool {
        state[number] as usize == self.texts[number].text.len()
    }

    /// Continues the search in `piece`.
    pub(super) fn advance(&self, state: &mut SearchState, piece: &[u8]) {
        for (text, found) in self.texts.iter().zip(state) {
            *found = text.advance(*found, piece);
        }
    }
}

impl SearchText {
    fn len(&self) -> u32 {
        self.text.len() as u32
    }

    fn advance(&self, mut found: u32, piece: &[u8]) -> u32 {
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
    fn finds_texts_across_pieces() {
        let text = "[ab]{0,6}";
        proptest!(|(texts in [text, text], before in text, body in "[abc]{0,40}", cuts: Vec<u8>)| {
            let mut search = BodySearch::new([before.as_bytes(), texts[1].as_bytes()]);
            search.set(0, |out| out.extend_from_slice(texts[0].as_bytes()));
            let mut rest = body.as_bytes();
            let mut state = SearchState::default();
            for cut in cuts {
                let (piece, after) = rest.split_at(usize::from(cut).min(rest.len()));
                search.advance(&mut state, piece);
                rest = after;
            }
            search.advance(&mut state, rest);
            for (number, text) in texts.iter().enumerate() {
                prop_assert_eq!(search.has_found(&state, number), body.contains(text), "{} in {}", text, body);
            }
        });
    }
}
