//! Closures within closures whose arguments are both called `it`.

use super::{Violation, tree::Tree};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Reports closures with an argument `it` inside another one.
pub fn nested_it(tree: &Tree) -> Vec<Violation> {
    let mut all = Vec::new();
    for file in tree.files.iter().filter(|file| file.path.ends_with(".rs")) {
        let mut lines = Vec::new();
        walk(&tokens(file.text.parse().unwrap_or_default()), false, &mut lines);
        let what = "the argument `it` hides another one";
        all.extend(
            lines.iter().map(|line| Violation::new(&file.path, *line, what, "name both after their values")),
        );
    }
    all
}

fn tokens(stream: TokenStream) -> Vec<TokenTree> {
    stream.into_iter().collect()
}

/// Collects the lines of nested closures. `inside` is true within a closure with an argument `it`.
fn walk(tokens: &[TokenTree], inside: bool, lines: &mut Vec<usize>) {
    let (mut before, mut rest) = (None, tokens);
    while let [first, behind @ ..] = rest {
        if is_punct(first, '|') && starts_expression(before) {
            let end = behind.iter().position(|token| is_punct(token, '|')).unwrap_or(behind.len());
            let (arguments, body) = behind.split_at(end);
            let body = body.get(1..).unwrap_or_default();
            let is_it = names_it(arguments);
            if inside && is_it {
                lines.push(first.span().start().line);
            }
            let (body, after) = body.split_at(body_length(body));
            walk(body, inside || is_it, lines);
            rest = after;
        } else {
            if let TokenTree::Group(group) = first {
                walk(&self::tokens(group.stream()), inside, lines);
            }
            rest = behind;
        }
        before = Some(first);
    }
}

fn is_punct(token: &TokenTree, wanted: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == wanted)
}

/// True if an expression can start after this token; a `|` there starts a closure.
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

/// True if an argument, or a part of its pattern, is called `it`.
fn names_it(arguments: &[TokenTree]) -> bool {
    arguments.iter().any(|token| match token {
        TokenTree::Ident(name) => name == "it",
        TokenTree::Group(group) => names_it(&tokens(group.stream())),
        _ => false,
    })
}

/// Number of tokens of a closure's body: a block, or an expression up to the next comma or semicolon.
fn body_length(tokens: &[TokenTree]) -> usize {
    match tokens {
        [TokenTree::Group(block), ..] if block.delimiter() == Delimiter::Brace => 1,
        _ => tokens
            .iter()
            .position(|token| is_punct(token, ',') || is_punct(token, ';'))
            .unwrap_or(tokens.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_nested_arguments() {
        for (code, expected) in [
            ("all.map(|it| it.parts.map(|it| it.size))", &[1][..]),
            ("all.map(move |it| {\n x.map(|(it, _)| it);\n y.map(|&it| it) })", &[2, 3]),
            ("let f = |it: &u8|\n g(|| h(|it| it));", &[2]),
            ("matches!(a.map(|it| b.map(|it| it)), A | B)", &[1]),
            ("all.map(|it| it + 1).map(|it| it | 2)", &[]),
            ("f(|it| it, |it| it)", &[]),
            ("let a = |it| it; let b = |it| it;", &[]),
            ("all.map(|it| it.parts.map(|part| part.size))", &[]),
            ("all.map(|one| one.parts.map(|it| it.size))", &[]),
            ("match x { A | B => |it| it, it | it => 0 }", &[]),
        ] {
            let file = format!("fn f() {{ {code} }}");
            let found = super::super::violations(nested_it, &[("a.rs", &file)]);
            let lines =
                expected.iter().map(|line| format!("a.rs:{line}: the argument `it` hides another one"));
            assert_eq!(found, lines.collect::<Vec<_>>(), "{code}");
        }
    }
}
