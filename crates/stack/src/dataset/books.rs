//! Generator of the table `book.bookv2`
//!
//! The default is a million books. Authors and titles are Russian and invented; each author has a few books. Neither
//! column has an index: the experiment measures the cost of the missing indexes.

use super::row_rng::{derive_seed, row_rng};
use super::table_spec::{CopyFormat, TableSpec};
use super::{names, titles, write_decimal};

/// Table to create.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Books {
    /// Number of rows, at least 1; keys are 1..=rows.
    pub rows: u64,
    pub seed: u64,
}

/// Number of books per author, if there are enough authors.
const BOOKS_PER_AUTHOR: u64 = 5;
/// Number of keys that Hibernate takes from a sequence at a time.
const SEQUENCE_INCREMENT: u64 = 50;

impl Books {
    pub(super) fn table_spec(self) -> TableSpec {
        // Hibernate treats the sequence's value as the last key that it may assign.
        let next = self.rows + SEQUENCE_INCREMENT;
        TableSpec {
            schema: Some("book".to_owned()),
            name: "bookv2".to_owned(),
            rows: self.rows,
            create: format!(
                "create table book.bookv2(id bigint not null, author text, name text, price bigint); \
                 create sequence book.bookv2_seq increment {SEQUENCE_INCREMENT} start {next} owned by book.bookv2.id"
            ),
            form: CopyFormat::Text,
            write: Box::new(move |row, out| self.write_row(row, out)),
            post_load_statements: vec!["alter table book.bookv2 add primary key (id)".to_owned()],
        }
    }

    /// Writes a row. Consecutive books have different authors, so an author's books are far apart.
    fn write_row(self, row: u64, out: &mut Vec<u8>) {
        let authors = self.rows.div_ceil(BOOKS_PER_AUTHOR).min(names::PERSON_COUNT);
        let (author, book) = (row % authors, row / authors);
        let somebody = scatter(author, derive_seed(self.seed, &["author"]));
        write_decimal(out, row + 1);
        for (at, part) in names::person_by_number(somebody).into_iter().enumerate() {
            out.push(if at == 0 { b'\t' } else { b' ' });
            out.extend_from_slice(part.as_bytes());
        }
        out.push(b'\t');
        // Titles of one author are multiples of STEP apart, so no title repeats until all titles are used.
        let first = row_rng(derive_seed(self.seed, &["title"]), author).below(titles::TITLE_COUNT);
        titles::write_title((first + book % titles::TITLE_COUNT * titles::STEP) % titles::TITLE_COUNT, out);
        out.push(b'\t');
        // Price in kopecks: 99 to 2,499 roubles.
        write_decimal(out, 9_900 + 5_000 * row_rng(self.seed, row).below(49));
        out.push(b'\n');
    }
}

/// Maps each number to a different number below [`names::PERSON_COUNT`], so that adjacent numbers give unrelated
/// results.
fn scatter(number: u64, salt: u64) -> u64 {
    const { assert!(names::PERSON_COUNT.is_power_of_two()) };
    let mask = names::PERSON_COUNT - 1;
    // Each step is invertible: an odd factor, and high bits mixed into lower ones.
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
        books.write_row(row, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn writes_golden_rows() {
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
    fn authors_have_at_most_five_distinct_books() {
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
            assert!(
                authors.len() as u64 == rows.div_ceil(BOOKS_PER_AUTHOR).min(names::PERSON_COUNT),
                "{}",
                authors.len()
            );
            assert!(*most <= BOOKS_PER_AUTHOR, "{most}");
        }
    }

    #[test]
    fn scatter_is_a_permutation() {
        let all: HashSet<u64> = (0..names::PERSON_COUNT).map(|it| scatter(it, 12_345)).collect();
        assert_eq!(all.len() as u64, names::PERSON_COUNT);
        assert!(all.iter().all(|it| *it < names::PERSON_COUNT));
    }
}
