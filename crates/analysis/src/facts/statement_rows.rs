//! Row counts of SQL statements, and detector of statements that return no rows
//!
//! Row counts vary naturally, because lists have any length and tables grow. Therefore only the share of empty results
//! is judged.

use crate::facts::sizes::figures;
use model::{AnswerSizes, EmptyStatement, StatementKind, StatementRows};

/// Minimum number of results for a statement to be judged, and minimum number of empty results at the end of the
/// window.
const ANSWERS_MIN: u64 = 200;
const LAST_ANSWERS_MIN: u64 = 100;
/// Minimum ratio of the empty results at the end of the window to all results of the statement.
const LAST_SHARE_MIN: f64 = 0.1;
/// Minimum share of empty results for a second to count as empty.
const EMPTY_SECOND: f64 = 0.99;
/// Largest share of empty results before a statement stops finding rows. A queue that is often empty, or a lookup that
/// often misses, exceeds this share.
const EMPTY_BEFORE_MAX: f64 = 0.5;

/// Minimum share of empty results for a statement to be reported. It is higher for a `SELECT`, which may look for rare
/// rows.
fn empty_share_min(kind: StatementKind) -> f64 {
    if kind == StatementKind::Select { 0.99 } else { 0.95 }
}

/// Row counts of the SQL statements in `answers`.
pub(crate) fn statement_rows(answers: &[AnswerSizes]) -> Vec<StatementRows> {
    let rows = |answer: &AnswerSizes| {
        Some(StatementRows {
            operation: answer.operation,
            command: answer.command,
            statement: answer.statement()?,
            empty: answer.sizes.count_at_most(0) as f64 / answer.sizes.count() as f64,
            rows: figures(&answer.sizes)?,
        })
    };
    answers.iter().filter_map(rows).collect()
}

/// Detects statements that return no rows, second by second.
#[derive(Debug, Default)]
pub struct EmptyStatementDetector {
    statements: Vec<StatementCounts>,
    second: u64,
}

/// Numbers of all results and of empty results of one statement.
#[derive(Debug)]
struct StatementCounts {
    /// Counts of all seconds up to the last second that was not empty.
    before: AnswerCounts,
    /// Counts of the empty seconds after `before`.
    after: AnswerCounts,
    /// Index of the first second of `after`.
    since: u64,
    operation: u16,
    command: u16,
    statement: StatementKind,
}

#[derive(Clone, Copy, Debug, Default)]
struct AnswerCounts {
    all: u64,
    empty: u64,
}

impl AnswerCounts {
    fn add(&mut self, other: AnswerCounts) {
        self.all += other.all;
        self.empty += other.empty;
    }

    /// True if at least this share of the results is empty.
    fn reaches(self, share: f64) -> bool {
        self.empty as f64 >= share * self.all as f64
    }
}

impl EmptyStatementDetector {
    /// Adds the results of the next second.
    pub fn second(&mut self, answers: &[AnswerSizes]) {
        for answer in answers.iter().filter(|it| it.sizes.count() > 0) {
            let Some(statement) = answer.statement() else { continue };
            let key = (answer.operation, answer.command);
            let position = self.statements.binary_search_by_key(&key, |it| (it.operation, it.command));
            let at = position.unwrap_or_else(|at| {
                let counts = StatementCounts {
                    before: AnswerCounts::default(),
                    after: AnswerCounts::default(),
                    since: self.second,
                    operation: answer.operation,
                    command: answer.command,
                    statement,
                };
                self.statements.insert(at, counts);
                at
            });
            let counts = &mut self.statements[at];
            if counts.statement != statement {
                counts.statement = StatementKind::Mixed;
            }
            let answers = AnswerCounts { all: answer.sizes.count(), empty: answer.sizes.count_at_most(0) };
            if answers.reaches(EMPTY_SECOND) {
                counts.after.add(answers);
            } else {
                counts.before.add(std::mem::take(&mut counts.after));
                counts.before.add(answers);
                counts.since = self.second + 1;
            }
        }
        self.second += 1;
    }

    /// Statements that return no rows, in the order of operations and commands.
    pub fn finish(self) -> Vec<EmptyStatement> {
        self.statements.iter().filter_map(StatementCounts::judge).collect()
    }
}

impl StatementCounts {
    fn judge(&self) -> Option<EmptyStatement> {
        let (before, after) = (self.before, self.after);
        let mut total = before;
        total.add(after);
        let mostly = total.reaches(empty_share_min(self.statement));
        let stopped = after.all >= LAST_ANSWERS_MIN
            && after.all as f64 >= LAST_SHARE_MIN * total.all as f64
            && !before.reaches(EMPTY_BEFORE_MAX);
        (total.all >= ANSWERS_MIN && (mostly || stopped)).then(|| EmptyStatement {
            operation: self.operation,
            command: self.command,
            statement: self.statement,
            count: total.all,
            share: total.empty as f64 / total.all as f64,
            second: (!mostly).then_some(self.since),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::sizes::fixture::log_normal;
    use model::{SizeUnit, SplitMix64};

    /// Function that draws the row count of one result in the given second of the window.
    type Rows<'a> = &'a dyn Fn(&mut SplitMix64, u64) -> u64;

    /// Finding after 60 seconds with `rate` results per second.
    fn find(seed: u64, rate: u64, statement: StatementKind, rows: Rows<'_>) -> Option<EmptyStatement> {
        let (mut rng, mut detector) = (SplitMix64(seed), EmptyStatementDetector::default());
        for second in 0..60 {
            let mut answers = AnswerSizes::new((1, 4));
            (0..rate).for_each(|_| answers.record(SizeUnit::Rows(statement), rows(&mut rng, second)));
            detector.second(&[answers]);
        }
        detector.finish().pop()
    }

    /// Draws a row count.
    type Law = fn(&mut SplitMix64) -> u64;

    /// Distributions of row counts with natural variation, none of which is reported.
    const NATURAL: [(&str, Law); 9] = [
        ("one row", |_| 1),
        ("one row or none", |it| it.below(2)),
        ("one row in five answers", |it| u64::from(it.below(5) == 0)),
        ("an optimistic lock that mostly fails", |it| u64::from(it.below(8) == 0)),
        ("list of 0 to 20", |it| it.below(21)),
        ("geometric", |it| ((1.0 - it.uniform()).ln() / 0.5_f64.ln()) as u64),
        ("log-normal", |it| log_normal(it, 5.0, 2.0)),
        ("bulk", |it| 10_000 + it.below(100)),
        ("two populations", |it| if it.below(2) == 0 { 0 } else { 10_000 }),
    ];

    #[test]
    fn does_not_report_natural_variation() {
        let (mut trials, mut alarms) = (0, Vec::new());
        for (name, rows) in NATURAL {
            for seed in 0..25 {
                for rate in [4, 20, 200] {
                    for statement in [StatementKind::Select, StatementKind::Update, StatementKind::Delete] {
                        trials += 1;
                        let found = find(seed, rate, statement, &|rng, _| rows(rng));
                        alarms.extend(found.map(|it| format!("{name}, seed {seed}, {rate}/s: {it:?}")));
                    }
                }
            }
        }
        println!("{} false alarms in {trials} trials", alarms.len());
        assert!(alarms.is_empty(), "{}", alarms.join("\n"));
    }

    #[test]
    fn finds_statements_without_rows() {
        let check = |rate, statement, rows: Rows<'_>, expected: Option<(f64, Option<u64>)>| {
            let found = find(7, rate, statement, rows);
            assert_eq!(
                found.map(|it| ((it.share * 100.0).round() / 100.0, it.second)),
                expected,
                "{statement:?}"
            );
        };
        let (select, update) = (StatementKind::Select, StatementKind::Update);
        let empty_from = |from: u64| move |_: &mut SplitMix64, second: u64| u64::from(second < from);
        check(50, update, &empty_from(0), Some((1.0, None)));
        check(50, select, &empty_from(0), Some((1.0, None)));
        // The table is truncated.
        check(50, update, &empty_from(30), Some((0.5, Some(30))));
        check(50, update, &empty_from(3), Some((0.95, None)));
        check(50, select, &empty_from(3), Some((0.95, Some(3))));
        for (name, rows) in
            NATURAL.iter().filter(|it| it.1(&mut SplitMix64(1)) > 0 && !it.0.contains("mostly"))
        {
            let found = find(3, 50, select, &|rng, second| if second < 20 { rows(rng).max(1) } else { 0 });
            assert_eq!(found.expect(name).second, Some(20), "{name}");
        }
        // Keys beyond the table: 97 of 100 miss.
        check(200, update, &|rng, _| u64::from(rng.below(100) < 3), Some((0.97, None)));
        check(200, select, &|rng, _| u64::from(rng.below(100) < 3), None);
        // Rows appear again, or there are too few results.
        check(50, update, &|_, second| u64::from(!(30..50).contains(&second)), None);
        check(3, update, &empty_from(0), None);
        check(50, update, &empty_from(58), None);
    }
}
