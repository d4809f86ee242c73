//! What do all clients share?

use crate::feed::Feed;
use crate::http_service::{self, Service};
use crate::ledger::KeyedScript;
use crate::random::Prng;
use crate::script::{
    CallCapture, Command, CommandKind, Draw, EvalError, Mode, PatternMatcher, Piece, Program, QuoteContext,
    ResponsePart, ResultStore, Script, Slot, Sql, VariableNames, Variables, quoting,
};
use model::durability::{Token, WriteKey};
use model::plan::SqlTarget;
use model::row_table::Fields;
use model::{Interval, Nanos, Schedule};
use std::sync::Arc;
use wire::pg::{Login, Transport, compile};
use wire::{Template, TemplateBuilder};

/// What a caller wants done; [`Workload::new`] compiles it.
#[derive(Debug)]
pub struct LoadPlan {
    pub program: Program,
    pub mode: Mode,
    pub schedule: Schedule,
    /// How long transactions are started; `None` until `transactions` are done or the schedule ends.
    pub duration: Option<Nanos>,
    /// Transactions per client.
    pub transactions: Option<u64>,
    /// Clients of all threads together; at least 1.
    pub clients: u32,
    /// Threads, at least 1 and at most `clients`.
    pub threads: u16,
    /// Tries per transaction where a serialization failure or a deadlock allows another; 0 is without bound.
    pub max_tries: u16,
    /// Arrivals later than this are dropped instead of sent, and no failed transaction is tried again after it.
    pub latency_limit: Option<Nanos>,
    /// Arrivals that may wait for a client, over all threads; further ones are dropped.
    pub backlog_max: u32,
    /// How long after the end of `duration` what is under way or in the backlog may still take.
    pub drain: Nanos,
    /// A new connection for each transaction.
    pub reconnect: bool,
    /// Log-ins under way at the same time, over all threads; at least 1.
    pub connecting_max: u32,
    /// A log-in that takes longer is given up.
    pub connect_timeout: Nanos,
    /// A transaction that takes longer, from its send or from the beginning of its own log-in, is given up as Unknown (it may
    /// have had an effect) and its connection closed. Looked for ten times within it, at least every 100 ms.
    pub timeout: Option<Nanos>,
    /// Tell of every failed transaction, not only of the first with a new code.
    pub verbose: bool,
    /// Commands are timed one by one.
    pub statements: bool,
    pub seeds: RngSeeds,
}

/// Where all chance comes from.
#[derive(Clone, Debug)]
pub struct RngSeeds {
    /// By client: its functions `random…` and `permute`.
    pub clients: Vec<Prng>,
    /// By thread: the draw of scripts.
    pub script_rngs: Vec<Prng>,
    /// The Poisson arrivals, which are the same for every number of threads.
    pub arrivals: u64,
    /// Nonces, jitter of retries: nothing that is measured.
    pub other: u64,
    /// Variables that every client begins with, by slot.
    pub variables: Vec<(Slot, InitialValue)>,
}

/// A variable's first value.
#[derive(Clone, Debug)]
pub enum InitialValue {
    Text(String),
    Int(i64),
    /// The number of the client.
    Client,
}

/// A compiled plan and who to ask.
#[derive(Debug)]
pub struct Workload {
    pub(crate) plan: LoadPlan,
    /// Clients keep a session with it; `None` where no script speaks SQL.
    pub(crate) postgres: Option<PostgresEndpoint>,
    /// Another door, behind which the replicas are.
    pub(crate) replicas: Option<PostgresEndpoint>,
    /// By script, where there are two doors: which of them its SQL goes through; `None` for one that asks no SQL.
    sql_targets: Vec<Option<SqlTarget>>,
    pub(crate) services: Vec<Service>,
    feeds: Vec<Feed>,
    /// By script, those whose transactions are writes with a key; empty where none is.
    keyed: Vec<Option<KeyedWrite>>,
    /// Seals their tokens.
    secret: u64,
    /// A ledger is kept of them.
    has_ledger: bool,
    /// A client that comes to a statement with an unset variable is aborted, whatever the variable.
    requires_variables: bool,
    /// By slot: the variable is given a value somewhere, so that its name never means itself.
    assigned: Box<[bool]>,
    /// Texts become literals in simple queries.
    quotes_texts: bool,
    /// Variables that hold fields of feeds, and how much room each is given.
    pub(crate) fields: Vec<(Slot, usize)>,
    /// By script, then command; `None` for commands that ask nothing of PostgreSQL.
    requests: Vec<Vec<Option<SqlRequest>>>,
    /// The same for those that ask nothing of an HTTP service.
    calls: Vec<Vec<Option<http_service::HttpRequest>>>,
    /// The longest answer that is taken, in bytes.
    pub(crate) answer_max: u64,
    /// Prepared statements of all scripts.
    pub(crate) statements: usize,
    pub(crate) sync: Template,
    pub(crate) rollback: Template,
}

/// The PostgreSQL server, or what stands before it.
#[derive(Clone, Debug)]
pub struct PostgresEndpoint {
    pub login: Arc<Login>,
    pub transport: Transport,
    pub hosts: Hosts,
}

/// At how many addresses a server may be found, and which server will do: libpq's list of hosts and its
/// `target_session_attrs`.
///
/// Each client tries them in turn, beginning where it was last, and pauses once all have refused it. Where a primary is wanted
/// all begin with the first host. Where a replica is, the last is the primary so far: clients are dealt out over the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hosts {
    /// From 1.
    pub count: u16,
    /// By what the server tells at log-in of whether it is a standby; one older than PostgreSQL 14 tells nothing, and will do.
    pub target_role: SqlTarget,
}

impl Hosts {
    /// Where this client begins.
    pub(crate) fn first_host(self, client: u32) -> u16 {
        match self.target_role {
            SqlTarget::Replica if self.count > 1 => (client % u32::from(self.count - 1)) as u16,
            _ => 0,
        }
    }
}

impl PostgresEndpoint {
    /// At one address, whatever it is.
    pub fn new(login: Arc<Login>, transport: Transport) -> PostgresEndpoint {
        PostgresEndpoint { login, transport, hosts: Hosts { count: 1, target_role: SqlTarget::Any } }
    }

    /// At one of several addresses. `login` must keep the server's parameters.
    pub fn with_hosts(login: Arc<Login>, transport: Transport, hosts: Hosts) -> PostgresEndpoint {
        assert!(
            hosts.count > 0 && (login.keep_parameters || hosts.target_role == SqlTarget::Any),
            "{hosts:?}"
        );
        PostgresEndpoint { login, transport, hosts }
    }
}

/// Whom a connection leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// PostgreSQL by the door of this number, 0 or 1 for that of the replicas, and which of its hosts.
    Postgres { endpoint: u16, host: u16 },
    /// Index among the workload's HTTP services.
    Service(u16),
}

/// What transactions of a script with a key need.
#[derive(Debug)]
pub(crate) struct KeyedWrite {
    pub keyed: KeyedScript,
    /// A simple query is a text into which the token is written; elsewhere it is an argument.
    quoted: bool,
}

/// One SQL command, compiled.
#[derive(Debug)]
pub(crate) struct SqlRequest {
    /// In the order of the templates' arguments.
    pub args: Box<[Slot]>,
    /// The text of each argument that stands for itself while its variable is unset; simple mode only.
    pub unset: Box<[Box<str>]>,
    /// Where each argument stands in the statement; simple mode only.
    pub places: Box<[QuoteContext]>,
    /// With a Parse before it and without.
    pub with_parse: RequestTemplates,
    pub prepared: RequestTemplates,
    /// Index of its prepared statement among all; `None` where none is kept.
    pub statement: Option<usize>,
    /// It ends a transaction block by COMMIT or END.
    pub commits: bool,
    pub keep: Option<ResultStore>,
}

/// One request alone, or within a pipeline: without the Sync.
#[derive(Debug)]
pub(crate) struct RequestTemplates {
    pub alone: Template,
    pub piped: Template,
}

impl Workload {
    /// Scripts that speak SQL only.
    pub fn new(plan: LoadPlan, login: Arc<Login>, transport: Transport) -> Workload {
        Workload::with_services(plan, Some(PostgresEndpoint::new(login, transport)), Vec::new())
    }

    /// Scripts that speak SQL, HTTP or both. Their calls name services by index.
    pub fn with_services(
        plan: LoadPlan,
        postgres: Option<PostgresEndpoint>,
        services: Vec<Service>,
    ) -> Workload {
        let drawn = match &plan.schedule {
            Schedule::Streams(streams) => streams.iter().any(|it| it.script.is_none()),
            _ => true,
        };
        let scripts = &plan.program.scripts;
        assert!(
            !drawn || scripts.len() == 1 || scripts.iter().any(|it| it.weight > 0),
            "a script is drawn, so one has a weight"
        );
        let mut statements = 0;
        let requests = plan
            .program
            .scripts
            .iter()
            .map(|script| {
                let request = |kind: &CommandKind| match kind {
                    CommandKind::Sql(sql) => {
                        let request = SqlRequest::new(sql, plan.mode, &plan.program.names, statements);
                        statements += usize::from(request.statement.is_some());
                        Some(request)
                    }
                    _ => None,
                };
                script.commands.iter().map(|it| &it.kind).map(request).collect()
            })
            .collect();
        let mut finders = 0;
        let mut call = |it: &Command| match &it.kind {
            CommandKind::Http(call) => {
                let service = services.get(usize::from(call.service)).expect("a service");
                let request = http_service::HttpRequest::new(call, service, finders);
                finders +=
                    call.captures.iter().filter(|it| matches!(it.source, ResponsePart::Regex(_))).count();
                Some(request)
            }
            _ => None,
        };
        let calls =
            plan.program.scripts.iter().map(|it| it.commands.iter().map(&mut call).collect()).collect();
        let rollback = template(|it| compile::simple(it, &[compile::SqlPiece::Text("ROLLBACK")]));
        let sync = template(compile::sync);
        let (feeds, fields, keyed) = (Vec::new(), Vec::new(), Vec::new());
        let assigned = plan.program.assigned();
        Workload {
            plan,
            postgres,
            replicas: None,
            sql_targets: Vec::new(),
            services,
            feeds,
            keyed,
            secret: 0,
            has_ledger: false,
            requires_variables: false,
            assigned,
            quotes_texts: false,
            fields,
            requests,
            calls,
            answer_max: RESPONSE_MAX,
            statements,
            sync,
            rollback,
        }
    }

    /// The feeds that scripts draw from, by the number at which they name them.
    ///
    /// # Panics
    /// When a script draws from a feed that is not there, or one with other columns.
    pub fn with_feeds(mut self, feeds: Vec<Feed>) -> Workload {
        for draw in self.plan.program.scripts.iter().filter_map(|it| it.draw.as_ref()) {
            let rows = &feeds[usize::from(draw.feed)].rows;
            assert!(rows.columns().len() == draw.columns.len(), "a feed has the columns that were compiled");
            let longest = field_lengths(feeds[usize::from(draw.feed)].sample());
            let fields = draw.columns.iter().zip(longest).filter_map(|(slot, room)| Some(((*slot)?, room)));
            self.fields.extend(fields);
        }
        self.feeds = feeds;
        self
    }

    /// Aborts a client whose statement names a variable without a value, also where pgbench sends the name: in a simple query,
    /// if no script gives it a value.
    pub fn require_variables(self) -> Workload {
        Workload { requires_variables: true, ..self }
    }

    /// Sends texts of variables as literals in simple queries, instead of as parts of the statement as pgbench does.
    ///
    /// Must come before [`with_ledger`](Workload::with_ledger).
    pub fn quoting_texts(self) -> Workload {
        Workload { quotes_texts: self.plan.mode == Mode::Simple, ..self }
    }

    /// Where an argument stands, if a text must become a literal there.
    #[inline]
    pub(crate) fn literal_place(&self, request: &SqlRequest, arg: u16) -> Option<QuoteContext> {
        self.quotes_texts.then(|| request.places[usize::from(arg)])
    }

    /// Why a statement cannot be sent with these variables.
    #[inline]
    pub(crate) fn refusal(&self, script: u16, command: u16, variables: &Variables) -> Option<EvalError> {
        let request = self.request(script, command);
        for (&slot, arg) in request.args.iter().zip(0..) {
            if !variables.is_set(slot) {
                // pgbench would send NULL as a parameter.
                let is_name = self.plan.mode == Mode::Simple && !self.assigned[usize::from(slot)];
                if self.requires_variables || !is_name {
                    return Some(EvalError::Undefined(slot));
                }
            } else if self.literal_place(request, arg).is_some_and(|it| !variables.can_be_literal(slot, it)) {
                return Some(EvalError::Unquotable(slot));
            }
        }
        None
    }

    /// The replicas have a door of their own; by script, where its SQL goes. Clients still begin with a session by the first
    /// door. What is not open, because it never was or because it broke, is opened for the transaction that needs it: while
    /// one door is shut, clients go on by the other.
    ///
    /// # Panics
    /// When it is not told of every script, or there is no first door.
    pub fn with_replicas(mut self, replicas: PostgresEndpoint, to: &[SqlTarget]) -> Workload {
        let scripts = &self.plan.program.scripts;
        assert!(to.len() == scripts.len(), "each script is told of");
        assert!(self.postgres.is_some(), "there is a door to the primary");
        let asks = |it: &Script| it.commands.iter().any(|it| matches!(it.kind, CommandKind::Sql(_)));
        self.sql_targets = scripts.iter().zip(to).map(|(it, to)| asks(it).then_some(*to)).collect();
        self.replicas = Some(replicas);
        self
    }

    /// A longer answer than this many bytes, instead of 4 GiB, makes its transaction Unknown with [`Code::TOO_LONG`] and
    /// ends the connection.
    ///
    /// [`Code::TOO_LONG`]: model::Code::TOO_LONG
    pub fn with_answer_max(mut self, bytes: u64) -> Workload {
        self.answer_max = bytes;
        self
    }

    /// Scripts whose transactions are writes that a ledger is kept of, by script. Each transaction begins with a new token,
    /// sealed by `secret`.
    ///
    /// # Panics
    /// When it is not told of every script.
    pub fn with_ledger(self, secret: u64, keyed: Vec<Option<KeyedScript>>) -> Workload {
        self.with_keyed_scripts(secret, keyed, true)
    }

    /// The same scripts where no ledger is kept: their tokens are decoys, so that nobody takes a row of theirs for one of a
    /// write that is in a ledger.
    ///
    /// # Panics
    /// When it is not told of every script.
    pub fn with_decoys(self, secret: u64, keyed: Vec<Option<KeyedScript>>) -> Workload {
        self.with_keyed_scripts(secret, keyed, false)
    }

    fn with_keyed_scripts(mut self, secret: u64, keyed: Vec<Option<KeyedScript>>, kept: bool) -> Workload {
        assert!(keyed.len() == self.plan.program.scripts.len(), "each script is told of");
        for it in keyed.iter().flatten() {
            self.fields.push((it.token, Token::LENGTH + 2));
            // Who a server is: two numbers and an address.
            self.fields.extend(it.server.map(|slot| (slot, 128)));
        }
        let requests = self.requests.iter().map(|it| it.iter().any(Option::is_some));
        let write = |(it, asks): (Option<KeyedScript>, bool)| {
            Some(KeyedWrite {
                keyed: it?,
                quoted: asks && self.plan.mode == Mode::Simple && !self.quotes_texts,
            })
        };
        self.keyed = keyed.into_iter().zip(requests).map(write).collect();
        (self.secret, self.has_ledger) = (secret, kept);
        self
    }

    #[inline]
    pub(crate) fn keyed_write(&self, script: u16) -> Option<&KeyedWrite> {
        self.keyed.get(usize::from(script))?.as_ref()
    }

    /// Appends the token of a write, as the commands of its script are to hold it.
    #[inline]
    pub(crate) fn write_token(&self, key: WriteKey, write: &KeyedWrite, out: &mut Vec<u8>) {
        let token = Token::new(key, self.secret);
        let text = if self.has_ledger { token.to_text() } else { token.decoy() };
        let quotes: &[u8] = if write.quoted { b"'" } else { b"" };
        out.extend_from_slice(quotes);
        out.extend_from_slice(&text);
        out.extend_from_slice(quotes);
    }

    /// Who is behind a door, if it leads anywhere.
    pub(crate) fn endpoint(&self, door: u8) -> Option<&PostgresEndpoint> {
        if door == 0 { self.postgres.as_ref() } else { self.replicas.as_ref() }
    }

    /// Where a script's SQL goes, if there is a choice; `None` if it asks none.
    #[inline]
    pub(crate) fn sql_target(&self, script: u16) -> Option<SqlTarget> {
        self.sql_targets[usize::from(script)]
    }

    /// A finder for each regular expression, in the order of the calls and their captures.
    pub(crate) fn matchers(&self) -> Vec<PatternMatcher> {
        let calls = self.calls.iter().flatten().flatten();
        let finder = |it: &CallCapture| match &it.source {
            ResponsePart::Regex(pattern) => Some(PatternMatcher::new(pattern)),
            _ => None,
        };
        calls.flat_map(|it| &it.call.captures).filter_map(finder).collect()
    }

    #[inline]
    pub(crate) fn feed(&self, draw: &Draw) -> &Feed {
        &self.feeds[usize::from(draw.feed)]
    }

    /// Sets the variables that row `n` of what is drawn holds.
    #[inline]
    pub(crate) fn fill(&self, draw: &Draw, n: u64, variables: &mut Variables) {
        for (field, slot) in self.feed(draw).rows.row(n).zip(&draw.columns) {
            if let Some(slot) = slot {
                variables.set_text(*slot, field);
            }
        }
    }

    /// Clients of thread `k`: the number of the first, and how many, dealt as pgbench deals them.
    pub fn clients_of_thread(&self, k: u16) -> (u32, u32) {
        let threads = u32::from(self.plan.threads);
        let mut first = 0;
        for thread in 0..threads {
            let left = threads - thread;
            let share = (self.plan.clients - first).div_ceil(left);
            if thread == u32::from(k) {
                return (first, share);
            }
            first += share;
        }
        unreachable!("thread {k} of {threads}")
    }

    /// For [`model::Interval::new`]: commands timed one by one, by script.
    pub fn timed_commands(&self) -> Vec<usize> {
        let timed = |it: &Script| if self.plan.statements { it.commands.len() } else { 0 };
        self.plan.program.scripts.iter().map(timed).collect()
    }

    /// For [`model::Interval::with_answers`]: HTTP requests, by script and command, ascending.
    pub fn calls(&self) -> Vec<(u16, u16)> {
        let calls_of = |(script, calls): (u16, &Vec<Option<http_service::HttpRequest>>)| {
            let numbers = (0..).zip(calls).filter(|it| it.1.is_some()).map(|it| it.0);
            numbers.map(|command| (script, command)).collect::<Vec<_>>()
        };
        (0..).zip(&self.calls).flat_map(calls_of).collect()
    }

    /// An empty interval of what this workload measures.
    pub fn interval(&self) -> Interval {
        Interval::new(&self.timed_commands()).with_answer_sizes(&self.calls())
    }

    pub fn plan(&self) -> &LoadPlan {
        &self.plan
    }

    pub(crate) fn script(&self, script: u16) -> &Script {
        &self.plan.program.scripts[script as usize]
    }

    #[inline]
    pub(crate) fn request(&self, script: u16, command: u16) -> &SqlRequest {
        self.find_request(script, command).expect("an SQL command")
    }

    /// The request of a command, if it is one that asks.
    #[inline]
    pub(crate) fn find_request(&self, script: u16, command: u16) -> Option<&SqlRequest> {
        self.requests[script as usize][command as usize].as_ref()
    }

    #[inline]
    pub(crate) fn call(&self, script: u16, command: u16) -> &http_service::HttpRequest {
        self.calls[script as usize][command as usize].as_ref().expect("an HTTP command")
    }

    /// The shortest time after which a transaction or an answer is given up.
    pub(crate) fn shortest_timeout(&self) -> Nanos {
        let services = self.services.iter().map(Service::shortest_timeout);
        services.chain(self.plan.timeout).min().unwrap_or(Nanos::MAX)
    }

    /// A script drawn by weight.
    #[inline]
    pub(crate) fn choose(&self, rng: &mut Prng) -> u16 {
        self.plan.program.choose(rng) as u16
    }
}

/// A server that never ends its answer is not listened to for ever; longer ones than this are no benchmark's.
const RESPONSE_MAX: u64 = 4 << 30;

impl SqlRequest {
    fn new(sql: &Sql, mode: Mode, names: &VariableNames, statements: usize) -> SqlRequest {
        let commits = is_commit(&sql.text);
        let keep = sql.store.clone();
        if mode == Mode::Simple {
            let mut args = Vec::new();
            let pieces: Vec<_> = sql
                .pieces
                .iter()
                .map(|piece| match piece {
                    Piece::Text(text) => compile::SqlPiece::Text(text),
                    Piece::Var { slot } => {
                        args.push(*slot);
                        compile::SqlPiece::Arg(args.len() as u16 - 1)
                    }
                })
                .collect();
            let ask = || template(|it| compile::simple(it, &pieces));
            let asked = || RequestTemplates { alone: ask(), piped: ask() };
            let unset = args.iter().map(|&slot| format!(":{}", &names[slot as usize]).into()).collect();
            let (fresh, prepared) = (asked(), asked());
            let (args, places) = (args.into(), quoting::contexts(&sql.pieces).into());
            return SqlRequest {
                args,
                unset,
                places,
                with_parse: fresh,
                prepared,
                statement: None,
                commits,
                keep,
            };
        }
        let (text, args) = sql.parameterize();
        let statement = (mode == Mode::Prepared).then_some(statements);
        let name = statement.map_or(String::new(), |it| format!("P_{it}"));
        let ask = |parse: bool, sync: bool| {
            template(|it| {
                if parse {
                    compile::parse(it, &name, &text);
                }
                let numbers: Vec<u16> = (0..args.len() as u16).collect();
                compile::bind(it, &name, &numbers);
                if keep.is_some() {
                    compile::describe_portal(it);
                }
                compile::execute(it);
                if sync {
                    compile::sync(it);
                }
            })
        };
        let asked = |parse| RequestTemplates { alone: ask(parse, true), piped: ask(parse, false) };
        let (fresh, prepared) = (asked(true), asked(false));
        let (args, unset, places) = (args.into(), [].into(), [].into());
        SqlRequest { args, unset, places, with_parse: fresh, prepared, statement, commits, keep }
    }

    /// What to render, given whether its statement is prepared on this connection.
    #[inline]
    pub fn template(&self, prepared: bool, piped: bool) -> &Template {
        let asked = if prepared { &self.prepared } else { &self.with_parse };
        if piped { &asked.piped } else { &asked.alone }
    }
}

fn template(build: impl FnOnce(&mut TemplateBuilder)) -> Template {
    let mut builder = TemplateBuilder::default();
    build(&mut builder);
    builder.build()
}

/// Room for each column's fields, in bytes: as much as any of these rows needs, and not more than a page.
fn field_lengths<'a>(rows: impl Iterator<Item = Fields<'a>>) -> Vec<usize> {
    const PAGE: usize = 4096;
    rows.fold(Vec::new(), |mut longest, fields| {
        for (column, field) in fields.enumerate() {
            let room = field.len().next_power_of_two().min(PAGE);
            match longest.get_mut(column) {
                Some(it) => *it = room.max(*it),
                None => longest.push(room),
            }
        }
        longest
    })
}

/// Does this statement's text begin with COMMIT or END?
fn is_commit(text: &str) -> bool {
    let word = text.trim_start().split(|it: char| !it.is_ascii_alphabetic()).next().unwrap_or_default();
    word.eq_ignore_ascii_case("commit") || word.eq_ignore_ascii_case("end")
}
