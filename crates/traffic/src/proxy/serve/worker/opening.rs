//! Beginning of a link: the first packets of the client, the connect to the server, and the encryption of both sides

use super::Worker;
use crate::proxy::Startup;
use crate::proxy::mechanisms::MechanismFilter;
use crate::proxy::serve::ProxyEvent;
use crate::proxy::serve::link::{Endpoint, Phase};
use crate::proxy::serve::observer::Observer;
use crate::proxy::serve::socket::{Connect, Upstream, begin_connect};
use rustix::net::sockopt;
use std::io;
use wire::tls::{TlsError, TlsStream};

/// Request of a client for TLS. Source: PostgreSQL manual, "Message Formats".
const SSL_REQUEST: &[u8] = b"\0\0\0\x08\x04\xd2\x16\x2f";

impl<O: Observer> Worker<'_, O> {
    /// Receives the first packets of a client.
    pub(super) fn receive_startup(&mut self, index: usize) {
        let Some(Some(link)) = self.links.get_mut(index) else { return };
        let Phase::Startup(reader) = &mut link.phase else { return };
        let received = match link.client.receive(&mut self.buffer, &mut self.plain) {
            Ok(Some(received)) if !received.ends || !received.bytes.is_empty() => received,
            Ok(None) => return,
            _ => return self.close(index),
        };
        let startup = match received.bytes {
            // The handshake continues.
            [] => return self.register(index),
            bytes => reader.read(bytes),
        };
        match (startup, &self.proxy.tls) {
            (Startup::Incomplete, _) => {}
            (Startup::TlsRequest | Startup::GssRequest | Startup::DirectTls, _)
                if link.client.tls.is_some() =>
            {
                self.close(index);
            }
            (Startup::TlsRequest, Some(tls)) => {
                link.client.send(b"S");
                link.client.tls = TlsStream::accept(tls).map(Box::new).ok();
            }
            // A server without encryption gives the same answer.
            (Startup::TlsRequest | Startup::GssRequest, _) => link.client.send(b"N"),
            (Startup::DirectTls, Some(tls)) => {
                let hello = std::mem::replace(reader, O::startup_reader()).into_bytes();
                link.client.tls = TlsStream::accept(tls).map(Box::new).ok();
                link.is_direct = true;
                match link.client.decrypt(&hello, &mut self.plain) {
                    // The client waits for the server's part of the handshake.
                    Ok(received) if received.bytes.is_empty() => self.register(index),
                    _ => self.close(index),
                }
            }
            (Startup::DirectTls | Startup::Invalid, _) => self.close(index),
            (startup @ (Startup::Cancel | Startup::Session { .. } | Startup::Requests), _) => {
                let session = O::session(startup, link.connected);
                self.begin(index, session);
            }
        }
    }

    /// Begins a session after the first packet of a client.
    fn begin(&mut self, index: usize, session: Option<O::Session>) {
        let Some(Some(link)) = self.links.get_mut(index) else { return };
        let Phase::Startup(reader) = &mut link.phase else { return };
        // PostgreSQL requires ALPN if a client does not ask for TLS.
        if O::ASKS_FOR_TLS
            && link.is_direct
            && !link.client.tls.as_ref().is_some_and(|tls| tls.has_protocol())
        {
            return self.close(index);
        }
        let length = reader.packet_length();
        let first = std::mem::take(reader).into_bytes();
        link.session = session;
        if let Some(session) = &mut link.session {
            let now = (self.proxy.clock)();
            self.observer.client_sent(link.id, session, now, &first[length..]);
        }
        link.phase = Phase::Connecting { first, address: 0 };
        self.connect(index);
    }

    /// Connects to the current address of the server, or to the next one that can be reached.
    pub(super) fn connect(&mut self, index: usize) {
        let Some(Some(link)) = self.links.get_mut(index) else { return };
        let Phase::Connecting { address, .. } = &mut link.phase else { return };
        loop {
            match begin_connect(&self.proxy.upstream[*address]) {
                Ok(Connect::Open(socket)) => {
                    link.server = Some(Endpoint::new(socket));
                    return self.open(index);
                }
                Ok(Connect::InProgress(socket)) => {
                    link.server = Some(Endpoint::new(socket));
                    return self.register(index);
                }
                Ok(Connect::Busy) => {
                    self.retries.push(index);
                    return self.register(index);
                }
                Err(_) if *address + 1 < self.proxy.upstream.len() => *address += 1,
                Err(error) => return self.refuse(index, error.into()),
            }
        }
    }

    /// Handles the end of a connect.
    pub(super) fn on_connected(&mut self, index: usize) {
        let Some(Some(link)) = self.links.get_mut(index) else { return };
        let Some(server) = &link.server else { return };
        let Phase::Connecting { address, .. } = &mut link.phase else { return };
        match sockopt::socket_error(&server.socket) {
            Ok(Ok(())) => self.open(index),
            Ok(Err(_)) if *address + 1 < self.proxy.upstream.len() => {
                *address += 1;
                link.server = None;
                self.connect(index);
            }
            Ok(Err(error)) | Err(error) => self.refuse(index, error.into()),
        }
    }

    /// Begins to forward on a connected socket, or asks the server for TLS first.
    fn open(&mut self, index: usize) {
        let Some(Some(link)) = self.links.get_mut(index) else { return };
        let Some(server) = &mut link.server else { return };
        let Phase::Connecting { first, address } = std::mem::replace(&mut link.phase, Phase::Open) else {
            return;
        };
        match &self.proxy.upstream[address] {
            Upstream::Tls(..) if O::ASKS_FOR_TLS => {
                server.send(SSL_REQUEST);
                link.phase = Phase::Requesting { first, address };
            }
            Upstream::Tls(_, upstream) => {
                if let Err(error) = server.begin_tls(upstream) {
                    return self.refuse(index, error.into());
                }
                server.send(&first);
            }
            Upstream::Unix(_) | Upstream::Tcp(_) => server.send(&first),
        }
        self.register(index);
    }

    /// Receives the server's answer to the request for TLS.
    pub(super) fn receive_answer(&mut self, index: usize) {
        let Some(Some(link)) = self.links.get_mut(index) else { return };
        let (Some(server), Phase::Requesting { first, address }) = (&mut link.server, &mut link.phase) else {
            return;
        };
        let Upstream::Tls(_, upstream) = &self.proxy.upstream[*address] else { return };
        let Ok(Some(received)) = server.receive(&mut self.buffer, &mut self.plain) else { return };
        let first = std::mem::take(first);
        match received.bytes {
            b"S" => {
                if let Err(error) = server.begin_tls(upstream) {
                    return self.refuse(index, error.into());
                }
                link.filter = Some(MechanismFilter::default());
            }
            b"N" if !upstream.is_required => {}
            b"N" => return self.refuse(index, TlsError("the server does not support it").into()),
            // Bytes after the answer could have been injected: CVE-2021-23214.
            [b'S' | b'N', ..] => {
                return self.refuse(index, TlsError("the server sent data before the handshake").into());
            }
            _ => return self.refuse(index, TlsError("the server did not answer the request for it").into()),
        }
        server.send(&first);
        link.phase = Phase::Open;
        self.register(index);
    }

    /// Reports to the client that the server cannot be reached, and closes the link.
    pub(super) fn refuse(&mut self, index: usize, error: io::Error) {
        let Some(Some(link)) = self.links.get_mut(index) else { return };
        let message = O::connect_error(&error);
        (self.proxy.report)(ProxyEvent::ConnectFailed(error));
        link.client.send(&message);
        link.client.end();
        self.close(index);
    }
}
