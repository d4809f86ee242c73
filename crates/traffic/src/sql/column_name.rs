//! Names for the values of a statement

use super::lexer::{Token, TokenKind};
use super::words::precedes_expression;

/// Columns that an `INSERT` lists; empty for other statements.
pub(super) fn insert_columns(tokens: &[Token<'_>]) -> Vec<String> {
    if !tokens.first().is_some_and(|token| token.is_word("insert")) {
        return Vec::new();
    }
    let list = tokens.iter().skip_while(|token| !token.is("(")).skip(1).take_while(|token| !token.is(")"));
    let names = list.filter(|token| !token.is(","));
    names.map(|token| identifier(token).unwrap_or_default()).collect()
}

/// Name for the value at `at`: that of the column with which it is compared, or to which it is assigned. `insert_column`
/// is the column of an `INSERT` in which it is written.
pub(super) fn column_name(tokens: &[Token<'_>], at: usize, insert_column: Option<&String>) -> String {
    let name_at = |back: usize| at.checked_sub(back).and_then(|index| identifier(&tokens[index]));
    let is_word = |back: usize, word: &str| at >= back && tokens[at - back].is_word(word);
    let is_operator = at > 0 && tokens[at - 1].kind == TokenKind::Operator;
    let is_compared = is_operator || ["like", "ilike", "between"].iter().any(|word| is_word(1, word));
    let found = if is_word(1, "limit") || is_word(1, "offset") {
        Some(tokens[at - 1].text.to_ascii_lowercase())
    } else if tokens[at].is_word("in") || tokens[at].is_word("not") {
        name_at(1)
    } else if is_word(1, "and") && is_word(3, "between") {
        name_at(4).map(|name| name + "_to")
    } else if is_compared {
        name_at(2)
    } else {
        insert_column.cloned()
    };
    let begins_with_letter = |name: &String| name.starts_with(|first: char| first.is_ascii_lowercase());
    found.filter(begins_with_letter).unwrap_or_else(|| "p".to_owned())
}

/// Name of an identifier, with only `a-z`, `0-9` and `_`; `None` for a keyword.
fn identifier(token: &Token<'_>) -> Option<String> {
    let is_name = match token.kind {
        TokenKind::Word => !precedes_expression(&token.text),
        TokenKind::QuotedIdentifier => true,
        _ => false,
    };
    let letters = token.text.chars().map(|letter| letter.to_ascii_lowercase());
    let kept = letters.filter(|letter| letter.is_ascii_alphanumeric() || *letter == '_').take(40);
    is_name.then(|| kept.collect())
}
