//! ParameterVariables for the parameters of an operation

use super::super::json::Json;
use super::super::operation::InlineFeed;
use super::super::template::{RequestTemplate, TemplatePart};
use super::super::{naming, schema};

/// Number of integers in a range that the description does not limit.
const INTEGER_MAX: i64 = 1000;

/// ParameterVariables of one operation.
#[derive(Default)]
pub(super) struct ParameterVariables {
    /// Integers with their expressions.
    pub set: Vec<(String, String)>,
    /// Columns with their values.
    columns: Vec<(String, Vec<String>)>,
    fill_in: bool,
}

impl ParameterVariables {
    /// Adds a variable for a parameter and returns it.
    pub fn add(&mut self, description: &Json, name: &str, parameter: &Json) -> RequestTemplate {
        let is_taken =
            |name: &str| self.set.iter().any(|it| it.0 == name) || self.columns.iter().any(|it| it.0 == name);
        let base = naming::plain(name).replace('-', "_");
        let base = match base.chars().next() {
            Some(first) if first.is_ascii_alphabetic() && !matches!(base.as_str(), "rows" | "client_id") => {
                base
            }
            _ => format!("value_{base}").trim_end_matches('_').to_owned(),
        };
        let mut numbered = (2..).map(|number| format!("{base}_{number}"));
        let variable = match is_taken(&base) {
            true => numbered.find(|name| !is_taken(name)).expect("the numbers are endless"),
            false => base,
        };
        let found = schema::parameter(description, parameter);
        match found {
            schema::ParameterValue::Integer(Some(value)) => {
                self.set.push((variable.clone(), value.to_string()));
            }
            schema::ParameterValue::Integer(None) => {
                let (min, max) = schema::bounds(description, parameter);
                let (min, max) = match (min, max) {
                    (Some(min), Some(max)) => (min, max.max(min)),
                    (Some(min), None) => (min, min.saturating_add(INTEGER_MAX - 1)),
                    (None, Some(max)) => (max.min(1), max),
                    (None, None) => (1, INTEGER_MAX),
                };
                self.set.push((variable.clone(), format!("random({min}, {max})")));
            }
            schema::ParameterValue::Texts(values) => self.columns.push((variable.clone(), values)),
            schema::ParameterValue::Unknown => {
                self.fill_in = true;
                self.columns.push((variable.clone(), vec!["fill-in".to_owned()]));
            }
        }
        let mut template = RequestTemplate::default();
        template.push(TemplatePart::Variable(variable));
        template
    }

    /// Rows with all values of the columns; columns with fewer values repeat them.
    pub fn feed(&self) -> Option<InlineFeed> {
        let count = self.columns.iter().map(|column| column.1.len()).max()?;
        let row = |number: usize| {
            self.columns.iter().map(|(_, values)| values[number % values.len()].clone()).collect::<Vec<_>>()
        };
        Some(InlineFeed {
            columns: self.columns.iter().map(|column| column.0.clone()).collect(),
            rows: (0..count).map(row).collect(),
            fill_in: self.fill_in,
        })
    }
}
