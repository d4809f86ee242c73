//! What stands in `book.bookv2`?
//!
//! A million books, their authors and titles Russian and invented, each author with a few of them. Neither has an index:
//! what that costs is what the experiment is about.

use super::chance::{Chance, salt};
use super::sheet::{Form, Sheet};
use super::{decimal, names, titles};

/// The table to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Books {
    /// At least 1; keys are 1..=rows.
    pub rows: u64,
    pub seed: u64,
}

/// Of one author, while there are authors enough.
const EACH: u64 = 5;
/// What Hibernate takes from a sequence at a time.
const INCREMENT: u64 = 50;

impl Books {
    pub(super) fn sheet(self) -> Sheet {
        // What Hibernate is told is the last of the keys that it may give.
        let next = self.rows + INCREMENT;
        Sheet {
            schema: Some("book".to_owned()),
            name: "bookv2".to_owned(),
            rows: self.rows,
            create: format!(
                "create table book.bookv2(id bigint not null, author text, name text, price bigint); \
                 create sequence book.bookv2_seq increment {INCREMENT} start {next} owned by book.bookv2.id"
            ),
            form: Form::Text,
            write: Box::new(move |row, out| self.row(row, out)),
            after: vec!["alter table book.bookv2 add primary key (id)".to_owned()],
        }
    }

    /// Authors come one after the other, and again for their second book: an author's books lie far apart.
    fn row(self, row: u64, out: &mut Vec<u8>) {
        let authors = self.rows.div_ceil(EACH).min(names::PEOPLE);
        let (author, book) = (row % authors, row / authors);
        let somebody = scattered(author, salt(self.seed, &["author"]));
        decimal(out, row + 1);
        for (at, part) in names::numbered(somebody).into_iter().enumerate() {
            out.push(if at == 0 { b'\t' } else { b' ' });
            out.extend_from_slice(part.as_bytes());
        }
        out.push(b'\t');
        // Numbers that differ by a multiple of an author's step differ, until all titles were given.
        let first = Chance::of(salt(self.seed, &["title"]), author).below(titles::TITLES);
        titles::write((first + book % titles::TITLES * titles::STEP) % titles::TITLES, out);
        out.push(b'\t');
        // Kopecks: 99 to 2,499 roubles.
        decimal(out, 9_900 + 5_000 * Chance::of(self.seed, row).below(49));
        out.push(b'\n');
    }
}

/// Another number below [`names::PEOPLE`] for each: neighbours have nothing in common.
fn scattered(number: u64, salt: u64) -> u64 {
    const { assert!(names::PEOPLE.is_power_of_two()) };
    let mask = names::PEOPLE - 1;
    // Each step can be undone: an odd factor, and bits that are mixed into lower ones.
    let once = number.wrapping_add(salt).wrapping_mul(0x9e37_79b1) & mask;
    let twice = (once ^ (once >> 9)).wrapping_mul(0x85eb_ca6b) & mask;
    twice ^ (twice >> 8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{HashMap, HashSet};

    fn text(books: Books, row: u64) -> String {
        let mut out = Vec::new();
        books.row(row, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn rows() {
        let check = |seed: u64, row: u64, expected: &str| {
            let shown = text(Books { rows: 1_000_000, seed }, row).replace('\t', " | ").replace('\n', ";");
            assert_eq!(shown, expected);
        };
        check(42, 0, "1 | Ирина Васильевна Морозова | Туман и бескрайний лес | 159900;");
        check(42, 1, "2 | Инна Леонидовна Вознесенская | Закат и вечная тропа | 19900;");
        check(42, 131_072, "131073 | Ирина Васильевна Морозова | Древнее зеркало путешествия | 134900;");
        check(43, 999_999, "1000000 | Александра Александровна Павлова | Большая птица загадки | 114900;");
    }

    #[test]
    fn each_author_has_a_few_books_and_none_twice() {
        for rows in [1, 7, 50_000] {
            let books = Books { rows, seed: 7 };
            let (mut authors, mut pairs) = (HashMap::new(), HashSet::new());
            for row in 0..rows {
                let text = text(books, row);
                let cells: Vec<&str> = text.trim_end().split('\t').collect();
                *authors.entry(cells[1].to_owned()).or_insert(0u64) += 1;
                assert!(pairs.insert(format!("{}|{}", cells[1], cells[2])), "{text}");
            }
            let most = authors.values().max().unwrap();
            assert!(authors.len() as u64 == rows.div_ceil(EACH).min(names::PEOPLE), "{}", authors.len());
            assert!(*most <= EACH, "{most}");
        }
    }

    #[test]
    fn scattered_people_are_all_people() {
        let all: HashSet<u64> = (0..names::PEOPLE).map(|it| scattered(it, 12_345)).collect();
        assert_eq!(all.len() as u64, names::PEOPLE);
        assert!(all.iter().all(|it| *it < names::PEOPLE));
    }
}
