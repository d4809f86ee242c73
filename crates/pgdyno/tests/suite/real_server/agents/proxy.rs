//! Proxy whose connections can break silently

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Connections that pass through this proxy break silently: bytes are no longer forwarded, but nothing is closed.
pub struct Proxy {
    pub port: u16,
    pub is_cut: Arc<AtomicBool>,
}

impl Proxy {
    pub fn start(target: u16) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("the listener has an address").port();
        let is_cut = Arc::new(AtomicBool::new(false));
        let cut = Arc::clone(&is_cut);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(("127.0.0.1", target)) else { continue };
                let ways = [(client.try_clone(), server.try_clone()), (Ok(server), Ok(client))];
                for (from, to) in ways {
                    let (from, to, cut) = (from.expect("a socket"), to.expect("a socket"), Arc::clone(&cut));
                    thread::spawn(move || forward(from, to, &cut));
                }
            }
        });
        Proxy { port, is_cut }
    }
}

pub fn forward(mut from: TcpStream, mut to: TcpStream, is_cut: &AtomicBool) {
    let mut buffer = [0; 65536];
    while let Ok(length) = from.read(&mut buffer) {
        let forwards = !is_cut.load(Ordering::Relaxed);
        if length == 0 || (forwards && to.write_all(&buffer[..length]).is_err()) {
            return;
        }
    }
}
