//! Builds the setup of one cell.
//!
//! Each submodule converts its section and reports invalid values. After an error it also returns a value, which is
//! then not used.

mod dataset;
mod defaults;
mod document;
mod excerpt;
mod failover;
mod feeds;
mod find;
mod generators;
mod guard;
mod hooks;
mod http;
mod ledger;
mod ledger_statements;
mod load;
mod mix;
mod on_start;
mod operations;
mod recorded;
mod replay;
mod replication;
mod service;
mod service_program;
mod shared_hosts;
mod stack;
mod stats;
mod tags;
mod users;

use crate::diagnostic::{Diagnostic, Source, Span, quote};
use crate::file::{self, File};
use crate::path;
use crate::tree::Node;
use crate::{GrammarDiagnostic, GrammarResult, ReadRequest};
pub use defaults::RequestDefaults;
use load::RequestedLoad;
use mix::Mix;
use model::Nanos;
use model::message;
use model::message::Message;
use model::plan::{Content, Dataset, DocumentTexts, Generators, Goal, Setup};
use operations::Context;

/// Setup of one cell, with the settings that are equal in all cells.
#[derive(Debug)]
pub struct CellSetup {
    pub name: String,
    pub seed: u64,
    pub repeat: u32,
    pub find: Goal,
    pub generators: Option<Generators>,
    pub document: Option<Box<DocumentTexts>>,
    pub setup: Setup,
    /// Setup of the cell's positive control, which does not promise that commits survive a failover. `None` without a
    /// control.
    pub control: Option<Setup>,
    /// Duration of a trial, warm-up included.
    pub duration: Nanos,
    pub warnings: Vec<Message>,
}

/// State that all submodules share.
#[derive(Debug)]
pub struct SetupBuilder<'a> {
    pub tree: &'a Node,
    /// True if the experiment has several cells.
    pub has_matrix: bool,
    pub request: &'a ReadRequest<'a>,
    pub sources: &'a mut Vec<Source>,
    pub diagnostics: &'a mut Vec<Diagnostic>,
    pub defaults: RequestDefaults,
    /// Warnings about settings that are valid but most likely not intended.
    pub warnings: Vec<Message>,
}

impl SetupBuilder<'_> {
    pub fn make(mut self, file: File) -> CellSetup {
        let seed = file.seed.unwrap_or(1);
        let name = self.name(file.name);
        let (mut stack, guard) = self.stack(file.stack);
        let faults = self.faults(file.faults, &mut stack);
        let dataset = file.dataset.map(|it| self.dataset(it, seed, &stack));
        let (feeds, known) = self.feeds(file.feeds.0);
        self.check_feed_queries(&feeds, &stack);
        let recording = self.recording(&file.load);
        let is_recorded = recorded::is_recorded(&file.load);
        let is_mix = replay::is_mix(&file.load);
        let mix = match is_recorded {
            true => recorded::equal_mix(file.operations.0.len()),
            false if is_mix => Mix::default(),
            false => self.mix(&file.operations.0),
        };
        if is_mix {
            self.check_recorded_mix(&file.load, file.on_start.is_some());
        }
        let mut find = self.find(file.find.as_ref(), file.prove, &file.load);
        let repeat = self.times(file.find.as_ref(), file.repeat);
        let max = find::search_in_place_of_load(&find);
        let recorded = is_recorded.then(|| self.recorded_model(&file.load, &file.operations.0, &known));
        let has_faults = !faults.is_empty();
        let mut requested =
            self.load(&file.load, &mix, max.as_ref(), recording.as_ref(), recorded, has_faults);
        let mut stop = file.stop;
        if let Some(guard) = guard {
            self.check_load_caps(&guard, &mut requested);
            self.check_search_caps(&guard, &mut find);
            self.abort(&mut stop);
        }
        let RequestedLoad { mut load, duration, .. } = requested;
        if is_recorded && (find != Goal::Once || file.prove == Some(true)) {
            self.report("find", message!("experiment-recorded-find"));
        }
        if dataset.as_ref().is_some_and(|it| it.keep)
            && (self.has_matrix || find != Goal::Once || !faults.is_empty())
        {
            self.report("dataset.keep", message!("experiment-keep-alone"));
        }
        let context = Context {
            stack: &stack,
            feeds: &known,
            has_rows: dataset.as_ref().is_some_and(has_rows),
            mode: load.query_mode,
            started: &[],
        };
        self.defaults(file.defaults);
        let (on_start, started) = self.on_start(file.on_start, &context);
        let context = Context { started: &started, ..context };
        let is_replay = file.load.model == file::Model::Replay;
        if is_replay && (find != Goal::Once || file.prove == Some(true)) {
            self.report("find", message!("experiment-replay-find"));
        }
        let operations = if is_replay || is_mix {
            self.recorded_operations(&file.operations.0, recording)
        } else {
            self.operations(file.operations.0, &mix, &context)
        };
        self.set_recorded_times(&mut load, &operations, &known);
        self.check_on_start(on_start.as_deref(), &operations);
        self.check_defaults(on_start.as_deref(), &operations);
        self.check_service_load(&load, &operations);
        let drawn = || operations.iter().chain(on_start.as_deref()).filter_map(|it| it.feed.as_ref());
        for feed in feeds.iter().filter(|feed| !drawn().any(|it| *it == feed.name)) {
            self.warnings.push(message!("experiment-feed-unused", feed = quote(&feed.name)));
        }
        self.check_search(&find, &file.load, &mix);
        self.check_pooler_modes(&stack, &load, &operations);
        let invariants = self.invariants(&file.invariants, &operations);
        let hooks = self.hooks(file.hooks);
        let document = file.document.map(|it| Box::new(self.document(it)));
        let generators = self.generators(file.generators, &find, &load);
        let setup = Setup {
            stack,
            dataset,
            feeds,
            on_start,
            operations,
            load,
            objectives: file.objectives,
            stop_rules: stop,
            faults,
            invariants,
            hooks,
        };
        let ReadRequest { grammars, .. } = *self.request;
        for (i, objective) in setup.objectives.iter().enumerate() {
            self.report_grammar("objectives", i, objective, (grammars.objective)(objective, &setup));
        }
        for (i, rule) in setup.stop_rules.iter().enumerate() {
            self.report_grammar("stop", i, rule, (grammars.rule)(rule, &setup));
        }
        let window = Nanos(duration.0.saturating_sub(setup.load.warmup.0));
        self.check_fault_times(&find, &setup.faults, window);
        let control = self.failover(file.find.as_ref(), &find, &setup);
        let warnings = self.warnings;
        CellSetup { name, seed, repeat, find, generators, document, setup, control, duration, warnings }
    }

    fn name(&mut self, given: Option<String>) -> String {
        let fits = |name: &str| {
            let letters = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
            letters && (1..=64).contains(&name.len())
        };
        if let Some(name) = given {
            if !fits(&name) {
                let message = message!("experiment-name", name = quote(&name), example = tame(&name));
                self.report("name", message);
            }
            return name;
        }
        let stem = self.request.path.file_stem().unwrap_or_default().to_string_lossy();
        tame(&stem)
    }

    /// Reports an error at a path's value.
    fn report(&mut self, path: &str, message: Message) {
        let at = self.span_of(path);
        self.diagnostics.push(Diagnostic::new(&at, message));
    }

    fn span_of(&self, path: &str) -> Span {
        path::span_of(self.tree, path)
    }

    /// Reports the errors of a grammar in item `i` of a list.
    fn report_grammar(&mut self, list: &str, i: usize, text: &str, result: GrammarResult) {
        let Err(diagnostics) = result else { return };
        let span = match self.tree.get(list).map(|it| &it.1.value) {
            Some(crate::tree::Value::List(items)) => items.get(i).map(|it| it.span.clone()),
            _ => None,
        };
        let span = span.unwrap_or_else(|| self.span_of(list));
        self.report_in_text(&span, text, diagnostics);
    }

    /// Reports errors in a text at `span`, each at its own position if it can be located.
    fn report_in_text(&mut self, span: &Span, text: &str, diagnostics: Vec<GrammarDiagnostic>) {
        for diagnostic in diagnostics {
            let source = &self.sources[span.source].text;
            let bytes = excerpt::locate_excerpt(source, span.bytes.clone(), text, diagnostic.span);
            let at = Span { source: span.source, bytes };
            self.diagnostics.push(Diagnostic::new(&at, diagnostic.message));
        }
    }
}

/// True if the number of rows is known before the data are loaded.
fn has_rows(dataset: &Dataset) -> bool {
    !matches!(dataset.content, Content::Dump { .. } | Content::Template { .. } | Content::Source(_))
}

/// Duration in the file's notation.
fn seconds(duration: Nanos) -> String {
    format!("{}s", duration.as_secs_f64())
}

/// Error for a duration that is not a whole number of seconds. The last key of `path` names the setting.
fn whole_seconds(path: &str, duration: Nanos) -> Message {
    let key = path.rsplit('.').next();
    message!("experiment-whole-seconds", key, value = seconds(duration))
}

/// Error for a list or mapping with more than `max` entries.
fn too_many(key: &str, count: usize, max: usize) -> Message {
    message!("experiment-too-many", key, count = count.to_string(), max = max.to_string())
}

/// Converts a text into a valid name: lowercase letters, digits and `-`, at most 64 characters.
fn tame(name: &str) -> String {
    let tame = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = name.chars().map(tame).take(64).collect();
    match name.trim_matches('-') {
        "" => "experiment".to_owned(),
        name => name.to_owned(),
    }
}
