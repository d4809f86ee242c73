//! Blanks and line breaks between the tokens of a normalised statement

use super::lexer::{Token, TokenKind};
use super::words::{begins_join, is_clause, precedes_parenthesis};

/// True if a blank separates the token at `at` from the previous one.
pub(super) fn needs_space(tokens: &[Token<'_>], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|before| &tokens[before]) else { return false };
    let token = &tokens[at];
    let is_name = matches!(before.kind, TokenKind::Word | TokenKind::QuotedIdentifier);
    let ends_operand = is_name || before.kind == TokenKind::Parameter || before.is(")") || before.is("]");
    if before.is(":") {
        return true;
    }
    if before.is("(") || before.is("[") || before.is("::") {
        return false;
    }
    if before.is(".") {
        return !matches!(token.kind, TokenKind::Word | TokenKind::QuotedIdentifier) && !token.is("*");
    }
    match &*token.text {
        "," | ")" | "]" | ";" | "::" | ":" if !matches!(token.kind, TokenKind::String) => false,
        "." | "[" if token.kind == TokenKind::Punctuation => !ends_operand,
        "(" if token.kind == TokenKind::Punctuation => !is_name || precedes_parenthesis(&before.text),
        _ => true,
    }
}

/// True for the first word of a clause, or of a join such as `LEFT JOIN`.
pub(super) fn begins_clause(tokens: &[Token<'_>], at: usize) -> bool {
    let is_word =
        |token: &Token<'_>, test: fn(&str) -> bool| token.kind == TokenKind::Word && test(&token.text);
    let continues_join = at > 0 && (is_word(&tokens[at - 1], begins_join) || tokens[at - 1].is_word("outer"));
    is_word(&tokens[at], is_clause) || (is_word(&tokens[at], begins_join) && !continues_join)
}
