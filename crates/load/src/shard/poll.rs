//! Hands actions to the driver, and takes its word that bytes have left.

use super::client::todo;
use super::{Action, ConnId, Shard};
use crate::recorder::Recorder;
use crate::script::Kind;

impl<R: Recorder> Shard<R> {
    /// What is to be done next.
    pub fn poll(&mut self) -> Action<'_> {
        if let Some(said) = self.said.pop_front() {
            return Action::Say(said);
        }
        while let Some(&number) = self.todo.front() {
            let conn = ConnId(number);
            if let Some(w) = self.web_number(conn) {
                if let Some(i) = w.checked_sub(self.webs.len()) {
                    let cancel = &mut self.cancels[i];
                    let what = cancel.todo & cancel.todo.wrapping_neg();
                    cancel.todo &= !what;
                    if cancel.todo == 0 {
                        self.todo.pop_front();
                    }
                    match what {
                        todo::TRANSMIT => return Action::Transmit(conn, self.cancels[i].outgoing()),
                        todo::CLOSE => return Action::Close(conn),
                        todo::CONNECT => return Action::Connect(conn),
                        _ => continue,
                    }
                }
                let web = &mut self.webs[w];
                let what = web.todo & web.todo.wrapping_neg();
                web.todo &= !what;
                if web.todo == 0 {
                    self.todo.pop_front();
                }
                match what {
                    todo::TRANSMIT => {
                        return Action::Transmit(conn, self.webs[w].channel.outgoing());
                    }
                    todo::CLOSE => return Action::Close(conn),
                    todo::CONNECT => return Action::Connect(conn),
                    _ => continue,
                }
            }
            let session = self.session(conn);
            let what = session.todo & session.todo.wrapping_neg();
            session.todo &= !what;
            if session.todo == 0 {
                self.todo.pop_front();
            }
            match what {
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
                    let keep = matches!(kind, Some(Kind::SetShell { .. }));
                    return Action::Shell { conn, line, keep };
                }
                _ => {}
            }
        }
        if self.active == 0 && !self.has_rest() { Action::Done } else { Action::Wait(self.next_moment()) }
    }

    /// The first `n` bytes of the last `Transmit` have left.
    #[inline]
    pub fn sent(&mut self, conn: ConnId, n: usize) {
        if let Some(w) = self.web_number(conn) {
            if let Some(i) = w.checked_sub(self.webs.len()) {
                return self.cancels[i].sent(n);
            }
            let web = &mut self.webs[w];
            web.left |= n > 0;
            return web.channel.sent(n);
        }
        self.session(conn).channel.sent(n);
    }

    /// The transport can take bytes again.
    pub fn writable(&mut self, conn: ConnId) {
        if let Some(w) = self.web_number(conn) {
            if let Some(i) = w.checked_sub(self.webs.len()) {
                if !self.cancels[i].outgoing().is_empty() {
                    self.demand_cancel(i, todo::TRANSMIT);
                }
            } else if !self.webs[w].channel.outgoing().is_empty() {
                self.demand_web(w, todo::TRANSMIT);
            }
        } else if !self.session(conn).channel.outgoing().is_empty() {
            self.demand(conn, todo::TRANSMIT);
        }
    }
}
