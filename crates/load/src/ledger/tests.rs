use super::*;

fn attempt(sequence: u64, outcome: Outcome) -> Attempt {
    let (invoked, ended) = (Nanos(sequence * 10), Nanos(sequence * 10 + 7));
    Attempt { key: Key { session: 3, sequence }, number: 2, outcome, invoked, ended, server: None }
}

#[test]
fn what_is_put_in_comes_out() {
    let (mut taps, mut drain) = taps(&[(3, 2)], 42);
    taps[0].prepare();
    let outcomes = [
        Outcome::Acknowledged,
        Outcome::AcknowledgedLocally,
        Outcome::Failed(Code::SqlState(*b"25006")),
        Outcome::Failed(Code::REFUSED),
        Outcome::Unknown(Code::Http(503)),
        Outcome::Unknown(Code::SqlState(*b"40003")),
    ];
    for (sequence, outcome) in outcomes.into_iter().enumerate() {
        let server: &[u8] = [&b""[..], b"17|3|10.0.0.1:5432", b"18|4|local:5432", b"nonsense"][sequence % 4];
        taps[0].wrote(&attempt(sequence as u64, outcome), server);
    }
    let mut entries = Vec::new();
    drain.take(&mut entries);
    let server = |started_us, timeline, address: &str| Server {
        system: 42,
        address: address.to_owned(),
        started_us,
        timeline,
    };
    let mut expected = vec![
        Entry::Server(ServerId(0), server(17, 3, "10.0.0.1:5432")),
        Entry::Server(ServerId(1), server(18, 4, "local:5432")),
        Entry::Reserved { session: 3, until: BLOCK },
        Entry::Reserved { session: 4, until: BLOCK },
    ];
    let servers = [None, Some(ServerId(0)), Some(ServerId(1)), None, None, Some(ServerId(0))];
    for (sequence, (outcome, server)) in outcomes.into_iter().zip(servers).enumerate() {
        expected.push(Entry::Ended(Attempt { server, ..attempt(sequence as u64, outcome) }));
    }
    assert_eq!(entries, expected);
    drain.written();
    entries.clear();
    drain.take(&mut entries);
    assert_eq!(entries, []);
}

/// Two threads with more records than places: none is lost, none doubled, and no sequence is used before it is reserved.
#[test]
fn nothing_is_lost_on_the_way() {
    const EACH: u64 = 3 * PLACES;
    let (taps, mut drain) = taps(&[(0, 1), (1, 1)], 1);
    let mut next = [0; 2];
    let mut reserved = [0; 2];
    std::thread::scope(|scope| {
        for mut tap in taps {
            scope.spawn(move || {
                tap.prepare();
                for sequence in 0..EACH {
                    tap.reserve(ClientId(tap.first), sequence);
                    let key = Key { session: tap.first, sequence };
                    tap.wrote(&Attempt { key, ..attempt(sequence, Outcome::Acknowledged) }, b"1|1|a");
                }
            });
        }
        let mut entries = Vec::new();
        while next != [EACH; 2] {
            drain.take(&mut entries);
            for it in entries.drain(..) {
                match it {
                    Entry::Ended(it) => {
                        let session = it.key.session as usize;
                        assert_eq!(it.key.sequence, next[session], "in their order");
                        assert!(it.key.sequence < reserved[session], "reserved before");
                        next[session] += 1;
                    }
                    Entry::Reserved { session, until } => reserved[session as usize] = until,
                    Entry::Server(..) => {}
                    other => panic!("{other:?} was not put in"),
                }
            }
            drain.written();
        }
    });
    assert_eq!(reserved, [EACH + BLOCK; 2]);
}

/// A thread does not wait for a ledger that nobody keeps any more.
#[test]
fn nobody_is_waited_for() {
    let (mut taps, drain) = taps(&[(0, 1)], 1);
    drop(drain);
    for sequence in 0..3 * PLACES {
        taps[0].reserve(ClientId(0), sequence);
        taps[0].wrote(&attempt(sequence, Outcome::Acknowledged), b"");
    }
}

#[test]
fn what_the_ledger_is_told() {
    use model::Outcome as Met;
    let state = |it: &[u8; 5]| Code::SqlState(*it);
    let failed = |it: &[u8; 5]| Met::Failed(state(it));
    let (sent, unsent) = (true, false);
    for (met, is_sent, settled, local, expected) in [
        (Met::Ok, sent, false, false, Some(Outcome::Acknowledged)),
        (Met::Ok, sent, true, false, Some(Outcome::Acknowledged)),
        (Met::Ok, sent, false, true, Some(Outcome::AcknowledgedLocally)),
        (failed(b"23505"), sent, false, false, Some(Outcome::Failed(state(b"23505")))),
        (failed(b"25006"), sent, false, false, Some(Outcome::Failed(state(b"25006")))),
        // COMMIT was answered with ROLLBACK.
        (failed(b"40000"), sent, false, false, Some(Outcome::Failed(state(b"40000")))),
        (failed(b"40003"), sent, false, false, Some(Outcome::Unknown(state(b"40003")))),
        (failed(b"08007"), sent, false, false, Some(Outcome::Unknown(state(b"08007")))),
        // An earlier statement has been committed by itself; the script went wrong by its own mistake.
        (failed(b"23505"), sent, true, false, Some(Outcome::Unknown(state(b"23505")))),
        (failed(b"38000"), sent, false, false, Some(Outcome::Unknown(state(b"38000")))),
        (failed(b"38000"), unsent, false, false, Some(Outcome::Failed(state(b"38000")))),
        (Met::Failed(Code::REFUSED), unsent, false, false, Some(Outcome::Failed(Code::REFUSED))),
        (Met::Failed(Code::RESET), sent, false, false, Some(Outcome::Unknown(Code::RESET))),
        (Met::Failed(Code::Http(500)), sent, false, false, Some(Outcome::Unknown(Code::Http(500)))),
        (Met::Unknown(Code::RESET), sent, false, false, Some(Outcome::Unknown(Code::RESET))),
        (Met::Unknown(Code::RESET), sent, false, true, Some(Outcome::Unknown(Code::RESET))),
        (Met::Dropped, unsent, false, false, None),
    ] {
        assert_eq!(outcome(met, is_sent, settled, local), expected, "{met:?} {is_sent} {settled} {local}");
    }
}

#[test]
fn codes_come_back() {
    for code in [Code::SqlState(*b"40P01"), Code::Http(503), Code::RESET, Code::UNEXPECTED, Code::ABSENT] {
        assert_eq!(unpack(pack(code)), code);
    }
}
