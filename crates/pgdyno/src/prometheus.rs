//! `--prometheus`: how does a Prometheus see a run while it goes on?
//!
//! Seconds are added up by who watches the trial; a thread of the lowest priority writes them down for whoever scrapes. The
//! load knows nothing of either.

use crate::run::watch::Seen;
use crate::serve::answer::{self, Answer};
use crate::serve::guard::{Asking, Guard};
use crate::serve::server;
use crate::voice::{Trouble, plain};
use analysis::totals;
use hyper::body::{Bytes, Incoming};
use hyper::header::{HOST, HeaderMap, HeaderName, ORIGIN};
use hyper::{Method, Request, StatusCode};
use model::plan::Experiment;
use model::totals::{Totals, Trial};
use report::prometheus::{self, About};
use stack::probe;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Where it is scraped.
const PATH: &str = "/metrics";
/// Its labels are statements' texts.
const LEFT_OUT: &str = "pg_statement_texts";

/// What `pgdyno run` was asked for.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Asked {
    /// Let a Prometheus scrape http://ADDRESS/metrics while the run goes on, such as 127.0.0.1:9187
    #[arg(long, value_name = "ADDRESS")]
    prometheus: Option<SocketAddr>,
    /// Let it be an address that other machines can reach, where anybody may scrape
    #[arg(long, requires = "prometheus")]
    prometheus_anyone: bool,
}

/// Watches a run, and is there to be scraped. It ends with the program, and keeps nobody from ending it.
#[derive(Debug)]
pub struct Endpoint {
    shared: Arc<Shared>,
    url: String,
    /// Of the trial that runs, in the order of its mix.
    operations: Vec<String>,
}

#[derive(Debug)]
struct Shared {
    about: About,
    totals: Mutex<Totals>,
    /// Where anybody may scrape there is none.
    guard: Option<Guard>,
}

impl Asked {
    /// `None` where nobody has asked for it.
    pub fn endpoint(&self, experiment: &Experiment) -> Result<Option<Endpoint>, Trouble> {
        let Some(address) = self.prometheus else { return Ok(None) };
        if !address.ip().is_loopback() && !self.prometheus_anyone {
            return Err(Trouble::new(format!("{address} can be reached from other machines"))
                .hint("add --prometheus-anyone if anybody there may scrape, or take 127.0.0.1"));
        }
        let could_not =
            |it: std::io::Error| Trouble::new(format!("could not listen at {address}: {}", plain(&it)));
        let listener = TcpListener::bind(address).map_err(could_not)?;
        let bound = listener.local_addr().map_err(could_not)?;
        let guard = match self.prometheus_anyone {
            true => None,
            false => Some(Guard::new(bound, None, None).map_err(could_not)?),
        };
        let about = About {
            run: experiment.name.clone(),
            program: env!("CARGO_PKG_VERSION").to_owned(),
            seed: experiment.seed,
            trials: experiment.cells.len() * experiment.repeat as usize,
        };
        let shared = Arc::new(Shared { about, totals: Mutex::new(totals::none()), guard });
        let scraped = Arc::clone(&shared);
        let answer = move |request| {
            let shared = Arc::clone(&scraped);
            async move { shared.answer(&request) }
        };
        server::start(listener, "prometheus", answer).map_err(could_not)?;
        Ok(Some(Endpoint { shared, url: format!("http://{bound}{PATH}"), operations: Vec::new() }))
    }
}

impl Endpoint {
    pub fn url(&self) -> &str {
        &self.url
    }

    /// `operations`: of the mix, in its order.
    pub fn trial(&mut self, cell: String, repetition: u32, operations: Vec<String>) {
        totals::begin(&mut self.shared.totals(), Trial { cell, repetition }, &operations);
        self.operations = operations;
    }

    pub fn seen(&self, it: Seen<'_>) {
        if let Seen::Second(tick) | Seen::Rest(tick) = it {
            totals::add(&mut self.shared.totals(), tick, &self.operations, &probe);
        }
    }

    /// `outcome`: as the store calls it.
    pub fn ended(&self, outcome: &'static str) {
        let mut totals = self.shared.totals();
        totals::calm(&mut totals);
        *totals.trials.entry(outcome).or_default() += 1;
    }
}

impl Shared {
    fn totals(&self) -> MutexGuard<'_, Totals> {
        self.totals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, request: &Request<Incoming>) -> Answer {
        let header = |name: HeaderName| text_of(request.headers(), &name);
        let asking = Asking { host: header(HOST), origin: header(ORIGIN), ..Asking::default() };
        if self.guard.as_ref().is_some_and(|it| it.passes(asking).is_err()) {
            return answer::text(StatusCode::FORBIDDEN, "this was not sent to an address of ours");
        }
        if ![Method::GET, Method::HEAD].contains(request.method()) {
            return answer::not_so("GET, HEAD");
        }
        if request.uri().path() != PATH {
            return answer::text(StatusCode::NOT_FOUND, "a Prometheus finds all of it at /metrics");
        }
        // Copied, so that who watches the trial does not wait for the text.
        let totals = self.totals().clone();
        let text = prometheus::text(&self.about, &totals, &probe::series);
        answer::plain(prometheus::CONTENT_TYPE, Bytes::from(text))
    }
}

fn text_of<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// Which one a series belongs to.
fn probe(series: &str) -> Option<&'static str> {
    let known = probe::ALL.iter().find(|it| it.series.iter().any(|it| it.name == series))?;
    (known.name != LEFT_OUT).then_some(known.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_series_has_a_name_of_its_own() {
        let all: Vec<&model::Series> = probe::ALL.iter().flat_map(|it| it.series).collect();
        let names: BTreeSet<String> = all.iter().map(|it| prometheus::name(it)).collect();
        assert_eq!(names.len(), all.len());
        let valid =
            |it: &String| it.chars().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '_');
        assert_eq!(names.iter().find(|it| !valid(it)), None);
    }

    /// What the dashboard asks for is told, so that no panel of it is empty by mistake.
    #[test]
    fn the_dashboard_asks_for_what_is_told() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/grafana/pgdyno.json");
        let text = std::fs::read_to_string(path).expect("it is there");
        serde_json::from_str::<serde_json::Value>(&text).expect("it is JSON");
        let series = probe::ALL.iter().flat_map(|it| it.series).map(prometheus::name);
        let mut known: BTreeSet<String> = series.collect();
        let about = About { run: String::new(), program: String::new(), seed: 0, trials: 0 };
        let told = prometheus::text(&about, &totals::none(), &probe::series);
        for family in told.lines().filter_map(|it| it.strip_prefix("# TYPE ")) {
            match family.split_once(' ').expect("a name and its type") {
                (name, "histogram") => {
                    known.extend(["_bucket", "_sum", "_count"].map(|it| format!("{name}{it}")));
                }
                (name, _) => drop(known.insert(name.to_owned())),
            }
        }
        let is_name = |it: char| it.is_ascii_alphanumeric() || it == '_';
        let asked: BTreeSet<&str> =
            text.split(|it| !is_name(it)).filter(|it| it.starts_with("pgdyno_")).collect();
        assert!(asked.len() > 15, "{asked:?}");
        let unknown: Vec<&&str> = asked.iter().filter(|it| !known.contains(**it)).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }

    #[test]
    fn other_machines_are_asked_for() {
        let experiment = Experiment {
            name: "x".to_owned(),
            seed: 1,
            repeat: 1,
            cells: vec![],
            baseline: None,
            find: model::plan::Find::Once,
        };
        let asked = |address: &str, anyone| Asked {
            prometheus: Some(address.parse().expect("an address")),
            prometheus_anyone: anyone,
        };
        let refused = asked("0.0.0.0:0", false).endpoint(&experiment).expect_err("it is refused");
        assert!(refused.what.contains("other machines"), "{refused:?}");
        assert!(asked("0.0.0.0:0", true).endpoint(&experiment).expect("it may").is_some());
        assert!(asked("[::1]:0", false).endpoint(&experiment).is_ok_and(|it| it.is_some()));
        assert!(Asked::default().endpoint(&experiment).is_ok_and(|it| it.is_none()));
    }
}
