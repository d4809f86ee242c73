//! Templates: `${name}` is a variable, `${env:NAME}` an environment variable, and `$$` a dollar sign.

use crate::GrammarDiagnostic;
use model::message;
use std::ops::Range;

/// Variable with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    pub name: String,
    /// Byte range in the text, `${` and `}` included.
    pub at: Range<usize>,
}

/// Part of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplatePiece {
    Plain(String),
    Variable(Variable),
}

/// True if a variable may have this name, by pgbench's rules.
pub fn is_name(name: &str) -> bool {
    let is_start = |it: char| it.is_ascii_alphabetic() || it == '_' || !it.is_ascii();
    let mut letters = name.chars();
    letters.next().is_some_and(is_start) && letters.all(|it| is_start(it) || it.is_ascii_digit())
}

/// Name of the environment variable in `env:NAME`; `None` for other variables.
pub fn secret(name: &str) -> Option<&str> {
    name.strip_prefix("env:").filter(|it| is_name(it))
}

/// Splits a text at its variables; reports a `$` that begins no variable.
pub fn pieces(text: &str) -> Result<Vec<TemplatePiece>, Vec<GrammarDiagnostic>> {
    let (mut pieces, mut diagnostics) = (Vec::new(), Vec::new());
    let (mut plain, mut at) = (String::new(), 0);
    let is_known = |name: &str| is_name(name) || secret(name).is_some();
    while let Some(i) = text[at..].find('$') {
        plain += &text[at..at + i];
        let begin = at + i;
        let rest = &text[begin + 1..];
        if rest.starts_with('$') {
            plain.push('$');
            at = begin + 2;
            continue;
        }
        match rest.strip_prefix('{').and_then(|it| it.split_once('}')).filter(|it| is_known(it.0)) {
            Some((name, _)) => {
                if !plain.is_empty() {
                    pieces.push(TemplatePiece::Plain(std::mem::take(&mut plain)));
                }
                at = begin + name.len() + 3;
                pieces.push(TemplatePiece::Variable(Variable { name: name.to_owned(), at: begin..at }));
            }
            None => {
                diagnostics.push(GrammarDiagnostic {
                    span: begin..begin + 1,
                    message: message!("experiment-variable-syntax"),
                });
                at = begin + 1;
            }
        }
    }
    plain += &text[at..];
    if !plain.is_empty() {
        pieces.push(TemplatePiece::Plain(plain));
    }
    if diagnostics.is_empty() { Ok(pieces) } else { Err(diagnostics) }
}

/// Variables of a text; empty if the text has errors.
pub fn variables(text: &str) -> Vec<Variable> {
    let variable = |piece: TemplatePiece| match piece {
        TemplatePiece::Variable(it) => Some(it),
        TemplatePiece::Plain(_) => None,
    };
    pieces(text).unwrap_or_default().into_iter().filter_map(variable).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_text_into_pieces() {
        let check = |text: &str, expected: &str| {
            let found = match pieces(text) {
                Ok(all) => all
                    .iter()
                    .map(|piece| match piece {
                        TemplatePiece::Plain(it) => format!("[{it}]"),
                        TemplatePiece::Variable(it) => format!("<{} {:?}>", it.name, it.at),
                    })
                    .collect::<String>(),
                Err(all) => all.iter().map(|it| format!("{:?}", it.span)).collect::<Vec<_>>().join(" "),
            };
            assert_eq!(found, expected, "{text}");
        };
        check("/books?author=${author}&n=1", "[/books?author=]<author 14..23>[&n=1]");
        check("${a}${ж_1}", "<a 0..4><ж_1 4..11>");
        check("Bearer ${env:TOKEN}", "[Bearer ]<env:TOKEN 7..19>");
        check("${env:} ${env:1} ${ENV:A}", "0..1 8..9 17..18");
        check("cost: $$5", "[cost: $5]");
        check("", "");
        check("$", "0..1");
        check("$$$", "2..3");
        check("a$b ${1} ${} ${a b} ${a", "1..2 4..5 9..10 13..14 20..21");
    }
}
