//! Paths, macros, strings and modules in a Rust file, outside its tests.

use super::{Violation, tree::Tree};
use proc_macro2::{Delimiter, Group, Spacing, TokenStream, TokenTree};

/// Names in a Rust file. Lines are counted from 1.
#[derive(Debug, Default)]
pub struct Source {
    /// Every path of two or more segments, with groups in `use` expanded: `std::time::Instant`.
    pub paths: Vec<(String, usize)>,
    /// The paths in `use` items; `paths` contains them too.
    pub imports: Vec<String>,
    /// Names of the called macros.
    pub macros: Vec<(String, usize)>,
    /// String literals, except those in attributes, assertions and `expect`, which users do not normally see.
    pub strings: Vec<(String, usize)>,
    /// Names of structs, enums and traits.
    pub types: Vec<(String, usize)>,
    /// Modules in files of their own, including tests.
    pub modules: Vec<Module>,
    /// Syntax error, if the file is not valid Rust.
    pub syntax_error: Option<String>,
}

/// Declaration `mod name;`.
#[derive(Debug, PartialEq, Eq)]
pub struct Module {
    /// Name with its enclosing inline modules: `outer/name`.
    pub name: String,
    /// Path from `#[path = "…"]`.
    pub path: Option<String>,
    /// True if only tests compile it.
    pub test: bool,
}

/// Context of all tokens of a group.
#[derive(Clone, Default)]
struct TokenContext {
    test: bool,
    /// True if strings of the group are internal, such as an assertion's message.
    internal: bool,
    /// Enclosing inline modules: `outer/`.
    module_prefix: String,
}

/// Relevant attributes of an item.
#[derive(Default)]
struct Attributes {
    test: bool,
    path: Option<String>,
}

/// Macros whose messages report a bug of pgdyno itself.
const ASSERTIONS: [&str; 8] = [
    "assert",
    "assert_eq",
    "assert_ne",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "panic",
    "unreachable",
];

impl Source {
    pub fn parse(text: &str) -> Source {
        let mut source = Source::default();
        match text.parse::<TokenStream>() {
            Ok(tokens) => source.read(tokens, &TokenContext::default()),
            Err(error) => source.syntax_error = Some(error.to_string()),
        }
        source
    }

    fn read(&mut self, tokens: TokenStream, context: &TokenContext) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut rest = &tokens[..];
        while !rest.is_empty() {
            let (attributes, item) = attributes(rest);
            if attributes.test {
                let (item, behind) = item.split_at(item_length(item));
                self.read(item.iter().cloned().collect(), &TokenContext { test: true, ..context.clone() });
                rest = behind;
                continue;
            }
            rest = item;
            if !rest.is_empty() {
                rest = self.read_next(rest, &attributes, context);
            }
        }
    }

    /// Reads the first item or path in `tokens` and returns the remaining tokens.
    fn read_next<'a>(
        &mut self,
        tokens: &'a [TokenTree],
        attributes: &Attributes,
        context: &TokenContext,
    ) -> &'a [TokenTree] {
        match tokens {
            [TokenTree::Ident(word), TokenTree::Ident(name), TokenTree::Punct(end), rest @ ..]
                if word == "mod" && end.as_char() == ';' =>
            {
                let name = format!("{}{name}", context.module_prefix);
                self.modules.push(Module { name, path: attributes.path.clone(), test: context.test });
                rest
            }
            [TokenTree::Ident(word), TokenTree::Ident(name), TokenTree::Group(body), rest @ ..]
                if word == "mod" =>
            {
                let outer = format!("{}{name}/", context.module_prefix);
                self.read(body.stream(), &TokenContext { module_prefix: outer, ..context.clone() });
                rest
            }
            [TokenTree::Ident(word), TokenTree::Ident(name), rest @ ..]
                if ["struct", "enum", "trait"].iter().any(|it| word == it) =>
            {
                if !context.test {
                    self.types.push((name.to_string(), name.span().start().line));
                }
                rest
            }
            [TokenTree::Ident(name), TokenTree::Punct(bang), TokenTree::Group(body), rest @ ..]
                if bang.as_char() == '!' =>
            {
                if !context.test {
                    self.macros.push((name.to_string(), name.span().start().line));
                }
                let internal = context.internal || ASSERTIONS.iter().any(|it| name == it);
                self.read(body.stream(), &TokenContext { internal, ..context.clone() });
                rest
            }
            [TokenTree::Punct(dot), TokenTree::Ident(name), TokenTree::Group(body), rest @ ..]
                if dot.as_char() == '.' && name == "expect" =>
            {
                self.read(body.stream(), &TokenContext { internal: true, ..context.clone() });
                rest
            }
            [TokenTree::Ident(word), rest @ ..] if word == "use" => {
                let known = self.paths.len();
                let rest = self.path(rest, "", context);
                self.imports.extend(self.paths[known..].iter().map(|(path, _)| path.clone()));
                rest
            }
            [TokenTree::Ident(_), ..] => self.path(tokens, "", context),
            [TokenTree::Group(group), rest @ ..] => {
                self.read(group.stream(), context);
                rest
            }
            [TokenTree::Literal(literal), rest @ ..] => {
                let text = literal.to_string();
                if text.ends_with(['"', '#']) && !context.test && !context.internal {
                    self.strings.push((text, literal.span().start().line));
                }
                rest
            }
            [_, rest @ ..] => rest,
            [] => &[],
        }
    }

    /// Reads a path that continues `before` and returns the remaining tokens. Leaves a macro after the path to the
    /// caller.
    fn path<'a>(&mut self, tokens: &'a [TokenTree], before: &str, context: &TokenContext) -> &'a [TokenTree] {
        let (mut path, mut rest) = (before.to_owned(), tokens);
        let mut line = 0;
        loop {
            match rest {
                [TokenTree::Ident(_), TokenTree::Punct(bang), TokenTree::Group(_), ..]
                    if bang.as_char() == '!' && line > 0 =>
                {
                    break;
                }
                [TokenTree::Ident(name), behind @ ..] => {
                    line = name.span().start().line;
                    path += &name.to_string();
                    match after_colons(behind) {
                        Some(behind) => (path, rest) = (path + "::", behind),
                        None => {
                            rest = behind;
                            break;
                        }
                    }
                }
                [TokenTree::Group(group), behind @ ..] if group.delimiter() == Delimiter::Brace => {
                    self.use_tree(group, &path, context);
                    return behind;
                }
                _ => break,
            }
        }
        let path = path.trim_end_matches(':');
        if path.contains("::") && !context.test {
            self.paths.push((path.to_owned(), line));
        }
        rest
    }

    /// Reads the paths in `before::{a, b::c}`.
    fn use_tree(&mut self, group: &Group, before: &str, context: &TokenContext) {
        let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
        let comma = |token: &TokenTree| matches!(token, TokenTree::Punct(it) if it.as_char() == ',');
        for branch in tokens.split(comma) {
            self.path(branch, before, context);
        }
    }
}

/// Tokens after `::`, if `tokens` begin with it.
fn after_colons(tokens: &[TokenTree]) -> Option<&[TokenTree]> {
    match tokens {
        [TokenTree::Punct(first), TokenTree::Punct(second), rest @ ..]
            if first.as_char() == ':' && first.spacing() == Spacing::Joint && second.as_char() == ':' =>
        {
            Some(rest)
        }
        _ => None,
    }
}

/// Splits the attributes before an item from the item.
fn attributes(mut tokens: &[TokenTree]) -> (Attributes, &[TokenTree]) {
    let mut all = Attributes::default();
    loop {
        let (group, rest) = match tokens {
            [TokenTree::Punct(hash), TokenTree::Group(group), rest @ ..] if hash.as_char() == '#' => {
                (group, rest)
            }
            [TokenTree::Punct(hash), TokenTree::Punct(bang), TokenTree::Group(_), rest @ ..]
                if hash.as_char() == '#' && bang.as_char() == '!' =>
            {
                tokens = rest;
                continue;
            }
            _ => return (all, tokens),
        };
        let inner: Vec<TokenTree> = group.stream().into_iter().collect();
        match &inner[..] {
            [TokenTree::Ident(name)] if name == "test" => all.test = true,
            [TokenTree::Ident(name), TokenTree::Group(condition)] if name == "cfg" => {
                let condition = condition.stream().to_string();
                let mut words = condition.split(|c: char| !c.is_alphanumeric() && c != '_');
                all.test |= words.any(|word| word == "test") && !condition.contains("not");
            }
            [TokenTree::Ident(name), TokenTree::Punct(_), TokenTree::Literal(path)] if name == "path" => {
                all.path = Some(path.to_string().trim_matches('"').to_owned());
            }
            _ => {}
        }
        tokens = rest;
    }
}

/// Number of tokens of the first item: up to a semicolon, or up to its body.
fn item_length(tokens: &[TokenTree]) -> usize {
    let ends_with_semicolon = tokens.iter().take(3).any(|token| {
        matches!(token, TokenTree::Ident(word) if ["use", "const", "static", "let"].iter().any(|it| word == it))
            && !tokens.iter().take(3).any(|token| matches!(token, TokenTree::Ident(word) if word == "fn"))
    });
    let end = tokens.iter().position(|token| match token {
        TokenTree::Punct(it) => it.as_char() == ';',
        TokenTree::Group(it) => it.delimiter() == Delimiter::Brace && !ends_with_semicolon,
        _ => false,
    });
    end.map_or(tokens.len(), |end| end + 1)
}

pub fn invalid_sources(tree: &Tree) -> Vec<Violation> {
    let broken = |file: &super::tree::File| {
        let why = file.source().syntax_error.as_ref()?;
        Some(Violation::new(
            &file.path,
            1,
            format!("this is no Rust ({why})"),
            "mend its brackets and quotes",
        ))
    };
    tree.files.iter().filter(|file| file.path.ends_with(".rs")).filter_map(broken).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[(String, usize)]) -> String {
        list.iter().map(|(name, line)| format!("{line} {name}")).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn finds_paths() {
        for (text, found) in [
            ("use std::time::Instant;", "1 std::time::Instant"),
            (
                "use std::{fs, io::{self, Write as W}, net::*};",
                "1 std::fs, 1 std::io::self, 1 std::io::Write, 1 std::net",
            ),
            ("fn f() {\n    std::env::var(\"X\");\n}", "2 std::env::var"),
            ("fn f(it: Vec<std::net::IpAddr>) {}", "1 std::net::IpAddr"),
            ("macro_rules! m { () => { ::std::fs::read(0) } }", "1 std::fs::read"),
            ("// std::fs::read\n/* std::env */ /// std::net\nconst A: &str = \"std::fs::read\";", ""),
            ("#[cfg(test)]\nmod tests { use std::fs; }\nuse a::b;", "3 a::b"),
            ("#[cfg(test)]\nuse std::{fs, env};\nuse a::b;", "3 a::b"),
            ("#[test]\nfn f() { std::fs::read(0) }\nfn g() { a::b() }", "3 a::b"),
            ("#[cfg(all(test, unix))] const fn f() { std::fs::read(0) } fn g() { a::b() }", "1 a::b"),
            ("#[cfg(not(test))] fn f() { std::fs::read(0) }", "1 std::fs::read"),
            ("fn f() { let x: u8; x }", ""),
        ] {
            assert_eq!(names(&Source::parse(text).paths), found, "{text}");
        }
    }

    #[test]
    fn separates_imports_from_other_paths() {
        let source = Source::parse("pub use a::{B, c::D as E};\nfn f() { g::h(); }\n#[cfg(test)] use i::J;");
        assert_eq!(source.imports, ["a::B", "a::c::D"]);
    }

    #[test]
    fn finds_macros_strings_and_modules() {
        let source = Source::parse(
            "mod a;\n#[path = \"x/b.rs\"] mod b;\nmod c { mod d; }\n#[cfg(test)] mod tests;\n\
             #[doc = \"no\"] fn f() {\n std::println!(\"yes\"); assert!(x, \"no\"); y.expect(\"no\"); r#\"raw\"#; }",
        );
        assert_eq!(names(&source.macros), "6 println, 6 assert");
        assert_eq!(names(&source.strings), "6 \"yes\", 6 r#\"raw\"#");
        let modules: Vec<_> =
            source.modules.iter().map(|it| (it.name.as_str(), it.path.as_deref(), it.test)).collect();
        let expected =
            [("a", None, false), ("b", Some("x/b.rs"), false), ("c/d", None, false), ("tests", None, true)];
        assert_eq!(modules, expected);
    }

    #[test]
    fn finds_types() {
        let source = Source::parse(
            "pub struct A<T>(T);\n#[derive(Debug)] enum B { C }\npub(crate) trait D {}\nimpl D for B {}\n\
             #[cfg(test)] mod tests { struct E; }\nfn f() -> A<B> { A(B::C) }",
        );
        assert_eq!(names(&source.types), "1 A, 2 B, 3 D");
    }

    #[test]
    fn finds_invalid_sources() {
        let found =
            super::super::violations(invalid_sources, &[("a.rs", "fn f() { )"), ("b.rs", "fn f() {}")]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("a.rs:1: this is no Rust"), "{found:?}");
    }
}
