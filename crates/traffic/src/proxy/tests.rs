use super::*;
use crate::recording::{Identity, RecordedError, Unrecorded};
use model::Nanos;
use proptest::prelude::*;

/// Bytes that one side sends at once.
#[derive(Clone, Debug)]
enum Turn {
    Client(Vec<u8>),
    Server(Vec<u8>),
}

/// Messages from a text: each line is a type, a space and the body, in which `~` is NUL.
fn messages(text: &str) -> Vec<u8> {
    let mut all = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (tag, body) = line.split_at(1);
        let body = unescape(body.strip_prefix(' ').unwrap_or_default());
        all.extend(tag.bytes());
        all.extend((body.len() as u32 + 4).to_be_bytes());
        all.extend(body);
    }
    all
}

/// Bytes of a text in which `~` is NUL.
fn unescape(text: &str) -> Vec<u8> {
    text.bytes().map(|byte| if byte == b'~' { 0 } else { byte }).collect()
}

fn client(text: &str) -> Turn {
    Turn::Client(messages(text))
}

fn server(text: &str) -> Turn {
    Turn::Server(messages(text))
}

/// The server's messages at the end of a login.
fn login() -> Turn {
    server("R ~~~~\nS client_encoding~UTF8~\nK 12345678\nZ I")
}

/// Requests as the session returns them.
#[derive(Debug, Default, PartialEq, Eq)]
struct Collected {
    sessions: Vec<(Identity, Nanos)>,
    requests: Vec<String>,
    left_out: Vec<Unrecorded>,
    bytes: Vec<Vec<u8>>,
    is_full: bool,
}

impl RequestSink for Collected {
    fn connect(&mut self, identity: &Identity, connected: Nanos) {
        self.sessions.push((identity.clone(), connected));
    }

    fn request(&mut self, request: &FinishedRequest<'_>) {
        let mut kinds = String::new();
        let mut rest = request.messages;
        while let [kind, a, b, c, d, ..] = *rest {
            kinds.push(kind as char);
            rest = &rest[1 + u32::from_be_bytes([a, b, c, d]) as usize..];
        }
        assert!(rest.is_empty());
        let text = match &request.text {
            None => "-".to_owned(),
            Some(StatementText::Messages(range)) => {
                String::from_utf8_lossy(&request.messages[range.clone()]).into()
            }
            Some(StatementText::Prepared(text)) => format!("{text} (prepared)"),
        };
        let rows = request.outcome.rows.map_or("-".to_owned(), |it| it.to_string());
        let error = match request.outcome.error {
            None => String::new(),
            Some(RecordedError::SqlState(state)) => format!(" {}", state.escape_ascii()),
            Some(RecordedError::Unknown) => " ?".to_owned(),
        };
        let duration = request.outcome.duration.map_or("-".to_owned(), |it| it.0.to_string());
        self.requests
            .push(format!("{kinds} at {} for {duration}, {rows} rows{error}: {text}", request.start.0));
        self.bytes.push(request.messages.to_vec());
    }

    fn leave_out(&mut self, reason: Unrecorded) {
        self.left_out.push(reason);
    }

    fn has_room(&self) -> bool {
        !self.is_full
    }
}

fn identity() -> Identity {
    Identity { user: Some("ann".into()), database: Some("shop".into()), application: None }
}

/// Observes the turns. Turn n has the time n. `split` returns the pieces of a turn.
fn observe<'a>(
    turns: &'a [Turn],
    mut split: impl FnMut(&'a [u8]) -> Vec<&'a [u8]>,
    sink: &mut impl RequestSink,
) {
    let mut session = ProxySession::new(identity(), Nanos(0));
    for (n, turn) in turns.iter().enumerate() {
        let now = Nanos(n as u64);
        match turn {
            Turn::Client(bytes) => split(bytes).into_iter().for_each(|it| session.from_client(now, it, sink)),
            Turn::Server(bytes) => split(bytes).into_iter().for_each(|it| session.from_server(now, it, sink)),
        }
    }
    session.finish(sink);
}

/// Checks the requests of a session after its login, which is turn 0, and the reasons of those that are left out.
fn check(turns: &[Turn], expected: &[&str], left_out: &[Unrecorded]) {
    let all = [&[login()], turns].concat();
    let mut whole = Collected::default();
    observe(&all, |bytes| vec![bytes], &mut whole);
    assert_eq!(whole.requests, expected);
    assert_eq!(whole.left_out, left_out);
    let mut bytewise = Collected::default();
    observe(&all, |bytes| bytes.chunks(1).collect(), &mut bytewise);
    assert_eq!(bytewise, whole);
}

const ERROR: &str = "E SERROR~VERROR~C23505~Mduplicate key~~";

#[test]
fn finds_requests_of_the_simple_protocol() {
    check(
        &[
            client("Q select 1~"),
            server("T ~~\nD ~~\nC SELECT 1~\nZ I"),
            client("Q insert into t values (1); insert into t values (2)~"),
            server("C INSERT 0 1~\nC INSERT 0 2~\nZ I"),
            client("Q begin~"),
            server("C BEGIN~\nZ T"),
            client("Q insert into t values (1)~"),
            server(&format!("N a~\n{ERROR}\nZ E")),
            client("Q ~"),
            server("I\nZ E"),
            client("F ~~~~"),
            server("V ~~~~\nZ I"),
            client("X"),
        ],
        &[
            "Q at 1 for 1, 1 rows: select 1",
            "Q at 3 for 1, 3 rows: insert into t values (1); insert into t values (2)",
            "Q at 5 for 1, - rows: begin",
            "Q at 7 for 1, - rows 23505: insert into t values (1)",
            "Q at 9 for 1, - rows: ",
            "F at 11 for 1, - rows: -",
        ],
        &[],
    );
}

#[test]
fn finds_requests_of_the_extended_protocol() {
    check(
        &[
            client("P s1~select $1~~~\nD Ss1~\nH"),
            server("1\nt ~~\nT ~~"),
            client("S"),
            server("Z I"),
            client("B ~s1~~~\nE ~~~~~\nS"),
            server("2\nD ~~\nC SELECT 1~\nZ I"),
            // A portal that outlives its request.
            client("B p~s1~~~\nE p~~~~\nS"),
            server("2\nD ~~\ns\nZ T"),
            client("E p~~~~\nS"),
            server("D ~~\nC SELECT 7~\nZ T"),
            client("C Ss1~\nS"),
            server("3\nZ T"),
            client("S"),
            server("Z T"),
            client("P ~select 2~~~\nB ~~~~\nE ~~~~\nP ~select 3~~~\nB ~~~~\nE ~~~~\nS"),
            server("1\n2\nC SELECT 1~\n1\n2\nC SELECT 1~\nZ I"),
            client("B ~~~~\nE ~~~~\nS"),
            server("2\nC SELECT 1~\nZ I"),
            client("H"),
            // The transaction has ended, and its portals with it.
            client("E p~~~~\nS"),
            server("E C34000~~\nZ I"),
        ],
        &[
            "PDHS at 1 for 3, - rows: select $1",
            "BES at 5 for 1, 1 rows: select $1 (prepared)",
            "BES at 7 for 1, - rows: select $1 (prepared)",
            "ES at 9 for 1, 7 rows: select $1 (prepared)",
            "CS at 11 for 1, - rows: -",
            "S at 13 for 1, - rows: -",
            "PBEPBES at 15 for 1, 2 rows: select 2",
            "BES at 17 for 1, 1 rows: select 3 (prepared)",
            "ES at 20 for 1, - rows 34000: -",
        ],
        &[],
    );
}

#[test]
fn pipelined_requests_are_separate() {
    check(
        &[
            client("P ~insert into t values ($1)~~~\nB ~~~~\nE ~~~~\nS\nQ select 1~"),
            client("Q select 2~\nQ select 3~"),
            server(&format!("1\n2\n{ERROR}\nZ I\nC SELECT 1~\nZ I")),
            server("C SELECT 2~\nZ I"),
        ],
        &[
            "PBES at 1 for 2, - rows 23505: insert into t values ($1)",
            "Q at 1 for 2, 1 rows: select 1",
            "Q at 2 for 2, 2 rows: select 2",
            "Q at 2 for -, - rows: select 3",
        ],
        &[],
    );
}

#[test]
fn copy_data_belong_to_the_request() {
    check(
        &[
            client("Q copy t from stdin~"),
            server("G ~~~"),
            client("d 1\nd 2"),
            client("c"),
            server("C COPY 2~\nZ I"),
            client("Q copy t to stdout~"),
            server("H ~~~\nd 1\nd 2\nc\nC COPY 2~\nZ I"),
            // The server ignores the Sync after the Execute.
            client("P ~copy t from stdin~~~\nB ~~~~\nE ~~~~\nS"),
            server("1\n2\nG ~~~"),
            client("d 1\nc\nS"),
            server("C COPY 1~\nZ I"),
            client("Q copy t from stdin; copy t from stdin~"),
            server("G ~~~"),
            client("d 1\nc"),
            server("C COPY 1~\nG ~~~"),
            client("f stop~"),
            server(&format!("{ERROR}\nZ I")),
            // A client that does not wait for CopyInResponse.
            client("Q copy t from stdin~\nd 1\nc"),
            server("G ~~~\nC COPY 1~\nZ I"),
        ],
        &[
            "Qddc at 1 for 4, 2 rows: copy t from stdin",
            "Q at 6 for 1, 2 rows: copy t to stdout",
            "PBESdcS at 8 for 3, 1 rows: copy t from stdin",
            "Qdcf at 12 for 5, 1 rows 23505: copy t from stdin; copy t from stdin",
            "Qdc at 18 for 1, 1 rows: copy t from stdin",
        ],
        &[],
    );
}

#[test]
fn a_failed_copy_ends_with_its_data() {
    check(
        &[
            client("Q copy t from stdin~"),
            server("G ~~~"),
            client("d 1"),
            server(&format!("{ERROR}\nZ I")),
            client("d 2\nc"),
            client("Q copy t from stdin~"),
            server("G ~~~"),
            client("d 1"),
            server(&format!("{ERROR}\nZ I")),
            // This client knows that the COPY has failed, and sends no end.
            client("Q select 1~"),
            server("C SELECT 1~\nZ I"),
            client("Q copy t from stdin~"),
            server("G ~~~"),
            client("d 1"),
        ],
        &[
            "Qddc at 1 for 3, - rows 23505: copy t from stdin",
            "Qdf at 6 for 3, - rows 23505: copy t from stdin",
            "Q at 10 for 1, 1 rows: select 1",
        ],
        &[Unrecorded::Unfinished],
    );
}

#[test]
fn a_message_that_is_cut_off_is_not_recorded() {
    check(
        &[
            client("Q copy t from stdin~"),
            server("G ~~~"),
            client("d 1"),
            server(&format!("{ERROR}\nZ I")),
            Turn::Client(b"d\0\0\0\x08ab".to_vec()),
        ],
        &["Qdf at 1 for 3, - rows 23505: copy t from stdin"],
        &[],
    );
    check(&[Turn::Client(b"Q\0\0\0\x10select".to_vec())], &[], &[Unrecorded::Unfinished]);
}

#[test]
fn passwords_are_not_recorded() {
    use Unrecorded::*;
    let turns = [
        // Answers to requests for a password during the login.
        client("p hidden~"),
        server("R ~~~~"),
        client("Q alter role ann password 'hidden'~"),
        server("C ALTER ROLE~\nZ I"),
        client("P s1~create role bob password 'hidden'~~~\nS\nP s2~select 2~~~\nS"),
        server("1\nZ I\n1\nZ I"),
        client("B ~s1~~~\nE ~~~~\nS"),
        server("2\nC CREATE ROLE~\nZ I"),
        client("B ~s2~~~\nE ~~~~\nS"),
        server("2\nC SELECT 1~\nZ I"),
        // The whole request is left out, so that the recording has no Parse of s3 and no Bind of c1.
        client("P s3~select 3~~~\nB c1~s2~~~\nP ~alter user ann password 'hidden'~~~\nP s4~select 4~~~\nS"),
        server("1\n2\n1\n1\nZ T"),
        client("B ~s3~~~\nE ~~~~\nS\nE c1~~~~\nS\nB ~s4~~~\nE ~~~~\nS\nD Ss3~\nS"),
        server("2\nC SELECT 1~\nZ T\nC SELECT 1~\nZ T\n2\nC SELECT 1~\nZ T\nT ~\nZ I"),
        client("P s3~select 5~~~\nB ~s3~~~\nE ~~~~\nS"),
        server("1\n2\nC SELECT 1~\nZ T"),
        client("Q select 1; select 'hidden~"),
        server(&format!("{ERROR}\nZ E")),
        client("p hidden~"),
    ];
    check(
        &turns,
        &[
            "PS at 5 for 1, - rows: select 2",
            "BES at 9 for 1, 1 rows: select 2 (prepared)",
            "PBES at 15 for 1, 1 rows: select 5",
        ],
        &[Secret, Secret, Secret, Secret, Secret, Secret, Secret, Secret, Unreadable],
    );
    let mut sink = Collected::default();
    observe(&[&[login()], &turns[..]].concat(), |bytes| vec![bytes], &mut sink);
    assert!(!sink.bytes.iter().any(|bytes| bytes.windows(6).any(|it| it == b"hidden")));
}

#[test]
fn long_requests_are_left_out() {
    let mut session = ProxySession::new(identity(), Nanos(0));
    let mut sink = Collected::default();
    let Turn::Server(ready) = login() else { unreachable!() };
    session.from_server(Nanos(0), &ready, &mut sink);
    let mut parse = b"P\x04\0\0\x08s1\0".to_vec();
    session.from_client(Nanos(1), &parse, &mut sink);
    parse = vec![b' '; 1 << 20];
    for _ in 0..64 {
        session.from_client(Nanos(1), &parse, &mut sink);
    }
    session.from_client(Nanos(1), b"\0", &mut sink);
    session.from_client(Nanos(1), &messages("S\nB ~s1~~~\nE ~~~~\nS\nQ select 1~"), &mut sink);
    session.from_server(Nanos(2), &messages("1\nZ I\n2\nC SELECT 1~\nZ I\nC SELECT 1~\nZ I"), &mut sink);
    assert_eq!(sink.left_out, [Unrecorded::TooLong, Unrecorded::TooLong]);
    assert_eq!(sink.requests, ["Q at 1 for 1, 1 rows: select 1"]);
}

#[test]
fn a_full_recording_leaves_out_dependent_requests() {
    let mut session = ProxySession::new(identity(), Nanos(0));
    let mut sink = Collected { is_full: true, ..Collected::default() };
    let Turn::Server(ready) = login() else { unreachable!() };
    session.from_server(Nanos(0), &ready, &mut sink);
    session.from_client(Nanos(1), &messages("P s1~select 1~~~\nS"), &mut sink);
    session.from_server(Nanos(2), &messages("1\nZ I"), &mut sink);
    sink.is_full = false;
    session.from_client(Nanos(3), &messages("B ~s1~~~\nE ~~~~\nS\nQ select 2~"), &mut sink);
    session.from_server(Nanos(4), &messages("2\nC SELECT 1~\nZ I\nC SELECT 1~\nZ I"), &mut sink);
    session.finish(&mut sink);
    assert_eq!(sink.left_out, [Unrecorded::Overload, Unrecorded::Overload]);
    assert_eq!(sink.requests, ["Q at 3 for 1, 1 rows: select 2"]);
}

#[test]
fn sessions_begin_with_the_login() {
    let mut sink = Collected::default();
    observe(&[server("E SFATAL~C28P01~~"), client("Q select 1~")], |bytes| vec![bytes], &mut sink);
    assert_eq!(sink, Collected::default());
    observe(&[login(), server("E SFATAL~C57P01~~")], |bytes| vec![bytes], &mut sink);
    assert_eq!(sink, Collected { sessions: vec![(identity(), Nanos(0))], ..Collected::default() });
}

#[test]
fn bytes_that_are_no_messages_end_the_observation() {
    check(
        &[
            client("Q select 1~"),
            server("C SELECT 1~\nZ I"),
            client("Q select 2~"),
            Turn::Client(b"Q\0\0\0\0".to_vec()),
            client("Q select 3~"),
        ],
        &["Q at 1 for 1, 1 rows: select 1"],
        &[Unrecorded::Unfinished],
    );
}

/// Parts of sessions, from which the property test builds sessions.
fn parts() -> Vec<Vec<Turn>> {
    vec![
        vec![client("Q select 1~"), server("T ~~\nD ~~~~a\nC SELECT 1~\nZ I")],
        vec![client("Q begin~"), server("C BEGIN~\nZ T")],
        vec![client("Q insert into t values (1)~"), server(&format!("S a~b~\n{ERROR}\nZ I"))],
        vec![
            client("P s~select $1~~~\nB p~s~~~~~~1\nD Pp\nE p~~~~~\nS"),
            server("1\n2\nT ~\nC SELECT 2~\nZ I"),
        ],
        vec![
            client("B ~s~~~\nE ~~~~~\nS\nB ~s~~~\nE ~~~~~\nS"),
            server("2\nC UPDATE 3~\nZ I\n2\nC UPDATE 4~\nZ I"),
        ],
        vec![client("E p~~~~~\nS"), server("s\nZ I")],
        vec![
            client("P s~alter role ann password 'hidden'~~~\nB ~s~~~\nE ~~~~\nS"),
            server("1\n2\nC ALTER ROLE~\nZ I"),
        ],
        vec![client("Q create user ann password 'hidden'~"), server("A ~~~~a~b~\nC CREATE ROLE~\nZ I")],
        vec![client("p hidden~")],
        vec![
            client("Q copy t from stdin~"),
            server("G ~~~"),
            client("d 1\nd 2\nc"),
            server("C COPY 2~\nZ I"),
        ],
        vec![
            client("Q copy t from stdin~"),
            server("G ~~~"),
            client("d 1"),
            server(&format!("{ERROR}\nZ I")),
            client("d 2\nc"),
        ],
        vec![
            client("P ~copy t from stdin~~~\nB ~~~~\nE ~~~~\nS"),
            server("2\nG ~~~"),
            client("d 1\nc\nS"),
            server("C COPY 1~\nZ I"),
        ],
        vec![client("Q copy t to stdout~"), server("H ~~~\nd 1\nd 2\nc\nC COPY 2~\nZ I")],
        vec![client("! unknown\nH\nC Ss\nS"), server("! unknown\n3\nZ I")],
    ]
}

/// A Parse without the NUL after the statement's name has an empty text.
#[test]
fn parse_without_a_name_is_observed() {
    let mut sink = Collected::default();
    let client = Turn::Client([&[b'P', 0, 0, 0, 4][..], &[b'S', 0, 0, 0, 4]].concat());
    observe(&[login(), client, server("Z I")], |bytes| vec![bytes], &mut sink);
    assert_eq!(sink.requests.len(), 1);
    assert!(sink.requests[0].starts_with("PS ") && sink.requests[0].ends_with(": "), "{:?}", sink.requests);
}

proptest! {
    #[test]
    fn every_split_gives_the_same_requests(
        choice in prop::collection::vec(0..parts().len(), 1..12),
        lengths in prop::collection::vec(1usize..40, 1..20),
    ) {
        let parts = parts();
        let mut turns = vec![login()];
        turns.extend(choice.iter().flat_map(|it| parts[*it].clone()));
        let mut whole = Collected::default();
        observe(&turns, |bytes| vec![bytes], &mut whole);
        let mut split = Collected::default();
        let mut lengths = lengths.iter().cycle();
        let pieces = |bytes| {
            let mut bytes: &[u8] = bytes;
            let mut all = Vec::new();
            while !bytes.is_empty() {
                let (piece, rest) = bytes.split_at(bytes.len().min(*lengths.next().expect("an endless iterator")));
                all.push(piece);
                bytes = rest;
            }
            all
        };
        observe(&turns, pieces, &mut split);
        prop_assert_eq!(&split, &whole);
        prop_assert!(!whole.bytes.iter().any(|bytes| bytes.windows(6).any(|it| it == b"hidden")));
        // Each request of a client has exactly one result: every Query, Sync and FunctionCall, but for the COPY.
        let all = whole.requests.len() + whole.left_out.len();
        let syncs = choice.iter().map(|it| match it { 4 => 2, 8 => 0, _ => 1 });
        prop_assert_eq!(all, syncs.sum::<usize>());
    }

    #[test]
    fn arbitrary_bytes_are_observed_without_a_panic(
        turns in prop::collection::vec((any::<bool>(), prop::collection::vec(arbitrary_message(), 0..6)), 0..20),
    ) {
        let mut all = vec![login()];
        for (is_client, messages) in turns {
            let bytes = messages.concat();
            all.push(if is_client { Turn::Client(bytes) } else { Turn::Server(bytes) });
        }
        observe(&all, |bytes| bytes.chunks(7).collect(), &mut Collected::default());
    }
}

/// A message with any type and body, or bytes that are cut off.
fn arbitrary_message() -> impl Strategy<Value = Vec<u8>> {
    let tags = prop::sample::select(b"QFPBDECSHdcfpXTCEGZHWIn12!".to_vec());
    let body = prop::collection::vec(prop::sample::select(b"\0sSPaIZ".to_vec()), 0..8);
    (tags, body, 0u32..40).prop_map(|(tag, body, cut)| {
        let mut bytes = vec![tag];
        bytes.extend((body.len() as u32 + 4 + u32::from(cut == 0)).to_be_bytes());
        bytes.extend(body);
        bytes
    })
}
