//! `--prometheus`: metrics endpoint for a running test
//!
//! The observer of the trial adds each second to the totals. A thread of low priority renders the totals for each
//! scrape. The load threads are not involved.

use crate::cli::{CommandError, os_error_text};
use crate::http_server::guard::{Guard, RequestIdentity};
use crate::http_server::response::{self, HttpResponse};
use crate::http_server::server;
use crate::trial_event::TrialEvent;
use analysis::present::totals;
use hyper::body::{Bytes, Incoming};
use hyper::header::{HOST, HeaderMap, HeaderName, ORIGIN};
use hyper::{Method, Request, StatusCode};
use model::plan::Experiment;
use model::series::PG_STATEMENT_TEXTS_PROBE;
use model::totals::{CurrentTrial, Totals};
use report::lang::Lang;
use report::prometheus::{self, RunLabels};
use report::say;
use stack::component;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Path of the metrics endpoint.
const PATH: &str = "/metrics";

/// Options of `pgdyno run` for Prometheus.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct PrometheusArgs {
    /// Serve Prometheus metrics at http://ADDRESS/metrics during the run; ADDRESS is, for example, 127.0.0.1:9187
    #[arg(long, value_name = "ADDRESS")]
    prometheus: Option<SocketAddr>,
    /// Allow an address that other machines can reach, without authentication
    #[arg(long, requires = "prometheus")]
    prometheus_anyone: bool,
}

/// Observes a run and serves its metrics. It stops with the program, and does not keep the program alive.
#[derive(Debug)]
pub struct MetricsServer {
    shared: Arc<MetricsState>,
    url: String,
    /// Operations of the current trial, in the order of its mix.
    operations: Vec<String>,
}

#[derive(Debug)]
struct MetricsState {
    labels: RunLabels,
    totals: Mutex<Totals>,
    /// Access check; `None` if no check is required.
    guard: Option<Guard>,
}

impl PrometheusArgs {
    /// Starts the server; `None` if the option was not given.
    pub fn start_server(
        &self,
        experiment: &Experiment,
        lang: &Lang,
    ) -> Result<Option<MetricsServer>, CommandError> {
        let Some(address) = self.prometheus else { return Ok(None) };
        if !address.ip().is_loopback() && !self.prometheus_anyone {
            let address = address.to_string();
            return Err(CommandError::new(say!(lang, "site-reachable", address))
                .with_hint(say!(lang, "site-prometheus-hint")));
        }
        let failed = |error: std::io::Error| {
            let (address, error) = (address.to_string(), os_error_text(&error));
            CommandError::new(say!(lang, "site-cannot-listen", address, error))
        };
        let listener = TcpListener::bind(address).map_err(failed)?;
        let bound = listener.local_addr().map_err(failed)?;
        let guard = match self.prometheus_anyone {
            true => None,
            false => Some(Guard::new(bound, None, None).map_err(failed)?),
        };
        let labels = RunLabels {
            run: experiment.name.clone(),
            program: env!("CARGO_PKG_VERSION").to_owned(),
            seed: experiment.seed,
            trials: experiment.cells.len() * experiment.repeat as usize,
        };
        let shared = Arc::new(MetricsState { labels, totals: Mutex::new(totals::empty()), guard });
        let scraped = Arc::clone(&shared);
        let answer = move |request| {
            let shared = Arc::clone(&scraped);
            async move { shared.answer(&request) }
        };
        server::start(listener, "prometheus", answer).map_err(failed)?;
        Ok(Some(MetricsServer { shared, url: format!("http://{bound}{PATH}"), operations: Vec::new() }))
    }
}

impl MetricsServer {
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Starts the metrics of a trial. `operations` are in the order of the mix.
    pub fn begin_trial(&mut self, cell: String, repetition: u32, operations: Vec<String>) {
        totals::begin_trial(&mut self.shared.totals(), CurrentTrial { cell, repetition }, &operations);
        self.operations = operations;
    }

    pub fn observe(&self, event: TrialEvent<'_>) {
        if let TrialEvent::Second(tick) | TrialEvent::Rest(tick) = event {
            totals::add(&mut self.shared.totals(), tick, &self.operations, &series_probe);
        }
    }

    /// Ends the metrics of a trial. `outcome` is the name of the outcome as in the run file.
    pub fn end_trial(&self, outcome: &'static str) {
        let mut totals = self.shared.totals();
        totals::end_trial(&mut totals);
        *totals.trials.entry(outcome).or_default() += 1;
    }
}

impl MetricsState {
    fn totals(&self) -> MutexGuard<'_, Totals> {
        self.totals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, request: &Request<Incoming>) -> HttpResponse {
        let header = |name: HeaderName| header_text(request.headers(), &name);
        let asking =
            RequestIdentity { host: header(HOST), origin: header(ORIGIN), ..RequestIdentity::default() };
        if self.guard.as_ref().is_some_and(|it| it.check_origin(asking).is_err()) {
            return response::text(
                StatusCode::FORBIDDEN,
                "the Host or Origin header does not name this server",
            );
        }
        if ![Method::GET, Method::HEAD].contains(request.method()) {
            return response::method_not_allowed("GET, HEAD");
        }
        if request.uri().path() != PATH {
            return response::text(StatusCode::NOT_FOUND, "not found; the metrics are at /metrics");
        }
        // Copy the totals, so that the observer is not blocked while the text is rendered.
        let totals = self.totals().clone();
        let text = prometheus::render(&self.labels, &totals, &component::find_series);
        response::plain(prometheus::CONTENT_TYPE, Bytes::from(text))
    }
}

fn header_text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// Name of the probe that writes a series; `None` if the series is unknown or not exported. The texts of statements are
/// not exported.
fn series_probe(series: &str) -> Option<&'static str> {
    let known = component::probes().find(|probe| probe.series.iter().any(|it| it.name == series))?;
    (known.name != PG_STATEMENT_TEXTS_PROBE).then_some(known.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use report::lang::english;
    use std::collections::BTreeSet;

    #[test]
    fn every_series_has_a_unique_name() {
        let all = component::series();
        let names: BTreeSet<String> = all.iter().map(|it| prometheus::metric_name(it)).collect();
        assert_eq!(names.len(), all.len());
        let valid = |name: &String| {
            name.chars().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '_')
        };
        assert_eq!(names.iter().find(|it| !valid(it)), None);
    }

    /// Every metric that the dashboard queries is exported. Otherwise, a panel would always be empty.
    #[test]
    fn dashboard_queries_only_exported_metrics() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/grafana/pgdyno.json");
        let text = std::fs::read_to_string(path).expect("the file can be read");
        serde_json::from_str::<serde_json::Value>(&text).expect("the text is JSON");
        let series = component::probes().flat_map(|it| it.series).map(prometheus::metric_name);
        let mut known: BTreeSet<String> = series.collect();
        let labels = RunLabels { run: String::new(), program: String::new(), seed: 0, trials: 0 };
        let rendered = prometheus::render(&labels, &totals::empty(), &component::find_series);
        for family in rendered.lines().filter_map(|it| it.strip_prefix("# TYPE ")) {
            match family.split_once(' ').expect("a name and its type") {
                (name, "histogram") => {
                    known.extend(["_bucket", "_sum", "_count"].map(|it| format!("{name}{it}")));
                }
                (name, _) => drop(known.insert(name.to_owned())),
            }
        }
        let is_name = |it: char| it.is_ascii_alphanumeric() || it == '_';
        let queried: BTreeSet<&str> =
            text.split(|it| !is_name(it)).filter(|it| it.starts_with("pgdyno_")).collect();
        assert!(queried.len() > 15, "{queried:?}");
        let unknown: Vec<&&str> = queried.iter().filter(|it| !known.contains(**it)).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }

    #[test]
    fn requires_a_flag_to_listen_for_other_machines() {
        let experiment = Experiment {
            name: "x".to_owned(),
            seed: 1,
            repeat: 1,
            cells: vec![],
            baseline: None,
            goal: model::plan::Goal::Once,
            generators: None,
            document: None,
        };
        let arguments = |address: &str, anyone| PrometheusArgs {
            prometheus: Some(address.parse().expect("an address")),
            prometheus_anyone: anyone,
        };
        let refused =
            arguments("0.0.0.0:0", false).start_server(&experiment, english()).expect_err("it is refused");
        assert!(english().message(&refused.message).contains("other machines"), "{refused:?}");
        assert!(
            arguments("0.0.0.0:0", true)
                .start_server(&experiment, english())
                .expect("the address is permitted")
                .is_some()
        );
        assert!(
            arguments("[::1]:0", false).start_server(&experiment, english()).is_ok_and(|it| it.is_some())
        );
        assert!(PrometheusArgs::default().start_server(&experiment, english()).is_ok_and(|it| it.is_none()));
    }
}
