//! Message catalogues: every language has the messages that the code uses, with the same arguments.

use super::Violation;
use super::tree::{File, Tree};
use fluent_syntax::ast;
use fluent_syntax::parser;
use proc_macro2::{TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};

/// Directory with one Fluent file per language.
const MESSAGES: &str = "crates/report/messages/";

/// Prefixes of messages that scripts use. Rust code need not use these messages.
const WEB_PREFIXES: [&str; 3] = ["web-", "list-", "bar-"];

/// Reference file. The messages of all other languages are compared with its messages.
const REFERENCE: &str = "en.ftl";

/// A message of a file.
struct Message {
    line: usize,
    /// Arguments of the message's value and of its attributes.
    arguments: BTreeSet<String>,
    attributes: BTreeSet<String>,
}

/// A use of a message: `say!(lang, "identifier", argument, name = value)`, or `message!("identifier", …)`.
struct Use {
    line: usize,
    identifier: String,
    arguments: BTreeSet<String>,
}

pub fn catalogue(tree: &Tree) -> Vec<Violation> {
    let mut all = Vec::new();
    let files: Vec<&File> = tree.files.iter().filter(|file| file.path.starts_with(MESSAGES)).collect();
    let catalogues: Vec<(&File, BTreeMap<String, Message>)> =
        files.iter().map(|file| (*file, messages(file, &mut all))).collect();
    let Some((reference, expected)) = catalogues.iter().find(|(file, _)| file.path.ends_with(REFERENCE))
    else {
        return all;
    };
    let mut used: BTreeSet<String> = BTreeSet::new();
    for file in tree.files.iter().filter(|file| file.krate().is_some() && file.path.ends_with(".rs")) {
        let uses = uses(&file.text);
        used.extend(uses.iter().map(|message| message.identifier.clone()));
        if !file.is_test() {
            uses.iter().filter_map(|message| check_use(file, message, expected)).for_each(|it| all.push(it));
        }
        used.extend(file.source().strings.iter().map(|(text, _)| text.trim_matches('"').to_owned()));
    }
    for (identifier, message) in expected {
        let is_web = WEB_PREFIXES.iter().any(|prefix| identifier.starts_with(prefix));
        if !used.contains(identifier) && !is_web {
            let text = format!("no code uses the message {identifier}");
            all.push(Violation::new(&reference.path, message.line, text, "delete it in every language"));
        }
    }
    for (file, messages) in &catalogues {
        compare(file, messages, expected, &mut all);
    }
    all
}

/// The messages of a file by identifier.
fn messages(file: &File, all: &mut Vec<Violation>) -> BTreeMap<String, Message> {
    let resource = match parser::parse(file.text.as_str()) {
        Ok(resource) => resource,
        Err((resource, errors)) => {
            for error in errors {
                let line = line_at(&file.text, error.pos.start);
                all.push(Violation::new(
                    &file.path,
                    line,
                    error.kind.to_string(),
                    "write it in Fluent's grammar",
                ));
            }
            resource
        }
    };
    let mut found = BTreeMap::new();
    for entry in &resource.body {
        let ast::Entry::Message(message) = entry else { continue };
        let name = message.id.name;
        let line =
            file.text.lines().position(|line| line.strip_prefix(name).is_some_and(|it| it.starts_with(" =")));
        let mut arguments = BTreeSet::new();
        let attributes = message.attributes.iter();
        let patterns = message.value.iter().chain(attributes.clone().map(|attribute| &attribute.value));
        patterns.for_each(|pattern| arguments_of(pattern, &mut arguments));
        let attributes = attributes.map(|attribute| attribute.id.name.to_owned()).collect();
        let message = Message { line: line.map_or(1, |index| index + 1), arguments, attributes };
        if let Some(other) = found.insert(name.to_owned(), message) {
            let text = format!("the message {name} is there twice");
            all.push(Violation::new(&file.path, other.line, text, "delete one of them"));
        }
    }
    found
}

fn line_at(text: &str, offset: usize) -> usize {
    text.as_bytes().iter().take(offset).filter(|byte| **byte == b'\n').count() + 1
}

fn arguments_of(pattern: &ast::Pattern<&str>, arguments: &mut BTreeSet<String>) {
    for element in &pattern.elements {
        let ast::PatternElement::Placeable { expression } = element else { continue };
        match expression {
            ast::Expression::Inline(inline) => inline_argument(inline, arguments),
            ast::Expression::Select { selector, variants } => {
                inline_argument(selector, arguments);
                variants.iter().for_each(|variant| arguments_of(&variant.value, arguments));
            }
        }
    }
}

fn inline_argument(inline: &ast::InlineExpression<&str>, arguments: &mut BTreeSet<String>) {
    match inline {
        ast::InlineExpression::VariableReference { id } => {
            arguments.insert(id.name.to_owned());
        }
        ast::InlineExpression::Placeable { expression } => {
            if let ast::Expression::Inline(inline) = expression.as_ref() {
                inline_argument(inline, arguments);
            }
        }
        _ => {}
    }
}

/// The uses of messages in a source file, including uses inside other macros.
fn uses(text: &str) -> Vec<Use> {
    let mut found = Vec::new();
    if let Ok(tokens) = text.parse::<TokenStream>() {
        find_uses(&tokens.into_iter().collect::<Vec<_>>(), &mut found);
    }
    found
}

fn find_uses(tokens: &[TokenTree], found: &mut Vec<Use>) {
    for (i, token) in tokens.iter().enumerate() {
        let TokenTree::Group(group) = token else { continue };
        let inner: Vec<TokenTree> = group.stream().into_iter().collect();
        if let Some([TokenTree::Ident(name), TokenTree::Punct(mark)]) =
            i.checked_sub(2).map(|first| &tokens[first..i])
            && mark.as_char() == '!'
        {
            match name.to_string().as_str() {
                "say" => found.extend(read_use(&inner, true)),
                "message" => found.extend(read_use(&inner, false)),
                _ => {}
            }
        }
        find_uses(&inner, found);
    }
}

/// Parses the tokens between the macro's parentheses as a use; `None` if they have no literal identifier.
fn read_use(tokens: &[TokenTree], begins_with_language: bool) -> Option<Use> {
    let parts = tokens.split(|token| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ','));
    let mut parts = parts.skip(usize::from(begins_with_language));
    let [TokenTree::Literal(identifier)] = parts.next()? else { return None };
    let text = identifier.to_string();
    let arguments = parts.filter_map(|part| match part {
        [TokenTree::Ident(name)] => Some(name.to_string()),
        [TokenTree::Ident(name), TokenTree::Punct(mark), ..] if mark.as_char() == '=' => {
            Some(name.to_string())
        }
        _ => None,
    });
    Some(Use {
        line: identifier.span().start().line,
        identifier: text.trim_matches('"').to_owned(),
        arguments: arguments.collect(),
    })
}

fn check_use(file: &File, message: &Use, expected: &BTreeMap<String, Message>) -> Option<Violation> {
    let Use { line, identifier, arguments } = message;
    let Some(known) = expected.get(identifier) else {
        let text = format!("there is no message {identifier}");
        return Some(Violation::new(&file.path, *line, text, format!("write it in {MESSAGES}{REFERENCE}")));
    };
    let missing: Vec<&String> = known.arguments.difference(arguments).collect();
    let surplus: Vec<&String> = arguments.difference(&known.arguments).collect();
    if missing.is_empty() && surplus.is_empty() {
        return None;
    }
    let text = format!("{identifier} lacks the arguments {missing:?} and has {surplus:?} too many");
    Some(Violation::new(&file.path, *line, text, "give the arguments that its message has"))
}

/// Compares the messages of a language with the reference messages.
fn compare(
    file: &File,
    messages: &BTreeMap<String, Message>,
    expected: &BTreeMap<String, Message>,
    all: &mut Vec<Violation>,
) {
    for identifier in expected.keys().filter(|identifier| !messages.contains_key(*identifier)) {
        let text = format!("the message {identifier} is missing");
        all.push(Violation::new(&file.path, 1, text, format!("translate it from {REFERENCE}")));
    }
    for (identifier, message) in messages {
        match expected.get(identifier) {
            None => {
                let text = format!("{REFERENCE} has no message {identifier}");
                all.push(Violation::new(&file.path, message.line, text, "delete it"));
            }
            Some(known) if known.arguments != message.arguments => {
                let text = format!(
                    "{identifier} has the arguments {:?}, and {REFERENCE} has {:?}",
                    message.arguments, known.arguments
                );
                all.push(Violation::new(&file.path, message.line, text, "use the same arguments"));
            }
            Some(known) if known.attributes != message.attributes => {
                let text = format!(
                    "{identifier} has the attributes {:?}, and {REFERENCE} has {:?}",
                    message.attributes, known.attributes
                );
                all.push(Violation::new(&file.path, message.line, text, "translate the same attributes"));
            }
            Some(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EN: &str =
        "a = text\nb = { $count ->\n    [one] { $name }\n   *[other] { $count }\n }\nweb-c = c\n";
    const CODE: &str = "fn f() { vec![say!(lang, \"a\"), g(|x| say!(self, \"b\", count = x.len(), name))] }";

    fn check(en: &str, ru: &str, code: &str) -> Vec<String> {
        let files = [
            ("crates/report/messages/en.ftl", en),
            ("crates/report/messages/ru.ftl", ru),
            ("crates/report/src/a.rs", code),
        ];
        let all = catalogue(&Tree::from_files(&files));
        all.iter()
            .map(|it| format!("{}:{}: {}", it.file.rsplit('/').next().unwrap(), it.line, it.message))
            .collect()
    }

    #[test]
    fn accepts_equal_catalogues() {
        assert_eq!(check(EN, EN, CODE), [""; 0]);
    }

    #[test]
    fn finds_missing_unused_and_differing_messages() {
        let unused = format!("{EN}d = d\n");
        for (en, ru, code, expected) in [
            (
                EN,
                "web-c = c\n",
                CODE,
                vec!["ru.ftl:1: the message a is missing", "ru.ftl:1: the message b is missing"],
            ),
            (unused.as_str(), unused.as_str(), CODE, vec!["en.ftl:7: no code uses the message d"]),
            (EN, unused.as_str(), CODE, vec!["ru.ftl:7: en.ftl has no message d"]),
            (
                EN,
                EN,
                "fn f() { say!(lang, \"e\") }\nfn g() { h(\"a\", \"b\") }",
                vec!["a.rs:1: there is no message e"],
            ),
            (
                EN,
                EN,
                "fn f() { say!(lang, \"a\", n); say!(lang, \"b\", count) }",
                vec![
                    "a.rs:1: a lacks the arguments [] and has [\"n\"] too many",
                    "a.rs:1: b lacks the arguments [\"name\"] and has [] too many",
                ],
            ),
        ] {
            assert_eq!(check(en, ru, code), expected);
        }
        let attribute = "a = text\n    .help = { $n }\n";
        let neutral = "fn f() { message!(\"a\", n = 1) }";
        assert_eq!(check(attribute, attribute, neutral), [""; 0]);
        assert_eq!(
            check(attribute, attribute, "fn f() { message!(\"a\"); message!(\"b\", n) }"),
            ["a.rs:1: a lacks the arguments [\"n\"] and has [] too many", "a.rs:1: there is no message b"]
        );
        assert_eq!(
            check("a = { $n }\n    .help = text\n", "a = { $n }\n", neutral),
            ["ru.ftl:1: a has the attributes {}, and en.ftl has {\"help\"}"]
        );
        let differs = EN.replace("{ $name }", "one");
        assert_eq!(
            check(EN, &differs, CODE),
            ["ru.ftl:2: b has the arguments {\"count\"}, and en.ftl has {\"count\", \"name\"}"]
        );
    }

    #[test]
    fn finds_invalid_files() {
        let all = check("a = { $x\n", "a = text\n", "fn f() { say!(lang, \"a\") }");
        assert!(all.iter().any(|it| it.starts_with("en.ftl:")), "{all:?}");
    }
}
