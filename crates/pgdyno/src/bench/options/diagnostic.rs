//! Diagnostics of the command line, with corrections

use super::getopt::ParseError;
use super::table::TABLE;
use crate::cli::OptionDiagnostic;

/// Diagnostic of a parse error, in getopt_long's words.
pub fn from_parse_error(error: &ParseError) -> OptionDiagnostic {
    let example = |option: usize| {
        let entry = &TABLE[option];
        match entry.short {
            Some(short) => format!("write -{short} {0} or --{1}={0}", entry.value, entry.long),
            None => format!("write --{}={}", entry.long, entry.value),
        }
    };
    match error {
        ParseError::UnknownLong(name) => {
            let message = format!("unrecognized option '--{name}'");
            match nearest_option(name) {
                Some(long) => OptionDiagnostic::new(message, format!("did you mean --{long}?")),
                None => OptionDiagnostic::new(message, "leave it out"),
            }
        }
        ParseError::UnknownShort(letter) => {
            OptionDiagnostic::new(format!("invalid option -- '{letter}'"), "leave it out")
        }
        ParseError::Ambiguous(name, meant) => {
            let listed: Vec<String> = meant.iter().map(|it| format!("--{it}")).collect();
            let message = format!("option '--{name}' is ambiguous; possibilities: '{}'", listed.join("' '"));
            OptionDiagnostic::new(message, format!("write one of them in full, as in {}", listed[0]))
        }
        ParseError::MissingValue(option) => OptionDiagnostic::new(
            format!("option '--{}' requires an argument", TABLE[*option].long),
            example(*option),
        ),
        ParseError::UnwantedValue(option) => {
            let long = TABLE[*option].long;
            OptionDiagnostic::new(
                format!("option '--{long}' doesn't allow an argument"),
                format!("write --{long}"),
            )
        }
    }
}

/// Option with the smallest edit distance from `name`; `None` if this distance exceeds both two and a third of the
/// name's length.
fn nearest_option(name: &str) -> Option<&'static str> {
    let (distance, long) = TABLE.iter().map(|it| (edit_distance(name, it.long), it.long)).min()?;
    (distance <= 2.max(name.len() / 3)).then_some(long)
}

/// Levenshtein distance in bytes.
fn edit_distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
