use super::*;

fn attempt(sequence: u64, outcome: WriteOutcome) -> WriteAttempt {
    let (invoked, ended) = (Nanos(sequence * 10), Nanos(sequence * 10 + 7));
    WriteAttempt { key: WriteKey { session: 3, sequence }, number: 2, outcome, invoked, ended, server: None }
}

#[test]
fn consumer_receives_pushed_records() {
    let (mut taps, mut drain) = ledger_channel(&[(3, 2)], 42);
    taps[0].prepare();
    let outcomes = [
        WriteOutcome::Acknowledged,
        WriteOutcome::AcknowledgedLocally,
        WriteOutcome::Failed(Code::SqlState(*b"25006")),
        WriteOutcome::Failed(Code::REFUSED),
        WriteOutcome::Unknown(Code::Http(503)),
        WriteOutcome::Unknown(Code::SqlState(*b"40003")),
    ];
    for (sequence, outcome) in outcomes.into_iter().enumerate() {
        let server: &[u8] = [&b""[..], b"17|3|10.0.0.1:5432", b"18|4|local:5432", b"nonsense"][sequence % 4];
        taps[0].push_attempt(&attempt(sequence as u64, outcome), server);
    }
    let mut entries = Vec::new();
    drain.take(&mut entries);
    let server = |started_us, timeline, address: &str| ServerInstance {
        system: 42,
        address: address.to_owned(),
        started_us,
        timeline,
    };
    let mut expected = vec![
        LedgerEntry::Server(ServerId(0), server(17, 3, "10.0.0.1:5432")),
        LedgerEntry::Server(ServerId(1), server(18, 4, "local:5432")),
        LedgerEntry::Reserved { session: 3, until: RESERVATION_SIZE },
        LedgerEntry::Reserved { session: 4, until: RESERVATION_SIZE },
    ];
    let servers = [None, Some(ServerId(0)), Some(ServerId(1)), None, None, Some(ServerId(0))];
    for (sequence, (outcome, server)) in outcomes.into_iter().zip(servers).enumerate() {
        expected.push(LedgerEntry::Completed(WriteAttempt { server, ..attempt(sequence as u64, outcome) }));
    }
    assert_eq!(entries, expected);
    drain.mark_written();
    entries.clear();
    drain.take(&mut entries);
    assert_eq!(entries, []);
}

/// Two threads push more records than the rings have slots. No record is lost or duplicated, and no sequence number is
/// used before its reservation.
#[test]
fn no_record_is_lost_between_threads() {
    const EACH: u64 = 3 * RING_CAPACITY;
    let (taps, mut drain) = ledger_channel(&[(0, 1), (1, 1)], 1);
    let mut next = [0; 2];
    let mut reserved = [0; 2];
    std::thread::scope(|scope| {
        for mut tap in taps {
            scope.spawn(move || {
                tap.prepare();
                for sequence in 0..EACH {
                    tap.reserve(ClientId(tap.first), sequence);
                    let key = WriteKey { session: tap.first, sequence };
                    tap.push_attempt(
                        &WriteAttempt { key, ..attempt(sequence, WriteOutcome::Acknowledged) },
                        b"1|1|a",
                    );
                }
            });
        }
        let mut entries = Vec::new();
        while next != [EACH; 2] {
            drain.take(&mut entries);
            for entry in entries.drain(..) {
                match entry {
                    LedgerEntry::Completed(write) => {
                        let session = write.key.session as usize;
                        assert_eq!(write.key.sequence, next[session], "records are in order");
                        assert!(write.key.sequence < reserved[session], "sequences are reserved before use");
                        next[session] += 1;
                    }
                    LedgerEntry::Reserved { session, until } => reserved[session as usize] = until,
                    LedgerEntry::Server(..) => {}
                    other => panic!("unexpected entry: {other:?}"),
                }
            }
            drain.mark_written();
        }
    });
    assert_eq!(reserved, [EACH + RESERVATION_SIZE; 2]);
}

/// A producer whose consumer was dropped does not block.
#[test]
fn producer_does_not_block_without_consumer() {
    let (mut taps, drain) = ledger_channel(&[(0, 1)], 1);
    drop(drain);
    for sequence in 0..3 * RING_CAPACITY {
        taps[0].reserve(ClientId(0), sequence);
        taps[0].push_attempt(&attempt(sequence, WriteOutcome::Acknowledged), b"");
    }
}

#[test]
fn maps_outcomes_to_write_outcomes() {
    use model::Outcome as Met;
    let state = |it: &[u8; 5]| Code::SqlState(*it);
    let failed = |it: &[u8; 5]| Met::Failed(state(it));
    let (sent, unsent) = (true, false);
    for (met, is_sent, settled, local, expected) in [
        (Met::Ok, sent, false, false, Some(WriteOutcome::Acknowledged)),
        (Met::Ok, sent, true, false, Some(WriteOutcome::Acknowledged)),
        (Met::Ok, sent, false, true, Some(WriteOutcome::AcknowledgedLocally)),
        (failed(b"23505"), sent, false, false, Some(WriteOutcome::Failed(state(b"23505")))),
        (failed(b"25006"), sent, false, false, Some(WriteOutcome::Failed(state(b"25006")))),
        // COMMIT returned ROLLBACK.
        (failed(b"40000"), sent, false, false, Some(WriteOutcome::Failed(state(b"40000")))),
        (failed(b"40003"), sent, false, false, Some(WriteOutcome::Unknown(state(b"40003")))),
        (failed(b"08007"), sent, false, false, Some(WriteOutcome::Unknown(state(b"08007")))),
        // A pooler lost its server, perhaps after the commit, and then sent ReadyForQuery.
        (failed(b"08006"), sent, false, false, Some(WriteOutcome::Unknown(state(b"08006")))),
        (failed(b"57P01"), sent, false, false, Some(WriteOutcome::Unknown(state(b"57P01")))),
        (failed(b"58000"), sent, false, false, Some(WriteOutcome::Unknown(state(b"58000")))),
        (failed(b"57014"), sent, false, false, Some(WriteOutcome::Failed(state(b"57014")))),
        (failed(b"08006"), unsent, false, false, Some(WriteOutcome::Failed(state(b"08006")))),
        // An earlier statement was committed in a separate transaction; then an error in the script failed.
        (failed(b"23505"), sent, true, false, Some(WriteOutcome::Unknown(state(b"23505")))),
        (failed(b"38000"), sent, false, false, Some(WriteOutcome::Unknown(state(b"38000")))),
        (failed(b"38000"), unsent, false, false, Some(WriteOutcome::Failed(state(b"38000")))),
        (Met::Failed(Code::REFUSED), unsent, false, false, Some(WriteOutcome::Failed(Code::REFUSED))),
        (Met::Failed(Code::RESET), sent, false, false, Some(WriteOutcome::Unknown(Code::RESET))),
        (Met::Failed(Code::Http(500)), sent, false, false, Some(WriteOutcome::Unknown(Code::Http(500)))),
        (Met::Unknown(Code::RESET), sent, false, false, Some(WriteOutcome::Unknown(Code::RESET))),
        (Met::Unknown(Code::RESET), sent, false, true, Some(WriteOutcome::Unknown(Code::RESET))),
        (Met::Dropped, unsent, false, false, None),
    ] {
        assert_eq!(
            write_outcome(met, is_sent, settled, local),
            expected,
            "{met:?} {is_sent} {settled} {local}"
        );
    }
}

#[test]
fn codes_round_trip() {
    for code in [
        Code::SqlState(*b"40P01"),
        Code::Http(503),
        Code::RESET,
        Code::TEXT_NOT_FOUND,
        Code::TextFound,
        Code::CAPTURE_NOT_FOUND,
    ] {
        assert_eq!(decode_code(encode_code(code)), code);
    }
}
