//! Tests of faulty HTTP services over real sockets: each fault has the same single outcome with both drivers

use load::driver::{Address, Clock, Driver, DriverContext, StartGate};
use load::script::call::{Method, RequestSource, SecretLookup};
use load::script::{Mode, Program};
use load::{LoadPlan, Recorder, Service, Shard, Workload, sim};
use model::{Code, Nanos, Outcome, Record};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use wire::tls::{HttpsClient, TlsIdentity};

/// Size limit of a response, in bytes. It is far above every valid response of these tests.
const ANSWER_MAX: u64 = 1 << 20;

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

#[derive(Debug, Default)]
struct EventLog {
    outcomes: Vec<Outcome>,
    refused: Vec<Code>,
}

impl Recorder for EventLog {
    fn record(&mut self, record: &Record) {
        self.outcomes.push(record.outcome);
    }

    fn refused(&mut self, code: Code) {
        self.refused.push(code);
    }
}

/// Drivers that this system supports.
fn drivers() -> impl Iterator<Item = Driver> {
    Driver::ALL.into_iter().filter(|driver| driver.is_available())
}

/// Sends three requests with one client, and returns the events.
fn record_requests(driver: Driver, method: Method, address: &Address, service: &Service) -> EventLog {
    let written = RequestSource {
        method,
        target: "/",
        headers: &[],
        body: None,
        expect: &[],
        secrets: SecretLookup::NONE,
    };
    let plan = LoadPlan {
        transactions: Some(3),
        backlog_max: 0,
        drain: Nanos::from_secs(60),
        connecting_max: 1,
        connect_timeout: Nanos::from_secs(60),
        ..sim::plan(
            Program::from_request(&written, &[]).expect("the program is valid"),
            Mode::Simple,
            1,
            1,
            sim::CLOSED,
        )
    };
    let work =
        Arc::new(Workload::with_services(plan, None, vec![service.clone()]).with_answer_max(ANSWER_MAX));
    let shard = Shard::new(work, 0, EventLog::default());
    let (gate, stop, (events, _received)) = (StartGate::new(1), AtomicBool::new(false), channel());
    let clock = Clock::start();
    gate.open(clock.now());
    let services = std::slice::from_ref(address);
    let (abandon, spin) = (AtomicBool::new(false), Nanos::ZERO);
    let ground = DriverContext {
        postgres: &[],
        services,
        clock,
        gate: &gate,
        stop: &stop,
        abandon: &abandon,
        spin,
        slack: Nanos::ZERO,
        events,
    };
    driver.drive(shard, &ground).expect("the driver has its resources").shard.recorder
}

/// Starts a service on its own port. `serve` receives each connection and its number. The service ends with the
/// process.
fn service(serve: impl Fn(TcpStream, usize) + Send + Sync + 'static) -> Address {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("the listener is bound");
    let serve = Arc::new(serve);
    thread::spawn(move || {
        for (number, stream) in listener.incoming().map_while(Result::ok).enumerate() {
            let serve = Arc::clone(&serve);
            thread::spawn(move || serve(stream, number));
        }
    });
    Address::Tcp(address)
}

/// Reads a request without a body; `None` at the end of the stream.
fn request(from: &mut impl BufRead) -> Option<()> {
    let mut line = String::new();
    loop {
        line.clear();
        match from.read_line(&mut line) {
            Ok(1..) if line == "\r\n" => return Some(()),
            Ok(1..) => {}
            _ => return None,
        }
    }
}

fn serve(stream: impl Read + Write) {
    let mut stream = BufReader::new(stream);
    while request(&mut stream).is_some() {
        if stream.get_mut().write_all(OK).is_err() {
            return;
        }
    }
}

fn check(name: &str, method: Method, address: &Address, service: &Service, expected: Outcome) {
    for driver in drivers() {
        let outcomes = record_requests(driver, method, address, service).outcomes;
        assert_eq!(outcomes, [expected; 3], "{name}, {}", driver.name());
    }
}

#[test]
fn works_over_every_transport() {
    let plain = Service::without_tls("localhost");
    check("IPv4", Method::Get, &service(|it, _| serve(it)), &plain, Outcome::Ok);
    let listener = TcpListener::bind("[::1]:0").expect("a port is free");
    let v6 = Address::Tcp(listener.local_addr().expect("the listener is bound"));
    thread::spawn(move || listener.incoming().map_while(Result::ok).for_each(serve));
    check("IPv6", Method::Get, &v6, &plain, Outcome::Ok);
    let directory = std::env::temp_dir().join(format!("pgdyno-web-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a temporary directory");
    let path = directory.join("socket");
    let listener = UnixListener::bind(&path).expect("a socket");
    thread::spawn(move || listener.incoming().map_while(Result::ok).for_each(serve));
    check("Unix", Method::Post, &Address::Unix(path), &plain, Outcome::Ok);
    std::fs::remove_dir_all(directory).expect("the directory can be removed");
}

#[test]
fn classifies_network_faults() {
    let plain = Service::without_tls("localhost");
    let patient = Service {
        first_byte_timeout: Some(Nanos::from_millis(50)),
        response_timeout: Some(Nanos::from_millis(100)),
        ..plain.clone()
    };
    let (failed, unknown) = (|it| Outcome::Failed(Code::Net(it)), |it| Outcome::Unknown(Code::Net(it)));
    // This port was bound and closed, so it refuses connections.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let closed_port = Address::Tcp(listener.local_addr().expect("the listener is bound"));
    drop(listener);
    check("refused", Method::Get, &closed_port, &plain, failed(111));
    check("refused", Method::Post, &closed_port, &plain, failed(111));
    let missing = Address::Unix(std::env::temp_dir().join("pgdyno-no-such-socket"));
    check("no socket", Method::Get, &missing, &plain, failed(2));
    // The service closes the connection while a byte is unread, so the kernel sends a reset.
    let reset = service(|mut it, _| drop(it.read(&mut [0])));
    check("reset", Method::Get, &reset, &plain, failed(104));
    check("reset", Method::Post, &reset, &plain, unknown(104));
    let cut = service(|stream, _| {
        let mut reader = BufReader::new(stream);
        let _ = request(&mut reader);
        let _ = reader.get_mut().write_all(&OK[..OK.len() - 1]);
    });
    check("cut", Method::Get, &cut, &plain, failed(104));
    check("cut", Method::Post, &cut, &plain, unknown(104));
    // The service reads everything and sends nothing until the client has closed the connection.
    let silent = service(|mut it, _| drop(std::io::copy(&mut it, &mut std::io::sink())));
    check("half open", Method::Get, &silent, &patient, failed(110));
    let drip = service(|stream, _| {
        let mut reader = BufReader::new(stream);
        let _ = request(&mut reader);
        // The service sends all bytes but the last at once, and the last one never.
        let _ = reader.get_mut().write_all(&OK[..OK.len() - 1]);
        let _ = std::io::copy(&mut reader, &mut std::io::sink());
    });
    check("slow drip", Method::Get, &drip, &patient, failed(62));
    let garbage = service(|mut stream, _| {
        let _ = stream.write_all(b"SSH-2.0-OpenSSH_9\r\n");
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
    });
    check("garbage", Method::Get, &garbage, &plain, failed(71));
    let tls = Service {
        tls: Some(
            HttpsClient::new("db.test", &TlsIdentity::default()).expect("the TLS configuration is valid"),
        ),
        ..plain.clone()
    };
    check("no TLS there", Method::Get, &garbage, &tls, failed(129));
    // One listener never completes a TLS handshake. The other expects TLS, but its client does not use TLS.
    let hasty = Service { connect_timeout: Nanos::from_millis(50), ..tls.clone() };
    check("a handshake without an end", Method::Get, &silent, &hasty, failed(110));
    check("TLS there", Method::Get, &secure(&Arc::default()), &plain, failed(71));
    check("unchecked", Method::Get, &secure(&Arc::default()), &tls, Outcome::Ok);
    let roots = TlsIdentity {
        roots: Some(include_bytes!("../../../wire/tests/certs/selfsigned.crt")),
        ..TlsIdentity::default()
    };
    let tls = Service {
        tls: Some(HttpsClient::new("db.test", &roots).expect("the TLS configuration is valid")),
        ..plain
    };
    check("an unknown certificate", Method::Get, &secure(&Arc::default()), &tls, failed(129));
}

/// Checks that an endless body is aborted at the limit with its own error code, however the body is framed.
#[test]
fn an_endless_body_is_aborted() {
    let plain = Service::without_tls("localhost");
    for (framing, piece) in [
        ("Transfer-Encoding: chunked", [b"1000\r\n".as_slice(), &[b'x'; 0x1000], b"\r\n"].concat()),
        ("Content-Length: 9000000000000000000", vec![b'x'; 0x1000]),
        ("Connection: close", vec![b'x'; 0x1000]),
    ] {
        let endless = service(move |stream, _| {
            let mut reader = BufReader::new(stream);
            let _ = request(&mut reader);
            let mut sent = write!(reader.get_mut(), "HTTP/1.1 200 OK\r\n{framing}\r\n\r\n");
            while sent.is_ok() {
                sent = reader.get_mut().write_all(&piece);
            }
        });
        check(framing, Method::Get, &endless, &plain, Outcome::Failed(Code::TOO_LONG));
        check(framing, Method::Post, &endless, &plain, Outcome::Unknown(Code::TOO_LONG));
    }
}

#[test]
fn reopens_connection_closed_while_idle() {
    // The service sends one response per connection, and closes the connection without announcing it.
    let once = service(|stream, _| {
        let mut reader = BufReader::new(stream);
        let _ = request(&mut reader);
        let _ = reader.get_mut().write_all(OK);
    });
    check("closed after each answer", Method::Get, &once, &Service::without_tls("localhost"), Outcome::Ok);
}

#[derive(Debug, Default)]
struct TlsStats {
    handshakes: AtomicUsize,
    resumed: AtomicUsize,
}

/// Starts a TLS service that closes each connection after one response.
fn secure(stats: &Arc<TlsStats>) -> Address {
    let certificate = CertificateDer::from_pem_slice(include_bytes!("../../../wire/tests/certs/server.crt"))
        .expect("a certificate");
    let key =
        PrivateKeyDer::from_pem_slice(include_bytes!("../../../wire/tests/certs/server.key")).expect("a key");
    let config = ServerConfig::builder_with_provider(Arc::new(wire::tls::provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key);
    let mut config = config.expect("the key belongs to the certificate");
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let (config, stats) = (Arc::new(config), Arc::clone(stats));
    service(move |stream, _| {
        let connection = ServerConnection::new(Arc::clone(&config)).expect("a connection");
        let mut reader = BufReader::new(StreamOwned::new(connection, stream));
        if request(&mut reader).is_some() {
            let connection = &mut reader.get_mut().conn;
            assert_eq!(connection.alpn_protocol(), Some(&b"http/1.1"[..]));
            stats.handshakes.fetch_add(1, Ordering::Relaxed);
            let resumed = connection.handshake_kind() == Some(rustls::HandshakeKind::Resumed);
            stats.resumed.fetch_add(usize::from(resumed), Ordering::Relaxed);
            let _ = reader
                .get_mut()
                .write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
            reader.get_mut().conn.send_close_notify();
            let _ = reader.get_mut().flush();
        }
    })
}

#[test]
fn tls_sessions_are_resumed() {
    let roots = TlsIdentity {
        roots: Some(include_bytes!("../../../wire/tests/certs/root.crt")),
        ..TlsIdentity::default()
    };
    let stats = Arc::new(TlsStats::default());
    let address = secure(&stats);
    let service = Service {
        tls: Some(HttpsClient::new("db.test", &roots).expect("the TLS configuration is valid")),
        ..Service::without_tls("localhost")
    };
    let all = record_requests(Driver::for_load(false), Method::Get, &address, &service);
    assert_eq!(all.outcomes, [Outcome::Ok; 3], "{:?}", all.refused);
    assert_eq!(stats.handshakes.load(Ordering::Relaxed), 3);
    assert_eq!(stats.resumed.load(Ordering::Relaxed), 2, "all connections except the first are resumed");
    let other = Service {
        tls: Some(HttpsClient::new("example.org", &roots).expect("the TLS configuration is valid")),
        ..service
    };
    check("another name", Method::Get, &address, &other, Outcome::Failed(Code::TLS));
}
