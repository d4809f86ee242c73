//! Rules that select the rows of a sample, so that no foreign key is broken
//!
//! The rows are selected by predicates in queries that only read, so the source may be a standby. A query lists the kept
//! rows of the referenced tables in common table expressions, parents first; its length grows with the number of
//! foreign keys, not with the number of paths between tables.

use crate::dataset::quote_literal;
use std::fmt::Write as _;

/// Table of the source. Partitions belong to the partitioned table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceTable {
    /// Qualified and quoted name.
    pub name: String,
    /// Names as in `FROM`: the table itself, or each partition that has rows.
    pub parts: Vec<Part>,
    /// Quoted names of the primary key's columns; empty without a primary key.
    pub key: Vec<String>,
    /// True if the rows cannot be sampled, because a foreign key belongs to a partition.
    pub is_forced: bool,
    pub is_partitioned: bool,
}

/// Ordinary table that contains rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    pub name: String,
    /// Quoted names of the columns that are not generated.
    pub columns: Vec<String>,
}

/// Foreign key between two tables, as indexes into the list of tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignKey {
    pub child: usize,
    pub parent: usize,
    /// Column of the child, column of the parent, and the equality operator, parent first.
    pub columns: Vec<(String, String, String)>,
}

/// Rule that selects the rows of one table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// All rows are kept: the table is part of a cycle of foreign keys or referenced from one, or has no key.
    All,
    /// A hash of the primary key selects the rows.
    Key,
    /// A row is kept if all rows that it references are kept.
    References,
}

/// Tables, their foreign keys and the rule of each table.
#[derive(Clone, Debug)]
pub struct Sample {
    pub tables: Vec<SourceTable>,
    pub keys: Vec<ForeignKey>,
    pub rules: Vec<Rule>,
    /// Share of the rows that the hash selects, 0..=1.
    fraction: f64,
    seed: u64,
    /// Indexes of the tables, referenced tables first. Tables of cycles have any order.
    order: Vec<usize>,
}

/// Number of values of the hash.
const BUCKETS: u32 = 1 << 20;

impl Sample {
    pub fn new(tables: Vec<SourceTable>, keys: Vec<ForeignKey>, fraction: f64, seed: u64) -> Sample {
        let parents = |table: usize| keys.iter().filter(move |it| it.child == table).map(|it| it.parent);
        let ancestors = |table: usize| {
            let (mut seen, mut left) = (vec![false; tables.len()], parents(table).collect::<Vec<_>>());
            while let Some(next) = left.pop() {
                if !std::mem::replace(&mut seen[next], true) {
                    left.extend(parents(next));
                }
            }
            seen
        };
        let mut is_whole = vec![false; tables.len()];
        for (at, table) in tables.iter().enumerate() {
            let above = ancestors(at);
            if table.is_forced || above[at] {
                is_whole[at] = true;
                above.iter().enumerate().filter(|it| *it.1).for_each(|it| is_whole[it.0] = true);
            }
        }
        let (mut rules, mut order) = (vec![None; tables.len()], Vec::new());
        // Each round decides at least one table, because the other tables form no cycle.
        while order.len() < tables.len() {
            for at in 0..tables.len() {
                let is_ready = is_whole[at] || parents(at).all(|it| rules[it].is_some());
                if rules[at].is_some() || !is_ready {
                    continue;
                }
                let is_partial = |parent: usize| !is_whole[parent] && rules[parent] != Some(Rule::All);
                rules[at] =
                    Some(match (is_whole[at], parents(at).any(is_partial), tables[at].key.is_empty()) {
                        (false, true, _) => Rule::References,
                        (false, false, false) => Rule::Key,
                        _ => Rule::All,
                    });
                order.push(at);
            }
        }
        let rules = rules.into_iter().flatten().collect();
        Sample { tables, keys, rules, fraction, seed, order }
    }

    /// Query for the kept rows of one part of a table.
    pub fn select(&self, table: usize, part: &Part) -> String {
        let columns: Vec<String> = part.columns.iter().map(|it| format!("r.{it}")).collect();
        let (with, condition) = (self.kept_parents(table), self.condition(table));
        format!("{with}select {} from only {} r where {condition}", columns.join(", "), part.name)
    }

    /// Definitions of the kept rows of all tables on which the condition depends.
    fn kept_parents(&self, table: usize) -> String {
        let mut needed = vec![false; self.tables.len()];
        let mut left = vec![table];
        while let Some(child) = left.pop() {
            for parent in self.partial_keys(child).map(|it| it.parent) {
                if !std::mem::replace(&mut needed[parent], true) {
                    left.push(parent);
                }
            }
        }
        let define = |at: &usize| {
            let mut columns: Vec<&str> = Vec::new();
            for column in self.keys.iter().filter(|it| it.parent == *at).flat_map(|it| &it.columns) {
                if !columns.contains(&column.1.as_str()) {
                    columns.push(&column.1);
                }
            }
            let table = &self.tables[*at];
            let only = if table.is_partitioned { "" } else { "only " };
            let condition = self.condition(*at);
            let columns: Vec<String> = columns.iter().map(|it| format!("r.{it}")).collect();
            format!(
                "kept_{at} as (select {} from {only}{} r where {condition})",
                columns.join(", "),
                table.name
            )
        };
        let definitions: Vec<String> = self.order.iter().filter(|it| needed[**it]).map(define).collect();
        if definitions.is_empty() { String::new() } else { format!("with {} ", definitions.join(", ")) }
    }

    /// Foreign keys of a table to tables of which only some rows are kept.
    fn partial_keys(&self, table: usize) -> impl Iterator<Item = &ForeignKey> {
        let is_restricted = self.rules[table] == Rule::References;
        self.keys
            .iter()
            .filter(move |it| is_restricted && it.child == table && self.rules[it.parent] != Rule::All)
    }

    /// Condition for the row `r` of a table.
    fn condition(&self, table: usize) -> String {
        let key = &self.tables[table].key;
        match self.rules[table] {
            Rule::All => return "true".to_owned(),
            Rule::Key => return self.hash_condition(key),
            Rule::References => {}
        }
        let mut condition = String::new();
        let mut references = Vec::new();
        for foreign in self.partial_keys(table) {
            // A row whose foreign key contains NULL references no row.
            let nulls: Vec<String> = foreign.columns.iter().map(|it| format!("r.{} is null", it.0)).collect();
            let equal: Vec<String> = foreign
                .columns
                .iter()
                .map(|(child, parent, operator)| format!("k.{parent} {operator} r.{child}"))
                .collect();
            let (nulls, equal) = (nulls.join(" or "), equal.join(" and "));
            let kept = foreign.parent;
            write!(condition, "({nulls} or exists (select from kept_{kept} k where {equal})) and ")
                .expect("writing to a String cannot fail");
            references.push(format!("not ({nulls})"));
        }
        if key.is_empty() {
            return condition + "true";
        }
        // A row that references no row of a sampled table is selected by its own key.
        condition + &format!("({} or {})", references.join(" or "), self.hash_condition(key))
    }

    fn hash_condition(&self, key: &[String]) -> String {
        let key: Vec<String> = key.iter().map(|it| format!("r.{it}")).collect();
        let limit = (self.fraction * f64::from(BUCKETS)).round();
        format!(
            "(hashtextextended(row({})::text collate \"C\", {}) & {}) < {limit}",
            key.join(", "),
            self.seed as i64,
            BUCKETS - 1
        )
    }
}

/// Statement that sets a sequence to its value in the source.
pub fn set_sequence(name: &str, value: &str, is_called: bool) -> String {
    format!("SELECT pg_catalog.setval({}, {value}, {is_called});\n", quote_literal(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Rule::{All, Key, References};

    /// Checks the rules of tables with keys (`a`) or without (`-a`), and foreign keys such as `b>a`.
    #[track_caller]
    fn check(names: &str, foreign: &str, expected: &[Rule]) {
        let bare: Vec<&str> = names.split(' ').collect();
        let table = |name: &&str| SourceTable {
            name: name.trim_start_matches('-').to_owned(),
            key: if name.starts_with('-') { Vec::new() } else { vec!["id".to_owned()] },
            ..SourceTable::default()
        };
        let tables: Vec<SourceTable> = bare.iter().map(table).collect();
        let at = |name: &str| tables.iter().position(|it| it.name == name).unwrap();
        let columns = vec![("p".to_owned(), "id".to_owned(), "=".to_owned())];
        let keys = foreign
            .split_whitespace()
            .map(|it| it.split_once('>').unwrap())
            .map(|(child, parent)| ForeignKey {
                child: at(child),
                parent: at(parent),
                columns: columns.clone(),
            })
            .collect();
        assert_eq!(Sample::new(tables, keys, 0.1, 1).rules, expected, "{names}: {foreign}");
    }

    #[test]
    fn rules_never_break_a_foreign_key() {
        check("a", "", &[Key]);
        check("-a", "", &[All]);
        check("a b c", "b>a c>b", &[Key, References, References]);
        // Self-references and cycles are whole, and so is what they reference. Their children are sampled by key.
        check("a", "a>a", &[All]);
        check("a b c d", "a>b b>a b>c d>a", &[All, All, All, Key]);
        check("a -b", "a>a b>a", &[All, All]);
        // A child of a sampled and of a whole table follows the sampled one.
        check("a b c", "a>a c>a c>b", &[All, Key, References]);
        check("-a b c", "b>a c>b", &[All, Key, References]);
        check("a -b c", "b>a c>b", &[Key, References, References]);
        check("c b a", "c>b b>a c>a", &[References, References, Key]);
    }

    #[test]
    fn query_lists_each_ancestor_once() {
        // 20 levels with two foreign keys each have a million paths.
        let table = |at: usize| SourceTable {
            name: format!("t{at}"),
            key: vec!["id".to_owned()],
            parts: vec![Part { name: format!("t{at}"), columns: vec!["id".to_owned()] }],
            ..SourceTable::default()
        };
        let key = |child: usize| ForeignKey {
            child,
            parent: child - 1,
            columns: vec![("p".to_owned(), "id".to_owned(), "=".to_owned())],
        };
        let tables: Vec<SourceTable> = (0..20).map(table).collect();
        let sample = Sample::new(tables, (1..20).flat_map(|it| [key(it), key(it)]).collect(), 0.1, 1);
        let sql = sample.select(19, &sample.tables[19].parts[0]);
        assert_eq!(sql.matches(" as (select ").count(), 19);
        assert!(sql.len() < 10_000, "{}", sql.len());
    }
}
