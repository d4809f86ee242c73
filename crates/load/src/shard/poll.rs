//! Actions for the driver, and the driver's confirmations of sent bytes

use super::client::todo;
use super::{Action, ConnId, Shard};
use crate::recorder::Recorder;
use crate::script::CommandKind;

impl<R: Recorder> Shard<R> {
    /// Next action for the driver; see [`Action`].
    pub fn poll(&mut self) -> Action<'_> {
        if let Some(event) = self.events.pop_front() {
            return Action::Report(event);
        }
        while let Some(&number) = self.pending_conns.front() {
            let conn = ConnId(number);
            if let Some(w) = self.http_index(conn) {
                if let Some(i) = w.checked_sub(self.http_connections.len()) {
                    let cancel = &mut self.cancels[i];
                    let action = cancel.pending_actions & cancel.pending_actions.wrapping_neg();
                    cancel.pending_actions &= !action;
                    if cancel.pending_actions == 0 {
                        self.pending_conns.pop_front();
                    }
                    match action {
                        todo::TRANSMIT => return Action::Transmit(conn, self.cancels[i].outgoing()),
                        todo::CLOSE => return Action::Close(conn),
                        todo::CONNECT => return Action::Connect(conn),
                        _ => continue,
                    }
                }
                let connection = &mut self.http_connections[w];
                let action = connection.pending_actions & connection.pending_actions.wrapping_neg();
                connection.pending_actions &= !action;
                if connection.pending_actions == 0 {
                    self.pending_conns.pop_front();
                }
                match action {
                    todo::TRANSMIT => {
                        return Action::Transmit(conn, self.http_connections[w].channel.outgoing());
                    }
                    todo::CLOSE => return Action::Close(conn),
                    todo::CONNECT => return Action::Connect(conn),
                    _ => continue,
                }
            }
            let session = self.session(conn);
            let action = session.pending_actions & session.pending_actions.wrapping_neg();
            session.pending_actions &= !action;
            if session.pending_actions == 0 {
                self.pending_conns.pop_front();
            }
            match action {
                todo::TRANSMIT => {
                    return Action::Transmit(conn, self.session(conn).channel.outgoing());
                }
                todo::FINISH => return Action::Finish(conn),
                todo::CLOSE => return Action::Close(conn),
                todo::CONNECT => return Action::Connect(conn),
                todo::PROBE => return Action::Probe(conn),
                todo::SHELL => {
                    let i = self.client_of(conn);
                    let client = &mut self.clients[i as usize];
                    let line = std::mem::take(&mut client.shell_line);
                    let kind =
                        client.tx.map(|it| &self.work.script(it.script).commands[it.command as usize].kind);
                    let keep = matches!(kind, Some(CommandKind::SetShell { .. }));
                    return Action::Shell { conn, line, keep };
                }
                _ => {}
            }
        }
        if self.active == 0 && !self.has_rest() { Action::Done } else { Action::Wait(self.next_wakeup()) }
    }

    /// Confirms that the first `n` bytes of the last `Transmit` were sent.
    #[inline]
    pub fn sent(&mut self, conn: ConnId, n: usize) {
        if let Some(w) = self.http_index(conn) {
            if let Some(i) = w.checked_sub(self.http_connections.len()) {
                return self.cancels[i].sent(n);
            }
            let connection = &mut self.http_connections[w];
            connection.request_sent |= n > 0;
            return connection.channel.sent(n);
        }
        self.session(conn).channel.sent(n);
    }

    /// Handles a transport that is writable again.
    pub fn writable(&mut self, conn: ConnId) {
        if let Some(w) = self.http_index(conn) {
            if let Some(i) = w.checked_sub(self.http_connections.len()) {
                if !self.cancels[i].outgoing().is_empty() {
                    self.request_cancel_action(i, todo::TRANSMIT);
                }
            } else if !self.http_connections[w].channel.outgoing().is_empty() {
                self.request_http_action(w, todo::TRANSMIT);
            }
        } else if !self.session(conn).channel.outgoing().is_empty() {
            self.request_action(conn, todo::TRANSMIT);
        }
    }
}
