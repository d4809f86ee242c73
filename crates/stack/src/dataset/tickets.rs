//! Generator of the table `book.tickets`
//!
//! One row is one sold seat of one ride: a Russian full name, and a contact as jsonb. A row depends only on the seed
//! and the row number. A single row can therefore be generated or checked without the other rows.

pub use super::Stage;
use super::row_rng::row_rng;
use super::table_spec::{CopyFormat, TableSpec};
use super::{load, names, write_decimal};
use crate::client::{Connection, Error};

/// Table to create.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tickets {
    /// Number of rows, at least 1; keys are 1..=rows.
    pub rows: u64,
    pub seed: u64,
}

/// Number of seats per ride, as in a third-class sleeping car.
const SEATS_PER_RIDE: u64 = 54;

impl Default for Tickets {
    fn default() -> Tickets {
        Tickets { rows: 1_000_000, seed: 42 }
    }
}

impl Tickets {
    /// Creates schema and table, fills it with one COPY, adds the primary key and collects statistics.
    ///
    /// Fails if the schema exists. Stores no record, so [`super::load()`] does not recognize the table.
    pub fn load(&self, connection: &mut Connection, on_progress: &mut dyn FnMut(Stage)) -> Result<(), Error> {
        load::load_single_table(connection, &self.table_spec(), on_progress)
    }

    pub(super) fn table_spec(self) -> TableSpec {
        TableSpec {
            schema: Some("book".to_owned()),
            name: "tickets".to_owned(),
            rows: self.rows,
            create: "create table book.tickets(id bigint not null, fkRide int not null, fio text not null, \
                     contact jsonb not null, fkSeat int not null)"
                .to_owned(),
            form: CopyFormat::Text,
            write: Box::new(move |row, out| self.write_row(row + 1, out)),
            post_load_statements: vec!["alter table book.tickets add primary key (id)".to_owned()],
        }
    }

    /// Appends row `id` in COPY's text format.
    fn write_row(&self, id: u64, out: &mut Vec<u8>) {
        let mut chance = row_rng(self.seed, id);
        let person = names::draw_person(|n| chance.below(n));
        write_decimal(out, id);
        out.push(b'\t');
        write_decimal(out, (id - 1) / SEATS_PER_RIDE + 1);
        out.push(b'\t');
        person.write(out);
        out.extend_from_slice(b"\t{\"phone\": \"+79");
        write_decimal(out, 100_000_000 + chance.below(900_000_000));
        out.extend_from_slice(b"\", \"email\": \"");
        out.extend_from_slice(person.latin.as_bytes());
        write_decimal(out, chance.below(10_000));
        out.extend_from_slice(b"@example.org\"}\t");
        write_decimal(out, (id - 1) % SEATS_PER_RIDE + 1);
        out.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_golden_rows() {
        let check = |seed: u64, id: u64, expected: &str| {
            let mut out = Vec::new();
            Tickets { rows: id, seed }.write_row(id, &mut out);
            let shown = String::from_utf8(out).unwrap().replace('\t', " | ").replace('\n', ";");
            assert_eq!(shown, expected);
        };
        check(
            42,
            1,
            r#"1 | 1 | Кузнецова Екатерина Дмитриевна | {"phone": "+79967410146", "email": "kuznetsov1497@example.org"} | 1;"#,
        );
        check(
            42,
            54,
            r#"54 | 1 | Комаров Дмитрий Кириллович | {"phone": "+79250692358", "email": "komarov8212@example.org"} | 54;"#,
        );
        check(
            42,
            55,
            r#"55 | 2 | Гусева Мария Александровна | {"phone": "+79149939114", "email": "gusev3571@example.org"} | 1;"#,
        );
        check(
            43,
            1_000_000,
            r#"1000000 | 18519 | Зайцев Алексей Александрович | {"phone": "+79641716848", "email": "zaitsev4550@example.org"} | 28;"#,
        );
    }
}
