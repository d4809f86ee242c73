//! Schema of run files
//!
//! Tables are compact and meant for pgdyno; views are meant for users of other programs. Names of times and durations
//! end in `_ns`, names of Unix times in `_ms`. Unsigned 64-bit numbers are stored as signed numbers with the same bits,
//! so values from 2⁶³ appear negative.

/// Version of the format. It is increased when an older pgdyno would miss or misread new data. Files of older versions
/// remain readable.
///
/// Version 2 added the table `answer`, version 3 the tables `event_session` and `row_count`, version 4 the table
/// `fact`, version 5 the tables `step_count`, `step_failure` and `step_phase`.
pub const VERSION: i64 = 5;

/// First version that stores facts in the table `fact`. Older files store them as notes.
pub(crate) const FACTS_SINCE: i64 = 4;

/// Application id `dyno` in the header of each file: <https://sqlite.org/pragma.html#pragma_application_id>.
pub(crate) const APPLICATION_ID: i64 = 0x6479_6e6f;

/// `CREATE` statement of the schema, in the form in which SQLite stores it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SchemaStatement<'a> {
    /// Kind of the object: `table`, `index` or `view`.
    pub kind: &'a str,
    pub name: &'a str,
    /// Table to which an index belongs; for other objects, the object's name.
    pub table: &'a str,
    pub sql: &'a str,
}

/// All statements of the current schema.
pub(crate) fn statements() -> impl Iterator<Item = SchemaStatement<'static>> {
    let added = ADDITIONS.iter().flat_map(|(_, sql)| split(sql));
    split(TABLES).chain(added).chain(split(VIEWS))
}

/// Statements in `LEGACY_TABLES`. A file that was created with them is still readable.
pub(crate) fn legacy_statements() -> impl Iterator<Item = SchemaStatement<'static>> {
    split(LEGACY_TABLES)
}

fn split(sql: &str) -> impl Iterator<Item = SchemaStatement<'_>> {
    sql.split(';').map(str::trim).filter(|it| !it.is_empty()).map(|sql| {
        let mut words = sql.split_whitespace().skip(1);
        let mut word = || words.next().expect("a statement names the created object");
        let (kind, name) = (word(), word());
        let table = if kind == "INDEX" { words.nth(1).expect("an index names its table") } else { name };
        let kind = ["table", "index", "view"].into_iter().find(|it| it.eq_ignore_ascii_case(kind));
        SchemaStatement { kind: kind.expect("the schema contains no other kinds"), name, table, sql }
    })
}

/// Former statements of tables whose definition changed without a new [`VERSION`].
const LEGACY_TABLES: &str = "";

pub(crate) const TABLES: &str = "
CREATE TABLE run (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    name TEXT NOT NULL,
    program TEXT NOT NULL,
    begun_ms INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    text TEXT NOT NULL,
    experiment TEXT NOT NULL,
    machine TEXT NOT NULL,
    versions TEXT NOT NULL,
    writer TEXT,
    ended_ms INTEGER,
    status TEXT,
    reason TEXT
) STRICT;
CREATE TABLE trial (
    id INTEGER PRIMARY KEY,
    cell INTEGER NOT NULL,
    label TEXT NOT NULL,
    repetition INTEGER NOT NULL,
    position INTEGER NOT NULL,
    begun_ms INTEGER NOT NULL,
    ended_ms INTEGER,
    status TEXT,
    reason TEXT,
    valid INTEGER,
    summary TEXT
) STRICT;
CREATE TABLE operation (
    trial INTEGER NOT NULL,
    number INTEGER NOT NULL,
    name TEXT NOT NULL,
    weight INTEGER NOT NULL,
    commands TEXT NOT NULL,
    PRIMARY KEY (trial, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE node (
    trial INTEGER NOT NULL,
    number INTEGER NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    version TEXT NOT NULL,
    program TEXT,
    entrance TEXT NOT NULL,
    limits TEXT NOT NULL,
    not_applied TEXT NOT NULL,
    PRIMARY KEY (trial, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE document (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
CREATE TABLE configuration (
    trial INTEGER NOT NULL,
    node INTEGER NOT NULL,
    number INTEGER NOT NULL,
    name TEXT NOT NULL,
    document INTEGER NOT NULL,
    PRIMARY KEY (trial, node, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE tick (
    id INTEGER PRIMARY KEY,
    trial INTEGER NOT NULL,
    second INTEGER NOT NULL,
    from_ns INTEGER NOT NULL,
    to_ns INTEGER NOT NULL,
    begun INTEGER NOT NULL,
    in_flight INTEGER NOT NULL
) STRICT;
CREATE INDEX tick_of_trial ON tick (trial);
CREATE TABLE outcome (
    tick INTEGER NOT NULL,
    operation INTEGER NOT NULL,
    ok INTEGER NOT NULL,
    late INTEGER NOT NULL,
    dropped INTEGER NOT NULL,
    retried INTEGER NOT NULL,
    retries INTEGER NOT NULL,
    above_limit INTEGER NOT NULL,
    PRIMARY KEY (tick, operation)
) STRICT, WITHOUT ROWID;
CREATE TABLE failure (
    tick INTEGER NOT NULL,
    class INTEGER NOT NULL,
    operation INTEGER NOT NULL,
    number INTEGER NOT NULL,
    code TEXT,
    count INTEGER NOT NULL,
    PRIMARY KEY (tick, class, operation, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE statement (
    tick INTEGER NOT NULL,
    operation INTEGER NOT NULL,
    command INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    retries INTEGER NOT NULL,
    PRIMARY KEY (tick, operation, command)
) STRICT, WITHOUT ROWID;
CREATE TABLE histogram (
    tick INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    operation INTEGER,
    command INTEGER,
    count INTEGER NOT NULL,
    sum_ns ANY NOT NULL,
    sum_of_squares REAL NOT NULL,
    min_ns INTEGER NOT NULL,
    max_ns INTEGER NOT NULL,
    v2 BLOB NOT NULL
) STRICT;
CREATE INDEX histogram_of_tick ON histogram (tick);
CREATE TABLE series (
    id INTEGER PRIMARY KEY,
    node TEXT NOT NULL,
    series TEXT NOT NULL,
    label TEXT NOT NULL
) STRICT;
CREATE TABLE moment (
    id INTEGER PRIMARY KEY,
    trial INTEGER NOT NULL,
    tick INTEGER,
    at_ns INTEGER NOT NULL
) STRICT;
CREATE INDEX moment_of_trial ON moment (trial, tick);
CREATE TABLE sample (
    moment INTEGER NOT NULL,
    number INTEGER NOT NULL,
    series INTEGER NOT NULL,
    value REAL,
    PRIMARY KEY (moment, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE event (
    id INTEGER PRIMARY KEY,
    trial INTEGER NOT NULL,
    at_ns INTEGER NOT NULL,
    node TEXT NOT NULL,
    kind TEXT NOT NULL,
    code TEXT,
    text TEXT NOT NULL
) STRICT;
CREATE TABLE note (id INTEGER PRIMARY KEY, trial INTEGER, subject TEXT NOT NULL, text TEXT NOT NULL) STRICT;
CREATE TABLE whole (
    trial INTEGER PRIMARY KEY,
    window_ns INTEGER NOT NULL,
    from_ns INTEGER NOT NULL,
    to_ns INTEGER NOT NULL,
    connecting_ns INTEGER NOT NULL,
    aborted INTEGER NOT NULL,
    suspended_ns INTEGER NOT NULL,
    stolen_ns INTEGER,
    exhausted INTEGER NOT NULL,
    clients BLOB NOT NULL
) STRICT;
CREATE TABLE jitter (
    trial INTEGER PRIMARY KEY,
    count INTEGER NOT NULL,
    sum_ns ANY NOT NULL,
    sum_of_squares REAL NOT NULL,
    min_ns INTEGER NOT NULL,
    max_ns INTEGER NOT NULL,
    v2 BLOB NOT NULL
) STRICT;
CREATE TABLE effort (
    trial INTEGER NOT NULL,
    thread INTEGER NOT NULL,
    user_ns INTEGER NOT NULL,
    system_ns INTEGER NOT NULL,
    spun_ns INTEGER NOT NULL,
    starved_ns INTEGER,
    wakeups INTEGER NOT NULL,
    longest_stall_ns INTEGER NOT NULL,
    wall_ns INTEGER NOT NULL,
    PRIMARY KEY (trial, thread)
) STRICT, WITHOUT ROWID;
";

/// Tables and views that older files do not have, each with the statement that creates it. Resuming a run adds them to
/// its file.
pub(crate) const ADDITIONS: [(&str, &str); 9] = [
    ("answer", ANSWERS),
    ("event_session", EVENT_SESSIONS),
    ("row_count", ROW_COUNTS),
    ("fact", FACTS),
    ("nodes", NODES),
    ("step_count", STEP_COUNTS),
    ("step_failure", STEP_FAILURES),
    ("step_phase", STEP_PHASES),
    ("service_minute", SERVICE_MINUTES),
];

/// Statement for sums of the service times of sixty ticks, by operation.
const SERVICE_MINUTES: &str = "
CREATE TABLE service_minute (
    trial INTEGER NOT NULL,
    first_tick INTEGER NOT NULL,
    last_tick INTEGER NOT NULL,
    operation INTEGER NOT NULL,
    count INTEGER NOT NULL,
    sum_ns ANY NOT NULL,
    sum_of_squares REAL NOT NULL,
    min_ns INTEGER NOT NULL,
    max_ns INTEGER NOT NULL,
    v2 BLOB NOT NULL,
    PRIMARY KEY (trial, first_tick, operation)
) STRICT, WITHOUT ROWID;
";

/// Statement for sizes of HTTP responses. `buckets` holds pairs of bucket number and count, encoded by
/// `rows::pack_counts`.
const ANSWERS: &str = "
CREATE TABLE answer (
    tick INTEGER NOT NULL,
    operation INTEGER NOT NULL,
    command INTEGER NOT NULL,
    count INTEGER NOT NULL,
    sum_bytes ANY NOT NULL,
    min_bytes INTEGER NOT NULL,
    max_bytes INTEGER NOT NULL,
    buckets BLOB NOT NULL,
    PRIMARY KEY (tick, operation, command)
) STRICT, WITHOUT ROWID;
CREATE VIEW answers AS
    SELECT t.trial, t.second, p.name AS operation, a.command, a.count, a.sum_bytes, a.min_bytes, a.max_bytes
    FROM answer a
    JOIN tick t ON t.id = a.tick
    JOIN operation p ON p.trial = t.trial AND p.number = a.operation;
";

/// Statement for the sessions of events whose log line identifies a session.
const EVENT_SESSIONS: &str = "
CREATE TABLE event_session (
    event INTEGER PRIMARY KEY,
    application TEXT NOT NULL,
    client TEXT NOT NULL
) STRICT;
CREATE VIEW event_sessions AS
    SELECT e.trial, e.at_ns / 1e9 AS at_s, e.node, e.kind, e.code, e.text, s.application, s.client
    FROM event e
    JOIN event_session s ON s.event = e.id;
";

/// Statement for row counts of SQL statements, which files before version 3 do not have. `statement` is a
/// `model::StatementKind`.
const ROW_COUNTS: &str = "
CREATE TABLE row_count (
    tick INTEGER NOT NULL,
    operation INTEGER NOT NULL,
    command INTEGER NOT NULL,
    statement TEXT NOT NULL,
    count INTEGER NOT NULL,
    sum_rows ANY NOT NULL,
    min_rows INTEGER NOT NULL,
    max_rows INTEGER NOT NULL,
    buckets BLOB NOT NULL,
    PRIMARY KEY (tick, operation, command)
) STRICT, WITHOUT ROWID;
CREATE VIEW row_counts AS
    SELECT t.trial, t.second, p.name AS operation, r.command, r.statement, r.count, r.sum_rows, r.min_rows, r.max_rows
    FROM row_count r
    JOIN tick t ON t.id = r.tick
    JOIN operation p ON p.trial = t.trial AND p.number = r.operation;
";

/// Statement for facts with their `model::fact::FactKind`; `payload` is JSON. A fact without a trial belongs to the
/// run.
const FACTS: &str = "
CREATE TABLE fact (
    id INTEGER PRIMARY KEY,
    trial INTEGER,
    kind TEXT NOT NULL,
    version INTEGER NOT NULL,
    payload TEXT NOT NULL
) STRICT;
";

/// Statement for counts of the steps of operations. Times of steps are histograms of kind 2.
const STEP_COUNTS: &str = "
CREATE TABLE step_count (
    tick INTEGER NOT NULL,
    operation INTEGER NOT NULL,
    command INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    retries INTEGER NOT NULL,
    sent_bytes INTEGER NOT NULL,
    received_bytes INTEGER NOT NULL,
    PRIMARY KEY (tick, operation, command)
) STRICT, WITHOUT ROWID;
CREATE VIEW steps AS
    SELECT t.trial, t.second, p.name AS operation, s.command, json_extract(p.commands, '$[' || s.command || ']') AS step,
        coalesce(h.count, 0) AS ok, s.failures, s.retries, s.sent_bytes, s.received_bytes,
        h.sum_ns AS response_sum_ns, h.min_ns AS response_min_ns, h.max_ns AS response_max_ns
    FROM step_count s
    JOIN tick t ON t.id = s.tick
    JOIN operation p ON p.trial = t.trial AND p.number = s.operation
    LEFT JOIN histogram h ON h.tick = t.id AND h.kind = 2 AND h.operation = s.operation AND h.command = s.command;
";

/// Statement for failures of steps by code. `class` is as in the table `failure`.
const STEP_FAILURES: &str = "
CREATE TABLE step_failure (
    tick INTEGER NOT NULL,
    operation INTEGER NOT NULL,
    command INTEGER NOT NULL,
    class INTEGER NOT NULL,
    number INTEGER NOT NULL,
    code TEXT,
    count INTEGER NOT NULL,
    PRIMARY KEY (tick, operation, command, class, number)
) STRICT, WITHOUT ROWID;
CREATE VIEW step_failures AS
    SELECT t.trial, t.second, p.name AS operation, f.command,
        json_extract(p.commands, '$[' || f.command || ']') AS step,
        CASE f.class WHEN 0 THEN 'failed' ELSE 'unknown' END AS class, coalesce(f.code, 'other') AS code, f.count
    FROM step_failure f
    JOIN tick t ON t.id = f.tick
    JOIN operation p ON p.trial = t.trial AND p.number = f.operation;
";

/// Statement for phases of HTTP requests. `phase` is a `model::RequestPhase`.
const STEP_PHASES: &str = "
CREATE TABLE step_phase (
    tick INTEGER NOT NULL,
    operation INTEGER NOT NULL,
    command INTEGER NOT NULL,
    phase TEXT NOT NULL,
    count INTEGER NOT NULL,
    sum_ns INTEGER NOT NULL,
    max_ns INTEGER NOT NULL,
    PRIMARY KEY (tick, operation, command, phase)
) STRICT, WITHOUT ROWID;
CREATE VIEW step_phases AS
    SELECT t.trial, t.second, p.name AS operation, f.command,
        json_extract(p.commands, '$[' || f.command || ']') AS step, f.phase, f.count, f.sum_ns, f.max_ns
    FROM step_phase f
    JOIN tick t ON t.id = f.tick
    JOIN operation p ON p.trial = t.trial AND p.number = f.operation;
";

/// View of nodes with the current names of the columns.
const NODES: &str = "
CREATE VIEW nodes AS
    SELECT trial, name, kind, version, program, entrance AS transport, limits, not_applied AS unapplied_limits FROM node;
";

pub(crate) const VIEWS: &str = "
CREATE VIEW trials AS
    SELECT id AS trial, cell, label, repetition, position, begun_ms, ended_ms, status, reason, valid, summary FROM trial;
CREATE VIEW ticks AS
    SELECT t.trial, t.second, p.name AS operation, o.ok, o.late,
        (SELECT coalesce(sum(count), 0) FROM failure f
            WHERE f.tick = t.id AND f.class = 0 AND f.operation = o.operation) AS failed,
        (SELECT coalesce(sum(count), 0) FROM failure f
            WHERE f.tick = t.id AND f.class = 1 AND f.operation = o.operation) AS unknown,
        o.dropped, o.retried, o.retries, o.above_limit,
        r.sum_ns AS response_sum_ns, r.min_ns AS response_min_ns, r.max_ns AS response_max_ns,
        s.sum_ns AS service_sum_ns, s.min_ns AS service_min_ns, s.max_ns AS service_max_ns,
        t.begun, t.in_flight, t.from_ns, t.to_ns
    FROM tick t
    JOIN outcome o ON o.tick = t.id
    JOIN operation p ON p.trial = t.trial AND p.number = o.operation
    LEFT JOIN histogram r ON r.tick = t.id AND r.kind = 0 AND r.operation = o.operation
    LEFT JOIN histogram s ON s.tick = t.id AND s.kind = 1 AND s.operation = o.operation;
CREATE VIEW failures AS
    SELECT t.trial, t.second, CASE f.class WHEN 0 THEN 'failed' WHEN 1 THEN 'unknown' ELSE 'refused' END AS class,
        p.name AS operation, coalesce(f.code, 'other') AS code, f.count
    FROM failure f
    JOIN tick t ON t.id = f.tick
    LEFT JOIN operation p ON p.trial = t.trial AND p.number = f.operation;
CREATE VIEW histograms AS
    SELECT t.trial, t.second,
        CASE h.kind WHEN 0 THEN 'response' WHEN 1 THEN 'service' WHEN 2 THEN 'statement' WHEN 3 THEN 'send_lag'
            WHEN 4 THEN 'backlog_wait' ELSE 'connects' END AS kind,
        p.name AS operation, h.command, h.count, h.sum_ns, h.min_ns, h.max_ns, h.v2
    FROM histogram h
    JOIN tick t ON t.id = h.tick
    LEFT JOIN operation p ON p.trial = t.trial AND p.number = h.operation;
CREATE VIEW samples AS
    SELECT m.trial, m.at_ns / 1e9 AS at_s, s.node, s.series, s.label, v.value
    FROM sample v
    JOIN moment m ON m.id = v.moment
    JOIN series s ON s.id = v.series;
CREATE VIEW events AS
    SELECT trial, at_ns / 1e9 AS at_s, node, kind, code, text FROM event;
CREATE VIEW configurations AS
    SELECT c.trial, n.name AS node, c.name, d.text
    FROM configuration c
    JOIN node n ON n.trial = c.trial AND n.number = c.node
    JOIN document d ON d.id = c.document;
";
