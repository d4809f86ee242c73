use super::super::{Identity, Outcome, RecordedError, RecordingWriter};
use super::*;
use bytes::BytesMut;
use model::Nanos;
use postgres_protocol::IsNull;
use postgres_protocol::message::frontend;

/// Writer of a recording whose requests are described in a small language.
///
/// Requests are separated by blanks, and their statements by commas; `_` is a blank. A statement is a simple query. `name:text`
/// prepares it, `name*` executes what was prepared, and `!` at the end of a request marks an error.
fn record(sessions: &[&str]) -> Recording<Vec<u8>> {
    let mut writer = RecordingWriter::in_memory();
    let write = "memory can be written";
    for requests in sessions {
        let session = writer.session(Identity::default(), None);
        for (number, request) in requests.split_whitespace().enumerate() {
            let (request, failed) = request.strip_suffix('!').map_or((request, false), |it| (it, true));
            let mut out = BytesMut::new();
            let mut text = String::new();
            for statement in request.split(',') {
                let statement = statement.replace('_', " ");
                if let Some((name, prepared)) = statement.split_once(':') {
                    frontend::parse(name, prepared, [], &mut out).expect(write);
                } else if let Some(name) = statement.strip_suffix('*') {
                    let none: [&str; 0] = [];
                    let bound = frontend::bind("", name, [], none, |_, _| Ok(IsNull::Yes), [], &mut out);
                    assert!(bound.is_ok());
                    frontend::execute("", 0, &mut out).expect(write);
                } else {
                    frontend::query(&statement, &mut out).expect(write);
                }
                if text.is_empty() {
                    text = statement.split(':').next_back().unwrap_or_default().replace('*', "");
                }
            }
            let error = failed.then_some(RecordedError::Unknown);
            let outcome = Outcome { duration: None, rows: None, error };
            writer.request(session, &text, Nanos::from_millis(number as u64), &out, outcome).expect(write);
        }
    }
    Recording::open(writer.finish().expect(write)).expect("the recording is complete")
}

/// Numbers of requests of each transaction by session, and the number of requests without one.
fn sizes(sessions: &[&str]) -> (Vec<Vec<u32>>, u64) {
    let found = RecordedTransactions::new(&record(sessions));
    let sizes = |session: &SessionTransactions| {
        session.transactions.iter().map(|transaction| transaction.requests).collect()
    };
    (found.sessions.iter().map(sizes).collect(), found.unfinished)
}

#[test]
fn transactions_extend_from_idle_to_idle() {
    for (requests, expected, unfinished) in [
        ("select_1 select_2", &[1, 1][..], 0),
        ("begin select_1 update_a commit select_2", &[4, 1], 0),
        ("begin select_1 rollback_to_b commit", &[4], 0),
        ("begin;update_a;commit select_1", &[1, 1], 0),
        ("begin commit_and_chain update_a commit", &[4], 0),
        ("begin update_a! select_1! rollback", &[4], 0),
        ("begin commit! select_1", &[2, 1], 0),
        ("begin rollback! select_1 end", &[4], 0),
        ("commit select_1", &[1, 1], 0),
        ("select_1 begin update_a", &[1], 2),
        ("begin_transaction prepare_transaction_'a' select_1", &[2, 1], 0),
        // Prepared statements: their text is only in the Parse.
        ("b:begin,c:commit,s:select_1 b* s* c* s* b* s* c*", &[4, 1, 3], 0),
        // JDBC sends BEGIN with the first statement, in one request.
        (":begin,*,s:select_1,s* s* :commit,* s*", &[3, 1], 0),
        (":begin,*,s:select_1,s*,:commit,* s*", &[1, 1], 0),
        ("s:select_1 s* s:select_2", &[2], 1),
        ("b:begin b* b:commit b*", &[4], 0),
        ("", &[], 0),
    ] {
        let (sizes, left) = sizes(&[requests]);
        assert_eq!((sizes.concat(), left), (expected.to_vec(), unfinished), "{requests}");
    }
}

#[test]
fn transactions_of_the_same_statements_are_of_one_kind() {
    let recording = record(&[
        "begin select_a_from_b_where_c=1 commit select_1",
        "begin update_b_set_a=1",
        "begin select_a_from_b_where_c=2 commit begin update_b_set_a=1 commit",
    ]);
    let found = RecordedTransactions::new(&recording);
    let kinds: Vec<(&str, usize, u64)> =
        found.kinds.iter().map(|it| (it.name.as_str(), it.statements.len(), it.transactions)).collect();
    assert_eq!(kinds, [("tx-select-b", 3, 2), ("tx-update-b", 3, 1), ("select", 1, 1)]);
    let firsts: Vec<u64> = found.sessions.iter().map(|it| it.first).collect();
    assert_eq!((firsts, found.unfinished, found.transactions()), (vec![0, 6], 2, 4));
    let kinds: Vec<u16> = found.sessions[1].transactions.iter().map(|it| it.kind).collect();
    assert_eq!(kinds, [0, 1]);
}

/// More kinds than can be measured: the rarest share one, and long ones have no statements.
#[test]
fn rare_transactions_share_a_kind() {
    let of = |length: usize| format!("begin {} commit ", "select_1 ".repeat(length));
    let each: String = (0..150).map(|length| of(length).repeat(if length < 3 { 5 } else { 1 })).collect();
    let found = RecordedTransactions::new(&record(&[&each]));
    assert_eq!(found.kinds.len(), KINDS_MAX);
    assert_eq!(found.transactions(), 162);
    let last = found.kinds.last().expect("there are kinds");
    assert_eq!((last.name.as_str(), last.statements.len(), last.transactions), (OTHERS, 0, 51));
    let statements: usize = found.kinds.iter().map(|it| it.statements.len()).sum();
    assert!((200..=STATEMENTS_MAX).contains(&statements), "{statements}");
    assert!(found.sessions[0].transactions.iter().all(|it| usize::from(it.kind) < KINDS_MAX));
}
