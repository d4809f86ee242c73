//! The keys `stats` of a service and `metrics` of attached nodes.

use super::SetupBuilder;
use super::guard::AttachedSection;
use crate::UrlTarget;
use crate::diagnostic::quote;
use crate::file::{self, OneOrMany, Stats};
use model::message;
use model::plan::{StatsAddress, StatsForm, StatsPage};

impl SetupBuilder<'_> {
    /// Pages of a service with this number of copies.
    pub(super) fn stats_pages(&mut self, source: OneOrMany<Stats>, copies: u32) -> Vec<StatsPage> {
        let mut pages: Vec<StatsPage> = Vec::new();
        for (path, stats) in numbered("stack.service.stats", source) {
            let page = match stats {
                Stats::Path(text) => {
                    self.check_path(&path, &text, "/stats");
                    StatsPage::own(text)
                }
                Stats::Page(page) => self.stats_page(&path, page, copies),
            };
            if pages.iter().any(|it| it.address == page.address) {
                self.report(&path, message!("experiment-stats-twice"));
            }
            pages.push(page);
        }
        pages
    }

    fn stats_page(&mut self, path: &str, source: file::StatsPage, copies: u32) -> StatsPage {
        let key = |key: &str| format!("{path}.{key}");
        let form = match source.form.unwrap_or(file::StatsForm::Pgdyno) {
            file::StatsForm::Pgdyno => StatsForm::Pgdyno,
            file::StatsForm::PhpFpm => StatsForm::PhpFpm,
            file::StatsForm::StubStatus => StatsForm::StubStatus,
            file::StatsForm::Prometheus => StatsForm::Prometheus,
        };
        if let Some(text) = &source.path {
            self.check_path(&key("path"), text, "/status");
        }
        let others = [("path", source.path.is_some()), ("port", source.port.is_some())];
        for (name, _) in others.iter().filter(|it| it.1 && source.url.is_some()) {
            self.report(&key(name), message!("experiment-stats-url-and", key = *name));
        }
        let is_shared = if source.url.is_some() { "url" } else { "port" };
        let is_of_copy = source.url.as_ref().is_some_and(|it| has_address(it));
        if copies > 1 && (source.url.is_some() && !is_of_copy || source.port.is_some()) {
            self.report(&key(is_shared), message!("experiment-stats-copies", key = is_shared));
        }
        let address = match (source.url, source.path, source.port) {
            (Some(url), ..) => {
                // Any address shows whether the rest of the URL is correct.
                self.page_url(&key("url"), &with_address(&url));
                StatsAddress::Url(url)
            }
            (None, Some(text), Some(port)) => StatsAddress::Port(port, text),
            (None, Some(text), None) => StatsAddress::Path(text),
            (None, None, _) => {
                self.report(path, message!("experiment-stats-no-path"));
                StatsAddress::Path("/".to_owned())
            }
        };
        if form != StatsForm::Prometheus && !source.series.is_empty() {
            self.report(&key("series"), message!("experiment-stats-series"));
        }
        for (i, name) in source.series.iter().enumerate().filter(|it| !is_metric_name(it.1)) {
            let message = message!("experiment-stats-series-name", name = quote(name));
            self.report(&key(&format!("series[{i}]")), message);
        }
        StatsPage { form, address, program: source.program, series: source.series }
    }

    /// URLs of the metrics of an attached node's hosts.
    pub(super) fn metrics(&mut self, node: &str, source: Option<OneOrMany<String>>) -> Vec<String> {
        let Some(source) = source else { return Vec::new() };
        let mut urls = Vec::new();
        for (path, url) in numbered(&format!("stack.{node}.metrics"), source) {
            if let Some(place) = self.page_url(&path, &url)
                && (place.target == "/" || url.starts_with("unix:"))
            {
                let url = if url.starts_with("unix:") { "http://db:9100" } else { &url };
                let example = format!("{}/metrics", url.trim_end_matches('/'));
                self.report(&path, message!("experiment-metrics-path", example));
            }
            if urls.contains(&url) {
                self.report(&path, message!("experiment-stats-twice"));
            }
            urls.push(url);
        }
        urls
    }

    /// Reports `metrics` of a node that pgdyno starts: it runs on this machine.
    pub(super) fn reject_unused_metrics(&mut self, attached: &AttachedSection, is_given: bool) {
        if is_given {
            let (node, address) = (attached.node, attached.address);
            let message = message!("experiment-metrics-unused", node, address);
            self.report(&format!("stack.{node}.metrics"), message);
        }
    }

    /// Checks the URL of a page.
    fn page_url(&mut self, path: &str, url: &str) -> Option<UrlTarget> {
        match (self.request.grammars.url)(url) {
            Ok(place) => Some(place),
            Err(mut diagnostics) => {
                // A page cannot be requested with a header, so the correction for services does not apply.
                for message in diagnostics.iter_mut().map(|it| &mut it.message) {
                    if message.id == "experiment-url-password" {
                        *message = message!("experiment-page-password");
                    }
                }
                let at = self.span_of(path);
                self.report_in_text(&at, url, diagnostics);
                None
            }
        }
    }

    /// Checks the path of a page.
    pub(super) fn check_path(&mut self, key: &str, text: &str, example: &str) {
        if !text.starts_with('/') || text.contains(|c: char| !c.is_ascii_graphic()) {
            self.report(key, message!("experiment-service-path", path = quote(text), example));
        }
    }
}

/// Values with their paths in the file.
fn numbered<T>(path: &str, values: OneOrMany<T>) -> Vec<(String, T)> {
    match values {
        OneOrMany::One(value) => vec![(path.to_owned(), value)],
        OneOrMany::Many(values) => {
            values.into_iter().enumerate().map(|(i, value)| (format!("{path}[{i}]"), value)).collect()
        }
    }
}

/// True if a URL contains a variable.
fn has_address(url: &str) -> bool {
    with_address(url) != url
}

/// URL with an address in place of its variables.
fn with_address(url: &str) -> String {
    let mut text = String::new();
    let mut rest = url;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, after)) = after.split_once('}') else { break };
        text += before;
        text += match name.rsplit('.').next() {
            Some("address") => "127.0.0.1:80",
            Some("host") => "127.0.0.1",
            _ => "80",
        };
        rest = after;
    }
    text + rest
}

/// True for names that Prometheus allows without quotes.
fn is_metric_name(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    name.starts_with(|c: char| is_part(c) && !c.is_ascii_digit()) && name.chars().all(is_part)
}
