//! Mark of a value that the user of a generated experiment file has to fill in

use std::ops::Range;

/// Mark in place of a value. `pgdyno check` reports each place that contains it.
pub const FILL_IN: &str = "FILL_IN";

/// Places of the mark in a text. It is a word of its own.
pub fn fill_in_places(text: &str) -> impl Iterator<Item = Range<usize>> {
    let continues = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.match_indices(FILL_IN).map(|(start, mark)| start..start + mark.len()).filter(move |place| {
        !text[..place.start].ends_with(continues) && !text[place.end..].starts_with(continues)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_whole_words() {
        for (text, expected) in [
            ("SELECT FILL_IN::text AS a, FILL_IN", "7..14 27..34"),
            ("FILL_IN", "0..7"),
            ("a.MY_FILL_IN, FILL_INS, fill_in", ""),
        ] {
            let places: Vec<String> = fill_in_places(text).map(|it| format!("{it:?}")).collect();
            assert_eq!(places.join(" "), expected, "{text}");
        }
    }
}
