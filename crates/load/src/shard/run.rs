//! Execution of a client's script

use super::arrivals::{DueArrival, StartCause};
use super::client::{Client, ClientState, Transaction, todo};
use super::{AbortReason, ClientStep, ConnId, LoadEvent, Shard};
use crate::ledger::{self, KeyedScript};
use crate::recorder::{Recorder, TraceEvent};
use crate::schedule::think_duration;
use crate::script::{CommandKind, Mode, ShellError, Value, WriteResult, command_line, parse_output};
use model::durability::{WriteAttempt, WriteKey};
use model::message::Message;
use model::{ClientId, Code, Nanos, Outcome, Record, RequestSample, Schedule, ScriptId};
use wire::pg::TransactionStatus;

impl<R: Recorder> Shard<R> {
    /// Begins a due transaction on client `i`.
    ///
    /// Returns false if the script's feed has no row left. Then no further transaction begins, and an arrival of the
    /// open model is recorded as dropped.
    pub(super) fn begin_transaction(
        &mut self,
        now: Nanos,
        i: u32,
        due: DueArrival,
        cause: StartCause,
    ) -> bool {
        let intended = due.at;
        let ScriptId(mut script) = match &mut self.mix {
            Some(mix) => mix.begin_transaction(&self.work, i),
            None => self.script_of(due),
        };
        let client = &mut self.clients[i as usize];
        let mut row = None;
        if let Some(draw) = &self.work.script(script).draw {
            let sequence = &mut self.draws[usize::from(draw.feed)];
            let feed = self.work.feed(draw);
            let Some(n) = due.row.or_else(|| feed.draw(sequence, &mut client.rng)) else {
                let feed = draw.feed;
                self.feed_exhausted(now, intended, ScriptId(script), feed, cause);
                return false;
            };
            script = self.work.script_of_row(script, n);
            self.work.fill(draw, n, &mut client.variables);
            row = Some(n);
        }
        match cause {
            StartCause::Due => self.recorder.send_lag(now - intended),
            StartCause::Backlogged => self.recorder.backlog_wait(now - intended),
            StartCause::ClientReady => {}
        }
        let logs_in = self.switch_endpoint(i, script);
        let client = &mut self.clients[i as usize];
        client.transactions_started += 1;
        client.earliest_start = now + self.users.pacing;
        self.recorder.transaction_started();
        client.tx = Some(Transaction { row, ..Transaction::new(script, intended, now, client.rng) });
        if self.work.keyed_write(script).is_some() {
            let sequence = client.sequence;
            client.sequence += 1;
            self.set_key(i, script);
            self.recorder.reserve(ClientId(self.first + i), sequence);
        }
        if logs_in {
            self.connect(now, i);
        } else {
            self.run(now, i);
        }
        true
    }

    /// Executes the script for the start of client `i`. It is repeated until it succeeds.
    pub(super) fn execute_on_start(&mut self, now: Nanos, i: u32, script: u16) {
        let client = &mut self.clients[i as usize];
        let mut row = None;
        if let Some(draw) = &self.work.script(script).draw {
            let sequence = &mut self.draws[usize::from(draw.feed)];
            let Some(n) = self.work.feed(draw).draw(sequence, &mut client.rng) else {
                let feed = draw.feed;
                self.feed_exhausted(now, now, ScriptId(script), feed, StartCause::ClientReady);
                return self.finish_client(i);
            };
            self.work.fill(draw, n, &mut client.variables);
            row = Some(n);
        }
        client.tx = Some(Transaction { row, ..Transaction::new(script, now, now, client.rng) });
        self.run(now, i);
    }

    /// Continues after the script for the start of client `i`: with its first transaction, or after a failure with another
    /// attempt.
    fn finish_on_start(&mut self, now: Nanos, i: u32, succeeded: bool) {
        self.mark_settled(i);
        let client = &mut self.clients[i as usize];
        if succeeded {
            client.has_started = true;
            client.session.refusals = 0;
            return self.become_idle(now, i);
        }
        client.session.refusals += 1;
        client.state = ClientState::Thinking;
        self.back_off(now, i);
    }

    /// Sets the token of a ledger write, and clears the server identity that the previous write returned.
    pub(super) fn set_key(&mut self, i: u32, script: u16) {
        let Some(write) = self.work.keyed_write(script) else { return };
        let client = &mut self.clients[i as usize];
        let key = WriteKey { session: self.first + i, sequence: client.sequence - 1 };
        self.work.write_token(key, write, client.variables.begin_text(write.keyed.token));
        if let Some(slot) = write.keyed.server {
            client.variables.set_text(slot, b"");
        }
    }

    /// Handles a feed without remaining rows.
    fn feed_exhausted(
        &mut self,
        now: Nanos,
        intended: Nanos,
        script: ScriptId,
        feed: u16,
        cause: StartCause,
    ) {
        if cause != StartCause::ClientReady {
            self.drop_script(now, intended, script);
        }
        if !self.exhausted {
            self.exhausted = true;
            self.events.push_back(LoadEvent::Exhausted { feed });
            self.stop(now);
        }
    }

    /// Resumes the runnable client `i`.
    pub(super) fn resume(&mut self, now: Nanos, i: u32) {
        match self.clients[i as usize].state {
            ClientState::Idle => self.become_idle(now, i),
            ClientState::Thinking | ClientState::Absent if self.is_replay() => self.replay_next(now, i),
            _ => {}
        }
    }

    /// Executes commands until a command has to wait.
    pub(super) fn run(&mut self, now: Nanos, i: u32) {
        if self.mix.is_some() {
            return self.run_recorded(now, i);
        }
        loop {
            let client = &mut self.clients[i as usize];
            let tx = client.tx.as_mut().expect("a running client has a transaction");
            let commands = &self.work.script(tx.script).commands;
            if self.work.plan.reports_steps && tx.command == 0 {
                let (client, step) =
                    (ClientId(self.first + i), ClientStep::Begin { script: ScriptId(tx.script) });
                self.events.push_back(LoadEvent::Step { client, step });
            }
            let Some(command) = commands.get(tx.command as usize) else { return self.finish_script(now, i) };
            tx.command_started = now;
            let (script, number) = (ScriptId(tx.script), tx.command);
            let events = &mut self.events;
            let mut debug =
                |value: Value| events.push_back(LoadEvent::Debug { script, command: number, value });
            let mut next = tx.command as usize + 1;
            match &command.kind {
                CommandKind::Sql(sql) => {
                    if let Some(keep) = sql.store.as_ref().filter(|_| tx.in_pipeline) {
                        return self.abort(now, i, AbortReason::StoreInPipeline { every: keep.all_rows });
                    }
                    if let Some(refusal) = self.work.refusal(tx.script, tx.command, &client.variables) {
                        let reason = refusal.message(&self.work.plan.program.names, &client.variables);
                        return self.abort(now, i, AbortReason::Expression(reason));
                    }
                    if self.send_request(i) {
                        return;
                    }
                    continue;
                }
                CommandKind::Http(_) => return self.call(now, i),
                CommandKind::Set { slot, value } => {
                    match value.eval(&client.variables, &mut client.rng, &mut debug) {
                        Ok(value) => client.variables.set(*slot, value),
                        Err(error) => {
                            let reason = error.message(&self.work.plan.program.names, &client.variables);
                            return self.abort(now, i, AbortReason::Expression(reason));
                        }
                    }
                }
                CommandKind::If { test, next: otherwise } => {
                    // Evaluate the following conditions until a condition is true or the conditional ends.
                    let mut condition = (test, *otherwise);
                    loop {
                        match condition.0.eval(&client.variables, &mut client.rng, &mut debug) {
                            Ok(value) if value.is_true() => break,
                            Ok(_) => {}
                            Err(error) => {
                                let reason = error.message(&self.work.plan.program.names, &client.variables);
                                return self.abort(now, i, AbortReason::Expression(reason));
                            }
                        }
                        next = condition.1 + 1;
                        match &commands[condition.1].kind {
                            CommandKind::Elif { test, next, .. } => condition = (test, *next),
                            _ => break,
                        }
                    }
                }
                // Execution arrives here only at the end of a taken branch.
                CommandKind::Elif { end, .. } | CommandKind::Else { end } => next = *end + 1,
                CommandKind::EndIf => {}
                CommandKind::Sleep { amount } => match amount.micros(&client.variables) {
                    Ok(micros) => {
                        client.state = ClientState::Sleeping;
                        return self.wake_at(now + Nanos::from_micros(micros.max(0) as u64), i);
                    }
                    Err(error) => {
                        let reason = error.message(&self.work.plan.program.names, &client.variables);
                        return self.abort(now, i, AbortReason::Expression(reason));
                    }
                },
                CommandKind::Pause(_) if self.is_draining => return self.discard_transaction(now, i),
                CommandKind::Pause(think) => {
                    let pause = think_duration(think, &mut client.rng);
                    tx.paused += pause;
                    tx.command += 1;
                    client.state = ClientState::Pausing;
                    return self.wake_at(now + pause, i);
                }
                CommandKind::SetShell { words, .. } | CommandKind::Shell { words } => {
                    match command_line(words, &self.work.plan.program.names, &client.variables) {
                        Ok(line) => client.shell_line = line,
                        Err(error) => return self.abort(now, i, AbortReason::Shell(Message::from(&error))),
                    }
                    client.state = ClientState::RunningShell;
                    return self.request_action(self.conn(i), todo::SHELL);
                }
                CommandKind::StartPipeline if tx.in_pipeline => {
                    return self.abort(now, i, AbortReason::Pipeline);
                }
                CommandKind::StartPipeline if self.work.plan.mode == Mode::Simple => {
                    return self.abort(now, i, AbortReason::SimplePipeline);
                }
                CommandKind::StartPipeline => tx.in_pipeline = true,
                CommandKind::SyncPipeline | CommandKind::EndPipeline if !tx.in_pipeline => {
                    return self.abort(now, i, AbortReason::Pipeline);
                }
                CommandKind::SyncPipeline => {
                    tx.sent += client.session.request(|out| self.work.sync.render(out, |_, _| false));
                    tx.pending_ready += 1;
                    tx.sent_request = true;
                    self.request_action(self.conn(i), todo::TRANSMIT);
                }
                CommandKind::EndPipeline => {
                    tx.sent += client.session.request(|out| self.work.sync.render(out, |_, _| false));
                    tx.pending_ready += 1;
                    tx.sent_request = true;
                    tx.in_pipeline = false;
                    client.state = ClientState::AwaitingReady;
                    return self.request_action(self.conn(i), todo::TRANSMIT);
                }
                CommandKind::Recorded => unreachable!("the shard sends recorded requests itself"),
            }
            let tx = self.clients[i as usize].tx.as_mut().expect("the transaction still runs");
            tx.command = next as u16;
        }
    }

    /// Queues the request of the current command. Returns true if the client must now await its reply.
    #[inline]
    fn send_request(&mut self, i: u32) -> bool {
        let client = &mut self.clients[i as usize];
        let tx = client.tx.as_mut().expect("a running client has a transaction");
        let request = self.work.request(tx.script, tx.command);
        let prepared = request.statement.is_some_and(|it| client.session.prepared[it]);
        let (variables, piped) = (&client.variables, tx.in_pipeline);
        if R::TRACES {
            self.recorder.trace(TraceEvent::Statement { command: tx.command, variables });
        }
        if self.work.plan.reports_steps {
            let statement = self.work.statement_text(tx.script, tx.command, variables);
            let (client, step) = (ClientId(self.first + i), ClientStep::Send { statement });
            self.events.push_back(LoadEvent::Step { client, step });
        }
        let write = |arg: u16, out: &mut Vec<u8>| {
            let slot = request.args[arg as usize];
            let written = match self.work.literal_place(request, arg) {
                Some(place) => variables.write_literal(slot, place, out),
                None => variables.write(slot, out),
            };
            if written == WriteResult::Unset
                && let Some(unset_text) = request.unset.get(arg as usize)
            {
                out.extend_from_slice(unset_text.as_bytes());
            }
            written != WriteResult::Unset
        };
        tx.sent += client.session.request(|out| request.template(prepared, piped).render(out, write));
        client.session.received = 0;
        tx.sent_request = true;
        if let Some(statement) = request.statement.filter(|_| !prepared) {
            client.session.prepared[statement] = true;
            client.session.parsing.push_back((statement as u16, tx.received_ready + tx.pending_ready));
        }
        if piped {
            tx.command += 1;
            return false;
        }
        if request.keep.is_some() || R::TRACES {
            client.session.channel.set_watched(true);
            client.columns.clear();
            (client.rows, client.last_rows) = (0, 0);
        }
        tx.pending_ready = 1;
        client.state = ClientState::AwaitingReady;
        self.request_action(self.conn(i), todo::TRANSMIT);
        true
    }

    /// Completes the current command and moves to the next command.
    pub(super) fn finish_command(&mut self, now: Nanos, i: u32) {
        let sample = self.request_sample(now, i);
        let Client { tx, variables, .. } = &mut self.clients[i as usize];
        let tx = tx.as_mut().expect("a running client has a transaction");
        let command = tx.command;
        if self.work.plan.reports_steps {
            let client = ClientId(self.first + i);
            self.events.push_back(LoadEvent::Step { client, step: ClientStep::Receive });
        }
        self.recorder.statement_finished(ScriptId(tx.script), command, &sample);
        if R::TRACES {
            self.recorder.trace(TraceEvent::Finished { command, elapsed: sample.elapsed, variables });
        }
        tx.command += 1;
        tx.sent = 0;
        self.run(now, i);
    }

    /// Measurement of client `i`'s current command.
    #[inline]
    pub(super) fn request_sample(&self, now: Nanos, i: u32) -> RequestSample {
        let client = &self.clients[i as usize];
        let tx = client.tx.as_ref().expect("a running client has a transaction");
        let elapsed = now - tx.command_started;
        match self.awaited_connection(i) {
            Some(w) => RequestSample { elapsed, ..self.http_connections[w].sample() },
            None if tx.sent > 0 => {
                let (sent, received) = (tx.sent, client.session.received);
                RequestSample { elapsed, sent, received, ..RequestSample::default() }
            }
            None => RequestSample { elapsed, ..RequestSample::default() },
        }
    }

    fn finish_script(&mut self, now: Nanos, i: u32) {
        let tx = self.clients[i as usize].tx.expect("a running client has a transaction");
        if tx.in_pipeline {
            return self.abort(now, i, AbortReason::OpenPipeline);
        }
        if tx.status != TransactionStatus::Idle {
            return self.abort(now, i, AbortReason::OpenTransaction);
        }
        self.end_transaction(now, i, Outcome::Ok);
        self.succeeded[tx.script as usize] = true;
        if self.work.on_start() == Some(tx.script) {
            return self.finish_on_start(now, i, true);
        }
        self.next_transaction(now, i, tx.sent_request);
    }

    /// Continues after a transaction: think time, reconnect, or the next transaction.
    pub(super) fn next_transaction(&mut self, now: Nanos, i: u32, sent_request: bool) {
        if !self.clients[i as usize].has_started {
            return self.finish_on_start(now, i, false);
        }
        if self.work.plan.reconnect {
            self.close_connections(i);
        }
        if self.end_recorded_session(now, i) {
            return;
        }
        let client = &mut self.clients[i as usize];
        if client.leaving {
            return self.user_left(i);
        }
        let think = match &self.work.plan.schedule {
            Schedule::Closed { think } => *think,
            Schedule::Users(it) => think_duration(&it.think, &mut client.rng),
            Schedule::Open { .. }
            | Schedule::Streams(_)
            | Schedule::Listed(_)
            | Schedule::Recorded { .. } => Nanos::ZERO,
        };
        match self.closed {
            true if think > Nanos::ZERO => {
                client.state = ClientState::Thinking;
                self.wake_at(now + think, i);
            }
            // In a closed model, a delay limits the retries on an unavailable server; in an open model, the arrivals
            // limit them.
            true if client.session.refusals > 0 => {
                client.state = ClientState::Thinking;
                self.back_off(now, i);
            }
            // A script without requests would otherwise starve the other clients.
            _ if !sent_request || self.work.plan.reconnect => {
                client.state = ClientState::Idle;
                self.runnable.push_back(i);
            }
            _ => self.become_idle(now, i),
        }
    }

    /// Records the outcome of the transaction.
    #[inline]
    pub(super) fn end_transaction(&mut self, now: Nanos, i: u32, outcome: Outcome) {
        let client = self.client_id(i);
        if outcome == Outcome::Ok {
            self.abandoned_sessions.reset();
        }
        if outcome != Outcome::Ok && self.clients[i as usize].tx.is_some() && !self.has_counted_failure(i) {
            self.record_failure(now, i, outcome);
        }
        if let Some(tx) = self.clients[i as usize].tx.take() {
            let script = ScriptId(tx.script);
            let Transaction { tries, .. } = tx;
            // Times of a transaction do not include its pauses.
            let (intended, started) = (tx.intended + tx.paused, tx.started + tx.paused);
            if let Some(keyed) = self.work.keyed_write(tx.script).map(|it| it.keyed) {
                self.record_write(now, i, &tx, outcome, keyed);
            }
            self.recorder.record(&Record {
                script,
                client,
                outcome,
                intended,
                started,
                finished: now,
                tries,
            });
        }
    }

    /// Ends client `i` without an outcome of its transaction, which is in a pause when the load ends.
    pub(super) fn discard_transaction(&mut self, now: Nanos, i: u32) {
        let tx = self.clients[i as usize].tx.take().expect("the client is in a transaction");
        // The service may have stored the token in an earlier step.
        if let Some(keyed) = self.work.keyed_write(tx.script).map(|it| it.keyed) {
            self.record_write(now, i, &tx, Outcome::Unknown(Code::TIMED_OUT), keyed);
        }
        self.finish_client(i);
    }

    /// Counts the failure of client `i`'s transaction at its current command.
    pub(super) fn record_failure(&mut self, now: Nanos, i: u32, outcome: Outcome) {
        let sample = self.request_sample(now, i);
        let tx = self.clients[i as usize].tx.as_ref().expect("the transaction failed");
        let command = self.work.failing_command(tx.script, tx.command);
        self.recorder.statement_failed(ScriptId(tx.script), command, outcome, &sample);
    }

    /// Sends the outcome of the client's last ledger write to the ledger.
    fn record_write(&mut self, now: Nanos, i: u32, tx: &Transaction, outcome: Outcome, keyed: KeyedScript) {
        let client = &self.clients[i as usize];
        let Some(outcome) = ledger::write_outcome(outcome, tx.sent_request, tx.settled, tx.local_only) else {
            return;
        };
        let key = WriteKey { session: self.first + i, sequence: client.sequence - 1 };
        let (invoked, number, server) = (tx.started, tx.tries, None);
        let attempt = WriteAttempt { key, number, outcome, invoked, ended: now, server };
        self.recorder.write_completed(&attempt, keyed.server.map_or(&[], |slot| client.variables.text(slot)));
    }

    /// Aborts the client, because its transaction failed and every further transaction would fail too.
    pub(super) fn abort(&mut self, now: Nanos, i: u32, reason: AbortReason) {
        let (script, command) = self.clients[i as usize].tx.map_or((0, 0), |it| (it.script, it.command));
        let client = self.client_id(i);
        let code = match reason {
            AbortReason::PermanentError { code, .. } => code,
            // SQLSTATE class 38, "external routine", marks an error that did not come from the server.
            _ => Code::SqlState(*b"38000"),
        };
        // A COPY that waits for data ends only with its session; a cancel request does not end it.
        let answers =
            self.clients[i as usize].tx.is_some_and(|it| it.pending_ready > 0) && reason != AbortReason::Copy;
        self.events.push_back(LoadEvent::Aborted { client, script: ScriptId(script), command, reason });
        let ends = answers && !self.is_in_ledger(i) && self.end_session(now, i, false);
        self.end_transaction(now, i, Outcome::Failed(code));
        if ends {
            self.clients[i as usize].aborting = true;
            self.close_all_http(i, true);
            return self.await_end(i);
        }
        self.retire_client(i, ClientState::Aborted);
    }

    /// Handles the end of `Action::Shell`. `output` is the command's output, or the reason why there is no output.
    pub fn shell_done(&mut self, now: Nanos, conn: ConnId, output: Result<&[u8], &ShellError>) {
        let i = self.client_of(conn);
        let client = &mut self.clients[i as usize];
        let (ClientState::RunningShell, Some(tx)) = (client.state, client.tx) else { return };
        let done = match (&self.work.script(tx.script).commands[tx.command as usize].kind, output) {
            (CommandKind::SetShell { slot, words }, Ok(output)) => {
                parse_output(words, &self.work.plan.program.names, output)
                    .map(|number| client.variables.set(*slot, Value::Int(number)))
                    .map_err(|error| Message::from(&error))
            }
            (_, output) => output.map(drop).map_err(Message::from),
        };
        match done {
            Ok(()) => self.finish_command(now, i),
            Err(reason) => self.abort(now, i, AbortReason::Shell(reason)),
        }
    }
}
