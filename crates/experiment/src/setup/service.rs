//! The section `stack.service`.

use super::SetupBuilder;
use super::guard::{AttachedSection, Guard};
use super::stack::words;
use crate::UrlTarget;
use crate::diagnostic::quote;
use crate::file;
use crate::unit::Word;
use model::Nanos;
use model::plan::{Node, NodeKind, Service, Transport};

/// Health endpoint of the three services of this project.
const READY: &str = "/health";
const DOOR: AttachedSection = AttachedSection { node: "service", address: "url", noun: "service" };

impl SetupBuilder<'_> {
    /// Node of the service, and its caps if it is on another machine.
    pub(super) fn service(&mut self, it: file::Service) -> (Node, Option<Guard>) {
        let path = |key: &str| format!("stack.service.{key}");
        let limits = self.limits("stack.service.limits", it.limits.clone());
        for (key, text) in [("ready", &it.ready), ("stats", &it.stats)] {
            let Some(text) = text else { continue };
            if !text.starts_with('/') || text.contains(|c: char| !c.is_ascii_graphic()) {
                let found = format!("{} is no path", quote(text));
                self.report(&path(key), found, "write it as `/health`");
            }
        }
        if it.ready_within.is_some_and(|it| it.0 == Nanos::ZERO) {
            self.report(
                &path("ready_within"),
                "a service that is ready in no time",
                "write how long, as in 60s",
            );
        }
        let (mut entrance, mut guard) = (Transport::Tcp, None);
        if let Some(url) = &it.url {
            let beside = [
                ("command", it.command.is_some()),
                ("env", !it.env.0.is_empty()),
                ("copies", it.copies.is_some()),
                ("limits", it.limits.is_some()),
            ];
            for (key, _) in beside.iter().filter(|it| it.1) {
                let found = format!("`service.{key}` beside a URL: pgdyno does not start what is there");
                self.report(&path(key), found, "leave it out: what is there stays as it is");
            }
            if let Some(place) = self.parse_url(url) {
                entrance = place.transport;
                guard = self.guard(&DOOR, it.allow.as_deref(), it.caps, &place);
            }
        } else {
            self.reject_unused_guards(&DOOR, it.allow.is_some(), it.caps.is_some());
            if it.command.as_ref().is_none_or(Vec::is_empty) {
                let instead = "add its program, as in `command: [target/shop, --quiet]`, or the `url` of one that is there";
                self.report(&path("command"), "`stack.service` has no `command`", instead);
            }
        }
        for name in ["ADDRESS", "DATABASE_URL"] {
            if it.env.0.iter().any(|it| it.0 == name) {
                let found = format!("`{name}` in the service's environment");
                self.report(&path(&format!("env.{name}")), found, "leave it out: pgdyno chooses it");
            }
        }
        for (name, _) in it.env.0.iter().filter(|it| it.0.is_empty() || it.0.contains(['=', '\0'])) {
            let found = format!("{} is no name of a variable", quote(name));
            self.report(&path(&format!("env.{name}")), found, "write a name such as `POOL_SIZE`");
        }
        let service = Service {
            command: it.command.map_or(Vec::new(), |it| self.command(it)),
            url: it.url,
            env: words(it.env),
            copies: it.copies.unwrap_or(1),
            ready_path: it.ready.unwrap_or_else(|| READY.to_owned()),
            ready_timeout: it.ready_within.map(|it| it.0),
            stats_path: it.stats,
            allow: it.allow,
        };
        (
            Node {
                name: "service".to_owned(),
                kind: NodeKind::Service(service),
                transport: entrance,
                limits,
            },
            guard,
        )
    }

    /// Resolves paths that are relative to the file.
    fn command(&self, words: Vec<Word>) -> Vec<String> {
        let folder = self.request.path.parent().unwrap_or("".as_ref());
        let own = |(i, it): (usize, Word)| {
            let program = i == 0 && it.0.contains('/') && !it.0.starts_with('/');
            match program || it.0.starts_with("./") || it.0.starts_with("../") {
                true => folder.join(&it.0).display().to_string(),
                false => it.0,
            }
        };
        words.into_iter().enumerate().map(own).collect()
    }

    fn parse_url(&mut self, url: &str) -> Option<UrlTarget> {
        match (self.request.grammars.url)(url) {
            Err(complaints) => {
                let at = self.span_of("stack.service.url");
                self.report_in_text(&at, url, complaints);
                None
            }
            Ok(place) => {
                if place.target != "/" {
                    let instead = "leave its path out: operations say what is asked";
                    self.report(
                        "stack.service.url",
                        format!("a path, {}, in the URL", quote(&place.target)),
                        instead,
                    );
                }
                Some(place)
            }
        }
    }
}
