//! What does one cell ask for, and does it make sense?
//!
//! Each part converts its section and tells what cannot be meant: a value is made in any case, and not used if there is a
//! mistake.

mod dataset;
mod excerpt;
mod failover;
mod feeds;
mod find;
mod guard;
mod http;
mod ledger;
mod load;
mod mix;
mod operations;
mod replication;
mod service;
mod stack;
mod users;

use crate::file::File;
use crate::mistake::{Mistake, Source, Span, quote};
use crate::path;
use crate::tree::Node;
use crate::{Complaint, Judged, Request};
use load::Asked;
use model::Nanos;
use model::plan::{Find, Setup};
use operations::Context;

/// A cell, and what is the same in all cells.
#[derive(Debug)]
pub struct Made {
    pub name: String,
    pub seed: u64,
    pub repeat: u32,
    pub find: Find,
    pub setup: Setup,
    /// The same without a promise, where it is to be shown that the faults can lose something.
    pub control: Option<Setup>,
    /// Warm-up included.
    pub lasting: Nanos,
    pub remarks: Vec<String>,
}

/// What all parts need.
#[derive(Debug)]
pub struct Maker<'a> {
    pub tree: &'a Node,
    pub request: &'a Request<'a>,
    pub sources: &'a mut Vec<Source>,
    pub mistakes: &'a mut Vec<Mistake>,
    /// What is no mistake, and most likely not meant.
    pub remarks: Vec<String>,
}

impl Maker<'_> {
    pub fn make(mut self, file: File) -> Made {
        let seed = file.seed.unwrap_or(1);
        let name = self.name(file.name);
        let (mut stack, guard) = self.stack(file.stack);
        let faults = self.faults(file.faults, &mut stack);
        let dataset = file.dataset.map(|it| self.dataset(it, seed));
        let (feeds, known) = self.feeds(file.feeds.0);
        self.answered(&feeds, &stack);
        let mix = self.mix(&file.operations.0);
        let mut find = self.find(file.find.as_ref(), file.prove, &file.load);
        let repeat = self.times(file.find.as_ref(), file.repeat);
        let mut asked = self.load(&file.load, &mix, find::instead(&find).as_ref());
        let mut stop = file.stop;
        if let Some(guard) = guard {
            self.guarded(&guard, &mut asked);
            self.guarded_search(&guard, &mut find);
            self.abort(&guard, &mut stop);
        }
        let Asked { load, lasting, .. } = asked;
        let context =
            Context { stack: &stack, feeds: &known, has_rows: dataset.is_some(), mode: load.query_mode };
        let operations = self.operations(file.operations.0, &mix, &context);
        self.towards_services(&load, &operations);
        for feed in feeds.iter().filter(|it| !operations.iter().any(|of| of.feed.as_ref() == Some(&it.name)))
        {
            self.remarks.push(format!("no operation draws from the feed {}", quote(&feed.name)));
        }
        self.searched(&find, &file.load, &mix);
        self.through_poolers(&stack, &load, &operations);
        let setup =
            Setup { stack, dataset, feeds, operations, load, objectives: file.objectives, stop, faults };
        let Request { grammars, .. } = *self.request;
        for (i, it) in setup.objectives.iter().enumerate() {
            self.foreign("objectives", i, it, (grammars.objective)(it, &setup));
        }
        for (i, it) in setup.stop.iter().enumerate() {
            self.foreign("stop", i, it, (grammars.rule)(it, &setup));
        }
        let window = Nanos(lasting.0.saturating_sub(setup.load.warmup.0));
        let control = self.failover(file.find.as_ref(), &find, &setup, window);
        Made { name, seed, repeat, find, setup, control, lasting, remarks: self.remarks }
    }

    fn name(&mut self, given: Option<String>) -> String {
        let fits = |it: &str| {
            let letters = it.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
            letters && (1..=64).contains(&it.len())
        };
        if let Some(name) = given {
            if !fits(&name) {
                let found = format!("{} cannot name files", quote(&name));
                let instead =
                    format!("write 1 to 64 lower-case letters, digits and hyphens, as in `{}`", tame(&name));
                self.tell("name", found, instead);
            }
            return name;
        }
        let stem = self.request.path.file_stem().unwrap_or_default().to_string_lossy();
        tame(&stem)
    }

    /// Tells a mistake at a path's value.
    fn tell(&mut self, path: &str, found: impl Into<String>, instead: impl Into<String>) {
        let at = self.at(path);
        self.mistakes.push(Mistake::new(&at, found, instead));
    }

    fn at(&self, path: &str) -> Span {
        path::place(self.tree, path)
    }

    /// Tells what a foreign grammar says of item `i` of a list.
    fn foreign(&mut self, list: &str, i: usize, text: &str, said: Judged) {
        let Err(complaints) = said else { return };
        let span = match self.tree.get(list).map(|it| &it.1.value) {
            Some(crate::tree::Value::List(items)) => items.get(i).map(|it| it.span.clone()),
            _ => None,
        };
        let span = span.unwrap_or_else(|| self.at(list));
        self.complain(&span, text, complaints);
    }

    /// Tells complaints about a text that stands at `span`, each at its own place if that can be found.
    fn complain(&mut self, span: &Span, text: &str, complaints: Vec<Complaint>) {
        for it in complaints {
            let source = &self.sources[span.source].text;
            let bytes = excerpt::within(source, span.bytes.clone(), text, it.at);
            let at = Span { source: span.source, bytes };
            self.mistakes.push(Mistake::new(&at, it.found, it.instead));
        }
    }
}

/// The name in letters that a name may have.
fn tame(name: &str) -> String {
    let tame = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = name.chars().map(tame).take(64).collect();
    match name.trim_matches('-') {
        "" => "experiment".to_owned(),
        name => name.to_owned(),
    }
}
