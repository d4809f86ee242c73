//! Compiled workload, shared by all clients

use crate::feed::Feed;
use crate::http_service::{self, Service};
use crate::ledger::KeyedScript;
use crate::load_plan::{LoadPlan, MeasuredCommands};
use crate::random::Prng;
use crate::recorded_mix::RecordedMix;
use crate::replay::{Replay, ReplaySource};
use crate::script::{
    CallCapture, Command, CommandKind, Draw, EvalError, Mode, PatternMatcher, Piece, QuoteContext,
    ResponsePart, Script, Slot, Variables, step_names,
};
use crate::sql_request::{ScriptTraits, SqlRequest, template};
use model::durability::{Token, WriteKey};
use model::plan::SqlTarget;
use model::row_table::Fields;
use model::{Interval, Nanos, Schedule, ScriptId, StatementKind};
use std::sync::Arc;
use wire::Template;
use wire::pg::{Login, RowCommand, Transport, compile};

/// Compiled plan with the endpoints that it uses.
#[derive(Debug)]
pub struct Workload {
    pub(crate) plan: LoadPlan,
    /// Endpoint of PostgreSQL; `None` if no script contains SQL.
    pub(crate) postgres: Option<PostgresEndpoint>,
    /// Second endpoint, for the replicas; `None` with only one endpoint.
    pub(crate) replicas: Option<PostgresEndpoint>,
    /// Target of each script's SQL, if there are two endpoints; `None` for a script without SQL.
    sql_targets: Vec<Option<SqlTarget>>,
    pub(crate) services: Vec<Service>,
    feeds: Vec<Feed>,
    /// For each script whose rows select the script: the script of each row.
    row_scripts: Vec<Option<Arc<[ScriptId]>>>,
    /// Data for keys, by script; `None` for a script whose transactions are not writes with a key. Empty if no script
    /// has keys.
    keyed: Vec<Option<KeyedWrite>>,
    /// Secret that seals the tokens of writes.
    secret: u64,
    /// Number of the first client. It is above 0 if another load has the clients with lower numbers.
    first_client: u32,
    /// True if the outcomes of writes with a key go to a ledger.
    has_ledger: bool,
    /// True if a client aborts when a statement contains an unset variable.
    requires_variables: bool,
    /// True if an unset variable is sent as NULL, except in simple queries.
    sends_null: bool,
    /// True for each slot that some script assigns. The name of such a variable is never sent in place of its value.
    assigned: Box<[bool]>,
    /// True if the texts of variables are written as literals into simple queries.
    quotes_texts: bool,
    /// Variables that hold fields of feeds, with the bytes preallocated for each.
    pub(crate) fields: Vec<(Slot, usize)>,
    /// Requests by script, then command; `None` for commands without a request to PostgreSQL.
    requests: Vec<Vec<Option<SqlRequest>>>,
    /// Calls by script, then command; `None` for commands without a request to an HTTP service.
    calls: Vec<Vec<Option<http_service::HttpRequest>>>,
    /// Results of [`Workload::failing_command`], by script and command.
    failing_commands: Vec<Box<[u16]>>,
    /// Properties of the statements of each script.
    traits: Vec<ScriptTraits>,
    /// Maximum size of a response, in bytes.
    pub(crate) answer_max: u64,
    /// Recorded sessions that replace the scripts' requests; `None` if the load is no replay.
    pub(crate) replay: Option<Replay>,
    /// Recorded transactions that replace the scripts' requests; `None` if the load is no recorded mix.
    pub(crate) mix: Option<RecordedMix>,
    /// Number of prepared statements in all scripts.
    pub(crate) statements: usize,
    pub(crate) sync: Template,
    pub(crate) rollback: Template,
}

/// Endpoint of a PostgreSQL server, or of the pooler or balancer in front of it.
#[derive(Clone, Debug)]
pub struct PostgresEndpoint {
    pub login: Arc<Login>,
    pub transport: Transport,
    pub hosts: Hosts,
}

/// Number of hosts and the required role, as in libpq's list of hosts and `target_session_attrs`.
///
/// Each client tries the hosts in turn, starting with the host to which it was last connected. After all hosts have
/// refused the client, it waits. If a primary is required, all clients start with the first host. If a replica is
/// required, clients are distributed over all hosts except the last, which is initially the primary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hosts {
    /// Number of hosts, at least 1.
    pub count: u16,
    /// Role that the server must report at login (`in_hot_standby`). A server older than PostgreSQL 14 reports no role
    /// and is accepted.
    pub target_role: SqlTarget,
}

impl Hosts {
    /// Host that this client tries first.
    pub(crate) fn first_host(self, client: u32) -> u16 {
        match self.target_role {
            SqlTarget::Replica if self.count > 1 => (client % u32::from(self.count - 1)) as u16,
            _ => 0,
        }
    }
}

impl PostgresEndpoint {
    /// Endpoint at one address, in any role.
    pub fn new(login: Arc<Login>, transport: Transport) -> PostgresEndpoint {
        PostgresEndpoint { login, transport, hosts: Hosts { count: 1, target_role: SqlTarget::Any } }
    }

    /// Endpoint at several addresses. Unless any role is accepted, `login` must store the parameters that the server
    /// reports.
    pub fn with_hosts(login: Arc<Login>, transport: Transport, hosts: Hosts) -> PostgresEndpoint {
        assert!(
            hosts.count > 0 && (login.keep_parameters || hosts.target_role == SqlTarget::Any),
            "{hosts:?}"
        );
        PostgresEndpoint { login, transport, hosts }
    }
}

/// Destination of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// PostgreSQL, by the number of the endpoint (1 means the replicas) and the index of the host.
    Postgres { endpoint: u16, host: u16 },
    /// Index among the workload's HTTP services.
    Service(u16),
}

/// Data for the transactions of a script with a key.
#[derive(Debug)]
pub(crate) struct KeyedWrite {
    pub keyed: KeyedScript,
    /// True if the token is a quoted literal in the text of a simple query; false if it is a parameter.
    quoted: bool,
}

impl Workload {
    /// Workload whose scripts contain only SQL.
    pub fn new(plan: LoadPlan, login: Arc<Login>, transport: Transport) -> Workload {
        Workload::with_services(plan, Some(PostgresEndpoint::new(login, transport)), Vec::new())
    }

    /// Workload whose scripts contain SQL, HTTP or both. Calls refer to services by index.
    pub fn with_services(
        plan: LoadPlan,
        postgres: Option<PostgresEndpoint>,
        services: Vec<Service>,
    ) -> Workload {
        let drawn = match &plan.schedule {
            Schedule::Streams(streams) => streams.iter().any(|it| it.script.is_none()),
            Schedule::Recorded { .. } | Schedule::Listed(_) => false,
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
        let mut call = |command: &Command| match &command.kind {
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
        let rollback = template(|it| compile::simple(it, &[compile::SqlPiece::Text(b"ROLLBACK")]));
        let sync = template(compile::sync);
        let (feeds, fields, keyed) = (Vec::new(), Vec::new(), Vec::new());
        let assigned = plan.program.assigned();
        let traits = plan.program.scripts.iter().map(ScriptTraits::from_script).collect();
        let steps = match plan.measured {
            MeasuredCommands::Steps => step_names(&plan.program.scripts),
            MeasuredCommands::None | MeasuredCommands::All => Vec::new(),
        };
        Workload {
            failing_commands: steps.iter().map(|it| failing_commands(it)).collect(),
            traits,
            plan,
            postgres,
            replicas: None,
            sql_targets: Vec::new(),
            services,
            feeds,
            row_scripts: Vec::new(),
            keyed,
            secret: 0,
            first_client: 0,
            has_ledger: false,
            requires_variables: false,
            sends_null: false,
            assigned,
            quotes_texts: false,
            fields,
            requests,
            calls,
            answer_max: RESPONSE_MAX,
            replay: None,
            mix: None,
            statements,
            sync,
            rollback,
        }
    }

    /// Sets the feeds of the scripts, by index.
    ///
    /// # Panics
    /// Panics if a script draws from a feed that does not exist, or that has other columns.
    pub fn with_feeds(mut self, feeds: Vec<Feed>) -> Workload {
        for draw in self.plan.program.scripts.iter().filter_map(|it| it.draw.as_ref()) {
            let rows = &feeds[usize::from(draw.feed)].rows;
            assert!(rows.columns().len() == draw.columns.len(), "the feed must have the compiled columns");
            let longest = field_lengths(feeds[usize::from(draw.feed)].sample());
            let fields = draw.columns.iter().zip(longest).filter_map(|(slot, room)| Some(((*slot)?, room)));
            self.fields.extend(fields);
        }
        self.feeds = feeds;
        self
    }

    /// Lets the rows of some scripts select the script: after a row is drawn, the transaction continues with the script of
    /// that row. All these scripts must draw the same columns from the same feed.
    ///
    /// # Panics
    /// Panics if a list does not have one script per row.
    pub fn with_row_scripts(mut self, row_scripts: Vec<Option<Arc<[ScriptId]>>>) -> Workload {
        for (script, rows) in self.plan.program.scripts.iter().zip(&row_scripts) {
            let Some(rows) = rows else { continue };
            let draw = script.draw.as_ref().expect("the script draws rows");
            assert!(rows.len() as u64 == self.feed(draw).rows.len(), "each row has a script");
        }
        self.row_scripts = row_scripts;
        self
    }

    /// Script for row `n` of the script's feed.
    #[inline]
    pub(crate) fn script_of_row(&self, script: u16, n: u64) -> u16 {
        match self.row_scripts.get(usize::from(script)) {
            Some(Some(rows)) => rows[n as usize].0,
            _ => script,
        }
    }

    /// Sets the recorded sessions. The scripts then only count requests and their results.
    ///
    /// # Panics
    /// Panics if the plan has another schedule, or another number of clients.
    pub fn with_replay(mut self, replay: Replay) -> Workload {
        assert!(matches!(self.plan.schedule, Schedule::Recorded { .. }), "the schedule is recorded");
        assert!(self.plan.clients == replay.clients(), "each client has sessions");
        self.replay = Some(replay);
        self
    }

    /// Sets the recorded transactions that arrivals start. The scripts then only count transactions and their results: one
    /// script per kind of transactions, with as many commands as the transaction has requests, or none.
    ///
    /// # Panics
    /// Panics if a transaction has a script that does not exist, or another number of requests than its script.
    pub fn with_mix(mut self, mix: RecordedMix) -> Workload {
        let commands = |script: ScriptId| self.plan.program.scripts[usize::from(script.0)].commands.len();
        let fits = |requests: u32, commands: usize| commands == 0 || commands == requests as usize;
        assert!(
            mix.transactions().all(|it| fits(it.requests, commands(it.script))),
            "the scripts are those of the mix"
        );
        self.mix = Some(mix);
        self
    }

    /// True if the requests come from a recording.
    #[inline]
    pub(crate) fn is_recorded(&self) -> bool {
        self.replay.is_some() || self.mix.is_some()
    }

    /// Recording from which the requests come.
    ///
    /// # Panics
    /// Panics if there is none.
    #[inline]
    pub(crate) fn recorded_source(&self) -> &dyn ReplaySource {
        let replay = || self.replay.as_ref().map(|replay| &*replay.source);
        self.mix.as_ref().map(RecordedMix::source).or_else(replay).expect("the requests are recorded")
    }

    /// Makes clients abort if a statement contains an unset variable.
    ///
    /// This includes simple queries with a variable that no script assigns. pgbench sends the name of such a variable.
    pub fn require_variables(self) -> Workload {
        Workload { requires_variables: true, ..self }
    }

    /// Makes clients send unset variables as NULL, as pgbench does, instead of aborting. Simple queries are not affected.
    pub fn sending_null(self) -> Workload {
        Workload { sends_null: true, ..self }
    }

    /// Makes clients send texts of variables as literals in simple queries. pgbench inserts them as parts of the
    /// statement.
    ///
    /// Must be called before [`with_ledger`](Workload::with_ledger).
    pub fn quoting_texts(self) -> Workload {
        Workload { quotes_texts: self.plan.mode == Mode::Simple, ..self }
    }

    /// Syntactic context of an argument, if its text must be written as a literal.
    #[inline]
    pub(crate) fn literal_place(&self, request: &SqlRequest, arg: u16) -> Option<QuoteContext> {
        self.quotes_texts.then(|| request.places[usize::from(arg)])
    }

    /// Error if a statement cannot be sent with these variables.
    #[inline]
    pub(crate) fn refusal(&self, script: u16, command: u16, variables: &Variables) -> Option<EvalError> {
        let request = self.request(script, command);
        for (&slot, arg) in request.args.iter().zip(0..) {
            if !variables.is_set(slot) {
                let can_be_sent = match self.plan.mode {
                    Mode::Simple => !self.assigned[usize::from(slot)],
                    Mode::Extended | Mode::Prepared => self.sends_null,
                };
                if self.requires_variables || !can_be_sent {
                    return Some(EvalError::Undefined(slot));
                }
            } else if self.literal_place(request, arg).is_some_and(|it| !variables.can_be_literal(slot, it)) {
                return Some(EvalError::Unquotable(slot));
            }
        }
        None
    }

    /// Text of a statement with the values of its variables. An unset variable keeps its name.
    pub(crate) fn statement_text(&self, script: u16, command: u16, variables: &Variables) -> String {
        let commands = &self.plan.program.scripts[usize::from(script)].commands;
        let CommandKind::Sql(sql) = &commands[usize::from(command)].kind else { return String::new() };
        let mut text = Vec::new();
        for piece in &sql.pieces {
            match piece {
                Piece::Text(bytes) => text.extend_from_slice(bytes),
                Piece::Var { slot } if variables.is_set(*slot) => {
                    variables.write(*slot, &mut text);
                }
                Piece::Var { slot } => {
                    text.push(b':');
                    text.extend_from_slice(self.plan.program.names[usize::from(*slot)].as_bytes());
                }
            }
        }
        String::from_utf8_lossy(&text).into_owned()
    }

    /// Adds a second endpoint, for the replicas, and sets the target of each script's SQL.
    ///
    /// Clients still begin with a session with the first endpoint. A session that was never opened, or that broke, is
    /// opened for the transaction that needs it. While one endpoint is unreachable, clients therefore continue with the
    /// other endpoint.
    ///
    /// # Panics
    /// Panics if `to` does not have one target per script, or there is no first endpoint.
    pub fn with_replicas(mut self, replicas: PostgresEndpoint, to: &[SqlTarget]) -> Workload {
        let scripts = &self.plan.program.scripts;
        assert!(to.len() == scripts.len(), "each script needs an entry");
        assert!(self.postgres.is_some(), "the workload has a first endpoint");
        let asks = |script: &Script| script.commands.iter().any(|it| matches!(it.kind, CommandKind::Sql(_)));
        self.sql_targets = scripts.iter().zip(to).map(|(it, to)| asks(it).then_some(*to)).collect();
        self.replicas = Some(replicas);
        self
    }

    /// Sets the maximum size of a response, which is 4 GiB by default.
    ///
    /// A larger response ends the connection, and the transaction's outcome is Unknown with [`Code::TOO_LONG`].
    ///
    /// [`Code::TOO_LONG`]: model::Code::TOO_LONG
    pub fn with_answer_max(mut self, bytes: u64) -> Workload {
        self.answer_max = bytes;
        self
    }

    /// Marks the scripts whose transactions are writes with a key, for a ledger. Each transaction begins with a new
    /// token, whose seal depends on `secret`.
    ///
    /// # Panics
    /// Panics if `keyed` does not have one entry per script.
    pub fn with_ledger(self, secret: u64, keyed: Vec<Option<KeyedScript>>) -> Workload {
        self.with_keyed_scripts(secret, keyed, true)
    }

    /// Gives scripts keys whose tokens are decoys, and records no ledger. The rows that they write cannot be mistaken
    /// for writes in a ledger.
    ///
    /// # Panics
    /// Panics if `keyed` does not have one entry per script.
    pub fn with_decoys(self, secret: u64, keyed: Vec<Option<KeyedScript>>) -> Workload {
        self.with_keyed_scripts(secret, keyed, false)
    }

    fn with_keyed_scripts(
        mut self,
        secret: u64,
        keyed: Vec<Option<KeyedScript>>,
        has_ledger: bool,
    ) -> Workload {
        assert!(keyed.len() == self.plan.program.scripts.len(), "each script needs an entry");
        for script in keyed.iter().flatten() {
            self.fields.push((script.token, Token::LENGTH + 2));
            // Preallocate for a server's identity, which consists of two numbers and an address.
            self.fields.extend(script.server.map(|slot| (slot, 128)));
        }
        let requests = self.requests.iter().map(|it| it.iter().any(Option::is_some));
        let write = |(script, asks): (Option<KeyedScript>, bool)| {
            Some(KeyedWrite {
                keyed: script?,
                quoted: asks && self.plan.mode == Mode::Simple && !self.quotes_texts,
            })
        };
        self.keyed = keyed.into_iter().zip(requests).map(write).collect();
        (self.secret, self.has_ledger) = (secret, has_ledger);
        self
    }

    #[inline]
    pub(crate) fn keyed_write(&self, script: u16) -> Option<&KeyedWrite> {
        self.keyed.get(usize::from(script))?.as_ref()
    }

    /// Appends the token of a write, in the form in which the script's commands contain it.
    #[inline]
    pub(crate) fn write_token(&self, key: WriteKey, write: &KeyedWrite, out: &mut Vec<u8>) {
        let token = Token::new(key, self.secret);
        let text = if self.has_ledger { token.to_text() } else { token.decoy() };
        let quotes: &[u8] = if write.quoted { b"'" } else { b"" };
        out.extend_from_slice(quotes);
        out.extend_from_slice(&text);
        out.extend_from_slice(quotes);
    }

    /// Endpoint by number, if it exists.
    pub(crate) fn endpoint(&self, endpoint: u8) -> Option<&PostgresEndpoint> {
        if endpoint == 0 { self.postgres.as_ref() } else { self.replicas.as_ref() }
    }

    /// Target of a script's SQL; `None` if the script has no SQL. Call this only if there are two endpoints.
    #[inline]
    pub(crate) fn sql_target(&self, script: u16) -> Option<SqlTarget> {
        self.sql_targets[usize::from(script)]
    }

    /// A matcher for each regular expression, in the order of the calls and their captures.
    pub(crate) fn matchers(&self) -> Vec<PatternMatcher> {
        let calls = self.calls.iter().flatten().flatten();
        let finder = |capture: &CallCapture| match &capture.source {
            ResponsePart::Regex(pattern) => Some(PatternMatcher::new(pattern)),
            _ => None,
        };
        calls.flat_map(|it| &it.call.captures).filter_map(finder).collect()
    }

    pub(crate) fn feed_count(&self) -> usize {
        self.feeds.len()
    }

    #[inline]
    pub(crate) fn feed(&self, draw: &Draw) -> &Feed {
        &self.feeds[usize::from(draw.feed)]
    }

    /// Sets the variables from row `n` of the feed.
    #[inline]
    pub(crate) fn fill(&self, draw: &Draw, n: u64, variables: &mut Variables) {
        for (field, slot) in self.feed(draw).rows.row(n).zip(&draw.columns) {
            if let Some(slot) = slot {
                variables.set_text(*slot, field);
            }
        }
    }

    /// Numbers the clients from `first`, so that several loads can share a ledger.
    pub fn with_first_client(self, first: u32) -> Workload {
        Workload { first_client: first, ..self }
    }

    /// First client of thread `k` and number of its clients, distributed as in pgbench.
    pub fn clients_of_thread(&self, k: u16) -> (u32, u32) {
        let threads = u32::from(self.plan.threads);
        let mut first = 0;
        for thread in 0..threads {
            let left = threads - thread;
            let share = (self.plan.clients - first).div_ceil(left);
            if thread == u32::from(k) {
                return (self.first_client + first, share);
            }
            first += share;
        }
        unreachable!("thread {k} of {threads}")
    }

    /// Thread of a client.
    pub fn thread_of_client(&self, client: u32) -> u16 {
        let has_client = |thread: &u16| {
            let (first, count) = self.clients_of_thread(*thread);
            (first..first + count).contains(&client)
        };
        (0..self.plan.threads).find(has_client).unwrap_or(0)
    }

    /// Generator of random numbers of the client with this number.
    pub(crate) fn client_rng(&self, number: u32) -> Prng {
        self.plan.seeds.clients[(number - self.first_client) as usize]
    }

    /// Number of separately timed commands, by script, for [`model::Interval::new`].
    pub fn timed_commands(&self) -> Vec<usize> {
        let scripts = self.plan.program.recorded_scripts();
        match self.plan.measured {
            MeasuredCommands::None => vec![0; scripts.len()],
            MeasuredCommands::Steps => step_names(scripts).iter().map(Vec::len).collect(),
            MeasuredCommands::All => scripts.iter().map(|it| it.commands.len()).collect(),
        }
    }

    /// Script and command of each command that receives responses or rows, in ascending order, for
    /// [`model::Interval::with_answer_sizes`].
    ///
    /// The rows of statements in a pipeline count for the command that ends the pipeline.
    fn commands_with_answers(&self) -> Vec<(u16, u16)> {
        let has_answer = |command: &Command| {
            matches!(command.kind, CommandKind::Sql(_) | CommandKind::Http(_) | CommandKind::EndPipeline)
        };
        if self.is_recorded() {
            let commands = |it: &Script| 0..it.commands.len().max(1) as u16;
            let scripts = (0..).zip(&self.plan.program.scripts);
            return scripts.flat_map(|(n, it)| commands(it).map(move |command| (n, command))).collect();
        }
        let commands_of = |(number, script): (u16, &Script)| {
            let numbers = (0..).zip(&script.commands).filter(|it| has_answer(it.1)).map(|it| it.0);
            numbers.map(|command| (number, command)).collect::<Vec<_>>()
        };
        (0..).zip(self.plan.program.recorded_scripts()).flat_map(commands_of).collect()
    }

    /// Empty interval for the measurements of this workload.
    pub fn interval(&self) -> Interval {
        let replays_log = |script: &Script| {
            script
                .commands
                .iter()
                .any(|it| matches!(&it.kind, CommandKind::Http(call) if call.ammo.is_some()))
        };
        let scripts = (0..).zip(self.plan.program.recorded_scripts());
        let is_compared = |script: &Script| self.is_recorded() || replays_log(script);
        let replays: Vec<u16> = scripts.filter(|it| is_compared(it.1)).map(|it| it.0).collect();
        Interval::new(&self.timed_commands())
            .with_answer_sizes(&self.commands_with_answers())
            .with_replays(&replays)
    }

    /// True if a statement of the script is empty.
    #[inline]
    pub(crate) fn sends_empty_statements(&self, script: u16) -> bool {
        self.is_recorded() || self.traits[usize::from(script)].sends_empty
    }

    /// Kind of the script's statement, derived from its command tag.
    #[inline]
    pub(crate) fn statement_kind(&self, script: u16, command: RowCommand) -> StatementKind {
        if self.traits[usize::from(script)].takes_from_queue {
            return StatementKind::Queue;
        }
        match command {
            RowCommand::Select => StatementKind::Select,
            RowCommand::Insert => StatementKind::Insert,
            RowCommand::Update => StatementKind::Update,
            RowCommand::Delete => StatementKind::Delete,
            RowCommand::Merge => StatementKind::Merge,
            RowCommand::Copy => StatementKind::Copy,
            RowCommand::Cursor => StatementKind::Cursor,
            RowCommand::Mixed => StatementKind::Mixed,
        }
    }

    /// Index of the script that each client executes once; `None` without such a script.
    #[inline]
    pub(crate) fn on_start(&self) -> Option<u16> {
        self.plan.program.on_start()
    }

    pub fn plan(&self) -> &LoadPlan {
        &self.plan
    }

    /// Command for which a failure at this command is counted. If only steps are measured, it is the next step, or the
    /// last step if none follows.
    pub(crate) fn failing_command(&self, script: u16, command: u16) -> u16 {
        let steps = self.failing_commands.get(usize::from(script));
        steps.and_then(|it| it.get(usize::from(command))).copied().unwrap_or(command)
    }

    pub(crate) fn script(&self, script: u16) -> &Script {
        &self.plan.program.scripts[script as usize]
    }

    #[inline]
    pub(crate) fn request(&self, script: u16, command: u16) -> &SqlRequest {
        self.find_request(script, command).expect("an SQL command")
    }

    /// Request of a command, if it sends SQL.
    #[inline]
    pub(crate) fn find_request(&self, script: u16, command: u16) -> Option<&SqlRequest> {
        self.requests[script as usize][command as usize].as_ref()
    }

    #[inline]
    pub(crate) fn call(&self, script: u16, command: u16) -> &http_service::HttpRequest {
        self.calls[script as usize][command as usize].as_ref().expect("an HTTP command")
    }

    /// Maximum number of texts of a call that has texts with variables.
    pub(crate) fn variable_texts_max(&self) -> usize {
        let calls = self.calls.iter().flatten().flatten().filter(|it| it.has_variable_texts);
        calls.map(|it| it.call.texts().count()).max().unwrap_or(0)
    }

    /// Shortest time limit for a transaction or response.
    pub(crate) fn shortest_timeout(&self) -> Nanos {
        let services = self.services.iter().map(Service::shortest_timeout);
        services.chain(self.plan.timeout).min().unwrap_or(Nanos::MAX)
    }

    /// Draws a script by weight.
    #[inline]
    pub(crate) fn choose(&self, rng: &mut Prng) -> u16 {
        self.plan.program.choose(rng) as u16
    }
}

/// Maximum size of a response, which limits an endless response. No realistic benchmark has longer responses.
const RESPONSE_MAX: u64 = 4 << 30;

/// Values of [`Workload::failing_command`] by command. `names` are the names of the steps.
fn failing_commands(names: &[String]) -> Box<[u16]> {
    let is_step = |it: &usize| !names[*it].is_empty();
    let last = (0..names.len()).rfind(is_step).unwrap_or_default();
    let next = |command: usize| (command..names.len()).find(is_step).unwrap_or(last) as u16;
    (0..names.len()).map(next).collect()
}

/// Number of bytes to preallocate for each column: the length of the column's longest field, but at most a page.
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
