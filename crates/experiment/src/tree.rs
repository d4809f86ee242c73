//! YAML parser that keeps positions.
//!
//! Keys and values are not interpreted: the reader with the schema decides whether `on` or `1.10` is a string.
//! Aliases and merge keys (`<<`) are resolved. Depth, size and the expansion of aliases are limited.

use crate::diagnostic::{Diagnostic, MAX_DIAGNOSTICS, Span, quote};
use model::message;
use saphyr_parser::{Event, Parser, ScalarStyle, ScanError};
use std::collections::HashMap;

/// Maximum nesting depth. It exceeds that of any handwritten file.
const MAX_DEPTH: usize = 64;
/// Maximum size of a text, in bytes.
const MAX_SIZE: usize = 256 * 1024;
/// Maximum number of keys and values, including those that aliases expand to.
const MAX_NODES: usize = 20_000;

/// Value and its position. A list's or mapping's span covers only its beginning.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    pub span: Span,
    pub value: Value,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Scalar(String, Style),
    List(Vec<Node>),
    /// Entries in the order of the text, with unique keys.
    Map(Vec<(Key, Node)>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    Plain,
    /// Quoted, or a block scalar: always a string.
    Quoted,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    pub text: String,
    pub span: Span,
}

impl Node {
    pub fn empty_map(span: &Span) -> Node {
        Node { span: span.clone(), value: Value::Map(Vec::new()) }
    }

    /// True for an empty value, `~` or `null`.
    pub fn is_null(&self) -> bool {
        matches!(&self.value, Value::Scalar(text, Style::Plain) if matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL"))
    }

    /// Keys and values; empty if it is no mapping.
    pub fn entries(&self) -> &[(Key, Node)] {
        match &self.value {
            Value::Map(entries) => entries,
            _ => &[],
        }
    }

    pub fn get(&self, key: &str) -> Option<&(Key, Node)> {
        self.entries().iter().find(|it| it.0.text == key)
    }

    /// Removes a key from a mapping and returns it.
    pub fn take(&mut self, key: &str) -> Option<(Key, Node)> {
        let Value::Map(entries) = &mut self.value else { return None };
        let index = entries.iter().position(|it| it.0.text == key)?;
        Some(entries.remove(index))
    }

    fn count(&self) -> usize {
        1 + match &self.value {
            Value::Scalar(..) => 0,
            Value::List(items) => items.iter().map(Node::count).sum(),
            Value::Map(entries) => entries.iter().map(|it| 1 + it.1.count()).sum(),
        }
    }
}

/// Parses one document. `source` is the index of the text among the sources. If it returns `None`, it adds at least one
/// diagnostic.
pub fn parse(text: &str, source: usize, diagnostics: &mut Vec<Diagnostic>) -> Option<Node> {
    let to_span = |bytes| Span { source, bytes };
    if text.len() > MAX_SIZE {
        let (size, max) = ((text.len() / 1024).to_string(), (MAX_SIZE / 1024).to_string());
        diagnostics.push(Diagnostic::new(&to_span(0..0), message!("experiment-file-size", size, max)));
        return None;
    }
    let mut places: Vec<usize> = text.char_indices().map(|it| it.0).collect();
    places.push(text.len());
    let mut reader = TreeBuilder { text, source, places, diagnostics, nodes: 0, anchors: HashMap::new() };
    match reader.document() {
        Ok(node) => Some(node.unwrap_or_else(|| Node::empty_map(&to_span(0..0)))),
        Err(diagnostic) => {
            diagnostics.push(diagnostic);
            None
        }
    }
}

struct TreeBuilder<'a> {
    text: &'a str,
    source: usize,
    /// Byte position of each character.
    places: Vec<usize>,
    diagnostics: &'a mut Vec<Diagnostic>,
    nodes: usize,
    anchors: HashMap<usize, Node>,
}

/// List or mapping whose end is not parsed yet.
struct OpenNode {
    span: Span,
    anchor: usize,
    kind: Kind,
}

enum Kind {
    List(Vec<Node>),
    Map { entries: Vec<(Key, Node)>, key: Option<Key> },
}

impl TreeBuilder<'_> {
    fn document(&mut self) -> Result<Option<Node>, Diagnostic> {
        let mut parser = Parser::new_from_str(self.text);
        let mut open: Vec<OpenNode> = Vec::new();
        let mut root = None;
        let mut documents = 0;
        while let Some(next) = parser.next_event() {
            let (event, span) = next.map_err(|error| self.scan_error(&error))?;
            let span = self.span(span);
            let (node, anchor) = match event {
                Event::Nothing | Event::StreamStart | Event::DocumentEnd => continue,
                Event::StreamEnd => break,
                Event::DocumentStart(_) => {
                    documents += 1;
                    if documents > 1 {
                        return Err(Diagnostic::new(&span, message!("experiment-second-document")));
                    }
                    continue;
                }
                Event::Alias(id) => match self.anchors.get(&id) {
                    Some(node) => {
                        let node = node.clone();
                        self.grow(node.count(), &span)?;
                        (node, 0)
                    }
                    None => {
                        return Err(Diagnostic::new(&span, message!("experiment-alias")));
                    }
                },
                Event::Scalar(text, style, anchor, tag) => {
                    if let Some(tag) = tag.filter(|tag| !tag.is_yaml_core_schema()) {
                        let tag = quote(&format!("{}{}", tag.handle, tag.suffix));
                        self.diagnostics.push(Diagnostic::new(&span, message!("experiment-tag", tag)));
                    }
                    let style = if style == ScalarStyle::Plain { Style::Plain } else { Style::Quoted };
                    if style == Style::Plain && text.starts_with(['“', '”', '„', '«', '‘', '’']) {
                        let text = quote(&text);
                        let message = message!("experiment-typographic-quotes", text);
                        self.diagnostics.push(Diagnostic::new(&span, message));
                    }
                    (Node { span, value: Value::Scalar(text.into_owned(), style) }, anchor)
                }
                Event::SequenceStart(anchor, _) => {
                    open.push(OpenNode { span, anchor, kind: Kind::List(Vec::new()) });
                    self.not_too_deep(&open)?;
                    continue;
                }
                Event::MappingStart(anchor, _) => {
                    open.push(OpenNode { span, anchor, kind: Kind::Map { entries: Vec::new(), key: None } });
                    self.not_too_deep(&open)?;
                    continue;
                }
                Event::SequenceEnd | Event::MappingEnd => {
                    let Some(collection) = open.pop() else { continue };
                    let value = match collection.kind {
                        Kind::List(items) => Value::List(items),
                        Kind::Map { mut entries, .. } => {
                            self.merge(&mut entries)?;
                            Value::Map(entries)
                        }
                    };
                    (Node { span: collection.span, value }, collection.anchor)
                }
            };
            if anchor > 0 {
                self.anchors.insert(anchor, node.clone());
            }
            self.grow(1, &node.span)?;
            match open.last_mut().map(|it| &mut it.kind) {
                None => root = Some(node),
                Some(Kind::List(items)) => items.push(node),
                Some(Kind::Map { entries, key }) => match key.take() {
                    None => *key = Some(Self::key(node)?),
                    Some(key) => self.entry(entries, key, node),
                },
            }
        }
        Ok(root)
    }

    fn key(node: Node) -> Result<Key, Diagnostic> {
        match node.value {
            Value::Scalar(text, _) => Ok(Key { text, span: node.span }),
            _ => Err(Diagnostic::new(&node.span, message!("experiment-complex-key"))),
        }
    }

    fn entry(&mut self, entries: &mut Vec<(Key, Node)>, key: Key, node: Node) {
        match entries.iter().find(|it| it.0.text == key.text) {
            None => entries.push((key, node)),
            // Skip further errors. They would not be reported, and counting lines takes time.
            Some(_) if self.diagnostics.len() > MAX_DIAGNOSTICS => {}
            Some((first, _)) => {
                let line = self.text[..first.span.bytes.start].matches('\n').count() + 1;
                let (text, line) = (quote(&key.text), line.to_string());
                let message = message!("experiment-duplicate-key", key = text, line);
                self.diagnostics.push(Diagnostic::new(&key.span, message));
            }
        }
    }

    /// Adds the entries of merged mappings (`<<`) whose keys the mapping lacks.
    fn merge(&mut self, entries: &mut Vec<(Key, Node)>) -> Result<(), Diagnostic> {
        let Some(i) = entries.iter().position(|it| it.0.text == "<<") else { return Ok(()) };
        let (_, node) = entries.remove(i);
        self.grow(node.count(), &node.span)?;
        let merged = match node.value {
            Value::List(items) => items,
            _ => vec![node],
        };
        for (key, node) in merged.iter().flat_map(Node::entries) {
            if entries.iter().all(|it| it.0.text != key.text) {
                entries.push((key.clone(), node.clone()));
            }
        }
        Ok(())
    }

    fn grow(&mut self, nodes: usize, span: &Span) -> Result<(), Diagnostic> {
        self.nodes += nodes;
        if self.nodes > MAX_NODES {
            let message = message!("experiment-too-many-values", max = MAX_NODES.to_string());
            return Err(Diagnostic::new(span, message));
        }
        Ok(())
    }

    fn not_too_deep(&self, open: &[OpenNode]) -> Result<(), Diagnostic> {
        match open {
            [.., last] if open.len() > MAX_DEPTH => {
                Err(Diagnostic::new(&last.span, message!("experiment-depth", max = MAX_DEPTH.to_string())))
            }
            _ => Ok(()),
        }
    }

    fn scan_error(&self, error: &ScanError) -> Diagnostic {
        let at = self.byte(error.marker().index());
        let names_colon = ["':'", "mapping values"].iter().any(|it| error.info().contains(it));
        if let Some(diagnostic) = names_colon.then(|| self.missing_colon(at)).flatten() {
            return diagnostic;
        }
        let end = self.text[at..].chars().next().map_or(at, |c| at + c.len_utf8());
        let span = Span { source: self.source, bytes: at..end };
        let contains = |part: &str| error.info().contains(part);
        let cause = if contains("tab") {
            "tab"
        } else if contains("quoted scalar") {
            "quote"
        } else if contains("flow mapping") || contains("flow sequence") {
            "bracket"
        } else if contains("expected key") || contains("expected '-' indicator") || contains("indent") {
            "indentation"
        } else {
            "special"
        };
        let message = message!("experiment-yaml", reason = error.info(), cause);
        Diagnostic::new(&span, message)
    }

    /// Error for a key without `: `, in the line at `at` or in one of the two lines before it. Skips lines that are
    /// indented more than the line at `at`, because they belong to a text.
    fn missing_colon(&self, at: usize) -> Option<Diagnostic> {
        let indent = |line: &str| line.len() - line.trim_start_matches(' ').len();
        let end = self.text[at..].find('\n').map_or(self.text.len(), |it| at + it);
        let last = self.text[..end].rsplit('\n').next().map(indent)?;
        let mut line_end = end;
        for line in self.text[..end].rsplit('\n').take(3) {
            let start = line_end - line.len();
            line_end = start.saturating_sub(1);
            let line = line.trim_end_matches('\r');
            let entry = line.trim_start_matches([' ', '-']);
            let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
            let (name, rest) = entry.split_at(entry.find(|c: char| !is_name(c)).unwrap_or(entry.len()));
            let value = rest.trim_start_matches([':', ' ']).trim_end();
            let is_entry = rest.contains(": ") || rest.trim_end() == ":";
            let is_mistake = rest.is_empty() || rest.starts_with([' ', ':']);
            if name.is_empty() || is_entry || !is_mistake || indent(line) > last {
                continue;
            }
            let begin = start + line.len() - entry.len();
            let span = Span { source: self.source, bytes: begin..begin + name.len() };
            let corrected = format!("{name}: {value}").trim_end().to_owned();
            return Some(Diagnostic::new(&span, message!("experiment-missing-colon", name, corrected)));
        }
        None
    }

    /// Span without trailing blanks and newlines.
    fn span(&self, span: saphyr_parser::Span) -> Span {
        let (start, end) = (self.byte(span.start.index()), self.byte(span.end.index()));
        let end = end.max(start);
        let length = self.text[start..end].trim_end().len();
        Span { source: self.source, bytes: start..start + length }
    }

    fn byte(&self, character: usize) -> usize {
        self.places.get(character).copied().unwrap_or(self.text.len())
    }
}
