//! pgbench's tables, for `pgdyno bench -i`
//!
//! Schema, rows and physical order are those of pgbench 15. Only the loading is faster: see
//! [`Pgbench::generate_client_side`] and [`Pgbench::primary_keys`].

use super::table_spec::{BINARY_HEADER, BINARY_TRAILER, CopyFormat, RowWriter, TableSpec};
use super::{CHUNK, quote_identifier, write_decimal};
use crate::client::{Connection, CopyIn, Error};
use std::fmt::Write as _;

/// Tables to create; names and defaults are pgbench's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pgbench {
    /// Scale factor, at least 1: multiples of 100,000 accounts, 10 tellers and 1 branch.
    pub scale: u32,
    /// Fill factor of the pages, per cent, 10..=100.
    pub fill_factor: u32,
    /// Partitioning of `pgbench_accounts`; at least 1 partition if given.
    pub partitions: Option<(PartitionMethod, u32)>,
    pub unlogged: bool,
    pub tablespace: Option<String>,
    pub index_tablespace: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartitionMethod {
    Range,
    Hash,
}

/// Step of the initialisation: one letter of `-I`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InitStep {
    DropTables,
    CreateTables,
    GenerateClientSide,
    GenerateServerSide,
    Vacuum,
    PrimaryKeys,
    ForeignKeys,
}

/// Progress of the initialisation. The callback that receives it measures the durations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitProgress<'a> {
    StepStarted(InitStep),
    /// During [`InitStep::CreateTables`]: this many partitions are created next.
    Partitions(u32),
    /// During [`InitStep::GenerateClientSide`]: the first row is about to be sent.
    Sending,
    /// During [`InitStep::GenerateClientSide`], after each 100,000 accounts: the number sent and the total.
    Sent(u64, u64),
    StepFinished(InitStep),
    /// Message of the server, such as `NOTICE:  …`.
    Notice(&'a str),
}

const ACCOUNTS_PER_BRANCH: u64 = 100_000;
const TELLERS_PER_BRANCH: u64 = 10;
/// From this scale on, account numbers are `bigint`.
const BIGINT_SCALE: u32 = 20_000;

impl Default for Pgbench {
    fn default() -> Pgbench {
        Pgbench {
            scale: 1,
            fill_factor: 100,
            partitions: None,
            unlogged: false,
            tablespace: None,
            index_tablespace: None,
        }
    }
}

impl InitStep {
    pub fn from_letter(letter: char) -> Option<InitStep> {
        Some(match letter {
            'd' => InitStep::DropTables,
            't' => InitStep::CreateTables,
            'g' => InitStep::GenerateClientSide,
            'G' => InitStep::GenerateServerSide,
            'v' => InitStep::Vacuum,
            'p' => InitStep::PrimaryKeys,
            'f' => InitStep::ForeignKeys,
            _ => return None,
        })
    }
}

impl Pgbench {
    /// Runs the steps in the given order.
    pub fn initialise(
        &self,
        connection: &mut Connection,
        steps: &[InitStep],
        on_progress: &mut dyn FnMut(InitProgress<'_>),
    ) -> Result<(), Error> {
        // Building an index may take longer than any timeout.
        connection.set_timeout(None);
        for &step in steps {
            on_progress(InitProgress::StepStarted(step));
            match step {
                InitStep::DropTables => connection.run_with_notices(DROP, on_progress)?,
                InitStep::CreateTables => self.create(connection, on_progress)?,
                InitStep::GenerateClientSide => self.generate_client_side(connection, on_progress)?,
                InitStep::GenerateServerSide => self.generate_server_side(connection, on_progress)?,
                InitStep::Vacuum => {
                    VACUUM.iter().try_for_each(|it| connection.run_with_notices(it, on_progress))?;
                }
                InitStep::PrimaryKeys => self.primary_keys(connection, on_progress)?,
                InitStep::ForeignKeys => {
                    FOREIGN_KEYS.iter().try_for_each(|it| connection.run_with_notices(it, on_progress))?;
                }
            }
            on_progress(InitProgress::StepFinished(step));
        }
        Ok(())
    }

    fn create(
        &self,
        connection: &mut Connection,
        on_progress: &mut dyn FnMut(InitProgress<'_>),
    ) -> Result<(), Error> {
        self.tables().iter().try_for_each(|it| connection.run_with_notices(it, on_progress))?;
        let partitions = self.partition_tables();
        if !partitions.is_empty() {
            on_progress(InitProgress::Partitions(partitions.len() as u32));
        }
        partitions.iter().try_for_each(|it| connection.run_with_notices(it, on_progress))
    }

    /// Fills the tables from the client, in the transaction that truncates them, so that rows can be frozen.
    ///
    /// The server has less work than with pgbench. Rows are binary, and one message contains 64 KiB of rows, whereas
    /// pgbench sends a message per row (`PQputline`). Branches and tellers use COPY too, instead of one INSERT per row.
    fn generate_client_side(
        &self,
        connection: &mut Connection,
        on_progress: &mut dyn FnMut(InitProgress<'_>),
    ) -> Result<(), Error> {
        // PostgreSQL rejects FREEZE for partitioned tables; pgbench uses FREEZE from version 14 on.
        let freeze = self.partitions.is_none() && connection.server_version() >= 140_000;
        connection.run_with_notices("begin", on_progress)?;
        connection.run_with_notices(TRUNCATE, on_progress)?;
        let (branches, total) = (u64::from(self.scale), u64::from(self.scale) * ACCOUNTS_PER_BRANCH);
        // This order satisfies foreign keys that exist already.
        let mut copy = connection.copy_in("copy pgbench_branches(bid, bbalance) from stdin")?;
        send_rows(&mut copy, branches, |row, out| write_text_row(out, &[row + 1, 0], b""), &mut |_| {})?;
        copy.finish()?;
        let mut copy = connection.copy_in("copy pgbench_tellers(tid, bid, tbalance) from stdin")?;
        let teller =
            |row, out: &mut Vec<u8>| write_text_row(out, &[row + 1, row / TELLERS_PER_BRANCH + 1, 0], b"");
        send_rows(&mut copy, branches * TELLERS_PER_BRANCH, teller, &mut |_| {})?;
        copy.finish()?;
        let form = AccountFormat::detect(connection)?;
        let mut options = Vec::new();
        options.extend((form != AccountFormat::Text).then_some("format binary"));
        options.extend(freeze.then_some("freeze on"));
        let mut statement = "copy pgbench_accounts from stdin".to_owned();
        if !options.is_empty() {
            write!(statement, " with ({})", options.join(", ")).expect("writing to a String cannot fail");
        }
        on_progress(InitProgress::Sending);
        let mut copy = connection.copy_in(&statement)?;
        if form != AccountFormat::Text {
            copy.send(|out| out.extend_from_slice(BINARY_HEADER))?;
        }
        send_rows(&mut copy, total, |row, out| form.write(row, out), &mut |rows| {
            on_progress(InitProgress::Sent(rows, total));
        })?;
        if form != AccountFormat::Text {
            copy.send(|out| out.extend_from_slice(&BINARY_TRAILER))?;
        }
        copy.finish()?;
        connection.run_with_notices("commit", on_progress)
    }

    fn generate_server_side(
        &self,
        connection: &mut Connection,
        on_progress: &mut dyn FnMut(InitProgress<'_>),
    ) -> Result<(), Error> {
        let branches = self.scale;
        let (tellers, accounts) =
            (u64::from(branches) * TELLERS_PER_BRANCH, u64::from(branches) * ACCOUNTS_PER_BRANCH);
        let statements = [
            "begin".to_owned(),
            TRUNCATE.to_owned(),
            format!(
                "insert into pgbench_branches(bid, bbalance) select bid, 0 from generate_series(1, {branches}) as bid"
            ),
            format!(
                "insert into pgbench_tellers(tid, bid, tbalance) \
                 select tid, (tid - 1) / {TELLERS_PER_BRANCH} + 1, 0 from generate_series(1, {tellers}) as tid"
            ),
            format!(
                "insert into pgbench_accounts(aid, bid, abalance, filler) \
                 select aid, (aid - 1) / {ACCOUNTS_PER_BRANCH} + 1, 0, '' from generate_series(1, {accounts}) as aid"
            ),
            "commit".to_owned(),
        ];
        statements.iter().try_for_each(|it| connection.run_with_notices(it, on_progress))
    }

    /// Adds the primary keys.
    ///
    /// The server's defaults for `maintenance_work_mem` and parallel workers are kept, because they are faster. For
    /// 10,000,000 ordered rows, the defaults (64 MB, two workers) took 2.6–3.9 s, and 1 GB took 4.0–4.9 s.
    fn primary_keys(
        &self,
        connection: &mut Connection,
        on_progress: &mut dyn FnMut(InitProgress<'_>),
    ) -> Result<(), Error> {
        let space = self.index_tablespace.as_ref();
        let space =
            space.map_or(String::new(), |it| format!(" using index tablespace {}", quote_identifier(it)));
        for (table, key) in [("branches", "bid"), ("tellers", "tid"), ("accounts", "aid")] {
            connection.run_with_notices(
                &format!("alter table pgbench_{table} add primary key ({key}){space}"),
                on_progress,
            )?;
        }
        Ok(())
    }

    /// Specifies tables with keys, filled as in [`Pgbench::generate_client_side`]. Does not support partitions and
    /// tablespaces.
    pub(super) fn table_specs(&self) -> Vec<TableSpec> {
        let branches = u64::from(self.scale);
        let form = if self.scale >= BIGINT_SCALE { AccountFormat::Binary8 } else { AccountFormat::Binary4 };
        let writer = |name: &str| -> (u64, CopyFormat, RowWriter) {
            match name {
                "branches" => (
                    branches,
                    CopyFormat::Text,
                    Box::new(|row, out| write_text_row(out, &[row + 1, 0], b"\t\\N")),
                ),
                "tellers" => {
                    let teller = |row, out: &mut Vec<u8>| {
                        write_text_row(out, &[row + 1, row / TELLERS_PER_BRANCH + 1, 0], b"\t\\N");
                    };
                    (branches * TELLERS_PER_BRANCH, CopyFormat::Text, Box::new(teller))
                }
                "accounts" => (
                    branches * ACCOUNTS_PER_BRANCH,
                    CopyFormat::Binary,
                    Box::new(move |row, out| form.write(row, out)),
                ),
                _ => (0, CopyFormat::Text, Box::new(|_, _| {})),
            }
        };
        let spec = |(name, create): (&str, String)| {
            let (rows, form, write) = writer(name);
            let key = match name {
                "branches" => Some("bid"),
                "tellers" => Some("tid"),
                "accounts" => Some("aid"),
                _ => None,
            };
            let after = key.map(|key| format!("alter table pgbench_{name} add primary key ({key})"));
            let name = format!("pgbench_{name}");
            TableSpec {
                schema: None,
                name,
                rows,
                create,
                form,
                write,
                post_load_statements: after.into_iter().collect(),
            }
        };
        ["history", "tellers", "accounts", "branches"].into_iter().zip(self.tables()).map(spec).collect()
    }

    fn tables(&self) -> Vec<String> {
        let aid = if self.scale >= BIGINT_SCALE { "bigint" } else { "int" };
        let filled = format!(" with (fillfactor={})", self.fill_factor);
        let accounts = match self.partitions {
            Some((PartitionMethod::Range, _)) => " partition by range (aid)",
            Some((PartitionMethod::Hash, _)) => " partition by hash (aid)",
            None => filled.as_str(),
        };
        let tables = [
            ("history", format!("tid int,bid int,aid {aid},delta int,mtime timestamp,filler char(22)"), ""),
            ("tellers", "tid int not null,bid int,tbalance int,filler char(84)".to_owned(), filled.as_str()),
            ("accounts", format!("aid {aid} not null,bid int,abalance int,filler char(84)"), accounts),
            ("branches", "bid int not null,bbalance int,filler char(88)".to_owned(), filled.as_str()),
        ];
        let space = self
            .tablespace
            .as_ref()
            .map_or(String::new(), |it| format!(" tablespace {}", quote_identifier(it)));
        // With partitions, only they are unlogged, as in pgbench 18: PostgreSQL 18 rejects an unlogged partitioned table, and a
        // permanent table must not reference an unlogged one.
        let create = if self.partitions.is_some() { "create table" } else { self.create_table() };
        let statement =
            |(name, columns, options)| format!("{create} pgbench_{name}({columns}){options}{space}");
        tables.into_iter().map(statement).collect()
    }

    fn partition_tables(&self) -> Vec<String> {
        let Some((method, count)) = self.partitions else { return Vec::new() };
        let size = (u64::from(self.scale) * ACCOUNTS_PER_BRANCH).div_ceil(u64::from(count));
        let bounds = |number: u32| match method {
            PartitionMethod::Hash => format!("with (modulus {count}, remainder {})", number - 1),
            // The range is unbounded at both ends, so that every key has a partition.
            PartitionMethod::Range => {
                let bound = |partition: u32| match partition {
                    0 => "minvalue".to_owned(),
                    it if it == count => "maxvalue".to_owned(),
                    it => (u64::from(it) * size + 1).to_string(),
                };
                format!("from ({}) to ({})", bound(number - 1), bound(number))
            }
        };
        let (create, fill) = (self.create_table(), self.fill_factor);
        let statement = |partition| {
            let bounds = bounds(partition);
            format!(
                "{create} pgbench_accounts_{partition} partition of pgbench_accounts for values {bounds} with (fillfactor={fill})"
            )
        };
        (1..=count).map(statement).collect()
    }

    fn create_table(&self) -> &'static str {
        if self.unlogged { "create unlogged table" } else { "create table" }
    }
}

const DROP: &str =
    "drop table if exists pgbench_accounts, pgbench_branches, pgbench_history, pgbench_tellers";

const TRUNCATE: &str = "truncate table pgbench_accounts, pgbench_branches, pgbench_history, pgbench_tellers";

const VACUUM: [&str; 4] = [
    "vacuum analyze pgbench_branches",
    "vacuum analyze pgbench_tellers",
    "vacuum analyze pgbench_accounts",
    "vacuum analyze pgbench_history",
];

const FOREIGN_KEYS: [&str; 5] = [
    "alter table pgbench_tellers add constraint pgbench_tellers_bid_fkey foreign key (bid) references pgbench_branches",
    "alter table pgbench_accounts add constraint pgbench_accounts_bid_fkey foreign key (bid) references pgbench_branches",
    "alter table pgbench_history add constraint pgbench_history_bid_fkey foreign key (bid) references pgbench_branches",
    "alter table pgbench_history add constraint pgbench_history_tid_fkey foreign key (tid) references pgbench_tellers",
    "alter table pgbench_history add constraint pgbench_history_aid_fkey foreign key (aid) references pgbench_accounts",
];

impl Connection {
    /// Runs one statement and reports the server's notices.
    fn run_with_notices(
        &mut self,
        sql: &str,
        on_progress: &mut dyn FnMut(InitProgress<'_>),
    ) -> Result<(), Error> {
        let answer = self.query(sql);
        self.notices.drain(..).for_each(|it| on_progress(InitProgress::Notice(&it)));
        answer.map(drop)
    }
}

/// Format of the rows of accounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AccountFormat {
    /// Binary rows, so that the server need not parse numbers; `aid` has 4 bytes.
    Binary4,
    /// Like `Binary4`, but `aid` has 8 bytes.
    Binary8,
    /// Text rows, for existing tables with other column types.
    Text,
}

impl AccountFormat {
    fn detect(connection: &mut Connection) -> Result<AccountFormat, Error> {
        let types = connection.query(
            "select atttypid::pg_catalog.regtype from pg_catalog.pg_attribute \
             where attrelid = 'pgbench_accounts'::pg_catalog.regclass and attnum > 0 and not attisdropped order by attnum",
        )?;
        let types: Vec<&str> = types.rows.iter().filter_map(|row| row.first()?.as_deref()).collect();
        Ok(match types[..] {
            ["integer", "integer", "integer", "character"] => AccountFormat::Binary4,
            ["bigint", "integer", "integer", "character"] => AccountFormat::Binary8,
            _ => AccountFormat::Text,
        })
    }

    /// Appends account `row` + 1 with a balance of 0. The filler is empty; the server pads it with blanks.
    fn write(self, row: u64, out: &mut Vec<u8>) {
        let (aid, bid) = (row + 1, row / ACCOUNTS_PER_BRANCH + 1);
        let mut fields = |aid: &[u8]| {
            out.extend_from_slice(&4i16.to_be_bytes());
            for field in [aid, &(bid as i32).to_be_bytes(), &0i32.to_be_bytes(), b""] {
                out.extend_from_slice(&(field.len() as i32).to_be_bytes());
                out.extend_from_slice(field);
            }
        };
        match self {
            AccountFormat::Binary4 => fields(&(aid as i32).to_be_bytes()),
            AccountFormat::Binary8 => fields(&(aid as i64).to_be_bytes()),
            AccountFormat::Text => write_text_row(out, &[aid, bid, 0], b"\t"),
        }
    }
}

/// Sends `rows` rows; reports progress after each 100,000.
fn send_rows(
    copy: &mut CopyIn<'_>,
    rows: u64,
    write: impl Fn(u64, &mut Vec<u8>),
    sent: &mut dyn FnMut(u64),
) -> Result<(), Error> {
    let mut row = 0;
    while row < rows {
        copy.send(|out| {
            let full = out.len() + CHUNK;
            while row < rows && out.len() < full {
                write(row, out);
                row += 1;
                if row.is_multiple_of(ACCOUNTS_PER_BRANCH) {
                    break;
                }
            }
        })?;
        if row.is_multiple_of(ACCOUNTS_PER_BRANCH) {
            sent(row);
        }
    }
    Ok(())
}

/// Appends a row of numbers in COPY's text format, then `end` and a newline.
fn write_text_row(out: &mut Vec<u8>, numbers: &[u64], end: &[u8]) {
    for (at, &number) in numbers.iter().enumerate() {
        if at > 0 {
            out.push(b'\t');
        }
        write_decimal(out, number);
    }
    out.extend_from_slice(end);
    out.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_table_statements() {
        let check = |pgbench: Pgbench, expected: &str| {
            let statements = [pgbench.tables(), pgbench.partition_tables()].concat();
            let shown: Vec<&str> =
                statements.iter().filter(|it| it.contains("accounts")).map(String::as_str).collect();
            assert_eq!(shown.join("; "), expected);
        };
        let usual = Pgbench::default;
        check(
            usual(),
            "create table pgbench_accounts(aid int not null,bid int,abalance int,filler char(84)) with (fillfactor=100)",
        );
        check(
            Pgbench { scale: 20_000, unlogged: true, tablespace: Some("a\"b".to_owned()), ..usual() },
            "create unlogged table pgbench_accounts(aid bigint not null,bid int,abalance int,filler char(84)) \
             with (fillfactor=100) tablespace \"a\"\"b\"",
        );
        check(
            Pgbench { partitions: Some((PartitionMethod::Hash, 1)), unlogged: true, ..usual() },
            "create table pgbench_accounts(aid int not null,bid int,abalance int,filler char(84)) partition by hash (aid); \
             create unlogged table pgbench_accounts_1 partition of pgbench_accounts for values with (modulus 1, remainder 0) \
             with (fillfactor=100)",
        );
        check(
            Pgbench { partitions: Some((PartitionMethod::Range, 3)), fill_factor: 90, ..usual() },
            "create table pgbench_accounts(aid int not null,bid int,abalance int,filler char(84)) partition by range (aid); \
             create table pgbench_accounts_1 partition of pgbench_accounts for values from (minvalue) to (33335) \
             with (fillfactor=90); \
             create table pgbench_accounts_2 partition of pgbench_accounts for values from (33335) to (66669) \
             with (fillfactor=90); \
             create table pgbench_accounts_3 partition of pgbench_accounts for values from (66669) to (maxvalue) \
             with (fillfactor=90)",
        );
        check(
            Pgbench { partitions: Some((PartitionMethod::Hash, 1)), ..usual() },
            "create table pgbench_accounts(aid int not null,bid int,abalance int,filler char(84)) partition by hash (aid); \
             create table pgbench_accounts_1 partition of pgbench_accounts for values with (modulus 1, remainder 0) \
             with (fillfactor=100)",
        );
    }

    #[test]
    fn writes_account_rows() {
        let check = |form: AccountFormat, row: u64, expected: &[u8]| {
            let mut out = Vec::new();
            form.write(row, &mut out);
            assert_eq!(out.escape_ascii().to_string(), expected.escape_ascii().to_string());
        };
        check(AccountFormat::Text, 99_999, b"100000\t1\t0\t\n");
        check(AccountFormat::Text, 100_000, b"100001\t2\t0\t\n");
        check(
            AccountFormat::Binary4,
            258,
            b"\0\x04\0\0\0\x04\0\0\x01\x03\0\0\0\x04\0\0\0\x01\0\0\0\x04\0\0\0\0\0\0\0\0",
        );
        check(
            AccountFormat::Binary8,
            0,
            b"\0\x04\0\0\0\x08\0\0\0\0\0\0\0\x01\0\0\0\x04\0\0\0\x01\0\0\0\x04\0\0\0\0\0\0\0\0",
        );
    }
}
