//! Check for bindings called `it` outside closures of one line.

use super::{Violation, tree::Tree};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Line of a binding, its problem, and its fix.
type Finding = (usize, &'static str, &'static str);

/// Reports bindings called `it`, except arguments of one-line closures that are not nested.
pub fn it_bindings(tree: &Tree) -> Vec<Violation> {
    let mut all = Vec::new();
    for file in tree.files.iter().filter(|file| file.path.ends_with(".rs")) {
        let mut findings = Vec::new();
        walk(&tokens(file.text.parse().unwrap_or_default()), false, &mut findings);
        all.extend(
            findings.into_iter().map(|(line, message, fix)| Violation::new(&file.path, line, message, fix)),
        );
    }
    all
}

fn tokens(stream: TokenStream) -> Vec<TokenTree> {
    stream.into_iter().collect()
}

/// Collects the bindings. `inside` is true within a closure with an argument `it`.
fn walk(tokens: &[TokenTree], inside: bool, findings: &mut Vec<Finding>) {
    // The pattern of the next match arm begins at index `arm`.
    let (mut i, mut arm) = (0, 0);
    while let Some(token) = tokens.get(i) {
        let behind = &tokens[i + 1..];
        let line = token.span().start().line;
        let mut report = |message| findings.push((line, message, "name the value"));
        if is_punct(token, '|') && starts_expression(tokens[..i].last()) {
            let end = position(behind, |next| is_punct(next, '|'));
            let body = behind.get(end + 1..).unwrap_or_default();
            let body = &body[..body_length(body)];
            let is_it = names_it(&behind[..end]);
            if inside && is_it {
                findings.push((line, "the argument `it` hides another one", "name both after their values"));
            } else if is_it && ends_after(body, line) {
                report("a closure of several lines has an argument `it`");
            }
            walk(body, inside || is_it, findings);
            i += end + 2 + body.len();
            continue;
        }
        match token {
            TokenTree::Group(group) => walk(&self::tokens(group.stream()), inside, findings),
            TokenTree::Ident(word) if word == "for" => {
                let end = position(behind, |next| is_word(next, "in") || is_punct(next, ';'));
                if behind.get(end).is_some_and(|next| is_word(next, "in")) && names_it(&behind[..end]) {
                    report("a loop has a variable `it`");
                }
            }
            TokenTree::Ident(word) if word == "let" => {
                let end = position(behind, |next| is_punct(next, '=') || is_punct(next, ';'));
                if names_it(&behind[..end]) {
                    report("a `let` has a variable `it`");
                }
            }
            TokenTree::Punct(_)
                if is_punct(token, '=') && behind.first().is_some_and(|next| is_punct(next, '>')) =>
            {
                let pattern = tokens.get(arm..i).unwrap_or_default();
                let pattern = &pattern[..position(pattern, |next| is_word(next, "if"))];
                let length = body_length(&behind[1..]);
                if names_it(pattern) && ends_after(&behind[1..=length], line) {
                    report("a match arm of several lines has a variable `it`");
                }
                arm = i + 2 + length;
            }
            _ => {}
        }
        i += 1;
    }
}

/// Index of the first token for which `is_end` is true; the number of tokens if there is no such token.
fn position(tokens: &[TokenTree], is_end: impl Fn(&TokenTree) -> bool) -> usize {
    tokens.iter().position(is_end).unwrap_or(tokens.len())
}

/// True if the last token ends below `line`.
fn ends_after(tokens: &[TokenTree], line: usize) -> bool {
    tokens.last().is_some_and(|last| last.span().end().line > line)
}

fn is_punct(token: &TokenTree, wanted: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == wanted)
}

fn is_word(token: &TokenTree, wanted: &str) -> bool {
    matches!(token, TokenTree::Ident(word) if word == wanted)
}

/// True if an expression can start after this token. A `|` then starts a closure.
fn starts_expression(before: Option<&TokenTree>) -> bool {
    match before {
        None => true,
        Some(TokenTree::Punct(punct)) => punct.as_char() != '|' && punct.as_char() != '?',
        Some(TokenTree::Ident(word)) => {
            ["move", "return", "else", "in", "match"].iter().any(|keyword| word == keyword)
        }
        Some(TokenTree::Group(_) | TokenTree::Literal(_)) => false,
    }
}

/// True if a pattern, or a part of it, is called `it`.
fn names_it(pattern: &[TokenTree]) -> bool {
    pattern.iter().any(|token| match token {
        TokenTree::Ident(name) => name == "it",
        TokenTree::Group(group) => names_it(&tokens(group.stream())),
        _ => false,
    })
}

/// Number of tokens in the body of a closure or match arm: a block, or an expression up to the next comma or semicolon.
fn body_length(tokens: &[TokenTree]) -> usize {
    match tokens {
        [TokenTree::Group(block), ..] if block.delimiter() == Delimiter::Brace => 1,
        _ => position(tokens, |token| is_punct(token, ',') || is_punct(token, ';')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(message: &str, code: &str, expected: &[usize]) {
        let file = format!("fn f() {{ {code} }}");
        let found = super::super::violations(it_bindings, &[("a.rs", &file)]);
        let lines = expected.iter().map(|line| format!("a.rs:{line}: {message}"));
        assert_eq!(found, lines.collect::<Vec<_>>(), "{code}");
    }

    #[test]
    fn finds_nested_arguments() {
        for (code, expected) in [
            ("all.map(|it| it.parts.map(|it| it.size))", &[1][..]),
            ("all.map(move |one| {\n x.map(|(it, _)| it.map(|it| it));\n y.map(|&it| it) })", &[2]),
            ("let f = |it: &u8| g(|| h(|it| it));", &[1]),
            ("matches!(a.map(|it| b.map(|it| it)), A | B)", &[1]),
            ("all.map(|it| it + 1).map(|it| it | 2)", &[]),
            ("f(|it| it, |it| it)", &[]),
            ("let a = |it| it; let b = |it| it;", &[]),
            ("all.map(|it| it.parts.map(|part| part.size))", &[]),
            ("all.map(|one| one.parts.map(|it| it.size))", &[]),
            ("match x { A | B => |it| it, it | it => 0 }", &[]),
        ] {
            check("the argument `it` hides another one", code, expected);
        }
    }

    #[test]
    fn finds_arguments_of_long_closures() {
        for (code, expected) in [
            ("all.map(|it| {\n it.size })", &[1][..]),
            ("all\n.map(|(_, it)| match it {\n _ => 1 })", &[2]),
            ("let f = move |it: &u8|\n it + 1;", &[1]),
            ("f(|it| it,\n 2)", &[]),
            ("f(\n |it| it\n )", &[]),
            ("let f = |it| it;\n", &[]),
            ("all.map(|one| {\n one.size })", &[]),
        ] {
            check("a closure of several lines has an argument `it`", code, expected);
        }
    }

    #[test]
    fn finds_variables() {
        let (of_loop, of_let) = ("a loop has a variable `it`", "a `let` has a variable `it`");
        for (message, code, expected) in [
            (of_loop, "\nfor it in all {}", &[2][..]),
            (of_loop, "for (i, S { it, .. }) in all {}", &[1]),
            (of_loop, "for one in all.map(|it| it) {}", &[]),
            (of_loop, "fn g<F: for<'a> Fn(&'a u8)>(it: F) {}", &[]),
            (of_let, "let it = 1;", &[1]),
            (of_let, "let mut it: u8;", &[1]),
            (of_let, "let Some(it) = x else { return };", &[1]),
            (of_let, "if let Some(it) = x {}\nif a && let Ok((_, it)) = x {}", &[1, 2]),
            (of_let, "while let Some(it) = x {}", &[1]),
            (of_let, "let one = all.find(|it| it.is_one());", &[]),
        ] {
            check(message, code, expected);
        }
    }

    #[test]
    fn finds_variables_of_long_arms() {
        for (code, expected) in [
            ("match x { A => 0, Some(it) => {\n it } }", &[1][..]),
            ("match x { A => {} Some(it) if it > 1 => f(\n it),\n it => 0 }", &[1]),
            ("match x {\n A(it) | B(it) => S {\n it },\n _ => 0 }", &[2]),
            ("match x { Some(it) => it,\n None => 0 }", &[]),
            ("match x { A => |it| it, Some(one) => {\n one } }", &[]),
            ("match x { Some(it) => {} None => {\n 0 } }", &[]),
            ("match x { Some(one) if it => {\n one } }", &[]),
        ] {
            check("a match arm of several lines has a variable `it`", code, expected);
        }
    }
}
