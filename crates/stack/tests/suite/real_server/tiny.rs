//! Minimal HTTP service for tests, executed by this program

use super::chain::node;
use super::scratch::Scratch;
use model::message::Message;
use model::plan::{Node, NodeKind, Service, StatsPage, Transport};
use stack::client::{Address, Target};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use wire::pg::conninfo::{self, Environment};

/// Builds the node of a service; the program is copied to a directory where every user may execute it.
pub fn service(name: &str, scratch: &Scratch, env: &[(&str, &str)]) -> Node {
    let program = scratch.path.join("tiny");
    if !program.exists() {
        std::fs::copy("/proc/self/exe", &program).unwrap();
    }
    let command = [program.to_str().unwrap(), "--exact", "real_server::tiny::serve", "--nocapture"];
    let mut env: Vec<_> = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    env.push(("TINY".to_owned(), "yes".to_owned()));
    let kind = NodeKind::Service(Service {
        command: command.map(str::to_owned).to_vec(),
        env,
        stats: vec![StatsPage::own("/stats".to_owned())],
        ..Service::default()
    });
    node(name, Transport::Tcp, kind)
}

pub const STATS: &str = r#"{"working":3,"pool":{"size":10,"busy":2,"idle":1,"waited_total":7}}"#;

/// Main function of the service, if this process was started as one.
#[test]
fn serve() {
    if std::env::var_os("TINY").is_none() {
        return;
    }
    if let Ok(words) = std::env::var("LAST_WORDS") {
        eprintln!("{words}");
        std::process::exit(3);
    }
    // The worker process simulates servers in other languages.
    let child = Command::new("sleep").arg("1000").spawn().unwrap().id();
    let listener = TcpListener::bind(std::env::var("ADDRESS").unwrap()).unwrap();
    static ASKED: AtomicU32 = AtomicU32::new(0);
    for stream in listener.incoming() {
        std::thread::spawn(move || answer(&stream.unwrap(), child, &ASKED));
    }
}

fn answer(mut stream: &TcpStream, child: u32, requests: &AtomicU32) {
    let mut lines = BufReader::new(stream).lines();
    while let Some(Ok(first)) = lines.next() {
        lines.by_ref().map_while(Result::ok).take_while(|it| !it.is_empty()).for_each(drop);
        let (status, body) = match first.split(' ').nth(1).unwrap_or_default() {
            // The service is not ready at once, like other services.
            "/health" if requests.fetch_add(1, Ordering::Relaxed) < 3 => (503, "not yet".to_owned()),
            "/health" => (200, "up".to_owned()),
            "/stats" => (200, STATS.to_owned()),
            "/who" => (200, format!("{} {child}", std::process::id())),
            "/sql" => match database()
                .open(Duration::from_secs(10))
                .and_then(|mut it| it.value("select current_user || ' ' || current_database()"))
            {
                Ok(it) => (200, it.unwrap_or_default()),
                Err(it) => (503, Message::from(&it).describe()),
            },
            _ => (404, String::new()),
        };
        let head = format!("HTTP/1.1 {status} -\r\nContent-Length: {}\r\n\r\n", body.len());
        if stream.write_all((head + &body).as_bytes()).is_err() {
            return;
        }
    }
}

/// Returns the database login from the environment.
fn database() -> Target {
    let url = std::env::var("DATABASE_URL").unwrap();
    let env = |name: &str| std::env::var(name).ok();
    let around = Environment { env: &env, read: &|_, path| std::fs::read_to_string(path).ok(), os_user: "" };
    let settings = conninfo::resolve(Some(&url), &[], around).unwrap();
    let host = &settings.hosts[0];
    let address = format!("{}:{}", host.host, host.port).parse().unwrap();
    Target::new(Address::Tcp(address), Arc::new(settings.login(host)))
}
