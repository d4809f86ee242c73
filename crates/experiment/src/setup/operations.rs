//! The section `operations`.

use super::feeds::FeedInfo;
use super::http::{PREDEFINED, Variables};
use super::mix::Mix;
use super::{SetupBuilder, too_many};
use crate::GrammarDiagnostic;
use crate::diagnostic::{Diagnostic, Source, Span, nearest, quote};
use crate::file;
use crate::name::name_error;
use crate::template::{self, is_name};
use crate::unit::Word;
use model::message;
use model::message::Message;
use model::plan::{AmmoDetails, Node, NodeKind, Operation, OperationKind, SqlTarget, Stack};
use model::summary::QueryMode;
use std::path::PathBuf;

/// Maximum number of operations. pgbench has the same limit for scripts.
pub(super) const MAX_OPERATIONS: usize = 128;

/// Parts of the setup on which operations depend.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    pub stack: &'a Stack,
    pub feeds: &'a [FeedInfo],
    /// True if `rows`, the number of the dataset's rows, is known.
    pub has_rows: bool,
    pub mode: QueryMode,
    /// Variables that the requests at the start of each client define.
    pub started: &'a [String],
}

/// Columns of whole requests and of their recorded responses.
const AMMO_COLUMNS: [&str; 6] = ["method", "target", "headers", "body", "status", "bytes"];

impl SetupBuilder<'_> {
    pub(super) fn operations(
        &mut self,
        all: Vec<(String, file::Operation)>,
        mix: &Mix,
        context: &Context<'_>,
    ) -> Vec<Operation> {
        if all.is_empty() {
            self.report("operations", message!("experiment-operations-empty"));
        } else if all.len() > MAX_OPERATIONS {
            self.report("operations", too_many("operations", all.len(), MAX_OPERATIONS));
        }
        let one = |((name, it), weight): (_, &u32)| self.operation(name, it, *weight, context);
        let by_tag: Vec<bool> = all.iter().map(|it| it.1.by_tag.unwrap_or(false)).collect();
        let made: Vec<Operation> = all.into_iter().zip(&mix.weights).map(one).collect();
        self.check_token_conflicts(&made);
        self.split_by_tag(made, &by_tag, context)
    }

    fn operation(
        &mut self,
        name: String,
        source: file::Operation,
        weight: u32,
        context: &Context<'_>,
    ) -> Operation {
        let path = format!("operations.{name}");
        if let Some(message) = name_error(&name) {
            self.report(&path, message);
        }
        let methods = source.request.methods();
        let mut works: Vec<&str> = [
            ("sql", source.sql.is_some()),
            ("script", source.script.is_some()),
            ("ammo", source.ammo.is_some()),
            ("steps", source.steps.is_some()),
        ]
        .iter()
        .filter(|it| it.1)
        .map(|it| it.0)
        .collect();
        works.extend(methods.first().map(|it| it.0));
        match works.as_slice() {
            [] => {
                self.report(&path, message!("experiment-operation-empty", operation = quote(&name)));
            }
            [_] => {}
            [first, second, ..] => {
                let message = message!("experiment-conflicting-keys", first = *first, second = *second);
                self.report(&path, message);
            }
        }
        let is_http = source.steps.is_some() || !methods.is_empty();
        let is_ammo = source.ammo.is_some();
        if !is_http || source.steps.is_some() && methods.is_empty() {
            let fits = |key: &&str| is_ammo && ["headers", "expect"].contains(key);
            for key in source.request.details().into_iter().filter(|key| !fits(key)) {
                let message = match source.steps {
                    Some(_) => message!("experiment-key-beside-steps", key),
                    None => message!("experiment-key-without-request", key),
                };
                self.report(&format!("{path}.{key}"), message);
            }
        }
        self.reachable(&path, is_http || source.ammo.is_some(), !works.is_empty(), context);
        if source.by_tag.is_some() && (source.ammo.is_none() || source.schedule.is_some()) {
            self.report(&format!("{path}.by_tag"), message!("experiment-by-tag"));
        }
        let feed = self.feed_of(&path, &source, context);
        let mut variables = Variables::default();
        if context.has_rows {
            variables.add("rows");
        }
        context.started.iter().for_each(|it| variables.add(it));
        if let Some(known) = &feed {
            variables.open = known.columns.is_none();
            // Whole requests are no variables.
            let is_variable = |name: &&String| !is_ammo || !AMMO_COLUMNS.contains(&name.as_str());
            known.columns.iter().flatten().filter(is_variable).for_each(|it| variables.add(it));
        }
        let target = self.sql_target(&path, source.target, is_http || source.ammo.is_some(), context);
        let ledger = self.ledger(&path, &source, &mut variables, context);
        let sets = self.sets(&path, source.set.0, is_http, &mut variables, context.mode);
        let ammo = match is_ammo {
            true => self.ammo_details(&path, source.request.clone(), &mut variables),
            false => AmmoDetails::default(),
        };
        let work = match (source.sql, source.script, source.ammo, source.steps) {
            (Some(sql), ..) => {
                let span = self.span_of(&format!("{path}.sql"));
                self.script(&span, &sql, context.mode, &variables);
                OperationKind::Script { text: sql, origin: None }
            }
            (None, Some(script), ..) => {
                let (text, origin) = self.script_file(&path, &script, context.mode, &variables);
                OperationKind::Script { text, origin }
            }
            (None, None, Some(_), _) => OperationKind::Ammo,
            (None, None, None, Some(steps)) => {
                OperationKind::Http(self.steps(&format!("{path}.steps"), steps, &mut variables))
            }
            (None, None, None, None) if is_http => {
                OperationKind::Http(vec![self.step(&path, None, source.request, &mut variables)])
            }
            (None, None, None, None) => OperationKind::Script { text: String::new(), origin: None },
        };
        self.unused(&name, &work, &variables);
        let feed = feed.map(|it| it.name.clone());
        let made = Operation {
            name,
            weight,
            rate: source.rate,
            feed,
            schedule: source.schedule,
            sets,
            target,
            ledger,
            preflight: source.preflight.unwrap_or(true),
            ammo,
            kind: work,
        };
        if made.ledger.is_some() {
            self.writes_token(&path, &made, &variables);
        }
        made
    }

    /// Server that executes an operation's SQL, if there are several.
    fn sql_target(
        &mut self,
        path: &str,
        target: Option<file::ServerTarget>,
        is_http: bool,
        context: &Context<'_>,
    ) -> SqlTarget {
        let Some(target) = target else { return SqlTarget::Primary };
        if is_http {
            self.report(&format!("{path}.target"), message!("experiment-target-http"));
        } else if target != file::ServerTarget::Primary && context.stack.replication.is_none() {
            self.report(&format!("{path}.target"), message!("experiment-target-replicas"));
        }
        match target {
            file::ServerTarget::Primary => SqlTarget::Primary,
            file::ServerTarget::Replica => SqlTarget::Replica,
            file::ServerTarget::Any => SqlTarget::Any,
        }
    }

    /// Reports an operation that no node of the stack can execute.
    fn reachable(&mut self, path: &str, is_http: bool, is_something: bool, context: &Context<'_>) {
        let is_service = |it: &Node| matches!(it.kind, NodeKind::Service(_));
        let nodes = &context.stack.nodes;
        // A stack without nodes is already reported.
        if !is_something || nodes.is_empty() {
        } else if is_http && !nodes.iter().any(is_service) {
            self.report(path, message!("experiment-operation-service"));
        } else if !is_http && nodes.iter().all(is_service) {
            self.report(path, message!("experiment-operation-database"));
        }
    }

    /// Feed of an operation.
    fn feed_of<'a>(
        &mut self,
        path: &str,
        operation: &file::Operation,
        context: &Context<'a>,
    ) -> Option<&'a FeedInfo> {
        if operation.ammo.is_some() && operation.feed.is_some() {
            let message = message!("experiment-conflicting-keys", first = "ammo", second = "feed");
            self.report(&format!("{path}.feed"), message);
        }
        let (key, name) = match (&operation.ammo, &operation.feed) {
            (Some(name), _) => ("ammo", name),
            (None, Some(name)) => ("feed", name),
            (None, None) => return None,
        };
        self.find_feed(path, key, name, context)
    }

    /// The feed `name` of the key `key` below `path`: `ammo` for whole requests, or `feed` for values. `None` if there is no
    /// such feed.
    pub(super) fn find_feed<'a>(
        &mut self,
        path: &str,
        key: &str,
        name: &str,
        context: &Context<'a>,
    ) -> Option<&'a FeedInfo> {
        let at = format!("{path}.{key}");
        let Some(feed) = context.feeds.iter().find(|it| it.name == name) else {
            let names = context.feeds.iter().map(|it| it.name.as_str());
            let (nearest, feed) = (nearest(name, names), quote(name));
            self.report(&at, message!("experiment-unknown-feed", feed, nearest));
            return None;
        };
        match (key, feed.is_ammo) {
            ("ammo", false) => {
                self.report(&at, message!("experiment-feed-is-values", feed = quote(name)));
            }
            ("feed", true) => {
                self.report(&at, message!("experiment-feed-is-requests", feed = quote(name), name));
            }
            _ => {}
        }
        Some(feed)
    }

    /// Parses the computed variables. Each variable may use the variables before it.
    pub(super) fn sets(
        &mut self,
        path: &str,
        all: Vec<(String, Word)>,
        is_http: bool,
        variables: &mut Variables,
        mode: QueryMode,
    ) -> Vec<(String, String)> {
        if !all.is_empty() && !is_http {
            self.report(&format!("{path}.set"), message!("experiment-set-script"));
        }
        let mut sets = Vec::new();
        for (name, Word(expression)) in all {
            let at = format!("{path}.set.{name}");
            if !is_name(&name) {
                self.report(&at, message!("experiment-variable-name", name = quote(&name)));
            } else if expression.contains('\n') {
                self.report(&at, message!("experiment-set-lines"));
            } else {
                self.expression(&at, path, &name, &expression, variables, mode);
            }
            variables.add(&name);
            sets.push((name, expression));
        }
        sets
    }

    fn expression(
        &mut self,
        at: &str,
        path: &str,
        name: &str,
        expression: &str,
        variables: &mut Variables,
        mode: QueryMode,
    ) {
        let before = format!("\\set {name} ");
        let span = self.span_of(at);
        if let Err(diagnostics) = (self.request.grammars.script)(&format!("{before}{expression}"), mode, None)
        {
            let moved = |diagnostic: GrammarDiagnostic| {
                let place = |it: usize| it.saturating_sub(before.len()).min(expression.len());
                GrammarDiagnostic {
                    span: place(diagnostic.span.start)..place(diagnostic.span.end),
                    ..diagnostic
                }
            };
            self.report_in_text(&span, expression, diagnostics.into_iter().map(moved).collect());
        }
        for (i, _) in expression.match_indices(':') {
            let rest = &expression[i + 1..];
            let end = (1..=rest.len()).rev().find(|end| rest.get(..*end).is_some_and(is_name)).unwrap_or(0);
            let name = &rest[..end];
            if name.is_empty() || expression[..i].ends_with(':') {
                continue;
            }
            if let Some(message) = self.unknown_variable(name, path, variables, |it| format!(":{it}"), None) {
                let diagnostic = GrammarDiagnostic { span: i..i + 1 + end, message };
                self.report_in_text(&span, expression, vec![diagnostic]);
            }
            variables.used.push(name.to_owned());
        }
    }

    /// Warns about captured variables that are not used.
    fn unused(&mut self, name: &str, work: &OperationKind, variables: &Variables) {
        let OperationKind::Http(steps) = work else { return };
        for (capture, _) in steps.iter().flat_map(|it| &it.captures) {
            if !variables.used.contains(capture) {
                let (operation, variable) = (quote(name), quote(capture));
                self.warnings.push(message!("experiment-capture-unused", operation, variable));
            }
        }
    }

    fn script_file(
        &mut self,
        path: &str,
        script: &str,
        mode: QueryMode,
        variables: &Variables,
    ) -> (String, Option<PathBuf>) {
        let folder = self.request.path.parent().unwrap_or("".as_ref());
        let origin = folder.join(script);
        let shown = origin.display().to_string();
        match (self.request.read)(&origin) {
            Ok(text) => {
                let known = self.sources.iter().position(|it| it.name == shown);
                let source = known.unwrap_or_else(|| {
                    self.sources.push(Source { name: shown, text: text.clone() });
                    self.sources.len() - 1
                });
                let bytes = 0..self.sources[source].text.trim_end().len();
                self.script(&Span { source, bytes }, &text, mode, variables);
                (text, Some(origin))
            }
            Err(error) => {
                let (file, error) = (quote(&shown), Message::from(&error));
                let message = message!("experiment-script-file", file, error);
                self.report(&format!("{path}.script"), message);
                (String::new(), None)
            }
        }
    }

    fn script(&mut self, span: &Span, text: &str, mode: QueryMode, variables: &Variables) {
        let predefined = PREDEFINED.map(str::to_owned);
        let known: Vec<String> = variables.names.iter().cloned().chain(predefined).collect();
        let known = (!variables.open).then_some(known.as_slice());
        let in_braces = template::variables(text).into_iter().filter(|it| variables.names.contains(&it.name));
        let in_braces = in_braces.map(|variable| GrammarDiagnostic {
            message: message!("experiment-sql-braces", name = &variable.name),
            span: variable.at,
        });
        self.report_in_text(span, text, in_braces.collect());
        let Err(diagnostics) = (self.request.grammars.script)(text, mode, known) else { return };
        let written = &self.sources[span.source].text[span.bytes.clone()];
        // YAML joins the lines of a plain text, so a backslash command would not end.
        if written.starts_with('\\') && written.contains('\n') && !text.contains('\n') {
            self.diagnostics.push(Diagnostic::new(span, message!("experiment-sql-folded")));
            return;
        }
        self.report_in_text(span, text, diagnostics);
    }
}

/// True if a statement of the script is BEGIN or START TRANSACTION. Ignores comments and quoted texts.
pub(super) fn begins_transaction(script: &str) -> bool {
    statements(script).iter().any(|statement| {
        let mut words =
            statement.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|it| !it.is_empty());
        let mut next_is = |word: &str| words.next().is_some_and(|it| it.eq_ignore_ascii_case(word));
        let first = statement.trim_start();
        match first.get(..5).map(str::to_ascii_lowercase).as_deref() {
            Some("begin") => next_is("begin"),
            Some("start") => next_is("start") && next_is("transaction"),
            _ => false,
        }
    })
}

/// Statements of a script without comments, quoted texts and backslash commands.
pub(super) fn statements(script: &str) -> Vec<String> {
    let lines: Vec<&str> = script.lines().filter(|it| !it.trim_start().starts_with('\\')).collect();
    let text = lines.join("\n");
    let mut all = vec![String::new()];
    let mut rest = text.as_str();
    while let Some(c) = rest.chars().next() {
        let skip =
            |end: &str, from: usize| rest[from..].find(end).map_or(rest.len(), |i| from + i + end.len());
        let length = match c {
            '-' if rest.starts_with("--") => skip("\n", 2),
            '/' if rest.starts_with("/*") => skip("*/", 2),
            '\'' => skip("'", 1),
            '"' => skip("\"", 1),
            ';' => {
                all.push(String::new());
                1
            }
            _ => {
                all.last_mut().expect("the list is not empty").push(c);
                c.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transactions_are_seen() {
        for (script, expected) in [
            ("BEGIN; SELECT 1; COMMIT;", true),
            ("\\set x 1\nbegin;\n", true),
            ("-- begin\nSELECT 1;", false),
            ("/* x; */ Start  Transaction READ ONLY;", true),
            ("SELECT 1; BEGIN", true),
            ("SELECT 'a; begin';", false),
            ("beginning;", false),
            ("start_x;", false),
            ("SELECT begin FROM t", false),
            ("", false),
        ] {
            assert_eq!(begins_transaction(script), expected, "{script}");
        }
    }
}
