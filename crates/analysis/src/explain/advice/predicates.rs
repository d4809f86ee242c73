//! Columns that the conditions of a plan compare with values
//!
//! PostgreSQL prints conditions with all names resolved and all operations in parentheses. An SQL parser reads these
//! conditions. A condition that the parser rejects yields no columns.

use model::advice::IndexObstacle;
use model::explain::TableStats;
use sqlparser::ast::{AssignmentTarget, BinaryOperator, DataType, Expr, ObjectName, Statement};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::Token;

/// Comparison for which PostgreSQL can use a b-tree index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Predicate {
    /// Alias of the relation; `None` if the condition does not name it.
    pub relation: Option<String>,
    pub column: String,
    pub comparison: Comparison,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Equality with a value, with any of several values, or with NULL.
    Equal,
    /// Comparison with `<`, `<=`, `>` or `>=`.
    Range,
}

/// Comparisons of a condition that are joined by AND. Other parts of the condition are ignored.
pub fn predicates(condition: &str) -> Vec<Predicate> {
    let mut all = Vec::new();
    if let Some(expr) = expression(condition) {
        conjuncts(&expr, &mut all);
    }
    all
}

/// Relation and column of a sort key such as `b.name DESC`, and true if the order is descending. `None` for expressions
/// and for other orders.
pub fn sorted_by(key: &str) -> Option<(Option<String>, String, bool)> {
    let (key, descending) = key.strip_suffix(" DESC").map_or((key, false), |it| (it, true));
    let (relation, column) = find_column(&expression(key)?)?;
    Some((relation, column, descending))
}

/// Columns that an UPDATE sets. `None` for other statements, or if the statement cannot be parsed. `sql` may have `?`
/// in place of values.
pub fn updated_columns(sql: &str) -> Option<Vec<String>> {
    let sql = sql.replace('?', "$0");
    let mut all = Parser::parse_sql(&PostgreSqlDialect {}, &sql).ok()?;
    let Statement::Update(update) = all.pop()? else { return None };
    let last = |it: &ObjectName| Some(it.0.last()?.as_ident()?.value.clone());
    let named = |target: &AssignmentTarget| match target {
        AssignmentTarget::ColumnName(it) => last(it).into_iter().collect::<Vec<_>>(),
        AssignmentTarget::Tuple(them) => them.iter().filter_map(last).collect(),
    };
    Some(update.assignments.iter().flat_map(|it| named(&it.target)).collect())
}

/// First part of a condition that a b-tree index on columns cannot support, although the part compares columns of one table
/// with values. `None` if all parts are supported, or if the reason is unknown.
pub fn obstacle(condition: &str, table: &TableStats) -> Option<IndexObstacle> {
    obstacle_of(&expression(condition)?, table)
}

fn obstacle_of(expr: &Expr, table: &TableStats) -> Option<IndexObstacle> {
    match expr {
        Expr::Nested(it) => obstacle_of(it, table),
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
            obstacle_of(left, table).or_else(|| obstacle_of(right, table))
        }
        Expr::BinaryOp { op: BinaryOperator::Or, .. } => {
            let mut columns = Vec::new();
            alternatives(expr, &mut columns).then_some(())?;
            (columns.len() > 1).then_some(IndexObstacle::Alternatives { columns })
        }
        Expr::BinaryOp { left, op, right } if is_ordered(op) => {
            transformed(left, right, table).or_else(|| transformed(right, left, table))
        }
        Expr::BinaryOp { left, op, .. } if is_pattern(op) => {
            find_column(left).map(|(_, column)| IndexObstacle::Pattern { column })
        }
        _ => None,
    }
}

fn is_ordered(op: &BinaryOperator) -> bool {
    use BinaryOperator::{Eq, Gt, GtEq, Lt, LtEq};
    matches!(op, Eq | Lt | LtEq | Gt | GtEq)
}

fn is_pattern(op: &BinaryOperator) -> bool {
    use BinaryOperator::{PGILikeMatch, PGLikeMatch, PGRegexIMatch, PGRegexMatch};
    matches!(op, PGLikeMatch | PGILikeMatch | PGRegexMatch | PGRegexIMatch)
}

/// Adds one column of each alternative. False if an alternative compares no column.
fn alternatives(expr: &Expr, columns: &mut Vec<String>) -> bool {
    match expr {
        Expr::Nested(it) => alternatives(it, columns),
        Expr::BinaryOp { left, op: BinaryOperator::Or, right } => {
            alternatives(left, columns) && alternatives(right, columns)
        }
        other => {
            let mut found = Vec::new();
            conjuncts(other, &mut found);
            let column = found.into_iter().next().map(|it| it.column);
            columns.extend(column.iter().filter(|it| !columns.contains(it)).cloned().collect::<Vec<_>>());
            column.is_some()
        }
    }
}

/// Obstacle if `expr` is an expression on columns, and the other side of the comparison has no column.
fn transformed(expr: &Expr, other_side: &Expr, table: &TableStats) -> Option<IndexObstacle> {
    if find_column(expr).is_some() || all_columns(expr).is_empty() || !all_columns(other_side).is_empty() {
        return None;
    }
    match expr {
        Expr::Nested(it) => transformed(it, other_side, table),
        Expr::Cast { expr: inner, data_type, .. } if find_column(inner).is_some() => {
            let (_, column) = find_column(inner)?;
            let mut plain = table.indexes.iter().filter(|it| it.plain);
            let index = plain.find(|it| it.columns.first() == Some(&column)).map(|it| it.name.clone());
            Some(IndexObstacle::Cast { column, data_type: data_type.to_string().to_lowercase(), index })
        }
        other => Some(IndexObstacle::Expression { expression: other.to_string() }),
    }
}

fn expression(text: &str) -> Option<Expr> {
    let mut parser = Parser::new(&PostgreSqlDialect {}).try_with_sql(text).ok()?;
    let expr = parser.parse_expr().ok()?;
    (parser.peek_token().token == Token::EOF).then_some(expr)
}

fn conjuncts(expr: &Expr, out: &mut Vec<Predicate>) {
    match expr {
        Expr::Nested(it) => conjuncts(it, out),
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
            conjuncts(left, out);
            conjuncts(right, out);
        }
        Expr::BinaryOp { left, op, right } => {
            let comparison = match op {
                BinaryOperator::Eq => Comparison::Equal,
                BinaryOperator::Lt | BinaryOperator::LtEq | BinaryOperator::Gt | BinaryOperator::GtEq => {
                    Comparison::Range
                }
                _ => return,
            };
            push_comparison(left, right, comparison, out);
            push_comparison(right, left, comparison, out);
        }
        Expr::AnyOp { left, compare_op: BinaryOperator::Eq, right, .. } => {
            push_comparison(left, right, Comparison::Equal, out);
        }
        Expr::IsNull(operand) => {
            out.extend(find_column(operand).map(|(relation, column)| Predicate {
                relation,
                column,
                comparison: Comparison::Equal,
            }));
        }
        _ => {}
    }
}

/// Adds the column `expr` if the other side of the comparison contains no column of the same relation.
fn push_comparison(expr: &Expr, other_side: &Expr, comparison: Comparison, out: &mut Vec<Predicate>) {
    let Some((relation, column)) = find_column(expr) else { return };
    let is_same_relation = |other: &(Option<String>, String)| other.0 == relation;
    if !all_columns(other_side).iter().any(is_same_relation) {
        out.push(Predicate { relation, column, comparison });
    }
}

/// Name of the column if the expression is a column, or a column cast to text, because an index on `varchar` serves
/// both.
fn find_column(expr: &Expr) -> Option<(Option<String>, String)> {
    match expr {
        Expr::Nested(it) => find_column(it),
        Expr::Cast { expr, data_type: DataType::Text | DataType::Varchar(_), .. } => find_column(expr),
        Expr::Identifier(it) => Some((None, it.value.clone())),
        Expr::CompoundIdentifier(parts) => match parts.as_slice() {
            [.., relation, column] => Some((Some(relation.value.clone()), column.value.clone())),
            _ => None,
        },
        _ => None,
    }
}

/// All columns in an expression.
fn all_columns(expr: &Expr) -> Vec<(Option<String>, String)> {
    match expr {
        Expr::Nested(inner) | Expr::Cast { expr: inner, .. } | Expr::UnaryOp { expr: inner, .. } => {
            all_columns(inner)
        }
        Expr::BinaryOp { left, right, .. } => [all_columns(left), all_columns(right)].concat(),
        Expr::Function(function) => {
            // Search the text of the arguments, because only the column names in it matter, not their use.
            let text = function.args.to_string();
            let inside = text.strip_prefix('(').and_then(|it| it.strip_suffix(')')).unwrap_or("");
            inside.split(", ").filter_map(expression).flat_map(|it| all_columns(&it)).collect()
        }
        other => find_column(other).into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::explain::ExistingIndex;

    #[test]
    fn finds_columns_in_conditions() {
        let check = |condition: &str, expected: &str| {
            let show = |predicate: Predicate| {
                let relation = predicate.relation.map_or(String::new(), |it| it + ".");
                let sign = if predicate.comparison == Comparison::Equal { '=' } else { '<' };
                format!("{relation}{}{sign}", predicate.column)
            };
            let shown: Vec<String> = predicates(condition).into_iter().map(show).collect();
            assert_eq!(shown.join(" "), expected, "{condition}");
        };
        check("(b.author = $0::text)", "b.author=");
        check("((b.author = $0::text) AND (b.name = $0::text))", "b.author= b.name=");
        check("((b.name = ANY ($0::text[])) AND ((lower(b.a) ~~ $0) OR (b.price >= $0)))", "b.name=");
        check("((b.price >= $0) AND (b.price <= ($0)::bigint))", "b.price< b.price<");
        check("($0 < \"B x\".\"User\")", "B x.User<");
        check("((b.author)::text = ($0)::text)", "b.author=");
        check("((b.price)::numeric = $0)", "");
        check("(b.author IS NULL)", "b.author=");
        check("(b.at > (now() - $0::interval))", "b.at<");
        check("(b.a = (b.c + $0))", "");
        check("(b.a = abs(b.c))", "");
        check("(a.id = b.a_id)", "a.id= b.a_id=");
        check("(b.name ~~ $0::text)", "");
        check("(b.id <> $0)", "");
        check("(b.id <> ALL ($0::bigint[]))", "");
        check("(lower(b.name) = $0::text)", "");
        check("(NOT (hashed SubPlan 1))", "");
        check("", "");
    }

    #[test]
    fn finds_obstacles_for_indexes() {
        let index = |name: &str, column: &str, plain| ExistingIndex {
            name: name.to_owned(),
            columns: vec![column.to_owned()],
            plain,
        };
        let table = TableStats {
            indexes: vec![index("t_pkey", "id", true), index("t_at", "at", false)],
            ..TableStats::default()
        };
        let check = |condition: &str, expected: Option<IndexObstacle>| {
            assert_eq!(obstacle(condition, &table), expected, "{condition}");
        };
        let cast = |column: &str, data_type: &str, index: Option<&str>| {
            let (column, data_type) = (column.to_owned(), data_type.to_owned());
            Some(IndexObstacle::Cast { column, data_type, index: index.map(str::to_owned) })
        };
        check("((t.id)::numeric = $0)", cast("id", "numeric", Some("t_pkey")));
        check("($0 < (t.at)::date)", cast("at", "date", None));
        let expression = |it: &str| Some(IndexObstacle::Expression { expression: it.to_owned() });
        check("(lower(name) = $0::text)", expression("lower(name)"));
        check("((a = $0) AND ((id % 7) = $0))", expression("id % 7"));
        check("(name ~~ $0::text)", Some(IndexObstacle::Pattern { column: "name".to_owned() }));
        check("(name ~* $0)", Some(IndexObstacle::Pattern { column: "name".to_owned() }));
        let columns = vec!["a".to_owned(), "b".to_owned()];
        check(
            "((a = $0) OR (b = $0) OR ((a > $0) AND (c = $0)))",
            Some(IndexObstacle::Alternatives { columns }),
        );
        for supported in [
            "(a = $0)",
            "((name)::text = $0)",
            "((a = $0) OR (a = $0))",
            "((a = $0) OR (lower(b) = $0))",
            "(a = (b + $0))",
            "((a)::numeric = (b)::numeric)",
            "(NOT (hashed SubPlan 1))",
            "(a <> $0)",
            "",
        ] {
            check(supported, None);
        }
    }

    #[test]
    fn reads_sort_keys() {
        let check = |key: &str, expected: Option<(&str, &str, bool)>| {
            let shown = sorted_by(key);
            let shown = shown.as_ref().map(|it| (it.0.as_deref().unwrap_or(""), it.1.as_str(), it.2));
            assert_eq!(shown, expected, "{key}");
        };
        check("b.name", Some(("b", "name", false)));
        check("b.name DESC", Some(("b", "name", true)));
        check("name", Some(("", "name", false)));
        check("lower(b.name)", None);
        check("b.name DESC NULLS LAST", None);
        check("(count(*)) DESC", None);
    }

    #[test]
    fn finds_columns_that_an_update_sets() {
        let check = |sql: &str, expected: Option<&[&str]>| {
            let shown = updated_columns(sql);
            let shown: Option<Vec<&str>> = shown.as_ref().map(|it| it.iter().map(String::as_str).collect());
            assert_eq!(shown.as_deref(), expected, "{sql}");
        };
        check("update book.bookv2 b1_0 set price=? where b1_0.author=?", Some(&["price"]));
        check("update t set (a, b) = (?, ?), c = c + ?", Some(&["a", "b", "c"]));
        check("delete from t", None);
        check("update t set…", None);
    }
}
