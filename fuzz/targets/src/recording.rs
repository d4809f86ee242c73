//! Target for recordings: damaged files are rejected, and messages of any content can be read and written again.

use ::traffic::Traffic;
use ::traffic::recording::{
    Identity, MAGIC, Outcome, RecordedError, Recording, RecordingWriter, convert, decode,
};
use model::Nanos;

/// Runs one input. The first byte selects whether it is a file, or the messages of requests.
pub fn run(data: &[u8]) {
    match data {
        [0, file @ ..] => open(file),
        [flags, messages @ ..] => write(*flags, messages),
        [] => {}
    }
}

/// Opens a file with this content after the magic bytes.
fn open(file: &[u8]) {
    if let Ok(recording) = Recording::open([&MAGIC[..], file].concat()) {
        read_all(&recording);
    }
}

/// Writes a recording whose requests have these messages, separated by 0xff, and changes one byte of it.
fn write(flags: u8, bytes: &[u8]) {
    let mut writer = RecordingWriter::in_memory();
    let sessions = [Some(Nanos(5)), None].map(|connected| writer.session(Identity::default(), connected));
    let mut written = Vec::new();
    for (number, messages) in bytes.split(|byte| *byte == 0xff).enumerate() {
        let error = (flags & 2 != 0).then_some(RecordedError::Unknown);
        let outcome = Outcome { duration: Some(Nanos(7)), rows: Some(number as u64), error };
        let session = sessions[number % 2];
        let start = Nanos(u64::from(messages.first().copied().unwrap_or_default()));
        writer
            .request(session, crate::text(messages), start, messages, outcome)
            .expect("memory can be written");
        written.push((session, messages));
    }
    let file = writer.finish().expect("memory can be written");
    let recording = Recording::open(file.clone()).expect("it was finished");
    let mut read = 0;
    for (number, session) in (0..).zip(recording.sessions()) {
        let requests =
            (session.first..session.first + session.requests).map(|n| recording.request(n).messages);
        let expected = written.iter().filter(|it| it.0 == number).map(|it| it.1);
        read += session.requests as usize;
        assert!(requests.eq(expected), "a session keeps its requests");
    }
    assert_eq!(read, written.len());
    read_all(&recording);

    // Statements that were read are written and read again without a difference.
    let mut once = Traffic::default();
    decode(&recording, &mut once, &mut |_| Ok(())).expect("the consumer has no error");
    let again = round_trip(&once);
    assert_eq!(texts(&again), texts(&round_trip(&again)));

    if let [at, change, ..] = *bytes {
        let mut damaged = file;
        let at = damaged.len() - 1 - usize::from(at) % (damaged.len() - MAGIC.len());
        damaged[at] ^= change | 1;
        // The messages themselves have no checksum.
        if let Ok(recording) = Recording::open(damaged) {
            read_all(&recording);
        }
    }
}

fn round_trip(traffic: &Traffic) -> Traffic {
    let mut writer = RecordingWriter::in_memory();
    convert(traffic.clone(), &mut writer).expect("memory can be written");
    let recording =
        Recording::open(writer.finish().expect("memory can be written")).expect("it was finished");
    let mut read = Traffic::default();
    decode(&recording, &mut read, &mut |_| Ok(())).expect("the consumer has no error");
    read
}

fn texts(traffic: &Traffic) -> Vec<(String, Vec<Option<String>>)> {
    let statements = traffic.sessions.iter().flat_map(|session| &session.statements);
    statements.map(|it| (it.text.to_string(), it.parameters.clone())).collect()
}

/// Reads every request and statement.
fn read_all(recording: &Recording<Vec<u8>>) {
    for number in 0..recording.requests() {
        let request = recording.request(number);
        assert!(usize::from(request.statement) < recording.statements().len());
    }
    decode(recording, &mut Traffic::default(), &mut |_| Ok(())).expect("the consumer has no error");
}
