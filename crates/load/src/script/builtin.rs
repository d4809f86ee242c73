//! Built-in scripts

use std::fmt;

/// Built-in script. The option `-b` selects it by a unique prefix of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Builtin {
    pub name: &'static str,
    /// Value of pgbench's "transaction type".
    pub description: &'static str,
    pub text: &'static str,
}

/// Built-in scripts for the tables of `pgbench -i`: 100,000 accounts, 10 tellers and 1 branch per unit of scale.
pub const ALL: [Builtin; 3] = [
    Builtin {
        name: "tpcb-like",
        description: "<builtin: TPC-B (sort of)>",
        text: "\
\\set aid random(1, 100000 * :scale)
\\set bid random(1, 1 * :scale)
\\set tid random(1, 10 * :scale)
\\set delta random(-5000, 5000)
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;
UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);
END;
",
    },
    Builtin {
        name: "simple-update",
        description: "<builtin: simple update>",
        text: "\
\\set aid random(1, 100000 * :scale)
\\set bid random(1, 1 * :scale)
\\set tid random(1, 10 * :scale)
\\set delta random(-5000, 5000)
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);
END;
",
    },
    Builtin {
        name: "select-only",
        description: "<builtin: select only>",
        text: "\
\\set aid random(1, 100000 * :scale)
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
",
    },
];

/// Error for a prefix that does not select exactly one built-in script, with pgbench's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuiltinError {
    Unknown { prefix: String },
    Ambiguous { prefix: String, count: usize },
}

impl fmt::Display for BuiltinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuiltinError::Unknown { prefix } => write!(f, "no builtin script found for name \"{prefix}\""),
            BuiltinError::Ambiguous { prefix, count } => {
                write!(f, "ambiguous builtin name: {count} builtin scripts found for prefix \"{prefix}\"")
            }
        }
    }
}

impl std::error::Error for BuiltinError {}

/// Built-in script whose name begins with `prefix`, if there is exactly one.
pub fn find(prefix: &str) -> Result<&'static Builtin, BuiltinError> {
    let found: Vec<&Builtin> = ALL.iter().filter(|builtin| builtin.name.starts_with(prefix)).collect();
    match found[..] {
        [only] => Ok(only),
        [] => Err(BuiltinError::Unknown { prefix: prefix.to_owned() }),
        _ => Err(BuiltinError::Ambiguous { prefix: prefix.to_owned(), count: found.len() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_builtin_by_prefix() {
        #[rustfmt::skip]
        let rows = [
            ("tpcb-like", Ok("tpcb-like")), ("t", Ok("tpcb-like")), ("se", Ok("select-only")), ("si", Ok("simple-update")),
            ("s", Err("ambiguous builtin name: 2 builtin scripts found for prefix \"s\"")),
            ("nosuch", Err("no builtin script found for name \"nosuch\"")),
        ];
        for (prefix, expected) in rows {
            let found = find(prefix).map(|builtin| builtin.name).map_err(|error| error.to_string());
            assert_eq!(found.as_ref().copied().map_err(String::as_str), expected);
        }
    }
}
