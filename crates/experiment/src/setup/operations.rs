//! The section `operations`.

use super::SetupBuilder;
use super::feeds::FeedInfo;
use super::http::{PREDEFINED, Variables};
use super::mix::Mix;
use crate::GrammarDiagnostic;
use crate::diagnostic::{Source, Span, nearest, quote};
use crate::file;
use crate::name::name_error;
use crate::template::is_name;
use crate::unit::Word;
use model::plan::{Node, NodeKind, Operation, OperationKind, SqlTarget, Stack};
use model::summary::QueryMode;
use std::path::PathBuf;

/// Same limit as pgbench's.
const MAX_OPERATIONS: usize = 128;

/// Context of operations.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    pub stack: &'a Stack,
    pub feeds: &'a [FeedInfo],
    /// True if `rows`, the number of the dataset's rows, is known.
    pub has_rows: bool,
    pub mode: QueryMode,
}

impl SetupBuilder<'_> {
    pub(super) fn operations(
        &mut self,
        all: Vec<(String, file::Operation)>,
        mix: &Mix,
        context: &Context<'_>,
    ) -> Vec<Operation> {
        if all.is_empty() {
            self.report("operations", "there are no operations", "add one, as in `read: { sql: SELECT 1 }`");
        } else if all.len() > MAX_OPERATIONS {
            let instead = format!("write at most {MAX_OPERATIONS}");
            self.report("operations", format!("{} operations", all.len()), instead);
        }
        let one = |((name, it), weight): (_, &u32)| self.operation(name, it, *weight, context);
        let made: Vec<Operation> = all.into_iter().zip(&mix.weights).map(one).collect();
        self.check_token_conflicts(&made);
        made
    }

    fn operation(
        &mut self,
        name: String,
        it: file::Operation,
        weight: u32,
        context: &Context<'_>,
    ) -> Operation {
        let path = format!("operations.{name}");
        if let Some((found, instead)) = name_error(&name, "operation") {
            self.report(&path, found, instead);
        }
        let methods = it.request.methods();
        let mut works: Vec<&str> = [
            ("sql", it.sql.is_some()),
            ("script", it.script.is_some()),
            ("ammo", it.ammo.is_some()),
            ("steps", it.steps.is_some()),
        ]
        .iter()
        .filter(|it| it.1)
        .map(|it| it.0)
        .collect();
        works.extend(methods.first().map(|it| it.0));
        match works.as_slice() {
            [] => {
                let found = format!("{} does nothing", quote(&name));
                let instead =
                    "add `get: /path` or another method, `sql: …`, or `script: …` with a file's name";
                self.report(&path, found, instead);
            }
            [_] => {}
            [first, second, ..] => {
                let found = format!("{} has `{first}` and `{second}`", quote(&name));
                self.report(&path, found, "leave one of them out");
            }
        }
        let is_http = it.steps.is_some() || !methods.is_empty();
        if !is_http || it.steps.is_some() && methods.is_empty() {
            for key in it.request.details() {
                let (found, instead) = match it.steps {
                    Some(_) => (format!("`{key}` beside steps"), "write it into the step that is meant"),
                    None => (
                        format!("`{key}` without a request"),
                        "add a method, as in `get: /path`, or leave it out",
                    ),
                };
                self.report(&format!("{path}.{key}"), found, instead);
            }
        }
        self.reachable(&path, is_http || it.ammo.is_some(), !works.is_empty(), context);
        let feed = self.feed_of(&path, &it, context);
        let mut variables = Variables::default();
        if context.has_rows {
            variables.add("rows");
        }
        if let Some(known) = &feed {
            variables.open = known.columns.is_none();
            known.columns.iter().flatten().for_each(|it| variables.add(it));
        }
        let to = self.to(&path, it.to, is_http || it.ammo.is_some(), context);
        let ledger = self.ledger(&path, &it, &mut variables, context);
        let sets = self.sets(&path, it.set.0, is_http, &mut variables, context.mode);
        let work = match (it.sql, it.script, it.ammo, it.steps) {
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
                OperationKind::Http(vec![self.step(&path, None, it.request, &mut variables)])
            }
            (None, None, None, None) => OperationKind::Script { text: String::new(), origin: None },
        };
        self.unused(&name, &work, &variables);
        let feed = feed.map(|it| it.name.clone());
        let made = Operation {
            name,
            weight,
            rate: it.rate,
            feed,
            schedule: it.schedule,
            sets,
            target: to,
            ledger,
            kind: work,
        };
        if made.ledger.is_some() {
            self.writes_token(&path, &made, &variables);
        }
        made
    }

    /// Server that executes an operation's SQL, if there are several.
    fn to(
        &mut self,
        path: &str,
        to: Option<file::ServerTarget>,
        is_http: bool,
        context: &Context<'_>,
    ) -> SqlTarget {
        let Some(to) = to else { return SqlTarget::Primary };
        if is_http {
            let found = "`to` of an operation that speaks HTTP";
            self.report(&format!("{path}.to"), found, "leave it out: the service decides whom it asks");
        } else if to != file::ServerTarget::Primary && context.stack.replication.is_none() {
            let found = "an operation for replicas, and there are none";
            self.report(
                &format!("{path}.to"),
                found,
                "leave it out, or add `replicas: { count: 2 }` to the stack",
            );
        }
        match to {
            file::ServerTarget::Primary => SqlTarget::Primary,
            file::ServerTarget::Replica => SqlTarget::Replica,
            file::ServerTarget::Any => SqlTarget::Any,
        }
    }

    /// Reports an operation without a node to answer it.
    fn reachable(&mut self, path: &str, is_http: bool, is_something: bool, context: &Context<'_>) {
        let is_service = |it: &Node| matches!(it.kind, NodeKind::Service(_));
        let nodes = &context.stack.nodes;
        // A stack without nodes is already reported.
        if !is_something || nodes.is_empty() {
        } else if is_http && !nodes.iter().any(is_service) {
            let instead = "add `service: { command: […] }`, or `service: { url: … }` for one that is there";
            self.report(path, "an HTTP operation, and no service in the stack", instead);
        } else if !is_http && nodes.iter().all(is_service) {
            let found = "an operation in SQL, and the stack is a service alone";
            self.report(path, found, "add `postgres: { attach: … }` to the stack, or ask the service");
        }
    }

    /// Feed of an operation.
    fn feed_of<'a>(
        &mut self,
        path: &str,
        it: &file::Operation,
        context: &Context<'a>,
    ) -> Option<&'a FeedInfo> {
        if it.ammo.is_some() && it.feed.is_some() {
            self.report(&format!("{path}.feed"), "`feed` beside ammo", "leave it out: `ammo` names the feed");
        }
        let (key, name) = match (&it.ammo, &it.feed) {
            (Some(name), _) => ("ammo", name),
            (None, Some(name)) => ("feed", name),
            (None, None) => return None,
        };
        let at = format!("{path}.{key}");
        let Some(feed) = context.feeds.iter().find(|it| it.name == *name) else {
            let names = context.feeds.iter().map(|it| it.name.as_str());
            let instead = match nearest(name, names) {
                Some(name) => format!("write `{name}`"),
                None => format!("declare it: `feeds: {{ {name}: {{ file: … }} }}`"),
            };
            self.report(&at, format!("there is no feed {}", quote(name)), instead);
            return None;
        };
        match (key, feed.is_ammo) {
            ("ammo", false) => {
                let found = format!("the feed {} holds values, no requests", quote(name));
                self.report(&at, found, "write `feed`, and what is asked; or give the feed `form: uri`");
            }
            ("feed", true) => {
                let found = format!("the feed {} holds whole requests", quote(name));
                self.report(&at, found, format!("write `ammo: {name}`, and nothing else"));
            }
            _ => {}
        }
        Some(feed)
    }

    /// Computed variables; each may use the ones before it.
    fn sets(
        &mut self,
        path: &str,
        all: Vec<(String, Word)>,
        is_http: bool,
        variables: &mut Variables,
        mode: QueryMode,
    ) -> Vec<(String, String)> {
        if !all.is_empty() && !is_http {
            let instead = "write `\\set name expression` into the script";
            self.report(
                &format!("{path}.set"),
                "`set` of an operation that makes no requests of its own",
                instead,
            );
        }
        let mut sets = Vec::new();
        for (name, Word(expression)) in all {
            let at = format!("{path}.set.{name}");
            if !is_name(&name) {
                let found = format!("{} can be no variable", quote(&name));
                self.report(&at, found, "write a name of letters, digits and _");
            } else if expression.contains('\n') {
                self.report(&at, "an expression of several lines", "write it on one");
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
        if let Err(complaints) = (self.request.grammars.script)(&format!("{before}{expression}"), mode, None)
        {
            let moved = |diagnostic: GrammarDiagnostic| {
                let place = |it: usize| it.saturating_sub(before.len()).min(expression.len());
                GrammarDiagnostic {
                    span: place(diagnostic.span.start)..place(diagnostic.span.end),
                    ..diagnostic
                }
            };
            self.report_in_text(&span, expression, complaints.into_iter().map(moved).collect());
        }
        for (i, _) in expression.match_indices(':') {
            let rest = &expression[i + 1..];
            let end = (1..=rest.len()).rev().find(|end| rest.get(..*end).is_some_and(is_name)).unwrap_or(0);
            let name = &rest[..end];
            if name.is_empty() || expression[..i].ends_with(':') {
                continue;
            }
            if let Some((found, instead)) =
                self.unknown_variable(name, path, variables, |it| format!(":{it}"))
            {
                let complaint = GrammarDiagnostic { span: i..i + 1 + end, found, suggestion: instead };
                self.report_in_text(&span, expression, vec![complaint]);
            }
            variables.used.push(name.to_owned());
        }
    }

    /// Warns about captured variables that are not used.
    fn unused(&mut self, name: &str, work: &OperationKind, variables: &Variables) {
        let OperationKind::Http(steps) = work else { return };
        for (capture, _) in steps.iter().flat_map(|it| &it.captures) {
            if !variables.used.contains(capture) {
                self.remarks.push(format!(
                    "{} captures {}, and no step uses it",
                    quote(name),
                    quote(capture)
                ));
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
                let why = error.to_string();
                let why = why.split(" (os error").next().unwrap_or_default();
                let found = format!("the script {} cannot be read: {why}", quote(&shown));
                self.report(&format!("{path}.script"), found, "name a file, relative to this one");
                (String::new(), None)
            }
        }
    }

    fn script(&mut self, span: &Span, text: &str, mode: QueryMode, variables: &Variables) {
        let predefined = PREDEFINED.map(str::to_owned);
        let known: Vec<String> = variables.names.iter().cloned().chain(predefined).collect();
        let known = (!variables.open).then_some(known.as_slice());
        if let Err(complaints) = (self.request.grammars.script)(text, mode, known) {
            self.report_in_text(span, text, complaints);
        }
    }
}

/// True if a statement of the script is BEGIN or START TRANSACTION. Ignores comments and quoted texts.
pub(super) fn begins_transaction(script: &str) -> bool {
    statements(script).iter().any(|statement| {
        let mut words =
            statement.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|it| !it.is_empty());
        let mut is = |word: &str| words.next().is_some_and(|it| it.eq_ignore_ascii_case(word));
        let first = statement.trim_start();
        match first.get(..5).map(str::to_ascii_lowercase).as_deref() {
            Some("begin") => is("begin"),
            Some("start") => is("start") && is("transaction"),
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
                all.last_mut().expect("it begins with one").push(c);
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
