//! Login with and without TLS, independent of packet boundaries.

use crate::server::scripted::{AuthRequest, Server};
use crate::server::{feed, message, sent};
use model::message::Message;
use std::sync::Arc;
use wire::TemplateBuilder;
use wire::pg::{
    AuthMethods, Channel, ChannelBinding, Encryption, Login, Secret, SslMode, Transport, compile,
};
use wire::tls::{self, TlsConfigError, TlsIdentity, TlsVersionRange};

const ROOT: &[u8] = include_bytes!("../certs/root.crt");
const SERVER: &[u8] = include_bytes!("../certs/server.crt");
const VERSION1: &[u8] = include_bytes!("../certs/version1.crt");
const SELFSIGNED: &[u8] = include_bytes!("../certs/selfsigned.crt");
const EXPIRED: &[u8] = include_bytes!("../certs/expired.crt");
const SERVER_KEY: &[u8] = include_bytes!("../certs/server.key");
const CLIENT: &[u8] = include_bytes!("../certs/client.crt");
const CLIENT_KEY: &[u8] = include_bytes!("../certs/client.key");

fn login(ssl: SslMode, roots: Option<&[u8]>) -> Login {
    let mut login = Login::new("bench", "book");
    login.password = Some(Secret::new("pä$$"));
    login.keep_parameters = true;
    login.host = "db.test".into();
    login.ssl = ssl;
    login.tls =
        tls::config(ssl, &TlsIdentity { roots, ..TlsIdentity::default() }, TlsVersionRange::default()).ok();
    login
}

fn plain(asks: AuthRequest) -> Server {
    Server::new(asks, b"N", None)
}

/// Logs in and runs one query; `pieces` sets the sizes into which the server's bytes are cut. Returns the events as
/// text.
fn run_login(
    login: &Arc<Login>,
    server: &mut Server,
    transport: Transport,
    mut pieces: impl FnMut(&[u8]) -> usize,
) -> String {
    let mut channel = Channel::new(login.clone(), transport, [7; 18]);
    let mut builder = TemplateBuilder::default();
    compile::simple(&mut builder, &[compile::SqlPiece::Text(b"select 42")]);
    let query = builder.build();
    channel.open();
    let mut events: Vec<String> = Vec::new();
    let mut queried = false;
    loop {
        let answer = server.receive(&sent(&mut channel));
        if answer.is_empty() {
            break;
        }
        let step = pieces(&answer);
        let came = feed(&mut channel, &answer, step);
        let ends = |it: &String| it.starts_with('!') || it.starts_with("Error(");
        let failed = came.last().is_some_and(ends);
        events.extend(came);
        if failed {
            events.extend(channel.second_attempt().map(|it| format!("again {it:?}")));
            break;
        }
        if !queried && events.iter().any(|it| it == "Opened") {
            queried = true;
            assert_eq!(channel.parameter("server_version"), Some("15.18"));
            assert_eq!(channel.backend(), Some((7, -2)));
            events.extend(channel.protection().map(|it| it.version.to_owned()));
            channel.set_watched(true);
            channel.request(|out| query.render(out, |_, _| true));
        }
    }
    events.join(" ")
}

/// Checks that the login has the expected result with pieces of several sizes.
fn check(login: Login, server: impl Fn() -> Server, expected: &str) {
    let login = Arc::new(login);
    for step in [1, 2, 3, 5, 7, 16, 100, 1000, usize::MAX] {
        let events = run_login(&login, &mut server(), Transport::Tcp, |_| step);
        assert_eq!(events, expected, "in pieces of {step}");
    }
}

const ANSWER: &str = r#"Columns(["id"]) Row([Some("42")]) Done(SELECT 1) Ready(Idle rows 1 statements 1)"#;

#[test]
fn logs_in_without_tls() {
    let plain_login = || login(SslMode::Disable, None);
    let fine = format!("Opened {ANSWER}");
    check(plain_login(), || plain(AuthRequest::Nothing), &fine);
    check(plain_login(), || plain(AuthRequest::Md5("pä$$")), &fine);
    check(plain_login(), || plain(AuthRequest::Scram("pä$$", true)), &fine);
    let wrong = "Error(FATAL:  28P01: password authentication failed)";
    check(plain_login(), || plain(AuthRequest::Md5("other")), wrong);
    check(plain_login(), || plain(AuthRequest::Scram("other", true)), wrong);
    check(
        plain_login(),
        || plain(AuthRequest::FalseScram("pä$$")),
        r#"!Scram("the server does not know the password")"#,
    );
    check(plain_login(), || plain(AuthRequest::Password("pä$$")), "!Authentication { method: 3 }");
    check(plain_login(), || plain(AuthRequest::Error("53300")), "Error(FATAL:  53300: no)");
    let mut by_name = plain_login();
    by_name.methods.clear_text = true;
    check(by_name, || plain(AuthRequest::Password("pä$$")), &fine);
    let mut strict = plain_login();
    strict.methods = AuthMethods { none: false, md5: false, ..AuthMethods::default() };
    check(strict, || plain(AuthRequest::Nothing), "!Authentication { method: 0 }");
}

#[test]
fn logs_in_over_tls() {
    let both = rustls::ALL_VERSIONS;
    let fine = format!("Opened TLSv1.3 {ANSWER}");
    let scram = || Server::with_tls(AuthRequest::Scram("pä$$", true), SERVER, both);
    check(login(SslMode::Prefer, None), scram, &fine);
    check(login(SslMode::Require, None), scram, &fine);
    check(login(SslMode::VerifyCa, Some(ROOT)), scram, &fine);
    check(login(SslMode::VerifyFull, Some(ROOT)), scram, &fine);
    let mut bound = login(SslMode::Require, None);
    bound.channel_binding = ChannelBinding::Require;
    check(bound, scram, &fine);
    let older = || Server::with_tls(AuthRequest::Scram("pä$$", true), SERVER, &[&rustls::version::TLS12]);
    check(login(SslMode::VerifyFull, Some(ROOT)), older, &fine.replace("1.3", "1.2"));
    check(login(SslMode::Require, None), || Server::with_tls(AuthRequest::Nothing, SERVER, both), &fine);
    let wrong = "Error(FATAL:  28P01: password authentication failed)";
    check(
        login(SslMode::Require, None),
        || Server::with_tls(AuthRequest::Scram("other", true), SERVER, both),
        wrong,
    );
    let mut bound = login(SslMode::Require, None);
    bound.channel_binding = ChannelBinding::Require;
    let unbound = r#"!Scram("channel_binding=require, but the server does not support channel binding")"#;
    check(bound, || Server::with_tls(AuthRequest::Scram("pä$$", false), SERVER, both), unbound);
}

#[test]
fn logs_in_over_tls_in_pieces_of_every_size() {
    let login = Arc::new(login(SslMode::VerifyFull, Some(ROOT)));
    let expected = format!("Opened TLSv1.3 {ANSWER}");
    let (mut longest, mut step) = (1, 1);
    while step <= longest {
        let mut server = Server::with_tls(AuthRequest::Scram("pä$$", true), SERVER, rustls::ALL_VERSIONS);
        let events = run_login(&login, &mut server, Transport::Tcp, |answer| {
            longest = longest.max(answer.len());
            step
        });
        assert_eq!(events, expected, "in pieces of {step}");
        step += 3;
    }
    assert!(longest > 500, "{longest}");
}

#[test]
fn verifies_certificates_by_ssl_mode() {
    let check =
        |certificate: &'static [u8], mode: SslMode, roots: Option<&[u8]>, host: &str, expected: &str| {
            let mut login = login(mode, roots);
            login.host = host.into();
            for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
                let mut server = Server::with_tls(AuthRequest::Nothing, certificate, &[version]);
                let events = run_login(&Arc::new(clone(&login)), &mut server, Transport::Tcp, |_| usize::MAX);
                let events = if events.starts_with("Opened") { "fine" } else { &events };
                assert_eq!(events, expected, "{host} {mode:?} {version:?}");
            }
        };
    let (ca, full) = (SslMode::VerifyCa, SslMode::VerifyFull);
    let stranger = r#"!Tls("no authority in sslrootcert has signed the server's certificate")"#;
    let another = r#"!Tls("the server's certificate is for another host")"#;
    check(SERVER, full, Some(ROOT), "db.test", "fine");
    check(SERVER, full, Some(ROOT), "DB.TEST", "fine");
    check(SERVER, full, Some(ROOT), "a.wild.test", "fine");
    check(SERVER, full, Some(ROOT), "10.0.0.1", "fine");
    check(SERVER, full, Some(ROOT), "10.0.0.2", another);
    check(SERVER, full, Some(ROOT), "a.b.wild.test", another);
    check(SERVER, full, Some(ROOT), "", another);
    check(SERVER, full, Some(ROOT), "/var/run/postgresql", another);
    check(SERVER, ca, Some(ROOT), "other", "fine");
    check(SERVER, ca, Some(SELFSIGNED), "db.test", stranger);
    check(SERVER, SslMode::Require, Some(SELFSIGNED), "db.test", stranger);
    check(SERVER, SslMode::Prefer, Some(SELFSIGNED), "db.test", &format!("{stranger} again Plain"));
    check(VERSION1, full, Some(ROOT), "db.test", "fine");
    check(VERSION1, full, Some(ROOT), "db2.test", another);
    check(VERSION1, ca, Some(SELFSIGNED), "db.test", stranger);
    check(SELFSIGNED, full, Some(SELFSIGNED), "db.test", "fine");
    check(SELFSIGNED, full, Some(ROOT), "db.test", stranger);
    check(SELFSIGNED, SslMode::Require, None, "db.test", "fine");
    check(EXPIRED, full, Some(ROOT), "db.test", r#"!Tls("the server's certificate has expired")"#);
    check(EXPIRED, SslMode::Require, None, "db.test", "fine");
    // The key does not belong to the certificate.
    check(
        CLIENT,
        SslMode::Require,
        None,
        "db.test",
        r#"!Tls("the server's certificate does not match its signature")"#,
    );
}

#[test]
fn handles_ssl_request_responses() {
    let check = |mode: SslMode, answer: &'static [u8], expected: &str| {
        let mut server = Server::new(AuthRequest::Nothing, answer, None);
        let events =
            run_login(&Arc::new(login(mode, Some(ROOT))), &mut server, Transport::Tcp, |_| usize::MAX);
        assert_eq!(
            events.split(' ').take(3).collect::<Vec<_>>().join(" "),
            expected,
            "{mode:?} {}",
            answer.escape_ascii()
        );
    };
    for mode in [SslMode::Require, SslMode::VerifyCa, SslMode::VerifyFull] {
        check(mode, b"N", "!NoTls");
    }
    check(SslMode::Prefer, b"N", "Opened Columns([\"id\"]) Row([Some(\"42\")])");
    check(SslMode::Prefer, b"SR\0\0\0\x08\0\0\0\0", "!Tls(\"the server sent");
    check(SslMode::Prefer, b"NR\0\0\0\x08\0\0\0\0", "!Tls(\"the server sent");
    check(SslMode::Prefer, b"E\0\0\0\x08", "!Unexpected { tag:");
    check(SslMode::Prefer, b"X", "!Unexpected { tag:");
}

#[test]
fn unix_socket_is_never_encrypted() {
    let login = Arc::new(login(SslMode::VerifyFull, Some(ROOT)));
    let events = run_login(&login, &mut plain(AuthRequest::Scram("pä$$", true)), Transport::Unix, |_| 1);
    assert_eq!(events, format!("Opened {ANSWER}"));
}

#[test]
fn retries_with_other_encryption() {
    let check = |mode: SslMode, encrypted: bool, asks: AuthRequest, expected: &str| {
        let mut server =
            if encrypted { Server::with_tls(asks, SERVER, rustls::ALL_VERSIONS) } else { plain(asks) };
        let events = run_login(&Arc::new(login(mode, None)), &mut server, Transport::Tcp, |_| usize::MAX);
        assert_eq!(events, expected, "{mode:?}");
    };
    let no = "Error(FATAL:  28000: no)";
    check(SslMode::Disable, false, AuthRequest::Error("28000"), no);
    check(SslMode::Allow, false, AuthRequest::Error("28000"), &format!("{no} again Tls"));
    check(SslMode::Prefer, true, AuthRequest::Error("28000"), &format!("{no} again Plain"));
    check(SslMode::Prefer, false, AuthRequest::Error("28000"), no);
    check(SslMode::Require, true, AuthRequest::Error("28000"), no);
    check(SslMode::Prefer, true, AuthRequest::Error("57P03"), "Error(FATAL:  57P03: no)");

    let mut channel = Channel::new(Arc::new(login(SslMode::Allow, None)), Transport::Tcp, [7; 18]);
    channel.open_with(Encryption::Tls);
    assert_eq!(sent(&mut channel), b"\0\0\0\x08\x04\xd2\x16\x2f");
    assert_eq!(feed(&mut channel, b"N", 1), [""; 0]);
    assert_eq!(sent(&mut channel)[4..8], [0, 3, 0, 0], "without TLS, `allow` continues unencrypted");
}

#[test]
fn queued_password_is_not_shown() {
    let mut login = login(SslMode::Disable, None);
    login.methods.clear_text = true;
    let mut channel = Channel::new(Arc::new(login), Transport::Tcp, [7; 18]);
    channel.open();
    feed(&mut channel, &message(b'R', b"\0\0\0\x03"), 1);
    let shown = format!("{channel:?}");
    assert!(sent(&mut channel).ends_with("pä$$\0".as_bytes()));
    assert_eq!(shown, "Channel { stage: Authenticating, queued: 45, .. }");
}

#[test]
fn sends_startup_message() {
    let mut login = login(SslMode::Disable, None);
    login.parameters = vec![("application_name".into(), "test".into()), ("options".into(), "-c a=b".into())];
    let mut server = plain(AuthRequest::Nothing);
    run_login(&Arc::new(login), &mut server, Transport::Tcp, |_| usize::MAX);
    let parameters: Vec<String> =
        server.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(parameters, ["application_name=test", "database=book", "options=-c a=b", "user=bench"]);
}

#[test]
fn rejects_messages_not_allowed_in_login() {
    let check = |bytes: &[u8], expected: &str| {
        for step in 1..=bytes.len() {
            let mut channel = Channel::new(Arc::new(login(SslMode::Disable, None)), Transport::Tcp, [7; 18]);
            channel.open();
            assert_eq!(feed(&mut channel, bytes, step).join(" "), expected, "{}", bytes.escape_ascii());
        }
    };
    let accepted = message(b'R', b"\0\0\0\0");
    check(&message(b'Z', b"I"), "!Unexpected { tag: 90 }");
    check(&message(b'K', b"\0\0\0\0\0\0\0\0"), "!Unexpected { tag: 75 }");
    check(&message(b'D', b"\0\0"), "!Unexpected { tag: 68 }");
    check(&[accepted.clone(), accepted.clone()].concat(), "!Unexpected { tag: 82 }");
    check(&[accepted.clone(), message(b'K', b"\0\0\0\0")].concat(), "!BadLength { tag: 75, length: 8 }");
    check(&[accepted.clone(), message(b'Z', b"?")].concat(), "!Malformed { tag: 90 }");
    check(&[accepted, message(b'v', b"\0\x03\0\0\0\0\0\0")].concat(), "!Unexpected { tag: 118 }");
    check(b"E\0\x01\0\x01", "!OldProtocol");
    check(b"Ecould not fork new process", "!OldProtocol");
    check(b"HTTP/1.1 400 Bad Request", "!Unexpected { tag: 72 }");
}

#[test]
fn rejects_inconsistent_tls_settings() {
    let check = |identity: TlsIdentity<'_>, expected: &str| {
        let problem = tls::config(SslMode::Require, &identity, TlsVersionRange::default()).err();
        assert_eq!(problem.map_or("fine".to_owned(), |it| Message::from(&it).describe()), expected);
    };
    let client = |certificate, key| TlsIdentity { roots: Some(ROOT), certificate, key };
    check(client(Some(CLIENT), Some(CLIENT_KEY)), "fine");
    check(client(Some(CLIENT), Some(SERVER_KEY)), "tls-other-key");
    check(client(Some(CLIENT), None), "tls-incomplete-identity(sslkey)");
    check(client(None, Some(CLIENT_KEY)), "tls-incomplete-identity(sslcert)");
    check(client(Some(b"x"), Some(CLIENT_KEY)), "error-of(sslcert, no items found)");
    check(client(Some(CLIENT), Some(CLIENT)), "error-of(sslkey, no items found)");
    check(
        TlsIdentity { roots: Some(SERVER_KEY), ..TlsIdentity::default() },
        "error-of(sslrootcert, no items found)",
    );
    let missing = tls::config(SslMode::VerifyCa, &TlsIdentity::default(), TlsVersionRange::default()).err();
    assert_eq!(missing, Some(TlsConfigError::MissingRoots));
    assert!(!format!("{:?}", client(Some(CLIENT), Some(CLIENT_KEY))).contains("PRIVATE"));
}

fn clone(login: &Login) -> Login {
    let mut copy = Login::new(&login.user, &login.database);
    copy.password.clone_from(&login.password);
    copy.keep_parameters = login.keep_parameters;
    copy.host.clone_from(&login.host);
    copy.ssl = login.ssl;
    copy.tls.clone_from(&login.tls);
    copy
}
