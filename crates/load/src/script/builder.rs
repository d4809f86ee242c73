//! Builder of programs from scripts and HTTP requests

use super::call::{self, Ammo, CallCapture, CallPart, HttpCall, Method, ResponsePart, SecretLookup};
use super::diagnostic::Diagnostic;
use super::eval::Expr;
use super::names::{NameTable, VariableNames, is_valid_name};
use super::parser;
use super::pattern::PatternError;
use super::script_parser::ScriptParser;
use super::token::{Cursor, ExpressionDiagnostic};
use super::{
    Command, CommandKind, Draw, MAX_SCRIPTS, Mode, Program, Script, ScriptSource, Slot, Sql, undefined,
};
use model::message::Message;
use model::plan::{AmmoDetails, CaptureSource, HttpStep, RequestBody, ThinkTime};
use model::{message, percent_encode};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::sync::Arc;
use wire::Placeholder;
use wire::json::PointerError;

/// Compiles all scripts, or returns all their errors.
///
/// `predefined` are the names given by `-D`. The number of a statement's parameters is limited, except if `mode` is
/// simple. Unless `allow_shell` is true, `\shell` and `\setshell` are errors. Like pgbench, the compiler does not
/// detect errors that only execution reveals (an unset variable, an overflow, a pipeline in simple mode).
pub fn parse(
    sources: &[ScriptSource<'_>],
    mode: Mode,
    allow_shell: bool,
    predefined: &[&str],
) -> Result<Program, Vec<Diagnostic>> {
    let mut builder = ProgramBuilder::new(mode, predefined);
    if sources.len() > MAX_SCRIPTS {
        builder.add_diagnostic(message!("script-count", max = MAX_SCRIPTS));
    }
    if sources.iter().all(|source| source.weight == 0) {
        builder.add_diagnostic(message!("script-weights"));
    }
    for source in sources {
        let head = ScriptHeader { name: source.name, weight: source.weight, draws: None };
        builder.add_pgbench(&head, source.text, allow_shell);
    }
    builder.finish()
}

/// Compiler of scripts and HTTP requests into one program with shared variables.
#[derive(Debug)]
pub struct ProgramBuilder<'a> {
    mode: Mode,
    secrets: SecretLookup<'a>,
    names: NameTable,
    scripts: Vec<Script>,
    diagnostics: Vec<Diagnostic>,
    /// Feed from which each script draws, with the names of the feed's columns.
    draws: Vec<Option<(u16, Vec<String>)>>,
    /// Variables that have a value before the script begins.
    predefined: BTreeSet<Slot>,
    /// Variables that pgbench scripts read before any command assigns them.
    undefined: Vec<Diagnostic>,
    has_on_start: bool,
}

/// Properties of every script of a mix.
#[derive(Clone, Copy, Debug)]
pub struct ScriptHeader<'a> {
    pub name: &'a str,
    /// Weight relative to the other scripts; 0 for a script with its own schedule.
    pub weight: u32,
    /// Number of the feed from which each transaction first draws a row, and the names of the feed's columns.
    pub draws: Option<(u16, &'a [String])>,
}

impl<'a> ProgramBuilder<'a> {
    /// Creates a builder without scripts. `predefined` are variables that have a value; `mode` is as in
    /// [`super::parse`].
    pub fn new(mode: Mode, predefined: &[&str]) -> ProgramBuilder<'a> {
        let mut names = NameTable::default();
        let predefined = predefined.iter().map(|it| names.slot(it)).collect();
        let (scripts, diagnostics, draws, undefined) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        ProgramBuilder {
            mode,
            secrets: SecretLookup::NONE,
            names,
            scripts,
            diagnostics,
            draws,
            predefined,
            undefined,
            has_on_start: false,
        }
    }

    /// Sets the look-up of `${env:NAME}` in requests; the default finds nothing.
    pub fn with_secrets(self, secrets: SecretLookup<'a>) -> ProgramBuilder<'a> {
        ProgramBuilder { secrets, ..self }
    }

    /// Adds a script in pgbench's language; see [`super::parse`].
    pub fn add_pgbench(&mut self, head: &ScriptHeader<'_>, text: impl AsRef<[u8]>, allow_shell: bool) {
        let source = ScriptSource { weight: head.weight, ..ScriptSource::new(head.name, &text) };
        let mut reader = ScriptParser::new(&source, self.mode, allow_shell, &mut self.names);
        let commands = reader.parse_commands();
        self.diagnostics.append(&mut reader.diagnostics);
        let defined = self.defined_slots(head);
        self.undefined.extend(undefined::diagnostics(&source, &commands, &self.names, &defined));
        self.push(head, commands);
    }

    /// Adds a script that sends its requests to this service one after the other. A script needs at least one request.
    ///
    /// `sets` are evaluated first. Each has a variable and an expression, as in `\set`. A step with a pause begins with a
    /// command for the pause. Texts contain variables as
    /// `${name}`.
    pub fn add_http(
        &mut self,
        head: &ScriptHeader<'_>,
        service: u16,
        sets: &[(String, String)],
        steps: &[HttpStep],
    ) {
        let mut commands = Vec::with_capacity(sets.len() + steps.len());
        let mut wrong_sets = Vec::new();
        for (name, expression) in sets {
            let line = commands.len() as u32 + 1;
            let first_line = format!("\\set {name} {expression}");
            match self.set(name, expression) {
                Ok(kind) => commands.push(Command { line, first_line, kind }),
                Err(ExpressionDiagnostic { at, message }) => {
                    let before = first_line.len() - expression.len() + at;
                    let column = first_line[..before.min(first_line.len())].chars().count() as u32 + 1;
                    let file = head.name.to_owned();
                    self.diagnostics.push(Diagnostic { file, line, column, text: first_line, message });
                    wrong_sets.push(self.names.slot(name));
                }
            }
        }
        for (number, step) in steps.iter().enumerate() {
            let (call, wrong) = self.step(service, step);
            let place = match &step.name {
                Some(name) => Some(format!("\"{name}\"")),
                None => (steps.len() > 1).then(|| (number + 1).to_string()),
            };
            self.add_step_diagnostics(head, place.as_ref(), wrong);
            if step.pause != ThinkTime::NONE {
                let (line, kind) = (commands.len() as u32 + 1, CommandKind::Pause(step.pause));
                commands.push(Command { line, first_line: "pause".to_owned(), kind });
            }
            let first_line = step.name.clone().unwrap_or_else(|| call.first_line(self.names.names()));
            let line = commands.len() as u32 + 1;
            commands.push(Command { line, first_line, kind: CommandKind::Http(Box::new(call)) });
        }
        self.add_undefined(head, &commands, wrong_sets);
        self.push(head, commands);
    }

    /// Makes each client execute the script that was added last once, before its first transaction. No script follows. Other
    /// scripts may read its variables if they are predefined.
    pub fn execute_last_on_start(&mut self) {
        self.has_on_start = true;
    }

    /// Adds a script that sends whole requests from a feed to this service, with more headers and an expected response.
    ///
    /// The feed has the columns `method`, `target`, `headers` (each with its line end) and `body`.
    pub fn add_ammo(&mut self, head: &ScriptHeader<'_>, service: u16, details: &AmmoDetails) {
        let columns = head.draws.map_or(&[][..], |it| it.1);
        for name in Ammo::COLUMNS {
            if !columns.iter().any(|it| it == name) {
                let message = message!("script-ammo-column", operation = head.name, name);
                self.diagnostics.push(Diagnostic::without_location(head.name, message));
            }
        }
        let slots = Ammo::COLUMNS.map(|it| self.names.slot(&ammo_variable(it)));
        let recorded = Ammo::RECORDED_COLUMNS.map(|it| self.names.slot(&ammo_variable(it)));
        let AmmoDetails { headers, expect } = details.clone();
        let (call, wrong) = self.step(service, &HttpStep { headers, expect, ..HttpStep::new("GET", "/") });
        self.add_step_diagnostics(head, None, wrong);
        let call = HttpCall { ammo: Some(Ammo::from_slots(slots, recorded)), ..call };
        let kind = CommandKind::Http(Box::new(call));
        let first_line = head.name.to_owned();
        let commands = vec![Command { line: 1, first_line, kind }];
        self.add_undefined(head, &commands, Vec::new());
        self.push(head, commands);
    }

    fn add_step_diagnostics(&mut self, head: &ScriptHeader<'_>, step: Option<&String>, wrong: Vec<Message>) {
        self.diagnostics.extend(wrong.into_iter().map(|error| {
            let message = message!("script-step", operation = head.name, step, error);
            Diagnostic::without_location(head.name, message)
        }));
    }

    /// Reports variables of requests that have no value. `assigned` are those whose assignment has an error.
    fn add_undefined(&mut self, head: &ScriptHeader<'_>, commands: &[Command], assigned: Vec<Slot>) {
        let defined = self.defined_slots(head).into_iter().chain(assigned).collect();
        for (slot, _) in undefined::undefined(commands, &self.names, defined) {
            let name = self.names.name(slot);
            let message = message!("script-step-undefined", operation = head.name, name);
            self.diagnostics.push(Diagnostic::without_location(head.name, message));
        }
    }

    /// Adds a script for the requests of a recording, which only counts them. `steps` are the names of a transaction's
    /// requests; they are not measured individually if there are none.
    pub fn add_recorded<'s>(&mut self, head: &ScriptHeader<'_>, steps: impl Iterator<Item = &'s str>) {
        let command =
            |name: &str| Command { line: 1, first_line: name.to_owned(), kind: CommandKind::Recorded };
        self.push(head, steps.map(command).collect());
    }

    /// Step names of each script, even if some scripts have errors; see [`super::step_names`].
    pub fn step_names(&self) -> Vec<Vec<String>> {
        super::step_names(&self.scripts)
    }

    /// Returns the program, or all errors. The weights are not checked, because all of them may be 0 if every script
    /// has its own schedule.
    pub fn finish(mut self) -> Result<Program, Vec<Diagnostic>> {
        self.resolve_draws();
        if self.names.overflowed {
            self.add_diagnostic(message!("script-variables", max = usize::from(Slot::MAX) + 1));
        }
        if !self.diagnostics.is_empty() {
            return Err(self.diagnostics);
        }
        let names: Arc<VariableNames> = Arc::new(self.names.finish());
        for command in self.scripts.iter_mut().flat_map(|script| &mut script.commands) {
            if let CommandKind::Sql(Sql { store: Some(keep), .. }) = &mut command.kind {
                keep.names = Arc::clone(&names);
            }
        }
        let (scripts, undefined, has_on_start) = (self.scripts, self.undefined, self.has_on_start);
        Ok(Program { scripts, names, undefined, has_on_start })
    }

    /// Adds an error that belongs to no single script.
    pub(super) fn add_diagnostic(&mut self, message: Message) {
        self.diagnostics.push(Diagnostic::without_location("", message));
    }

    fn push(&mut self, head: &ScriptHeader<'_>, commands: Vec<Command>) {
        self.draws.push(head.draws.map(|(feed, columns)| (feed, columns.to_vec())));
        self.scripts.push(Script { name: head.name.to_owned(), weight: head.weight, draw: None, commands });
    }

    /// Variables that have a value when a script begins: predefined variables, and the columns of the script's feed.
    fn defined_slots(&self, head: &ScriptHeader<'_>) -> BTreeSet<Slot> {
        let columns = head.draws.map_or(&[][..], |it| it.1);
        let drawn = columns.iter().filter_map(|it| self.names.get(it));
        self.predefined.iter().copied().chain(drawn).collect()
    }

    /// Assigns slots to the columns that are used, once all scripts are known.
    fn resolve_draws(&mut self) {
        for (script, draws) in self.scripts.iter_mut().zip(&self.draws) {
            let Some((feed, columns)) = draws else { continue };
            let ammo = script
                .commands
                .iter()
                .any(|it| matches!(&it.kind, CommandKind::Http(it) if it.ammo.is_some()));
            let slot = |column: &String| match ammo && Ammo::has_column(column) {
                true => self.names.get(&ammo_variable(column)),
                false => self.names.get(column),
            };
            let columns: Vec<Option<Slot>> = columns.iter().map(slot).collect();
            script.draw = Some(Draw { feed: *feed, columns });
        }
    }

    fn set(&mut self, name: &str, expression: &str) -> Result<CommandKind, ExpressionDiagnostic> {
        let mut cursor = Cursor { text: expression, at: 0 };
        let value: Expr = parser::expression(&mut cursor, &mut self.names)?;
        if !is_valid_name(name) {
            let message = message!("script-variable-name", command = None::<&str>, name);
            return Err(ExpressionDiagnostic { at: 0, message });
        }
        Ok(CommandKind::Set { slot: self.names.slot(name), value })
    }

    /// Compiles one request of a script. Returns the call and its errors.
    fn step(&mut self, service: u16, step: &HttpStep) -> (HttpCall, Vec<Message>) {
        let ProgramBuilder { names, secrets, .. } = self;
        let secrets = *secrets;
        let mut slot = |name: &str| names.slot(name);
        let mut wrong = Vec::new();
        let method = Method::from_name(step.method.as_bytes()).unwrap_or_else(|| {
            let known = Method::ALL.map(Method::name).join(", ");
            wrong.push(message!("script-step-method", method = &step.method, known));
            Method::Get
        });
        if !step.target.starts_with('/') || !call::is_target(&step.target) {
            wrong.push(message!("script-step-target", target = &step.target));
        }
        let mut parts = |text: &str, hole: Placeholder, slot: &mut dyn FnMut(&str) -> Slot| {
            call::parse_parts(text, hole, secrets, slot).unwrap_or_else(|error| {
                wrong.push(error);
                Vec::new()
            })
        };
        let target = parts(&step.target, Placeholder::Url, &mut slot);
        let typed = step.headers.iter().find(|it| it.0.eq_ignore_ascii_case("content-type")).map(|it| &it.1);
        let (body, kind) = match &step.body {
            None => (None, None),
            Some(RequestBody::Text(text)) => (
                Some(parts(text, call::placeholder_for_content_type(typed.map(String::as_str)), &mut slot)),
                None,
            ),
            Some(RequestBody::Json(text)) => {
                (Some(parts(text, Placeholder::Json, &mut slot)), Some("application/json"))
            }
            Some(RequestBody::Form(fields)) => {
                let mut all = Vec::new();
                for (n, (name, value)) in fields.iter().enumerate() {
                    let and = if n == 0 { "" } else { "&" };
                    all.push(CallPart::Text(format!("{and}{}=", percent_encode(name))));
                    all.extend(parts(value, Placeholder::Url, &mut slot).into_iter().map(
                        |part| match part {
                            CallPart::Text(it) => CallPart::Text(percent_encode(&it)),
                            it @ (CallPart::Var { .. } | CallPart::Secret { .. }) => it,
                        },
                    ));
                }
                (Some(all), Some("application/x-www-form-urlencoded"))
            }
        };
        let mut texts = |all: &[String]| -> Vec<Vec<CallPart>> {
            all.iter().map(|text| parts(text, Placeholder::Raw, &mut slot)).collect()
        };
        let (contains, not_contains) = (texts(&step.expect.contains), texts(&step.expect.not_contains));
        let mut headers = Vec::new();
        for (name, value) in &step.headers {
            match call::parse_header(&format!("{name}: {value}"), secrets, &mut slot) {
                Ok(it) => headers.push(it),
                Err(error) => wrong.push(error),
            }
        }
        if let Some(kind) = kind.filter(|_| typed.is_none()) {
            headers.push(("Content-Type".to_owned(), vec![CallPart::Text(kind.to_owned())]));
        }
        let mut captures = Vec::new();
        for (name, from) in &step.captures {
            if !is_valid_name(name) {
                wrong.push(message!("script-variable-name", command = None::<&str>, name));
                continue;
            }
            let slot = names.slot(name);
            match capture(name, from) {
                Ok(source) => captures.push(CallCapture { slot, source }),
                Err(error) => wrong.push(error),
            }
        }
        let expect: Vec<RangeInclusive<u16>> = step.expect.status.iter().map(|it| it.0..=it.1).collect();
        let HttpStep { redirects, decompress: unpack, .. } = *step;
        let call = HttpCall {
            headers,
            body,
            expect,
            contains,
            not_contains,
            captures,
            redirects,
            decompress: unpack,
            ..HttpCall::new(service, method, target)
        };
        (call, wrong)
    }
}

fn capture(name: &str, source: &CaptureSource) -> Result<ResponsePart, Message> {
    Ok(match source {
        CaptureSource::Header(header) => ResponsePart::Header(header.clone()),
        CaptureSource::Json(pointer) => {
            let parsed = pointer.parse().map_err(|error| {
                let has_tilde = error == PointerError::Tilde;
                message!("script-capture-pointer", name, text = pointer, has_tilde)
            });
            ResponsePart::Json(parsed?)
        }
        CaptureSource::Regex(pattern) => {
            ResponsePart::Regex(pattern.parse().map_err(|error: PatternError| {
                let (reason, example) = (error.reason, PatternError::EXAMPLE);
                message!("script-capture-regex", name, text = pattern, reason, example)
            })?)
        }
    })
}

/// Name of the variable that holds a column of ammunition. The name contains a dot, so it cannot equal the name of a
/// user's variable.
fn ammo_variable(column: &str) -> String {
    format!("ammo.{column}")
}
