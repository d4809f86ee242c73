//! Reads new lines of a log file

use super::{EventLimiter, LogFormat, LogReader};
use model::server_log::DeadlockGroup;
use model::{LogEvent, Nanos};
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::PathBuf;

/// Reader that follows a log from its current end.
#[derive(Debug)]
pub struct LogFollower {
    path: PathBuf,
    file: Option<File>,
    offset: u64,
    /// Start of a line whose end is not written yet.
    partial: Vec<u8>,
    pub reader: LogReader,
    node: String,
    throttle: EventLimiter,
}

/// Maximum size of one read, bytes. A server that writes many log lines then does not delay the reading of other logs.
const READ_CHUNK: usize = 256 * 1024;
/// Maximum number of unread bytes. If there are more, all but the last `READ_CHUNK` bytes are skipped.
const MAX_BACKLOG: u64 = 8 * 1024 * 1024;
/// Maximum length of a line, bytes. The start of a longer line is discarded. The rest of the line is parsed as a
/// separate line, which no parser recognizes.
const MAX_LINE: usize = 64 * 1024;

impl LogFollower {
    /// Starts at the end of the file. A file that does not exist yet is read from its beginning.
    pub fn from_end(path: PathBuf, dialect: LogFormat, node: &str) -> LogFollower {
        let file = File::open(&path).ok();
        let offset = file.as_ref().and_then(|it| it.metadata().ok()).map_or(0, |it| it.len());
        let (reader, throttle) = (LogReader::new(dialect), EventLimiter::new(node));
        LogFollower { path, file, offset, partial: Vec::new(), reader, node: node.to_owned(), throttle }
    }

    /// Appends the events in the new lines. A file that became shorter is read from its beginning.
    pub fn poll(&mut self, at: Nanos, out: &mut Vec<LogEvent>) -> io::Result<()> {
        self.throttle.tick(at, out);
        if self.file.is_none() {
            match File::open(&self.path) {
                Ok(it) => self.file = Some(it),
                Err(it) if it.kind() == ErrorKind::NotFound => return Ok(()),
                Err(it) => return Err(it),
            }
        }
        let Some(file) = &mut self.file else { return Ok(()) };
        let length = file.metadata()?.len();
        if length < self.offset || length - self.offset > MAX_BACKLOG {
            self.offset = if length < self.offset { 0 } else { length - READ_CHUNK as u64 };
            self.partial.clear();
        }
        if length == self.offset {
            return Ok(());
        }
        file.seek(SeekFrom::Start(self.offset))?;
        let read = file.take(READ_CHUNK as u64).read_to_end(&mut self.partial)?;
        self.offset += read as u64;
        self.read_lines(at, out);
        Ok(())
    }

    /// Reports the events that were suppressed since the last report. Call it when sampling ends.
    pub fn finish(&mut self, at: Nanos, out: &mut Vec<LogEvent>) {
        self.reader.finish();
        self.throttle.finish(at, out);
    }

    /// Removes and returns the deadlocks that were read since the last call. Unlike events, they are not limited.
    pub fn take_deadlocks(&mut self, at: Nanos) -> Vec<DeadlockGroup> {
        self.reader.take_deadlocks().iter().map(|it| it.group(&self.node, at)).collect()
    }

    fn read_lines(&mut self, at: Nanos, out: &mut Vec<LogEvent>) {
        let mut from = 0;
        while let Some(length) = self.partial[from..].iter().position(|it| *it == b'\n') {
            let line = String::from_utf8_lossy(&self.partial[from..from + length]);
            if let Some(record) = self.reader.line(line.trim_end_matches('\r')) {
                self.throttle.take(at, record, out);
            }
            from += length + 1;
        }
        self.partial.drain(..from);
        if self.partial.len() > MAX_LINE {
            self.partial.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn reads_lines_written_in_pieces() {
        let path = std::env::temp_dir().join(format!("follow-{}", std::process::id()));
        std::fs::write(&path, "2026-11-21 11:00:00 UTC [1] 22012 ERROR:  before\n").unwrap();
        let mut follower = LogFollower::from_end(path.clone(), LogFormat::Postgres, "db");
        let mut check = |piece: &str, expected: &[&str]| {
            let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
            file.write_all(piece.as_bytes()).unwrap();
            let mut events = Vec::new();
            follower.poll(Nanos(5), &mut events).unwrap();
            assert_eq!(events.iter().map(|it| it.text.as_str()).collect::<Vec<_>>(), expected, "{piece}");
        };
        check("", &[]);
        check("2026-11-21 11:00:00 UTC [1] 22012 ERR", &[]);
        check("OR:  one\n2026-11-21 11:00:00 UTC [1] 22012 ERROR:  two\n2026", &["one", "two"]);
        std::fs::write(&path, "").unwrap();
        check("2026-11-21 11:00:00 UTC [1] 22012 ERROR:  anew\n", &["anew"]);
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn counts_events_beyond_limit() {
        let path = std::env::temp_dir().join(format!("flood-{}", std::process::id()));
        let mut follower = LogFollower::from_end(path.clone(), LogFormat::Postgres, "db");
        let mut events = Vec::new();
        follower.poll(Nanos(0), &mut events).unwrap();
        std::fs::write(&path, "2026-11-21 11:00:00 UTC [1] 40P01 ERROR:  deadlock detected\n".repeat(188))
            .unwrap();
        follower.poll(Nanos::from_millis(1200), &mut events).unwrap();
        assert_eq!(events.len(), super::super::MAX_EVENTS_PER_SECOND);
        follower.poll(Nanos::from_millis(1300), &mut events).unwrap();
        assert_eq!(events.len(), super::super::MAX_EVENTS_PER_SECOND);
        follower.poll(Nanos::from_millis(2000), &mut events).unwrap();
        let last = events.last().unwrap();
        assert_eq!((last.kind, last.text.as_str()), (model::EventKind::Deadlock, "138 more within a second"));
        std::fs::remove_file(&path).unwrap();
    }
}
