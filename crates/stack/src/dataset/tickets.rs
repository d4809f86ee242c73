//! What stands in `book.tickets`, and how does it get there?
//!
//! One row is one seat of one ride, sold to somebody: a Russian full name and a contact as jsonb. A row is a function of
//! the seed and its number alone, so a table can be made again, or a row checked, without the others.

use super::{CHUNK, decimal, names};
use crate::ask::{Connection, Error};

/// The table to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tickets {
    /// At least 1; keys are 1..=rows.
    pub rows: u64,
    pub seed: u64,
}

/// What is going on, to be shown or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// So many rows have been sent.
    Rows(u64),
    PrimaryKey,
    Statistics,
}

/// Seats of one ride: a third-class sleeping car.
const SEATS: u64 = 54;

impl Default for Tickets {
    fn default() -> Tickets {
        Tickets { rows: 1_000_000, seed: 42 }
    }
}

impl Tickets {
    /// Makes schema and table, fills it by COPY, adds the primary key and statistics. Refused if the schema exists.
    pub fn load(&self, connection: &mut Connection, tell: &mut dyn FnMut(Stage)) -> Result<(), Error> {
        connection.patience(None).map_err(|it| connection.net(it))?;
        // In the transaction that made the table, rows can be written frozen: no later vacuum rewrites them in mid-run.
        connection.query("begin; create schema book")?;
        connection.query(
            "create table book.tickets(id bigint not null, fkRide int not null, fio text not null, \
             contact jsonb not null, fkSeat int not null)",
        )?;
        let mut copy = connection.copy_in("copy book.tickets from stdin with (freeze on)")?;
        let mut row = 0;
        while row < self.rows {
            copy.send(|out| {
                let full = out.len() + CHUNK;
                while row < self.rows && out.len() < full {
                    row += 1;
                    self.row(row, out);
                }
            })?;
            tell(Stage::Rows(row));
        }
        copy.finish()?;
        connection.query("commit")?;
        tell(Stage::PrimaryKey);
        connection.query("alter table book.tickets add primary key (id)")?;
        tell(Stage::Statistics);
        // Also sets the visibility map, or autovacuum would do it during the measurement.
        connection.query("vacuum analyze book.tickets").map(drop)
    }

    /// Appends row `id` in COPY's text format.
    fn row(&self, id: u64, out: &mut Vec<u8>) {
        // An odd factor keeps different rows different; the generator's own steps are far from it.
        let mut chance = Chance(self.seed ^ id.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let person = names::person(|n| chance.below(n));
        decimal(out, id);
        out.push(b'\t');
        decimal(out, (id - 1) / SEATS + 1);
        out.push(b'\t');
        out.extend_from_slice(person.surname.as_bytes());
        out.push(b' ');
        out.extend_from_slice(person.name.as_bytes());
        out.push(b' ');
        out.extend_from_slice(person.patronymic.as_bytes());
        out.extend_from_slice(b"\t{\"phone\": \"+79");
        decimal(out, 100_000_000 + chance.below(900_000_000));
        out.extend_from_slice(b"\", \"email\": \"");
        out.extend_from_slice(person.latin.as_bytes());
        decimal(out, chance.below(10_000));
        out.extend_from_slice(b"@example.org\"}\t");
        decimal(out, (id - 1) % SEATS + 1);
        out.push(b'\n');
    }
}

/// SplitMix64: G. Steele et al., "Fast splittable pseudorandom number generators" (2014).
struct Chance(u64);

impl Chance {
    /// Uniform in 0..n to within n / 2⁶⁴.
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut it = self.0;
        it = (it ^ (it >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        it = (it ^ (it >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(it ^ (it >> 31)) * u128::from(n)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows() {
        let check = |seed: u64, id: u64, expected: &str| {
            let mut out = Vec::new();
            Tickets { rows: id, seed }.row(id, &mut out);
            let shown = String::from_utf8(out).unwrap().replace('\t', " | ").replace('\n', ";");
            assert_eq!(shown, expected);
        };
        check(
            42,
            1,
            r#"1 | 1 | Морозов Алексей Васильевич | {"phone": "+79881405268", "email": "morozov2184@example.org"} | 1;"#,
        );
        check(
            42,
            54,
            r#"54 | 1 | Фролов Борис Иванович | {"phone": "+79394744194", "email": "frolov7513@example.org"} | 54;"#,
        );
        check(
            42,
            55,
            r#"55 | 2 | Королёв Роман Юрьевич | {"phone": "+79606844196", "email": "korolev91@example.org"} | 1;"#,
        );
        check(
            43,
            1_000_000,
            r#"1000000 | 18519 | Сергеев Александр Николаевич | {"phone": "+79373263603", "email": "sergeev3811@example.org"} | 28;"#,
        );
    }
}
