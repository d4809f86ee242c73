//! Scripts in the language of pgbench
//!
//! In query mode `simple`, pgdyno writes the text of a variable into the statement: within quotes as text, elsewhere as
//! it is if it is a number. In the other modes, a variable is a parameter, whose type the server derives from its
//! context. A cast then gives a number the type that the recorded constant had.

use crate::sql::template::{Column, Element, Form, Piece, Template, Value, literal};
use model::Nanos;
use model::summary::QueryMode;
use std::collections::{HashMap, HashSet};

/// Maximum number of parameters of a statement, as in pgbench.
const PARAMETERS_MAX: usize = 255;
/// Maximum number of columns of a feed.
const COLUMNS_MAX: usize = 1600;
/// Length from which a statement is broken into lines, in bytes.
const LINE_BYTES: usize = 100;
/// Maximum length of a constant that is written into a statement, in characters. Longer ones are in the feed.
const CONSTANT_CHARS_MAX: usize = 100;
/// Variables that pgdyno sets.
const RESERVED: [&str; 5] = ["client_id", "random_seed", "default_seed", "token", "rows"];

/// Script with the values of its variables.
#[derive(Debug)]
pub(crate) struct Script {
    pub text: String,
    /// Names of the variables.
    pub columns: Vec<String>,
    /// Values of the variables by transaction.
    pub rows: Vec<Vec<String>>,
}

/// False if the text of a statement contains what the language would read as a variable, or nothing at all.
pub(crate) fn is_expressible(template: &Template) -> bool {
    let is_plain = |piece: &Piece| match piece {
        Piece::Text(text) => !contains_variable(text),
        _ => true,
    };
    !template.pieces.is_empty() && template.pieces.iter().all(is_plain)
}

/// True for a single colon before a name. Source: `parseVariable` in pgbench.
fn contains_variable(text: &str) -> bool {
    let begins_name = |next: char| next.is_ascii_alphabetic() || next == '_' || !next.is_ascii();
    let mut before = ' ';
    let mut colons = 0;
    for character in text.chars() {
        if before == ':' && colons == 1 && begins_name(character) {
            return true;
        }
        colons = if character == ':' { colons + 1 } else { 0 };
        before = character;
    }
    false
}

/// Script of a transaction with these statements. Each row has the values of all statements. `pauses` are those before
/// each statement, and empty if there are none; the statements of a pipeline are sent without pauses. `None` if the
/// language cannot express it.
pub(crate) fn script(
    templates: &[&Template],
    is_pipeline: bool,
    rows: &[Vec<Value>],
    pauses: &[Option<Nanos>],
    mode: QueryMode,
) -> Option<Script> {
    let mut variables = Variables::default();
    let mut batches: Vec<Vec<String>> = Vec::new();
    let mut offset = 0;
    for template in templates {
        let columns = template.columns.iter().enumerate();
        let slots: Vec<Slot> = columns
            .map(|(index, column)| {
                let values: Vec<&Value> = rows.iter().map(|row| &row[offset + index]).collect();
                slot(column, &values, mode, &mut variables)
            })
            .collect();
        offset += slots.len();
        let statements = statements(template, &slots, mode)?;
        match batches.last_mut().filter(|_| is_pipeline) {
            Some(batch) => batch.extend(statements),
            None => batches.push(statements),
        }
    }
    if variables.names.len() > COLUMNS_MAX {
        return None;
    }
    let pauses = pauses.iter().copied().filter(|_| !is_pipeline).chain(std::iter::repeat(None));
    let text = |(batch, pause): (&Vec<String>, Option<Nanos>)| {
        let sleep = pause.map_or(String::new(), |pause| format!("\\sleep {} us\n", pause.0 / 1000));
        sleep + &batch_text(batch, mode)
    };
    let text = batches.iter().zip(pauses).map(text).collect();
    let rows = (0..rows.len()).map(|row| variables.values.iter().map(|column| column[row].clone()).collect());
    Some(Script { text, rows: rows.collect(), columns: variables.names })
}

/// Text of statements that are sent together.
fn batch_text(batch: &[String], mode: QueryMode) -> String {
    if mode == QueryMode::Simple || batch.len() == 1 {
        return batch.join(" \\;\n") + ";\n";
    }
    format!("\\startpipeline\n{};\n\\endpipeline\n", batch.join(";\n"))
}

/// Text in place of a value.
#[derive(Debug)]
struct Slot {
    text: String,
    is_variable: bool,
}

/// Texts of the statements of one message.
fn statements(template: &Template, slots: &[Slot], mode: QueryMode) -> Option<Vec<String>> {
    let (mut all, mut parameters) = (Vec::new(), 0);
    let mut clauses = vec![String::new()];
    for piece in &template.pieces {
        let current = clauses.last_mut().expect("there is always a clause");
        match piece {
            Piece::Text(text) => current.push_str(text),
            Piece::Break => clauses.push(String::new()),
            Piece::Slot(column) => {
                current.push_str(&slots[*column].text);
                parameters += usize::from(slots[*column].is_variable);
            }
            Piece::Separator => {
                all.push(join(&clauses));
                (clauses, parameters) = (vec![String::new()], 0);
            }
        }
        if mode != QueryMode::Simple && parameters > PARAMETERS_MAX {
            return None;
        }
    }
    all.push(join(&clauses));
    Some(all)
}

/// Joins the clauses of a statement, on lines of their own if the statement is long.
fn join(clauses: &[String]) -> String {
    let length: usize = clauses.iter().map(|clause| clause.len() + 1).sum();
    clauses.join(if length > LINE_BYTES { "\n  " } else { " " })
}

/// Variables of a script. Columns with the same values share one variable.
#[derive(Debug, Default)]
struct Variables {
    names: Vec<String>,
    values: Vec<Vec<String>>,
    by_values: HashMap<Vec<String>, usize>,
    taken: HashSet<String>,
}

impl Variables {
    /// Name of the variable with these values.
    fn name(&mut self, wanted: &str, values: Vec<String>) -> String {
        if let Some(&index) = self.by_values.get(&values) {
            return self.names[index].clone();
        }
        let mut name = wanted.to_owned();
        let mut number = 1;
        while RESERVED.contains(&&*name) || !self.taken.insert(name.clone()) {
            number += 1;
            name = format!("{wanted}{number}");
        }
        self.by_values.insert(values.clone(), self.names.len());
        self.values.push(values);
        self.names.push(name.clone());
        name
    }
}

/// Text for a column: a constant if all values are equal, otherwise a variable. Parameters remain variables, so that
/// the server plans the statement as it was planned.
fn slot(column: &Column, values: &[&Value], mode: QueryMode, variables: &mut Variables) -> Slot {
    let first = values.first().filter(|first| values.iter().all(|value| value == *first));
    if let Some(text) = first.and_then(|value| constant(&column.form, value)) {
        return Slot { text, is_variable: false };
    }
    let texts = values.iter().map(|value| value.feed_text()).collect();
    let name = variables.name(&column.name, texts);
    let is_simple = mode == QueryMode::Simple;
    let text = match &column.form {
        Form::Number => format!(":{name}{}", number_cast(values, is_simple)),
        Form::TypedString(kind) if is_simple => format!("{kind} ':{name}'"),
        Form::TypedString(kind) => format!("CAST(:{name} AS {kind})"),
        Form::List { negated, is_numeric } => {
            let operator = if *negated { "<> ALL" } else { "= ANY" };
            let variable = if is_simple { format!("':{name}'") } else { format!(":{name}") };
            format!("{operator}({variable}{})", if *is_numeric { "::numeric[]" } else { "" })
        }
        Form::String | Form::Parameter(_) if is_simple => format!("':{name}'"),
        Form::String | Form::Parameter(_) => {
            format!(":{name}{}", if column.is_untyped { "::text" } else { "" })
        }
    };
    Slot { text, is_variable: true }
}

/// Cast that gives a number the type of its constant. Source: manual, "Numeric Constants".
fn number_cast(values: &[&Value], is_simple: bool) -> &'static str {
    let texts = || {
        values.iter().map(|value| match value {
            Value::Number(text) => text.as_str(),
            _ => "",
        })
    };
    if is_simple {
        // pgdyno writes other numbers, such as 1e5, in quotes.
        let is_plain = |text: &str| !text.contains(['e', 'E']) && text != "-0";
        return if texts().all(is_plain) { "" } else { "::numeric" };
    }
    if texts().all(|text| text.parse::<i32>().is_ok()) {
        "::int"
    } else if texts().all(|text| text.parse::<i64>().is_ok()) {
        "::bigint"
    } else {
        "::numeric"
    }
}

/// The value as a constant; `None` if it has to be a variable.
fn constant(form: &Form, value: &Value) -> Option<String> {
    let text = |text: &str| {
        let is_short = text.chars().count() <= CONSTANT_CHARS_MAX;
        let is_plain = !text.contains(char::is_control) && !contains_variable(text);
        (is_short && is_plain).then(|| literal(text))
    };
    match (form, value) {
        (Form::Parameter(_), _) => None,
        (Form::TypedString(kind), Value::Text(value)) => Some(format!("{kind} {}", text(value)?)),
        (_, Value::Number(number)) => Some(number.clone()),
        (_, Value::Text(value)) => text(value),
        (form, Value::List(elements)) => {
            let element = |element: &Element| match element {
                Element::Number(number) => Some(number.clone()),
                Element::Text(value) => text(value),
                Element::Null => Some("NULL".to_owned()),
            };
            let negated = matches!(form, Form::List { negated: true, .. });
            let elements: Vec<String> = elements.iter().map(element).collect::<Option<_>>()?;
            let list = format!("{}IN ({})", if negated { "NOT " } else { "" }, elements.join(", "));
            (list.len() <= 2 * CONSTANT_CHARS_MAX).then_some(list)
        }
    }
}

#[cfg(test)]
mod tests;
