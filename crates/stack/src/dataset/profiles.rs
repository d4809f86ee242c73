//! Generator of `profiles`, the table with row contention
//!
//! The table holds an application's settings: one row per user and setting. Each visit updates two rows in one
//! transaction. With few users, many transactions update the same rows. If they do so in different orders, they
//! deadlock.

use super::row_rng::row_rng;
use super::table_spec::{CopyFormat, TableSpec};
use super::write_decimal;

/// Table to create: `users` × `per_user` rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profiles {
    /// Number of users, at least 1; `userid` is 1..=users.
    pub users: u64,
    /// Number of settings per user, at least 1. The settings are in the order of [`SETTINGS`], first with `idx2` 0,
    /// then with `idx2` 1.
    pub per_user: u64,
    pub seed: u64,
}

/// Names of settings, the values of `idx`.
pub const SETTINGS: [&str; 16] = [
    "web.map.chosen",
    "web.map.zoom",
    "web.list.sort",
    "web.list.order",
    "web.list.page",
    "web.graph.period",
    "web.graph.from",
    "web.graph.stacked",
    "web.events.filter",
    "web.events.severity",
    "web.hosts.group",
    "web.hosts.chosen",
    "web.menu.folded",
    "web.menu.last",
    "web.table.columns",
    "web.table.rows",
];

/// Index of the column that holds the value.
const NUMBER: u64 = 1;
const STRING: u64 = 3;

impl Profiles {
    pub(super) fn table_spec(self) -> TableSpec {
        TableSpec {
            schema: None,
            name: "profiles".to_owned(),
            rows: self.users.saturating_mul(self.per_user),
            create: "create table profiles(profileid bigint not null, userid bigint not null, \
                     idx varchar(96) not null, idx2 bigint not null, value_id bigint not null, \
                     value_int int not null, value_str text not null, source varchar(96) not null, \
                     type int not null)"
                .to_owned(),
            form: CopyFormat::Text,
            write: Box::new(move |row, out| self.write_row(row, out)),
            post_load_statements: vec![
                "alter table profiles add primary key (profileid)".to_owned(),
                "create index profiles_by_user on profiles(userid, idx, idx2)".to_owned(),
            ],
        }
    }

    fn write_row(self, row: u64, out: &mut Vec<u8>) {
        let mut chance = row_rng(self.seed, row);
        let setting = row % self.per_user;
        let names = SETTINGS.len() as u64;
        let kind = if chance.below(4) == 0 { STRING } else { NUMBER };
        write_decimal(out, row + 1);
        out.push(b'\t');
        write_decimal(out, row / self.per_user + 1);
        out.push(b'\t');
        out.extend_from_slice(SETTINGS[(setting % names) as usize].as_bytes());
        out.push(b'\t');
        write_decimal(out, setting / names);
        out.push(b'\t');
        write_decimal(out, if kind == NUMBER { chance.below(10_000) } else { 0 });
        out.extend_from_slice(b"\t0\t");
        if kind == STRING {
            out.extend_from_slice(b"page=");
            write_decimal(out, chance.below(100));
            out.extend_from_slice(b"&filter=");
            write_decimal(out, chance.below(1000));
        }
        out.extend_from_slice(b"\t\t");
        write_decimal(out, kind);
        out.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_golden_rows() {
        let check = |row: u64, expected: &str| {
            let mut out = Vec::new();
            Profiles { users: 5, per_user: 20, seed: 42 }.write_row(row, &mut out);
            let shown = String::from_utf8(out).unwrap().replace('\t', "|").replace('\n', ";");
            assert_eq!(shown, expected);
        };
        check(0, "1|1|web.map.chosen|0|4501|0|||1;");
        check(1, "2|1|web.map.zoom|0|0|0|page=48&filter=958||3;");
        check(16, "17|1|web.map.chosen|1|8549|0|||1;");
        check(20, "21|2|web.map.chosen|0|5606|0|||1;");
        check(99, "100|5|web.list.order|1|5169|0|||1;");
    }
}
