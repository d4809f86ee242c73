use super::layout::MAGIC;
use super::*;
use crate::session::{Protocol, Session, Statement, StatementError, Traffic};

fn statement(start: u64, text: &str, protocol: Protocol, parameters: &[Option<&str>]) -> Statement {
    Statement {
        start: Nanos::from_secs(1_700_000_000) + Nanos::from_millis(start),
        duration: Some(Nanos::from_millis(2)),
        text: text.into(),
        parameters: parameters.iter().map(|it| it.map(str::to_owned)).collect(),
        protocol,
        transaction: None,
        error: None,
    }
}

fn named(name: &str) -> Protocol {
    Protocol::Extended(Some(name.into()))
}

fn recorded(sessions: Vec<Session>) -> Recording<Vec<u8>> {
    let mut traffic = Traffic::default();
    traffic.sessions = sessions;
    let mut writer = RecordingWriter::in_memory();
    convert(traffic, &mut writer).expect("memory can be written");
    let bytes = writer.finish().expect("memory can be written");
    Recording::open(bytes).expect("the recording is complete")
}

fn session(statements: Vec<Statement>) -> Session {
    Session { user: Some("ann".into()), database: Some("shop".into()), statements, ..Session::default() }
}

/// Kinds of the messages, with their texts.
fn messages(request: &Request<'_>) -> String {
    let (mut rest, mut all) = (request.messages, Vec::new());
    while let [kind, a, b, c, d, ..] = *rest {
        let end = 1 + u32::from_be_bytes([a, b, c, d]) as usize;
        all.push(format!("{}{}", kind as char, rest[5..end].escape_ascii()));
        rest = &rest[end..];
    }
    all.join(" ")
}

#[test]
fn writes_the_messages_of_each_protocol() {
    let select = "select a from t where b = $1 and c is not distinct from $2";
    let parse = format!("Ps1\\x00{select}\\x00\\x00\\x00");
    let bind = "B\\x00s1\\x00\\x00\\x00\\x00\\x02\\x00\\x00\\x00\\x017\\xff\\xff\\xff\\xff\\x00\\x00";
    let execute = "DP\\x00 E\\x00\\x00\\x00\\x00\\x00 S";
    let recording = recorded(vec![session(vec![
        statement(0, "select 1", Protocol::Simple, &[]),
        statement(5, select, named("s1"), &[Some("7"), None]),
        statement(9, select, named("s1"), &[Some("7"), None]),
        statement(12, "select 2", named("s1"), &[]),
        statement(15, "select 3", Protocol::Extended(None), &[]),
    ])]);

    let all: Vec<String> = (0..recording.requests()).map(|n| messages(&recording.request(n))).collect();
    assert_eq!(
        all,
        [
            "Qselect 1\\x00".to_owned(),
            format!("{parse} {bind} {execute}"),
            format!("{bind} {execute}"),
            format!(
                "CSs1\\x00 Ps1\\x00select 2\\x00\\x00\\x00 \
                 B\\x00s1\\x00\\x00\\x00\\x00\\x00\\x00\\x00 {execute}"
            ),
            format!("P\\x00select 3\\x00\\x00\\x00 B\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00 {execute}"),
        ]
    );
    let starts: Vec<u64> = (0..5).map(|n| recording.request(n).start.0 / 1_000_000).collect();
    assert_eq!(starts, [0, 5, 9, 12, 15]);
    assert_eq!(recording.duration(), Nanos::from_millis(17));
    let names: Vec<(&str, u64)> =
        recording.statements().iter().map(|it| (it.name.as_str(), it.requests)).collect();
    assert_eq!(names, [("select", 3), ("select-t", 2)]);
}

#[test]
fn statements_of_one_implicit_transaction_are_one_request() {
    let in_transaction = |transaction, it: Statement| Statement { transaction: Some(transaction), ..it };
    let insert =
        |start| statement(start, "insert into t values ($1)", Protocol::Extended(None), &[Some("1")]);
    let recording = recorded(vec![session(vec![
        in_transaction(7, insert(0)),
        in_transaction(7, insert(3)),
        in_transaction(8, insert(9)),
    ])]);

    let syncs: Vec<usize> =
        (0..recording.requests()).map(|n| messages(&recording.request(n)).matches(" S").count()).collect();
    assert_eq!(syncs, [1, 1]);
    assert_eq!(recording.request(0).outcome.duration, Some(Nanos::from_millis(5)));
}

#[test]
fn keeps_errors_and_leaves_out_what_cannot_be_sent() {
    let failed = |sqlstate| StatementError { sqlstate };
    let with_error = |it: Statement, sqlstate| Statement { error: Some(failed(sqlstate)), ..it };
    let simple = |start, text| statement(start, text, Protocol::Simple, &[]);
    let recording = recorded(vec![session(vec![
        with_error(simple(0, "insert into t values (1)"), Some(*b"23505")),
        with_error(simple(1, "insert into t values (2)"), None),
        simple(2, "copy t from stdin"),
        simple(3, "alter role ann password 'secret'"),
        simple(4, "select 'open"),
        statement(5, "select $1", Protocol::Extended(None), &[]),
        simple(6, "prepare p as select $1"),
    ])]);

    let errors: Vec<Option<RecordedError>> =
        (0..recording.requests()).map(|n| recording.request(n).outcome.error).collect();
    let expected = [Some(RecordedError::SqlState(*b"23505")), Some(RecordedError::Unknown), None];
    assert_eq!(errors, expected);
    let reasons: Vec<Unrecorded> = recording.left_out().keys().copied().collect();
    use Unrecorded::*;
    assert_eq!(reasons, [CopyData, Secret, MissingParameters, Unreadable]);
}

#[test]
fn requests_of_a_session_follow_one_another() {
    let mut writer = RecordingWriter::in_memory();
    let at = |it: u64| Nanos::from_secs(100 + it);
    let outcome = Outcome { duration: None, rows: Some(3), error: None };
    let first = writer.session(Identity::default(), Some(at(1)));
    let second = writer.session(Identity::default(), None);
    let mut request = |session, start, text: &str| {
        writer.request(session, text, at(start), text.as_bytes(), outcome).expect("memory can be written");
    };
    request(first, 2, "a");
    request(second, 3, "b");
    // The clock of a log may be set back.
    request(first, 1, "c");
    writer.disconnect(second, at(9));
    let recording = Recording::open(writer.finish().expect("memory can be written")).expect("a recording");

    let texts: Vec<(&[u8], u64)> =
        (0..3).map(|n| recording.request(n)).map(|it| (it.messages, it.start.as_secs_f64() as u64)).collect();
    assert_eq!(texts, [(&b"a"[..], 1), (b"c", 1), (b"b", 2)]);
    let sessions: Vec<(u64, u64, Option<Nanos>)> =
        recording.sessions().iter().map(|it| (it.first, it.requests, it.connected)).collect();
    assert_eq!(sessions, [(0, 2, Some(Nanos::ZERO)), (2, 1, None)]);
    assert_eq!(recording.request(0).outcome, outcome);
    assert_eq!(recording.duration(), Nanos::from_secs(8));
    assert_eq!(recording.start(), at(1));
}

#[test]
fn rare_statements_share_an_entry() {
    let mut writer = RecordingWriter::in_memory();
    let session = writer.session(Identity::default(), None);
    for number in 0..STATEMENTS_MAX + 80 {
        for _ in 0..=number % 3 {
            let outcome = Outcome { duration: None, rows: None, error: None };
            let text = format!("select a from t{number}");
            writer.request(session, &text, Nanos::ZERO, b"x", outcome).expect("memory can be written");
        }
    }
    let requests = writer.requests();
    let recording = Recording::open(writer.finish().expect("memory can be written")).expect("a recording");

    let statements = recording.statements();
    assert_eq!(statements.len(), STATEMENTS_MAX);
    assert_eq!(statements.last().map(|it| it.name.as_str()), Some("other-statements"));
    assert_eq!(statements.iter().map(|it| it.requests).sum::<u64>(), requests);
    let of_last =
        (0..requests).filter(|n| usize::from(recording.request(*n).statement) == STATEMENTS_MAX - 1);
    assert_eq!(Some(of_last.count() as u64), statements.last().map(|it| it.requests));
}

#[test]
fn rejects_files_that_are_no_complete_recording() {
    let sessions = vec![session(vec![statement(0, "select 1", Protocol::Simple, &[])])];
    let mut traffic = Traffic::default();
    traffic.sessions = sessions;
    let mut writer = RecordingWriter::in_memory();
    convert(traffic, &mut writer).expect("memory can be written");
    let bytes = writer.finish().expect("memory can be written");

    let open = |bytes: &[u8]| Recording::open(bytes.to_vec()).map(|it| it.requests());
    assert_eq!(open(&bytes), Ok(1));
    assert_eq!(open(b"2024-01-01 select 1"), Err(RecordingError::NoRecording));
    assert_eq!(open(MAGIC), Err(RecordingError::Incomplete));
    // Every change of a byte after the messages is found, and so is every cut.
    let messages = MAGIC.len() + "Q....select 1.".len();
    for at in messages..bytes.len() - MAGIC.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        assert_eq!(open(&changed), Err(RecordingError::Damaged), "byte {at}");
    }
    for length in MAGIC.len()..bytes.len() {
        assert!(open(&bytes[..length]).is_err(), "{length} bytes");
    }
}

#[test]
fn statements_are_named_by_what_they_execute() {
    let mut writer = RecordingWriter::in_memory();
    let session = writer.session(Identity::default(), None);
    let outcome = Outcome { duration: None, rows: None, error: None };
    let parse = b"P\0\0\0\x12s1\0select 1\0\0\0S\0\0\0\x04";
    for (text, messages) in [
        ("EXECUTE find('item 1')", &b"Q\0\0\0\x05\0"[..]),
        ("EXECUTE find('item 2')", b"Q\0\0\0\x05\0"),
        ("select 1", parse),
        ("select 1", b"Q\0\0\0\x05\0"),
        ("COMMIT", b"Q\0\0\0\x05\0"),
    ] {
        writer.request(session, text, Nanos::ZERO, messages, outcome).expect("memory can be written");
    }
    let recording = Recording::open(writer.finish().expect("memory can be written")).expect("a recording");

    let mut names: Vec<(&str, u64, bool)> =
        recording.statements().iter().map(|it| (it.name.as_str(), it.requests, it.commits())).collect();
    names.sort_unstable();
    let expected =
        [("commit", 1, true), ("execute-find", 2, false), ("prepare", 1, false), ("select", 1, false)];
    assert_eq!(names, expected);
}

/// Neither the statements nor their texts, each of which occurs once, are kept after they were recorded.
#[test]
fn recorded_texts_are_released() {
    use crate::log::{LogFormat, read_every};
    let entry = |number: u32| {
        format!(
            "{{\"timestamp\":\"2026-11-26 03:13:{:02}.000 UTC\",\"session_id\":\"1.1\",\"error_severity\":\"LOG\",\
             \"message\":\"duration: 1.000 ms  statement: select {number}\"}}\n",
            number % 60
        )
    };
    let log: String = (0..100).map(entry).collect();
    let (mut traffic, mut writer) = (Traffic::default(), RecordingWriter::in_memory());
    let mut converter = LogConverter::default();
    let mut largest = 0;
    let result = read_every(10, log.as_bytes(), &LogFormat::Json, &mut traffic, &mut |traffic| {
        converter.convert(traffic, &mut writer).expect("memory can be written");
        largest = largest.max(traffic.retained_texts()).max(traffic.statements());
        Ok(())
    });
    result.expect("the log can be read");
    converter.finish(&mut traffic, &mut writer).expect("memory can be written");
    assert_eq!((writer.requests(), converter.statements()), (100, 100));
    // The last statement may still change.
    assert_eq!(largest, 1);
}

/// A table with a valid checksum may still refer to messages or statements that do not exist.
#[test]
fn rejects_references_to_what_does_not_exist() {
    let mut traffic = Traffic::default();
    traffic.sessions = vec![session(vec![statement(0, "select 1", Protocol::Simple, &[])])];
    let mut writer = RecordingWriter::in_memory();
    convert(traffic, &mut writer).expect("memory can be written");
    let bytes = writer.finish().expect("memory can be written");
    let end = bytes.len() - layout::END_SIZE;
    let requests = u64::from_le_bytes(bytes[end..end + 8].try_into().expect("eight bytes")) as usize;
    // Position of the messages, their length, and the statement: see `RequestEntry`.
    for (offset, change, valid) in [(0, 0, true), (8, 1, false), (16, 1, false), (20, 1, false)] {
        let mut changed = bytes.clone();
        changed[requests + offset] += change;
        let checksum = u64::from(crc32c::crc32c(&changed[requests..end + 4 * 8]));
        changed[end + 4 * 8..end + 5 * 8].copy_from_slice(&checksum.to_le_bytes());
        assert_eq!(Recording::open(changed).is_ok(), valid, "byte {offset}");
    }
}

/// Logs of real servers: a recording that is written while the log is read has the same contents.
#[test]
fn recordings_do_not_depend_on_the_batches() {
    use crate::log::{LogFormat, read_every};
    let read = |log: &[u8], format: &LogFormat, batch: u64| {
        let mut traffic = Traffic::default();
        let mut writer = RecordingWriter::in_memory();
        let mut converter = LogConverter::default();
        let mut retained = 0;
        let result = read_every(batch, log, format, &mut traffic, &mut |traffic| {
            converter.convert(traffic, &mut writer).expect("memory can be written");
            retained = retained.max(traffic.statements());
            Ok(())
        });
        result.expect("the log can be read");
        converter.finish(&mut traffic, &mut writer).expect("memory can be written");
        let requests = writer.requests();
        let recording =
            Recording::open(writer.finish().expect("memory can be written")).expect("a recording");
        let mut all: Vec<String> = Vec::new();
        for session in recording.sessions() {
            let requests = session.first..session.first + session.requests;
            let requests = requests.map(|n| recording.request(n));
            let requests: Vec<_> = requests.map(|it| (it.start, it.messages, it.outcome)).collect();
            let identity = &recording.identities()[session.identity as usize];
            all.push(format!("{identity:?} {:?} {:?} {requests:?}", session.connected, session.disconnected));
        }
        (all, recording.left_out().clone(), recording.duration(), converter.statements(), requests, retained)
    };
    for (log, format) in [
        (&include_bytes!("../../fixtures/18-extended.json")[..], LogFormat::Json),
        (&include_bytes!("../../fixtures/15-bench.csv")[..], LogFormat::Csv),
        (&include_bytes!("../../fixtures/16-psql.csv")[..], LogFormat::Csv),
    ] {
        let whole = read(log, &format, u64::MAX);
        assert!(whole.4 > 10 && whole.5 == 0, "{whole:?}");
        for batch in [1, 2, 7, 100] {
            let in_batches = read(log, &format, batch);
            assert_eq!((&in_batches.0, &in_batches.1), (&whole.0, &whole.1), "{batch}");
            assert_eq!((in_batches.2, in_batches.3, in_batches.4), (whole.2, whole.3, whole.4), "{batch}");
        }
        // Only the statements of the last transactions are retained.
        assert!(read(log, &format, 1).5 < whole.3 as usize / 2);
    }
}
