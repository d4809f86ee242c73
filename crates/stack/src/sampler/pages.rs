//! Samples HTTP pages: statistics of a service, and metrics of other hosts

use super::session::{REQUEST_TIMEOUT, RETRY_INTERVAL};
use super::{Collector, DueProbe, StopSignal};
use crate::exposition::Exposition;
use crate::http;
use crate::page::{SampledPage, display_address};
use crate::probe::exporter::HostIdentity;
use crate::probe::prometheus::VALUES_MAX;
use crate::probe::{ProbeResponse, ProbeTarget};
use model::Nanos;
use model::message;
use model::message::Message;
use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Timeout for the metrics of another host. A saturated host answers slowly, and its figures are the most interesting.
const EXPORTER_TIMEOUT: Duration = Duration::from_secs(5);

/// Hosts that are sampled, with their identities. All threads of a sampler share it.
pub(super) type KnownHosts = Arc<Mutex<Vec<(String, HostIdentity)>>>;

/// Known hosts at the start: this machine, whose files are read.
pub(super) fn known_hosts() -> KnownHosts {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    let this = HostIdentity::of_this_machine(&name, &stat).map(|it| ("host".to_owned(), it));
    Arc::new(Mutex::new(this.into_iter().collect()))
}

fn timeout(target: ProbeTarget) -> Duration {
    if target == ProbeTarget::Exporter { EXPORTER_TIMEOUT } else { REQUEST_TIMEOUT }
}

/// Samples a page until stopped, then once more. Returns zero, because the CPU time of the server is not known.
///
/// A page that cannot be read is requested again later. A request that takes longer than the interval delays the next
/// one; the time of its values is the middle of the request.
pub(super) fn run(page: SampledPage, collector: Collector, hosts: KnownHosts, stop: &StopSignal) -> Nanos {
    let probes = DueProbe::all(page.target, 0);
    let (clock, seen) = (PageClock::default(), BTreeSet::new());
    let started = Instant::now();
    let mut sampler = PageSampler { page, collector, hosts, probes, clock, started, seen };
    let mut result = RoundResult::Read { lines: 0 };
    let mut due = started;
    while result != RoundResult::SameHost {
        let last = stop.is_set();
        match result {
            // A page that just failed would only delay the end.
            RoundResult::Failed if last => {}
            _ => result = sampler.round(if last { REQUEST_TIMEOUT } else { timeout(sampler.page.target) }),
        }
        if last {
            sampler.report_absent();
            break;
        }
        due = match result {
            RoundResult::Read { lines } => sampler.next_due(due, lines),
            RoundResult::Failed | RoundResult::SameHost => Instant::now() + RETRY_INTERVAL,
        };
        stop.wait(due);
    }
    Nanos::ZERO
}

struct PageSampler {
    page: SampledPage,
    collector: Collector,
    hosts: KnownHosts,
    probes: Vec<DueProbe>,
    clock: PageClock,
    started: Instant,
    /// Metrics of [`SampledPage::series`] that the page had at least once.
    seen: BTreeSet<String>,
}

/// Result of one request.
#[derive(Clone, Copy, PartialEq)]
enum RoundResult {
    Read {
        lines: usize,
    },
    Failed,
    /// The host is sampled already.
    SameHost,
}

impl PageSampler {
    fn round(&mut self, timeout: Duration) -> RoundResult {
        let began = self.collector.now();
        let result = request(&self.page, timeout);
        let ended = self.collector.now();
        // Before the window, the clock stands at zero.
        let middle = if began == Nanos::ZERO { began } else { Nanos(began.0 / 2 + ended.0 / 2) };
        let text = match result {
            Ok(text) => text,
            Err(error) => {
                self.report("connection", || (&error).into());
                return RoundResult::Failed;
            }
        };
        let response = match self.page.has_metrics() {
            true => ProbeResponse::parse_metrics(&text, &self.page.series),
            false => Ok(ProbeResponse::Texts(vec![text.clone()])),
        };
        let (response, at) = match response {
            Ok(response) => {
                let newest = response.metrics().ok().and_then(|it| it.newest);
                let now = self.started.elapsed().as_secs_f64();
                let at = newest.map_or(Some(middle), |it| self.clock.time(it, now, ended));
                (response, at)
            }
            Err(error) => {
                let probe = self.probes.first().expect("every form has a probe").probe.name;
                self.report(probe, || (&error).into());
                return RoundResult::Failed;
            }
        };
        if let Ok(metrics) = response.metrics() {
            if let Some(other) = self.same_host(metrics) {
                self.report("exporter", || message!("probe-same-host", other));
                return RoundResult::SameHost;
            }
            self.check_named(metrics);
        }
        let is_read = at.is_none_or(|at| self.send_readings(at, &response));
        if is_read { RoundResult::Read { lines: text.lines().count() } } else { RoundResult::Failed }
    }

    /// Sends the readings of all probes. Returns false if none of them could read the page.
    fn send_readings(&mut self, at: Nanos, response: &ProbeResponse) -> bool {
        let mut is_read = false;
        for probe in self.probes.iter().map(|it| it.probe) {
            let mut readings = Vec::new();
            match (probe.read)(response, &mut readings) {
                Ok(()) => {
                    is_read = true;
                    readings.iter_mut().for_each(|it| it.label = self.page.full_label(&it.label));
                    self.collector.samples(at, readings);
                }
                Err(error) => {
                    let message = || in_page(&self.page, (&error).into());
                    self.collector.missing(probe.name, message);
                }
            }
        }
        is_read
    }

    /// Reports a problem with the page, once for each probe.
    fn report(&mut self, probe: &'static str, reason: impl FnOnce() -> Message) {
        let page = &self.page;
        self.collector.missing(probe, || in_page(page, reason()));
    }

    /// Notes which of the named metrics the page has.
    fn check_named(&mut self, metrics: &Exposition) {
        let names = self.page.series.iter();
        self.seen.extend(names.filter(|it| metrics.named(it).next().is_some()).cloned());
        let crowded = self.page.series.iter().find(|it| metrics.named(it).count() > VALUES_MAX).cloned();
        if let Some(name) = crowded {
            self.report("service_metrics", || {
                message!("probe-many-values", name, most = VALUES_MAX.to_string())
            });
        }
    }

    /// Reports the named metrics that the page never had. Some metrics exist only after their first event.
    fn report_absent(&mut self) {
        let absent: Vec<String> =
            self.page.series.iter().filter(|it| !self.seen.contains(*it)).cloned().collect();
        if !absent.is_empty() {
            self.report("service_metrics", || message!("probe-no-metrics", names = absent.join(", ")));
        }
    }

    /// Time of the next request after one that was due at `due`. Skips times that have passed.
    fn next_due(&mut self, due: Instant, lines: usize) -> Instant {
        let probe = self.probes.first_mut().expect("every form has a probe");
        probe.regular = due;
        // Most lines of a page of metrics are skipped, which is cheap.
        probe.schedule_next(if self.page.has_metrics() { 0 } else { lines });
        probe.next
    }

    /// Name of the host that is already sampled and has the identity of this one.
    fn same_host(&self, metrics: &Exposition) -> Option<String> {
        if self.page.target != ProbeTarget::Exporter {
            return None;
        }
        let identity = HostIdentity::of_page(metrics)?;
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        if hosts.iter().any(|it| it.0 == self.collector.node) {
            return None;
        }
        let same = hosts.iter().find(|it| it.1.is_same(&identity)).map(|it| it.0.clone());
        if same.is_none() {
            hosts.push((self.collector.node.clone(), identity));
        }
        same
    }
}

fn request(page: &SampledPage, timeout: Duration) -> io::Result<String> {
    let response = http::get(&page.url, timeout)?;
    match response.status {
        200 if response.body.len() >= http::MAX_BODY as usize => {
            Err(message!("probe-page-long", most = (http::MAX_BODY >> 20).to_string()).into_io_error())
        }
        200 => Ok(String::from_utf8_lossy(&response.body).into_owned()),
        status => {
            let path = page.url.target.split('?').next().unwrap_or_default();
            Err(message!("probe-page-status", path, status = status.to_string()).into_io_error())
        }
    }
}

fn in_page(page: &SampledPage, reason: Message) -> Message {
    message!("probe-page", page = display_address(&page.url), reason)
}

/// Maps the times that a page contains to times of the trial. The clocks of the two machines may differ.
///
/// The freshest page so far shows the difference of the clocks, because its values are the ones that were read last
/// before the request.
#[derive(Debug, Default)]
struct PageClock {
    /// Smallest difference between our clock and the page's time.
    difference: Option<f64>,
    last: Option<f64>,
}

impl PageClock {
    /// Time of the values whose time on the page is `newest`. `elapsed` is the time of the response in seconds since any
    /// fixed moment, and `now` its time in the trial. `None` if the page has not changed since the last request.
    fn time(&mut self, newest: f64, elapsed: f64, now: Nanos) -> Option<Nanos> {
        if self.last.is_some_and(|last| newest <= last) {
            return None;
        }
        self.last = Some(newest);
        let difference = self.difference.unwrap_or(f64::INFINITY).min(elapsed - newest);
        self.difference = Some(difference);
        let age = elapsed - newest - difference;
        Some(Nanos(now.0.saturating_sub(Nanos::from_secs_f64(age).0)))
    }
}

#[cfg(test)]
mod tests;
