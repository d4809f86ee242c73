//! Recordings as the source of a load

use crate::files;
use experiment::{RecordedUnit, Recording};
use load::{MixTransaction, RecordedMix as LoadMix, Replay, ReplayRequest, ReplaySession, ReplaySource};
use memmap2::{Mmap, UncheckedAdvice};
use model::message::Message;
use model::plan::{OperationKind, RecordedMix, RecordedStep, RecordingFile};
use model::{Code, Nanos, ScriptId, StatementAnswer};
use std::fs::File;
use std::io::{self, BufWriter};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use traffic::recording::{
    self, RecordedError, RecordedSession, RecordedStatement, RecordedTransaction, RecordedTransactions,
    TransactionKind,
};

/// Recording whose file is mapped into memory.
pub type MappedRecording = recording::Recording<Mmap>;

/// Time before its first request at which a session connects, if the recording does not contain the connection.
const CONNECTS_BEFORE: Nanos = Nanos::from_secs(1);

/// Writer of a recording in a file.
pub type RecordingFileWriter = recording::RecordingWriter<BufWriter<File>, File>;

/// Size of the buffer in front of a file that is written, in bytes.
const BUFFER: usize = 256 << 10;

/// Begins a recording in a file that must not exist yet. It contains the data of the requests, so that only its owner may
/// read it.
pub fn create(path: &Path) -> io::Result<RecordingFileWriter> {
    let out = BufWriter::with_capacity(BUFFER, files::create_private(path)?);
    let directory = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    recording::RecordingWriter::new(out, tempfile::tempfile_in(directory)?)
}

/// Opens a recording.
pub fn open(path: &Path) -> Result<MappedRecording, Message> {
    let file = files::open(path).map_err(|error| Message::from(&error))?;
    // SAFETY: the recording is read as plain bytes. If another process shortens the file, this process ends.
    let bytes = unsafe { Mmap::map(&file) }.map_err(|error| Message::from(&error))?;
    let release = |bytes: &Mmap, part: Range<usize>| {
        // SAFETY: the mapping is shared with the file and read-only, so that its pages are read from the file again.
        let released =
            unsafe { bytes.unchecked_advise_range(UncheckedAdvice::DontNeed, part.start, part.len()) };
        // If the pages remain in memory, the kernel can still evict them.
        let _ = released;
    };
    recording::Recording::open_in_parts(bytes, &release).map_err(Message::from)
}

/// Operations and extent of a recording, for an experiment.
pub fn describe(path: &Path, unit: RecordedUnit) -> Result<Recording, Message> {
    let recording = open(path)?;
    let bytes = path.metadata().map_err(|error| Message::from(&error))?.len();
    let (operations, transactions) = match unit {
        RecordedUnit::Request => (statements(&recording), None),
        RecordedUnit::Transaction => {
            let transactions = RecordedTransactions::new(&recording);
            (kinds(&recording, &transactions), Some(transactions))
        }
    };
    let (duration, requests) = (recording.duration(), recording.requests());
    let sessions = recording.sessions().len() as u64;
    let requests_per_second_max = requests_per_second_max(&recording);
    let sessions_max = replay(recording, 1.0).clients();
    let path = path.to_owned();
    let file =
        RecordingFile { path, bytes, duration, requests, requests_per_second_max, sessions, sessions_max };
    let mix = transactions.map(|all| RecordedMix {
        recording: file.clone(),
        transactions: all.transactions(),
        sessions: all.sessions.len() as u64,
        unfinished: all.unfinished,
    });
    Ok(Recording { file, operations, mix })
}

/// Statements of a recording as operations, with their numbers of requests.
fn statements(recording: &MappedRecording) -> Vec<(String, OperationKind, u64)> {
    let operation = |statement: &RecordedStatement| {
        let RecordedStatement { name, text, requests } = statement.clone();
        (name, OperationKind::Recorded { statement: text }, requests)
    };
    recording.statements().iter().map(operation).collect()
}

/// Kinds of transactions as operations, with their numbers of transactions.
fn kinds(
    recording: &MappedRecording,
    transactions: &RecordedTransactions,
) -> Vec<(String, OperationKind, u64)> {
    let step = |number: &u16| {
        let RecordedStatement { name, text, .. } = &recording.statements()[usize::from(*number)];
        RecordedStep { name: name.clone(), statement: text.clone() }
    };
    let operation = |kind: &TransactionKind| {
        let statements = kind.statements.iter().map(step).collect();
        (kind.name.clone(), OperationKind::RecordedTransaction { statements }, kind.transactions)
    };
    transactions.kinds.iter().map(operation).collect()
}

/// Transactions of a recording, which clients execute when an arrival is due.
pub fn mix(recording: MappedRecording) -> LoadMix {
    let transactions = RecordedTransactions::new(&recording);
    let sessions = transactions.sessions.into_iter().map(|session| {
        let transaction =
            |it: &RecordedTransaction| MixTransaction { requests: it.requests, script: ScriptId(it.kind) };
        (session.first, session.transactions.iter().map(transaction).collect())
    });
    LoadMix::new(Arc::new(RecordingSource::new(recording, 1.0)), sessions)
}

/// Maximum number of requests that begin within one second of the recording.
fn requests_per_second_max(recording: &MappedRecording) -> u64 {
    let mut counts = vec![0u64; recording.duration().as_secs_f64() as usize + 1];
    for number in 0..recording.requests() {
        let second = recording.request(number).start.as_secs_f64() as usize;
        if let Some(count) = counts.get_mut(second) {
            *count += 1;
        }
    }
    counts.into_iter().max().unwrap_or_default()
}

/// Sessions of a recording, `speed` times as fast as they were recorded.
pub fn replay(recording: MappedRecording, speed: f64) -> Replay {
    let session = |session: &RecordedSession| {
        let first = (session.requests > 0).then(|| recording.request(session.first).start);
        let connect = session.connected.or_else(|| first.map(|it| it - CONNECTS_BEFORE));
        ReplaySession {
            connect: scale(connect.unwrap_or_default(), speed),
            first: session.first,
            end: session.first + session.requests,
            disconnect: scale(session.disconnected.unwrap_or_default(), speed),
        }
    };
    let is_used = |it: &&RecordedSession| it.requests > 0 || it.connected.is_some();
    let sessions = recording.sessions().iter().filter(is_used).map(session).collect();
    Replay::new(Arc::new(RecordingSource::new(recording, speed)), sessions)
}

#[derive(Debug)]
struct RecordingSource {
    recording: MappedRecording,
    speed: f64,
    /// True for each statement that commits.
    commits: Vec<bool>,
}

impl RecordingSource {
    fn new(recording: MappedRecording, speed: f64) -> RecordingSource {
        let commits = recording.statements().iter().map(RecordedStatement::commits).collect();
        RecordingSource { recording, speed, commits }
    }
}

impl ReplaySource for RecordingSource {
    fn request(&self, n: u64) -> ReplayRequest<'_> {
        let request = self.recording.request(n);
        let error = request.outcome.error.map(|error| match error {
            RecordedError::SqlState(state) => Code::SqlState(state),
            RecordedError::Unknown => StatementAnswer::UNKNOWN_ERROR,
        });
        ReplayRequest {
            at: scale(request.start, self.speed),
            script: ScriptId(request.statement),
            messages: request.messages,
            commits: self.commits[usize::from(request.statement)],
            recorded: StatementAnswer { error, rows: request.outcome.rows },
        }
    }

    fn pause_before(&self, n: u64) -> Nanos {
        let before = self.recording.request(n - 1);
        let end = before.outcome.duration.map(|it| before.start + it);
        end.map_or(Nanos::ZERO, |end| self.recording.request(n).start - end)
    }
}

/// Time of a replay for a time of the recording.
fn scale(time: Nanos, speed: f64) -> Nanos {
    if speed == 1.0 { time } else { Nanos((time.0 as f64 / speed) as u64) }
}
