//! Statements with places for values

use std::fmt::Write;

/// Statement, or several statements of one message, in which values are replaced by slots.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Template {
    pub pieces: Vec<Piece>,
    /// Slots by column: of a parameter that occurs twice, the first slot.
    pub columns: Vec<Column>,
    /// True if a text constant remains in the statement.
    pub has_constant: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Piece {
    Text(String),
    /// Index of a column.
    Slot(usize),
    /// Blank before a clause, where a long statement may be broken.
    Break,
    /// Semicolon between two statements of one message.
    Separator,
}

/// Values that one slot has in the executions of a statement.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Column {
    pub form: Form,
    /// Name that the statement suggests, such as the table's column. It consists of `a-z`, `0-9` and `_`.
    pub name: String,
    /// True if the server cannot derive the type of a parameter in this place.
    pub is_untyped: bool,
}

/// Form in which a statement contains a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Form {
    /// Decimal number, which may have a sign.
    Number,
    String,
    /// String after the name of its type: `date '2024-01-01'`.
    TypedString(String),
    /// Parameter of the extended query protocol, by its number.
    Parameter(usize),
    /// `IN (…)`, or `NOT IN (…)`. `is_numeric`: the elements are numbers that are not all integers.
    List {
        negated: bool,
        is_numeric: bool,
    },
}

/// Value of a slot.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Value {
    Number(String),
    Text(String),
    List(Vec<Element>),
}

/// Element of a list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Element {
    Number(String),
    Text(String),
    Null,
}

impl Template {
    /// The statement with `$1`, `$2` and so on in place of values.
    pub fn text(&self) -> String {
        self.render(|column| match &self.columns[column].form {
            Form::List { negated, .. } => {
                format!("{}IN (${}, …)", if *negated { "NOT " } else { "" }, column + 1)
            }
            Form::TypedString(name) => format!("{name} ${}", column + 1),
            _ => format!("${}", column + 1),
        })
    }

    /// The statement with its values. Parameters of the extended query protocol remain.
    #[cfg(test)]
    pub fn fill(&self, values: &[Value]) -> String {
        self.render(|column| match (&self.columns[column].form, &values[column]) {
            (Form::Parameter(number), _) => format!("${number}"),
            (Form::TypedString(name), Value::Text(text)) => format!("{name} {}", literal(text)),
            (_, Value::Number(number)) => number.clone(),
            (_, Value::Text(text)) => literal(text),
            (form, Value::List(elements)) => {
                let negated = matches!(form, Form::List { negated: true, .. });
                let elements: Vec<String> = elements.iter().map(Element::literal).collect();
                format!("{}IN ({})", if negated { "NOT " } else { "" }, elements.join(", "))
            }
        })
    }

    fn render(&self, mut slot: impl FnMut(usize) -> String) -> String {
        let mut out = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Slot(column) => out.push_str(&slot(*column)),
                Piece::Break => out.push(' '),
                Piece::Separator => out.push_str("; "),
            }
        }
        out
    }
}

impl Value {
    /// Text of the value in a feed. A list becomes the text of an array.
    pub fn feed_text(&self) -> String {
        match self {
            Value::Number(text) | Value::Text(text) => text.clone(),
            Value::List(elements) => {
                let elements: Vec<String> = elements.iter().map(Element::array_text).collect();
                format!("{{{}}}", elements.join(","))
            }
        }
    }
}

impl Element {
    /// Text of the element in an array. Source: manual, "Array Input and Output Syntax".
    fn array_text(&self) -> String {
        match self {
            Element::Null => "NULL".to_owned(),
            Element::Number(number) => number.clone(),
            Element::Text(text) => {
                let is_plain = !text.is_empty()
                    && !text.eq_ignore_ascii_case("null")
                    && text.chars().all(|character| character.is_alphanumeric() || "-_.".contains(character));
                if is_plain {
                    return text.clone();
                }
                let mut out = String::from("\"");
                for character in text.chars() {
                    if matches!(character, '"' | '\\') {
                        out.push('\\');
                    }
                    out.push(character);
                }
                out.push('"');
                out
            }
        }
    }

    #[cfg(test)]
    fn literal(&self) -> String {
        match self {
            Element::Null => "NULL".to_owned(),
            Element::Number(number) => number.clone(),
            Element::Text(text) => literal(text),
        }
    }
}

/// String as an SQL literal.
pub(crate) fn literal(text: &str) -> String {
    let mut out = String::from("'");
    write!(out, "{}'", text.replace('\'', "''")).expect("writing to a string cannot fail");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_lists_as_arrays() {
        let text = |text: &str| Element::Text(text.to_owned());
        for (elements, expected) in [
            (vec![Element::Number("1".into()), Element::Number("-2".into()), Element::Null], "{1,-2,NULL}"),
            (vec![text("a"), text("Жук-1")], "{a,Жук-1}"),
            (vec![text(""), text("null"), text("a b"), text(r#"a"\"#)], r#"{"","null","a b","a\"\\"}"#),
        ] {
            assert_eq!(Value::List(elements).feed_text(), expected);
        }
    }
}
