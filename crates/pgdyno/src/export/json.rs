//! Export of a run as one JSON document

use super::ExportResult;
use crate::runs;
use analysis::verdict::distribution;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use model::fact::Fact;
use model::matrix::UnappliedLimit;
use model::note::Note;
use model::plan::Limits;
use model::run_result::TrialResult;
use model::summary::Distribution;
use model::validity::Verdict;
use model::{FailureCounts, HistogramEncoder, LatencyHistogram, LogEvent, Nanos, Sample, ScriptCounts, Tick};
use report::json_document::{JsonDocument, RunFile, write_json};
use report::lang::english;
use schemars::JsonSchema;
use serde::ser::{Error as _, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use store::{Configuration, FactRecord, NodeRecord, Run, State, TrialRecord};

/// Content of a run file: `pgdyno export --format json`.
#[derive(Serialize, JsonSchema)]
pub struct ExportDocument<'a> {
    pub run: RunFile<'a>,
    /// Text of the experiment file.
    experiment_text: &'a str,
    /// Experiment with all defaults, in the format of the pgdyno version that made the run.
    experiment: &'a Value,
    /// Facts of the run and of its trials.
    facts: Vec<ExportedFact>,
    /// Notes about the run and its trials, in English. The facts of the kinds `note` and `omitted` state the same.
    notes: Vec<ExportedNote>,
    #[schemars(with = "Vec<ExportedTrial<'a>>")]
    trials: Stream<'a, ExportedTrial<'a>>,
}

impl JsonDocument for ExportDocument<'_> {
    const NAME: &'static str = "export";
    const VERSION: u32 = 2;
}

/// Fact of the run or of one of its trials.
#[derive(Serialize, JsonSchema)]
struct ExportedFact {
    /// Number of the trial; `None` for a fact of the whole run.
    trial: Option<u32>,
    /// Kind of the fact, such as `objective`.
    kind: &'static str,
    /// Version of the payload.
    version: u32,
    /// Content of the fact; its form depends on kind and version.
    payload: Value,
}

/// Note for people, such as a note about a missing privilege of a probe.
#[derive(Serialize, JsonSchema)]
struct ExportedNote {
    /// Number of the trial; `None` for a note about the whole run.
    trial: Option<u32>,
    /// Subject of the note: a node, probe, operation or stop rule.
    subject: String,
    text: String,
}

/// Measurement of one cell.
#[derive(Serialize, JsonSchema)]
struct ExportedTrial<'a> {
    /// Number of the trial, from 1.
    trial: u32,
    /// Index into the experiment's cells.
    cell: u32,
    /// Axis names and values of the cell.
    label: Vec<(String, String)>,
    /// Repetition of the cell, from 0.
    repetition: u32,
    /// Position in the order of all trials, from 0.
    position: u32,
    /// Unix time in milliseconds.
    started_ms: u64,
    ended_ms: Option<u64>,
    /// `running`, `complete`, `interrupted`, `stopped`, `failed` or `skipped`.
    status: &'static str,
    /// Reason why the trial is not complete.
    reason: Option<String>,
    /// True unless `verdict` was `invalid` at the end of the trial; `None` without a verdict.
    valid: Option<bool>,
    /// Verdict on the trial; `None` without a measurement.
    verdict: Option<Verdict>,
    /// Summary as in the document `pgdyno.bench` of the pgdyno version that made the run; `None` without a measurement.
    summary: Option<Value>,
    /// Nodes of the stack; the first node receives the load.
    nodes: Vec<ExportedNode>,
    events: Vec<LogEvent>,
    #[schemars(with = "Vec<Sample>")]
    samples: Stream<'a, Sample>,
    /// Seconds of the trial. The last element counts the transactions that ended after the window.
    #[schemars(with = "Vec<ExportedTick>")]
    ticks: Stream<'a, ExportedTick>,
}

/// Node of the stack in one trial.
#[derive(Serialize, JsonSchema)]
struct ExportedNode {
    name: String,
    /// Product, such as `postgres`, or `attached`.
    kind: String,
    version: String,
    /// Path of the program; `None` if pgdyno did not start the node.
    program: Option<String>,
    /// Transport of connections to the node: `unix`, `tcp` or `tls`.
    transport: String,
    /// Requested limits.
    limits: Limits,
    /// Limits that could not be applied.
    unapplied_limits: Vec<UnappliedLimit>,
    /// Configuration files that pgdyno generated.
    configurations: Vec<ExportedConfiguration>,
}

/// Configuration file without secrets.
#[derive(Serialize, JsonSchema)]
struct ExportedConfiguration {
    name: String,
    text: String,
}

/// One second of a trial. Times are nanoseconds since the start of the run's clock.
#[derive(Serialize, JsonSchema)]
struct ExportedTick {
    /// Number of the second since the window's start, from 0.
    second: u64,
    from_ns: Nanos,
    to_ns: Nanos,
    /// Number of transactions started.
    started: u64,
    /// Number of transactions in flight at the end of the second.
    in_flight: u64,
    operations: Vec<ExportedOperation>,
    /// Times from the intended start to sending, for arrivals that found an idle client.
    send_lag: ExportedHistogram,
    /// Times from the intended start to sending, for arrivals that waited for a client.
    backlog_wait: ExportedHistogram,
    /// Durations of opening connections, including the login.
    connects: ExportedHistogram,
    /// Number of refused connections by code.
    refused: BTreeMap<String, u64>,
}

/// Counts of one operation in one second.
#[derive(Serialize, JsonSchema)]
struct ExportedOperation {
    operation: String,
    /// Number of successful transactions; `late` is the number of these that ended after the window.
    ok: u64,
    late: u64,
    /// Number of failed transactions by code.
    failed: BTreeMap<String, u64>,
    /// Number of transactions with an unknown outcome by code.
    unknown: BTreeMap<String, u64>,
    /// Number of arrivals that were never sent.
    dropped: u64,
    /// Number of retried transactions; `retries` is the number of all retries.
    retried: u64,
    retries: u64,
    /// Number of successful transactions with a response time above the latency limit.
    above_limit: u64,
    /// Response times, from the intended start, of successful transactions.
    response: ExportedHistogram,
    /// Service times, from sending, of successful transactions.
    service: ExportedHistogram,
}

/// Distribution of durations.
#[derive(Serialize, JsonSchema)]
struct ExportedHistogram {
    #[serde(flatten)]
    distribution: Distribution,
    /// Nanoseconds in HdrHistogram's V2 compressed format, as Base64; `None` without samples.
    histogram: Option<String>,
}

/// Sequence whose elements are written one by one as they are read, because the ticks of a long run do not fit into
/// memory.
struct Stream<'a, T> {
    items: RefCell<Box<dyn Iterator<Item = store::Result<T>> + 'a>>,
    /// First read error, which ends the document.
    error: &'a Cell<Option<store::Error>>,
}

impl<T: Serialize> Serialize for Stream<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut sequence = serializer.serialize_seq(None)?;
        for item in self.items.borrow_mut().by_ref() {
            match item {
                Ok(item) => sequence.serialize_element(&item)?,
                Err(error) => {
                    self.error.set(Some(error));
                    return Err(S::Error::custom("the run file cannot be read"));
                }
            }
        }
        sequence.end()
    }
}

/// Writes the run file `path` as one document.
pub(super) fn write(run: &Run, path: &Path, results: &[TrialResult], to: impl Write) -> ExportResult<()> {
    let error = Cell::new(None);
    let (header, state) = (run.header()?, run.state()?);
    let trials = run.trials()?.into_iter().map(|record| ExportedTrial::new(run, record, results, &error));
    let facts = run.facts()?;
    let document = ExportDocument {
        run: runs::run_file(path, &header, &state),
        experiment_text: &header.text,
        experiment: &header.experiment,
        facts: facts.iter().map(ExportedFact::from).collect(),
        notes: facts.iter().filter_map(ExportedNote::new).collect(),
        trials: Stream { items: RefCell::new(Box::new(trials)), error: &error },
    };
    write_json(&document, to).map_err(|failure| error.take().map_or_else(|| failure.into(), Into::into))
}

impl<'a> ExportedTrial<'a> {
    fn new(
        run: &'a Run,
        record: TrialRecord,
        results: &[TrialResult],
        error: &'a Cell<Option<store::Error>>,
    ) -> store::Result<ExportedTrial<'a>> {
        let verdict = runs::verdict(&record, results);
        let TrialRecord { id, trial, state, valid, summary } = record;
        let status = runs::state(&state);
        let (ended_ms, reason) = match state {
            State::Ended(outcome) => (Some(outcome.ended_ms), outcome.reason),
            _ => (None, None),
        };
        let operations: Vec<String> = trial.operations.into_iter().map(|script| script.name).collect();
        let ticks = run.ticks(id)?.map(move |tick| Ok(ExportedTick::new(&operations, &tick?)));
        let samples = run.sample_parts(id)?.flat_map(|part| match part {
            Ok(samples) => samples.into_iter().map(Ok).collect(),
            Err(error) => vec![Err(error)],
        });
        Ok(ExportedTrial {
            trial: id.0,
            cell: trial.cell,
            label: trial.label,
            repetition: trial.repetition,
            position: trial.position,
            started_ms: trial.begun_ms,
            ended_ms,
            status,
            reason,
            valid,
            verdict,
            summary,
            nodes: trial.nodes.into_iter().map(ExportedNode::from).collect(),
            events: run.events(id)?,
            samples: Stream { items: RefCell::new(Box::new(samples)), error },
            ticks: Stream { items: RefCell::new(Box::new(ticks)), error },
        })
    }
}

impl ExportedTick {
    fn new(operations: &[String], tick: &Tick) -> ExportedTick {
        let mut encoder = HistogramEncoder::new();
        let mut histogram = |histogram: &LatencyHistogram| ExportedHistogram::new(histogram, &mut encoder);
        let interval = &tick.interval;
        let operations = operations.iter().zip(&interval.scripts);
        ExportedTick {
            second: tick.second,
            from_ns: interval.from,
            to_ns: interval.to,
            started: interval.started,
            in_flight: tick.in_flight,
            operations: operations
                .map(|(name, counts)| ExportedOperation::new(name, counts, &mut histogram))
                .collect(),
            send_lag: histogram(&interval.send_lag),
            backlog_wait: histogram(&interval.backlog_wait),
            connects: histogram(&interval.connects),
            refused: failures(&interval.refused),
        }
    }
}

impl ExportedOperation {
    fn new(
        name: &str,
        counts: &ScriptCounts,
        mut histogram: impl FnMut(&LatencyHistogram) -> ExportedHistogram,
    ) -> ExportedOperation {
        ExportedOperation {
            operation: name.to_owned(),
            ok: counts.ok,
            late: counts.late,
            failed: failures(&counts.failed),
            unknown: failures(&counts.unknown),
            dropped: counts.dropped,
            retried: counts.retried,
            retries: counts.retries,
            above_limit: counts.above_limit,
            response: histogram(&counts.response),
            service: histogram(&counts.service),
        }
    }
}

impl ExportedHistogram {
    fn new(histogram: &LatencyHistogram, encoder: &mut HistogramEncoder) -> ExportedHistogram {
        let encoded = (histogram.count() > 0).then(|| STANDARD.encode(encoder.encode(histogram).v2));
        ExportedHistogram { distribution: distribution(histogram), histogram: encoded }
    }
}

/// Counts by code. Codes that are not counted individually are counted together under `other`.
fn failures(counts: &FailureCounts) -> BTreeMap<String, u64> {
    let other = (counts.other() > 0).then(|| ("other".to_owned(), counts.other()));
    counts.iter().map(|(code, count)| (code.to_string(), count)).chain(other).collect()
}

impl From<&FactRecord> for ExportedFact {
    fn from(FactRecord { trial, fact }: &FactRecord) -> ExportedFact {
        let kind = fact.kind();
        let payload =
            fact.serialize_payload(serde_json::value::Serializer).expect("facts have text keys only");
        ExportedFact { trial: trial.map(|id| id.0), kind: kind.name, version: kind.version, payload }
    }
}

impl ExportedNote {
    /// Note in English, if the fact states a note; `None` for other facts.
    fn new(FactRecord { trial, fact }: &FactRecord) -> Option<ExportedNote> {
        let Note { subject, message } = match fact {
            Fact::Note(note) => note.clone(),
            Fact::Omitted(omitted) => omitted.clone().into(),
            _ => return None,
        };
        let [subject, text] = [subject, message].map(|part| english().message(&part));
        Some(ExportedNote { trial: trial.map(|id| id.0), subject, text })
    }
}

impl From<NodeRecord> for ExportedNode {
    fn from(node: NodeRecord) -> ExportedNode {
        let configuration = |Configuration { name, text }| ExportedConfiguration { name, text };
        ExportedNode {
            name: node.name,
            kind: node.kind,
            version: node.version,
            program: node.program,
            transport: node.transport,
            limits: node.limits,
            unapplied_limits: node.unapplied_limits,
            configurations: node.configuration.into_iter().map(configuration).collect(),
        }
    }
}
