//! Runs one load on the agents of a fleet

use super::agent_samples::samples;
use super::assignment::Assignment;
use super::decode::decode_all;
use super::event::SentEvent;
use super::lease::{ANSWER, Fleet, lock};
use super::merge::{AgentEnd, SecondMerger, merge_measurements};
use crate::measure::{LoadListener, LoadPart, MeasureError, Totals};
use agent::clock_offset::ClockOffset;
use agent::interval::decode_histogram;
use agent::protocol::{AgentAnswer, AgentMeasurement, AgentRequest, Assign, ReportBody, to_bytes};
use load::Workload;
use load::driver::Clock;
use model::message;
use model::message::Message;
use model::{
    AgentPart, CompactInterval, HistogramDecoder, HistogramSum, Measurement, Nanos, Sample, ScriptCounts,
    SparseHistogram, ThreadUsage,
};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// Time from the agreement on the start to the start. Within it, every agent must have received the agreement.
const START_LEAD: Nanos = Nanos::from_millis(500);
/// Time in which agents end a load that cannot begin.
const ABORT_TIMEOUT: Nanos = Nanos::from_secs(10);
/// Interval between two looks at the reports.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Load for a fleet.
#[derive(Debug)]
pub struct FleetLoad<'a> {
    pub assignment: &'a Assignment,
    /// Rows of the feeds.
    pub feeds: Vec<Vec<u8>>,
    /// Workload of all agents together.
    pub work: &'a Workload,
    pub clock: Clock,
}

/// Measurement of a fleet.
#[derive(Debug)]
pub struct FleetMeasurement {
    pub measurement: Measurement,
    pub parts: Vec<AgentPart>,
}

/// State of one agent during a load.
#[derive(Debug, Default)]
struct AgentProgress {
    connected: Option<u32>,
    rest: Option<CompactInterval>,
    done: Option<AgentMeasurement>,
    /// The load ended before the window began.
    stopped: bool,
    ok: u64,
    arrivals: u64,
    response: Option<Box<HistogramSum>>,
    send_lag: Option<Box<HistogramSum>>,
    late: Nanos,
    lost: Option<Message>,
}

impl AgentProgress {
    /// Adds an interval to the sums of the agent.
    fn add(&mut self, interval: &CompactInterval) {
        self.ok += interval.scripts.iter().map(|it| it.ok).sum::<u64>();
        self.arrivals += interval.scripts.iter().map(ScriptCounts::arrivals).sum::<u64>();
        let responses = self.response.get_or_insert_default();
        interval.scripts.iter().for_each(|it| responses.add(&it.response));
        self.send_lag.get_or_insert_default().add(&interval.send_lag);
    }

    fn is_over(&self) -> bool {
        self.done.is_some() || self.stopped || self.lost.is_some()
    }
}

/// Load that is running on the agents.
struct RunningLoad<'a> {
    fleet: &'a Fleet,
    trial: u32,
    agents: Vec<AgentProgress>,
    merger: SecondMerger,
    totals: Totals,
    decoder: HistogramDecoder,
    /// Samples of the agents that the listener has not received yet.
    samples: Vec<Sample>,
    listener: &'a mut dyn LoadListener,
    /// Start of the window, by the run's clock.
    start: Nanos,
    /// First error that makes the trial impossible.
    failure: Option<Message>,
}

impl Fleet {
    /// Runs a load and merges the measurements of all agents. `stop` ends the load early; `abandon` also cancels
    /// transactions in flight.
    pub fn run(
        &mut self,
        load: FleetLoad<'_>,
        listener: &mut dyn LoadListener,
        (stop, abandon): (&AtomicBool, &AtomicBool),
    ) -> Result<FleetMeasurement, MeasureError> {
        let FleetLoad { assignment, feeds, work, clock } = load;
        self.trial += 1;
        let documents = [vec![to_bytes(assignment)], feeds].concat();
        let lengths: Vec<u64> = documents.iter().map(|it| it.len() as u64).collect();
        let first_document = self.publish(documents);
        // A small load, such as the first step of a search, may have fewer clients and threads than there are agents.
        let count = self.agents.len().min(assignment.threads.into());
        let mut running = RunningLoad {
            trial: self.trial,
            agents: (0..count).map(|_| AgentProgress::default()).collect(),
            merger: SecondMerger::new(count, work.interval()),
            totals: Totals::new(work),
            decoder: HistogramDecoder::new(),
            samples: Vec::new(),
            listener,
            start: Nanos::ZERO,
            failure: None,
            fleet: self,
        };
        let assign = Assign {
            lease: self.lease.clone(),
            trial: self.trial,
            agent: 0,
            agents: count as u16,
            documents: lengths,
            first_document,
        };
        let started =
            running.connect(&assign, work.plan().reconnect, stop).and_then(|()| running.begin(&clock));
        let start = match started {
            Ok(offsets) => offsets,
            Err(error) => {
                running.stop_all(true);
                let deadline = self.clock.now() + ABORT_TIMEOUT;
                running.finish_agents((stop, abandon), deadline);
                return Err(running.failure.map_or(error, MeasureError::Agents));
            }
        };
        running.finish_agents((stop, abandon), Nanos::MAX);
        running.close(&start, assignment.threads)
    }

    fn agent_id(&self, agent: usize) -> &str {
        &self.agents[agent].announcement.agent
    }
}

impl RunningLoad<'_> {
    /// Assigns the load and waits until the clients of all agents were connected or refused.
    fn connect(&mut self, assign: &Assign, reconnect: bool, stop: &AtomicBool) -> Result<(), MeasureError> {
        let request = |agent| (agent, AgentRequest::Assign(Assign { agent: agent as u16, ..assign.clone() }));
        let requests: Vec<_> = (0..self.agents.len()).map(request).collect();
        for (agent, answer) in self.fleet.ask_all(&requests, ANSWER) {
            if answer != Some(AgentAnswer::Accepted) {
                self.lose(agent, message!("agents-refused-silent"));
            }
        }
        while self.agents.iter().any(|it| it.connected.is_none()) {
            self.receive();
            if self.failure.is_some() || stop.load(Ordering::Relaxed) {
                return Err(MeasureError::Stopped);
            }
            thread::sleep(Duration::from_millis(1));
        }
        let connected: u32 = self.agents.iter().filter_map(|it| it.connected).sum();
        if connected == 0 && !reconnect {
            return Err(MeasureError::NoClientConnected);
        }
        Ok(())
    }

    /// Agrees with all agents on the start of the window. Returns the offsets of their clocks.
    fn begin(&mut self, clock: &Clock) -> Result<Vec<ClockOffset>, MeasureError> {
        let mut offsets = Vec::new();
        for agent in 0..self.agents.len() {
            match lock(&self.fleet.agents[agent].watch).offset.mark() {
                Some(offset) => offsets.push(offset),
                None => self.lose(agent, message!("agents-refused-silent")),
            }
        }
        if self.failure.is_some() {
            return Err(MeasureError::Stopped);
        }
        let start = self.fleet.clock.now() + START_LEAD;
        self.start = clock.convert(start, &self.fleet.clock);
        let request = |agent: usize| {
            let (lease, trial) = (self.fleet.lease.clone(), self.trial);
            (agent, AgentRequest::Start { lease, trial, at: offsets[agent].to_remote(start) })
        };
        let requests: Vec<_> = (0..self.agents.len()).map(request).collect();
        for (agent, answer) in self.fleet.ask_all(&requests, ANSWER) {
            match answer {
                Some(AgentAnswer::Accepted) => {}
                Some(AgentAnswer::Late { late }) => self.agents[agent].late = late,
                _ => self.lose(agent, message!("agents-refused-silent")),
            }
        }
        if self.failure.is_some() {
            return Err(MeasureError::Stopped);
        }
        self.listener.on_begin(self.start);
        Ok(offsets)
    }

    /// Passes reports to the listener until all agents have ended, at most until `deadline`. When an agent is lost, the
    /// others are stopped.
    fn finish_agents(&mut self, (stop, abandon): (&AtomicBool, &AtomicBool), deadline: Nanos) {
        let mut sent = (false, false);
        while !self.agents.iter().all(AgentProgress::is_over) && self.fleet.clock.now() < deadline {
            thread::sleep(POLL_INTERVAL);
            self.receive();
            let is_lost = self.agents.iter().any(|it| it.lost.is_some());
            let wanted = (stop.load(Ordering::Relaxed) || is_lost, abandon.load(Ordering::Relaxed));
            if wanted != sent {
                self.stop_all(wanted.1);
                sent = wanted;
            }
        }
        self.receive();
    }

    fn stop_all(&self, abandon: bool) {
        let (lease, trial) = (&self.fleet.lease, self.trial);
        let running = (0..self.agents.len()).filter(|it| !self.agents[*it].is_over());
        let stop = |agent| (agent, AgentRequest::Stop { lease: lease.clone(), trial, abandon });
        // An agent that does not answer is found by its silence.
        self.fleet.ask_all(&running.map(stop).collect::<Vec<_>>(), ANSWER);
    }

    fn lose(&mut self, agent: usize, reason: Message) {
        let name = self.fleet.agent_id(agent).to_owned();
        self.failure.get_or_insert_with(|| message!("agents-failed", agent = name, reason = reason.clone()));
        self.agents[agent].lost.get_or_insert(reason);
        self.merger.end(agent, AgentEnd::Lost);
    }

    /// Handles all reports that have arrived, and agents that were lost.
    fn receive(&mut self) {
        self.listener.poll();
        let arrived: Vec<(u16, Vec<u8>)> = self.fleet.reports.try_iter().collect();
        for (agent, report) in decode_all(&arrived) {
            match report {
                Some(report) if report.trial == self.trial => self.handle(agent, report.body),
                // A report of an earlier trial that had failed.
                Some(_) => {}
                None => self.lose(agent, message!("agents-lost-damaged")),
            }
        }
        for agent in 0..self.agents.len() {
            if !self.agents[agent].is_over()
                && let Some(reason) = self.fleet.loss(agent)
            {
                self.lose(agent, reason);
            }
        }
        if !self.samples.is_empty() {
            self.listener.on_samples(std::mem::take(&mut self.samples));
        }
        while let Some(second) = self.merger.next_second() {
            self.totals.add(second);
            self.listener.on_tick(second, self.start);
        }
    }

    fn handle(&mut self, agent: usize, report: ReportBody<SentEvent, Box<CompactInterval>>) {
        match report {
            ReportBody::Settled { connected } => self.agents[agent].connected = Some(connected),
            ReportBody::Failed(reason) => self.lose(agent, reason),
            ReportBody::Stopped => {
                self.agents[agent].stopped = true;
                self.merger.end(agent, AgentEnd::Done);
            }
            ReportBody::Event(SentEvent(event)) => self.listener.on_event(event),
            ReportBody::Second { interval: second, .. } | ReportBody::Rest(second)
                if self.agents[agent].lost.is_some() =>
            {
                // The window of a lost agent has ended for the measurement.
                drop(second);
            }
            ReportBody::Second { interval, cpu } => {
                self.agents[agent].add(&interval);
                self.samples.extend(samples(self.fleet.agent_id(agent), &interval, cpu));
                self.merger.push(agent, interval.shifted(self.start.0 as i64));
            }
            ReportBody::Rest(rest) => {
                self.agents[agent].add(&rest);
                self.agents[agent].rest = Some(rest.shifted(self.start.0 as i64));
            }
            ReportBody::Done(measurement) => {
                self.agents[agent].done = Some(*measurement);
                self.merger.end(agent, AgentEnd::Done);
            }
        }
    }

    /// Measurement of all agents; an error if none of them has completed its part.
    fn close(mut self, offsets: &[ClockOffset], threads: u16) -> Result<FleetMeasurement, MeasureError> {
        if let (true, Some(failure)) = (self.agents.iter().all(|it| it.done.is_none()), self.failure.take()) {
            return Err(MeasureError::Agents(failure));
        }
        let rest: Vec<CompactInterval> = self.agents.iter_mut().filter_map(|it| it.rest.take()).collect();
        if let Some(rest) = self.merger.rest(rest) {
            self.totals.add(rest);
            self.listener.on_rest(rest);
        }
        let count = self.agents.len() as u16;
        let (mut parts, mut measurements) = (Vec::new(), Vec::new());
        for (number, progress) in (0..).zip(self.agents) {
            let leased = &self.fleet.agents[usize::from(number)];
            let offset = lock(&leased.watch).offset.finish().or(offsets.get(usize::from(number)).copied());
            let p99 = |sum: Option<Box<HistogramSum>>| sum?.quantile(0.99);
            let jitter = progress.done.as_ref().and_then(|done| {
                let jitter = decode_histogram(&done.jitter, &mut self.decoder).ok()?;
                sum_of(&jitter).quantile(0.99)
            });
            let busiest = |done: &AgentMeasurement| done.thread_usage.iter().map(busy_share).reduce(f64::max);
            parts.push(AgentPart {
                agent: leased.announcement.agent.clone(),
                host: leased.announcement.host.clone(),
                p99: p99(progress.response),
                send_lag: p99(progress.send_lag),
                busy: progress.done.as_ref().and_then(busiest),
                jitter,
                clock_uncertainty: offset.map(|it| it.uncertainty),
                threads: LoadPart::Agent { agent: number, agents: count }.threads(threads).len() as u16,
                ok: progress.ok,
                arrivals: progress.arrivals,
                late: progress.late,
                lost: progress.lost,
            });
            measurements.extend(progress.done);
        }
        let process = merge_measurements(measurements);
        Ok(FleetMeasurement { measurement: self.totals.finish(self.start, process), parts })
    }
}

fn sum_of(histogram: &SparseHistogram) -> HistogramSum {
    let mut sum = HistogramSum::new();
    sum.add(histogram);
    sum
}

/// Share of the window in which a thread worked, without busy-waiting.
fn busy_share(usage: &ThreadUsage) -> f64 {
    let worked = usage.user + usage.system - usage.spun;
    worked.as_secs_f64() / usage.wall.as_secs_f64().max(f64::MIN_POSITIVE)
}
