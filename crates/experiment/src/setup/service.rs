//! The section `stack.service`.

use super::SetupBuilder;
use super::guard::{AttachedSection, Guard};
use super::stack::words;
use crate::UrlTarget;
use crate::diagnostic::quote;
use crate::file;
use crate::unit::Word;
use model::Nanos;
use model::message;
use model::plan::{Node, NodeKind, Service, Transport};

/// Default readiness path. The three services of this project use this path.
const READY: &str = "/health";
const SECTION: AttachedSection = AttachedSection { node: "service", address: "url" };

impl SetupBuilder<'_> {
    /// Node of the service, and its caps if it is on another machine.
    pub(super) fn service(&mut self, source: file::Service) -> (Node, Option<Guard>) {
        let path = |key: &str| format!("stack.service.{key}");
        let limits = self.limits("stack.service.limits", source.limits.clone());
        if let Some(text) = &source.ready {
            self.check_path(&path("ready"), text, "/health");
        }
        let copies = source.copies.unwrap_or(1);
        let stats = source.stats.map_or(Vec::new(), |it| self.stats_pages(it, copies));
        if source.ready_timeout.is_some_and(|it| it.0 == Nanos::ZERO) {
            self.report(&path("ready_timeout"), message!("experiment-duration-zero", key = "ready_timeout"));
        }
        let (mut transport, mut guard) = (Transport::Tcp, None);
        if let Some(url) = &source.url {
            let other_keys = [
                ("command", source.command.is_some()),
                ("programs", !source.programs.0.is_empty()),
                ("files", !source.files.0.is_empty()),
                ("env", !source.env.0.is_empty()),
                ("copies", source.copies.is_some()),
                ("limits", source.limits.is_some()),
            ];
            for (key, _) in other_keys.iter().filter(|it| it.1) {
                self.report(&path(key), message!("experiment-attached-key", key = *key, address = "url"));
            }
            if let Some(place) = self.parse_url(url) {
                transport = place.transport;
                guard = self.guard(&SECTION, source.allow.as_deref(), source.caps, &place);
            }
        } else {
            self.reject_unused_guards(&SECTION, source.allow.is_some(), source.caps.is_some());
            let has_programs = !source.programs.0.is_empty();
            let has_command = source.command.as_ref().is_some_and(|it| !it.is_empty());
            match (has_programs, has_command) {
                (false, false) => self.report(&path("command"), message!("experiment-service-command")),
                (true, true) => self.report(&path("command"), message!("experiment-service-both")),
                _ => {}
            }
            if has_programs && source.limits.is_some() {
                self.report(&path("limits"), message!("experiment-service-limits"));
            }
        }
        self.check_env(&path("env"), &source.env);
        let files = self.service_files(&path("files"), source.files);
        let programs = self.programs(source.programs, &files, &source.env);
        let metrics = match source.url {
            Some(_) => self.metrics(SECTION.node, source.metrics),
            None => {
                self.reject_unused_metrics(&SECTION, source.metrics.is_some());
                Vec::new()
            }
        };
        let service = Service {
            command: source.command.map_or(Vec::new(), |it| self.command(it)),
            url: source.url,
            env: words(source.env),
            files,
            programs,
            copies,
            ready_path: source.ready.unwrap_or_else(|| READY.to_owned()),
            ready_timeout: source.ready_timeout.map(|it| it.0),
            stats,
            allow: source.allow,
            metrics,
            instance: None,
        };
        (Node { name: "service".to_owned(), kind: NodeKind::Service(service), transport, limits }, guard)
    }

    /// Resolves paths that are relative to the file.
    pub(super) fn command(&self, words: Vec<Word>) -> Vec<String> {
        let folder = self.request.path.parent().unwrap_or("".as_ref());
        let build = |(i, word): (usize, Word)| {
            let program = i == 0 && word.0.contains('/') && !word.0.starts_with('/');
            match program || word.0.starts_with("./") || word.0.starts_with("../") {
                true => folder.join(&word.0).display().to_string(),
                false => word.0,
            }
        };
        words.into_iter().enumerate().map(build).collect()
    }

    fn parse_url(&mut self, url: &str) -> Option<UrlTarget> {
        match (self.request.grammars.url)(url) {
            Err(diagnostics) => {
                let at = self.span_of("stack.service.url");
                self.report_in_text(&at, url, diagnostics);
                None
            }
            Ok(place) => {
                if place.target != "/" {
                    let message = message!("experiment-url-path", path = quote(&place.target));
                    self.report("stack.service.url", message);
                }
                Some(place)
            }
        }
    }
}
