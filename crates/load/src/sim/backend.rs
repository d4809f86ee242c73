//! Simulated PostgreSQL server

/// Server side of one connection. It implements enough of the protocol for scripts of one-row statements.
#[derive(Debug)]
pub(super) struct SimulatedBackend {
    unread: Vec<u8>,
    logged_in: bool,
    welcome: bool,
    /// Status of the transaction block, as in ReadyForQuery.
    block: u8,
    /// Replies to the messages before the next Sync.
    pending: Vec<u8>,
    /// Text of the statement that Execute would run, from which BEGIN, COMMIT and ROLLBACK are recognised.
    statement: Vec<u8>,
    prepared: Vec<(Vec<u8>, Vec<u8>)>,
    /// Process ID, which is also the cancel key.
    pid: u32,
}

/// Result of a statement of the simulated server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementResult {
    /// The statement returned or changed this many rows.
    Rows(u64),
    /// EmptyQueryResponse, as for an empty statement.
    EmptyQuery,
    /// CommandComplete with an empty tag.
    EmptyTag,
}

/// Request that takes time to serve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SimulatedRequest {
    LogIn,
    /// Cancel the statement of the session with this process ID.
    Cancel(u32),
    /// Messages up to a Sync, or a simple query: the texts of the statements, and the replies to the other messages.
    Batch {
        statements: Vec<Vec<u8>>,
        before: Vec<u8>,
    },
    /// HTTP request. If `head` is true, its response has no body.
    Request {
        head: bool,
    },
}

impl SimulatedBackend {
    pub fn new(welcome: bool, pid: u32) -> SimulatedBackend {
        SimulatedBackend {
            unread: Vec::new(),
            logged_in: false,
            welcome,
            block: b'I',
            pending: Vec::new(),
            statement: Vec::new(),
            prepared: Vec::new(),
            pid,
        }
    }

    /// Handles received bytes; returns the requests of complete batches.
    pub fn receive(&mut self, bytes: &[u8]) -> Vec<SimulatedRequest> {
        self.unread.extend_from_slice(bytes);
        let mut requests = Vec::new();
        let mut statements = Vec::new();
        loop {
            let head = usize::from(self.logged_in);
            let Some(length) = self.unread.get(head..head + 4) else { break };
            let length = i32::from_be_bytes(length.try_into().expect("four bytes")) as usize + head;
            if self.unread.len() < length {
                break;
            }
            let message: Vec<u8> = self.unread.drain(..length).collect();
            if !self.logged_in {
                self.logged_in = true;
                requests.push(match message.split_first_chunk() {
                    Some(([0, 0, 0, 16, 4, 0xd2, 0x16, 0x2e], keys)) => {
                        let pid = keys[..4].try_into().expect("a process id and a key");
                        SimulatedRequest::Cancel(u32::from_be_bytes(pid))
                    }
                    _ => SimulatedRequest::LogIn,
                });
                continue;
            }
            let text = |from: usize| -> Vec<u8> {
                message[from..].split(|it| *it == 0).next().unwrap_or(&[]).to_vec()
            };
            match message[0] {
                b'Q' => statements.push(text(5)),
                b'P' => {
                    let name = text(5);
                    let sql = text(6 + name.len());
                    self.prepared.retain(|it| it.0 != name);
                    self.prepared.push((name, sql));
                    self.pending.extend_from_slice(b"1\0\0\0\x04");
                }
                b'B' => {
                    let name = text(6);
                    let known = self.prepared.iter().find(|it| it.0 == name);
                    self.statement = known.expect("a statement is bound after it was parsed").1.clone();
                    self.pending.extend_from_slice(b"2\0\0\0\x04");
                }
                b'E' => statements.push(std::mem::take(&mut self.statement)),
                _ => {}
            }
            if matches!(message[0], b'Q' | b'S') {
                let (statements, before) =
                    (std::mem::take(&mut statements), std::mem::take(&mut self.pending));
                requests.push(SimulatedRequest::Batch { statements, before });
            }
        }
        // Every batch ends with a Sync or is a simple query, so no statement may be left over.
        assert!(statements.is_empty(), "a batch arrives whole");
        requests
    }

    /// Bytes of the reply, and whether the server then closes the connection. If `state` is `Some`, the request fails
    /// with this SQLSTATE.
    pub fn answer(
        &mut self,
        request: &SimulatedRequest,
        state: Option<[u8; 5]>,
        result: StatementResult,
    ) -> (Vec<u8>, bool) {
        let mut out = Vec::new();
        match request {
            SimulatedRequest::Request { .. } => unreachable!("PostgreSQL receives no HTTP requests"),
            SimulatedRequest::LogIn if !self.welcome => {
                error(&mut out, b"FATAL", *b"53300");
                return (out, true);
            }
            SimulatedRequest::LogIn => {
                message(&mut out, b'R', &[0, 0, 0, 0]);
                let pid = self.pid.to_be_bytes();
                message(&mut out, b'K', &[pid, pid].concat());
            }
            SimulatedRequest::Cancel(_) => return (out, true),
            SimulatedRequest::Batch { statements, before } => {
                out.extend_from_slice(before);
                for sql in statements {
                    let word =
                        sql.split(|it| !it.is_ascii_alphabetic()).next().unwrap_or(&[]).to_ascii_uppercase();
                    let failed_block = self.block == b'E';
                    match (&word[..], state) {
                        (b"ROLLBACK" | b"COMMIT" | b"END", _) if failed_block || word == b"ROLLBACK" => {
                            self.block = b'I';
                            message(&mut out, b'C', b"ROLLBACK\0");
                        }
                        (_, Some(state)) => {
                            error(&mut out, b"ERROR", state);
                            self.block = if self.block == b'I' { b'I' } else { b'E' };
                            break;
                        }
                        (b"BEGIN", _) => {
                            self.block = b'T';
                            message(&mut out, b'C', b"BEGIN\0");
                        }
                        (b"COMMIT" | b"END", _) => {
                            self.block = b'I';
                            message(&mut out, b'C', b"COMMIT\0");
                        }
                        (command, _) => statement_result(&mut out, command, result),
                    }
                }
            }
        }
        message(&mut out, b'Z', &[self.block]);
        (out, false)
    }
}

/// Reply to a statement that begins with this word.
fn statement_result(out: &mut Vec<u8>, command: &[u8], result: StatementResult) {
    let rows = match result {
        StatementResult::Rows(rows) => rows,
        StatementResult::EmptyQuery => return message(out, b'I', &[]),
        StatementResult::EmptyTag => return message(out, b'C', b"\0"),
    };
    let name = match command {
        b"INSERT" => "INSERT 0",
        b"UPDATE" => "UPDATE",
        b"DELETE" => "DELETE",
        _ => {
            (0..rows).for_each(|_| message(out, b'D', b"\0\x01\0\0\0\x0242"));
            "SELECT"
        }
    };
    message(out, b'C', format!("{name} {rows}\0").as_bytes());
}

fn message(out: &mut Vec<u8>, tag: u8, body: &[u8]) {
    out.push(tag);
    out.extend_from_slice(&(body.len() as i32 + 4).to_be_bytes());
    out.extend_from_slice(body);
}

fn error(out: &mut Vec<u8>, severity: &[u8], state: [u8; 5]) {
    let mut body = Vec::new();
    for (field, value) in [(b'S', severity), (b'V', severity), (b'C', &state[..]), (b'M', b"invented")] {
        body.push(field);
        body.extend_from_slice(value);
        body.push(0);
    }
    body.push(0);
    message(out, b'E', &body);
}
