//! Batches: requests on their way from the workers to the thread that writes the recording

use super::ProxyEvent;
use crate::proxy::{FinishedRequest, RequestSink, StatementText};
use crate::recording::{Identity, Outcome, RecordingWriter, Unrecorded};
use model::Nanos;
use std::collections::HashMap;
use std::io::{self, Read, Seek, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender};

/// Size from which a batch is sent, in bytes.
const BATCH_MIN: usize = 256 << 10;
/// Number of entries from which a batch is sent.
const ENTRIES_MIN: usize = 4096;
/// Maximum capacity of a batch that is used again, in bytes.
const RETAIN_MAX: usize = 1 << 20;
/// Bytes that may wait for the disk. More requests are left out, so that the memory is not exhausted.
const BACKLOG_MAX: usize = 256 << 20;
/// Size of an entry in the backlog, in addition to its messages.
const ENTRY: usize = 128;

/// Parts of a recording, in the order in which one worker observed them.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// Messages of all requests.
    bytes: Vec<u8>,
    entries: Vec<BatchEntry>,
}

#[derive(Debug)]
enum BatchEntry {
    Connect { session: u64, identity: Identity, connected: Nanos },
    Request { session: u64, start: Nanos, length: usize, text: Option<StatementText>, outcome: Outcome },
    LeaveOut(Unrecorded),
    Disconnect { session: u64, time: Nanos },
}

impl Batch {
    fn size(&self) -> usize {
        self.bytes.len() + ENTRY * self.entries.len()
    }
}

/// Batches that are not written yet, and empty ones.
#[derive(Debug, Default)]
pub(super) struct Backlog {
    size: AtomicUsize,
    empty: Mutex<Vec<Batch>>,
}

/// Collects a worker's requests.
#[derive(Debug)]
pub(super) struct BatchSender<'a> {
    batch: Batch,
    batches: Sender<Batch>,
    backlog: &'a Backlog,
}

impl<'a> BatchSender<'a> {
    pub fn new(batches: Sender<Batch>, backlog: &'a Backlog) -> BatchSender<'a> {
        BatchSender { batch: Batch::default(), batches, backlog }
    }

    /// Sink of one session.
    pub fn sink(&mut self, session: u64) -> SessionSink<'_, 'a> {
        SessionSink { session, sender: self }
    }

    /// Adds the end of a session.
    pub fn disconnect(&mut self, session: u64, time: Nanos) {
        self.batch.entries.push(BatchEntry::Disconnect { session, time });
    }

    /// Sends the batch if it is large.
    #[inline]
    pub fn send_if_large(&mut self) {
        if self.batch.bytes.len() >= BATCH_MIN || self.batch.entries.len() >= ENTRIES_MIN {
            self.send();
        }
    }

    /// Sends the batch, unless it is empty.
    pub fn send(&mut self) {
        if self.batch.entries.is_empty() {
            return;
        }
        let empty = self.backlog.empty.lock().expect("no thread panics").pop().unwrap_or_default();
        let batch = std::mem::replace(&mut self.batch, empty);
        self.backlog.size.fetch_add(batch.size(), Ordering::Relaxed);
        // The recorder receives until all senders are gone.
        let _ = self.batches.send(batch);
    }
}

/// Adds the requests of one session to a batch.
#[derive(Debug)]
pub(super) struct SessionSink<'s, 'a> {
    session: u64,
    sender: &'s mut BatchSender<'a>,
}

impl RequestSink for SessionSink<'_, '_> {
    fn connect(&mut self, identity: &Identity, connected: Nanos) {
        let (session, identity) = (self.session, identity.clone());
        self.sender.batch.entries.push(BatchEntry::Connect { session, identity, connected });
    }

    fn request(&mut self, request: &FinishedRequest<'_>) {
        let batch = &mut self.sender.batch;
        batch.bytes.extend_from_slice(request.messages);
        batch.entries.push(BatchEntry::Request {
            session: self.session,
            start: request.start,
            length: request.messages.len(),
            text: request.text.clone(),
            outcome: request.outcome,
        });
        self.sender.send_if_large();
    }

    fn leave_out(&mut self, reason: Unrecorded) {
        self.sender.batch.entries.push(BatchEntry::LeaveOut(reason));
        self.sender.send_if_large();
    }

    fn has_room(&self) -> bool {
        self.sender.backlog.size.load(Ordering::Relaxed) < BACKLOG_MAX
    }
}

/// Writes batches until all senders are gone, and finishes the recording. After an error, batches are dropped.
pub(super) fn write_batches<W: Write, F: Read + Write + Seek>(
    batches: Receiver<Batch>,
    recording: RecordingWriter<W, F>,
    backlog: &Backlog,
    report: &(dyn Fn(ProxyEvent<'_>) + Sync),
) -> io::Result<W> {
    let mut recording = Ok(recording);
    let mut sessions = HashMap::new();
    for mut batch in batches {
        let size = batch.size();
        if let Ok(writer) = &mut recording
            && let Err(error) = write_batch(&mut batch, writer, &mut sessions)
        {
            report(ProxyEvent::RecordingFailed(&error));
            recording = Err(error);
        }
        backlog.size.fetch_sub(size, Ordering::Relaxed);
        batch.bytes.clear();
        batch.entries.clear();
        if batch.bytes.capacity() <= RETAIN_MAX {
            backlog.empty.lock().expect("no thread panics").push(batch);
        }
    }
    recording.and_then(RecordingWriter::finish)
}

/// Writes one batch. `sessions` has the numbers of the open sessions in the recording.
fn write_batch<W: Write, F: Read + Write + Seek>(
    batch: &mut Batch,
    recording: &mut RecordingWriter<W, F>,
    sessions: &mut HashMap<u64, u32>,
) -> io::Result<()> {
    let mut rest = &*batch.bytes;
    for entry in batch.entries.drain(..) {
        match entry {
            BatchEntry::Connect { session, identity, connected } => {
                sessions.insert(session, recording.session(identity, Some(connected)));
            }
            BatchEntry::Request { session, start, length, text, outcome } => {
                let (messages, after) = rest.split_at(length);
                rest = after;
                let text = match &text {
                    None => "".into(),
                    Some(StatementText::Messages(range)) => String::from_utf8_lossy(&messages[range.clone()]),
                    Some(StatementText::Prepared(text)) => (&**text).into(),
                };
                let session = *sessions.get(&session).expect("a session connects before its first request");
                recording.request(session, &text, start, messages, outcome)?;
            }
            BatchEntry::LeaveOut(reason) => recording.leave_out(reason, 1),
            BatchEntry::Disconnect { session, time } => {
                if let Some(session) = sessions.remove(&session) {
                    recording.disconnect(session, time);
                }
            }
        }
    }
    Ok(())
}
