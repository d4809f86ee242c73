//! What a page says beside the matrix and its findings, sentence by sentence?

use model::chart::{ChartKind, ChartSeriesKind, ChartUnit};
use model::matrix::BaselineComparison;
use model::plan::{Dataset, FailoverManager, Limits, Load, SyncMode, Transport};
use model::run_result::RunState;
use model::{EventKind, Nanos};

/// Called when it is written, from one thread, once per sentence.
pub trait PageWords {
    /// For the program that draws the page.
    fn word(&self, it: PageWord) -> &'static str;
    /// A heading, or the name of a value.
    fn term(&self, it: PageTerm) -> &'static str;
    /// Unix time in milliseconds, as UTC to the minute.
    fn moment(&self, unix_ms: u64) -> String;
    /// Nothing for a run that is complete.
    fn state(&self, it: RunState, reason: Option<&str>) -> Option<String>;
    fn extent(&self, trials: usize, cells: usize) -> String;
    fn seed(&self, it: u64) -> String;

    fn question(&self, it: &PageQuestion<'_>) -> String;
    /// One sentence.
    fn answer(&self, it: &PageAnswer<'_>) -> String;
    /// One sentence behind the answer: the load did not pass through these nodes.
    fn not_passed(&self, nodes: &[&str]) -> String;

    /// `sql`: whether its protocol matters, which requests to services do not have. `at_once`: how many clients, or
    /// transactions in flight, in one cell or another; empty, like an open model's schedule, where that is searched for.
    fn load(&self, it: &Load, sql: bool, at_once: &[u32]) -> String;
    /// How often and how long each cell is measured.
    fn window(&self, it: &Load, repeat: u32) -> String;
    fn dataset(&self, it: &Dataset) -> String;
    /// Nothing where there is none.
    fn limits(&self, it: &Limits) -> String;
    /// A limit that was asked for and does not hold.
    fn no_limit(&self, limit: &str, why: &str) -> String;

    /// The heading of a quantile's column, or of `mean` and `max`, in milliseconds.
    fn times(&self, service: bool, which: &str) -> String;
    /// The heading of a figure of the sizes of answers; of the operations beside them if `which` is empty.
    fn size(&self, which: &str) -> String;
    /// The way into a node; `None` where it was there before and its address tells.
    fn way(&self, it: Option<Transport>) -> &'static str;
    /// The mode and size of a pool, a queue's bound, slots.
    fn room(&self, it: &ConcurrencyLimit) -> String;
    /// Processors used, of how many it may use.
    fn processors(&self, used: f64, of: Option<f64>) -> String;
    /// Share of the quota's periods, 0..=1.
    fn held_back(&self, share: f64) -> String;
    /// What findings say of a node, in a few words.
    fn standing(&self, it: BottleneckRole) -> &'static str;
    /// Transactions at work in a node, and such as wait in it.
    fn occupied(&self, busy: Option<f64>, queue: Option<f64>) -> Option<String>;
    /// Mean time of a transaction in one node.
    fn spent(&self, it: Nanos) -> String;
    /// What a server among several is. `at_first`: it may change.
    fn seat(&self, name: &str, it: ServerSeat, at_first: bool) -> String;
    /// What comes to replicas, and whether commits wait for it, in a few words.
    fn followed(&self, it: SyncMode) -> String;
    /// What whoever promotes does, and with what: lines.
    fn manages(&self, it: &FailoverManager) -> Vec<String>;
    /// What follows a way whose last node has replicas. `followed`: the above; `manager`: who promotes.
    fn with_replicas(&self, count: usize, followed: &str, manager: &str) -> String;
    /// What a drawing says: the way, and the node in which a transaction spends most of its time.
    fn drawn(&self, way: &str, longest: Option<(&str, Nanos)>) -> String;

    /// What is shaded, and beside what.
    fn shaded(&self, figure: &str, baseline: Option<&str>) -> String;
    fn chart(&self, it: ChartKind) -> &'static str;
    /// Beside an axis.
    fn axis(&self, it: ChartUnit) -> &'static str;
    fn track(&self, it: ChartSeriesKind) -> String;
    fn event(&self, it: EventKind) -> &'static str;
    /// `name`: of the cell; empty where there is only one.
    fn trial(&self, name: &str, repetition: u32) -> String;
    /// Trials that are folded away.
    fn more_trials(&self, count: usize) -> String;
    /// Steps of a search that are.
    fn all_steps(&self, count: usize) -> String;
    /// The mean time of a statement in the baseline.
    fn mean_in(&self, baseline: &str) -> String;

    /// A remark on `trials` of all `of`.
    fn in_trials(&self, trials: usize, of: usize, what: &str) -> String;
    /// A figure of the machine by its key, such as `cpu_model`; `None` for one that is not known.
    fn machine(&self, key: &str) -> Option<&'static str>;
    /// Cells that have a configuration: their names, or that all have it.
    fn cells(&self, names: &[&str], of: usize) -> String;
}

/// What was asked.
#[derive(Clone, Copy, Debug)]
pub enum PageQuestion<'a> {
    /// How much one system holds. `way`: products from the entrance to PostgreSQL.
    One { way: &'a str, load: &'a Load },
    /// What the axes change.
    Matrix { axes: &'a [&'a str], baseline: Option<&'a str> },
}

/// What can be answered.
#[derive(Clone, Copy, Debug)]
pub enum PageAnswer<'a> {
    /// No trial has ended.
    NotYet,
    /// Nothing counts, for a reason that is a sentence already; `of` trials.
    Nothing {
        why: &'a str,
        of: usize,
    },
    One {
        held: &'a ObjectiveLevel<'a>,
        trials: TrialCounts,
        goals: ObjectiveCounts,
    },
    /// `best` and `worst` are cells of the closed model and never the baseline; at least one of the four is there.
    Many {
        baseline: Option<&'a ObjectiveLevel<'a>>,
        best: Option<&'a ObjectiveLevel<'a>>,
        worst: Option<&'a ObjectiveLevel<'a>>,
        open: Option<&'a OpenModelAnswer<'a>>,
        trials: TrialCounts,
        goals: ObjectiveCounts,
    },
}

/// What one cell holds.
#[derive(Clone, Copy, Debug)]
pub struct ObjectiveLevel<'a> {
    pub name: &'a str,
    /// Transactions that ended well, per second, and its interval of 95 %.
    pub tps: f64,
    pub interval: Option<(f64, f64)>,
    /// Runs it is the median of.
    pub runs: u32,
    /// Arrivals per second; only of an open model.
    pub offered: Option<f64>,
    pub p99: Option<Nanos>,
    /// It is longer than that: of arrivals without an answer.
    pub p99_at_least: bool,
    /// Beside the baseline.
    pub against: Option<BaselineComparison>,
    /// Not all of its clients did their work.
    pub idle: bool,
}

/// Cells of the open model beside the baseline: their throughput is what was offered, unless they hold less.
#[derive(Clone, Copy, Debug)]
pub struct OpenModelAnswer<'a> {
    /// Cells that keep up with what is offered, of all.
    pub kept_up: usize,
    pub of: usize,
    /// Of those that do, the one to which most is offered.
    pub highest: Option<ObjectiveLevel<'a>>,
    /// Of the others, the one furthest behind.
    pub strained: Option<ObjectiveLevel<'a>>,
}

/// How many trials count.
#[derive(Clone, Copy, Debug)]
pub struct TrialCounts {
    pub valid: usize,
    pub of: usize,
    /// Of valid ones: the longest time altogether in which nothing succeeded in one, and in how many there is such a time.
    pub outage: Option<(Nanos, usize)>,
}

/// Objectives that all trials kept, that some broke, and the rest.
#[derive(Clone, Copy, Debug, Default)]
pub struct ObjectiveCounts {
    pub kept: usize,
    pub broken: usize,
    pub unknown: usize,
}

/// What bounds how many a node serves at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConcurrencyLimit {
    Pool(model::plan::PoolMode, u32),
    MaxConn(u32),
    Slots(u32),
}

/// What a server is among those that hold the same rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerSeat {
    Primary,
    Replica,
}

/// Where a transaction's way is narrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BottleneckRole {
    /// The node's processor holds up everything.
    Processor,
    /// The size of its pool does.
    Pool,
    /// Transactions wait here for what is behind.
    Queue,
}

/// Headings, and names of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageTerm {
    // Sections.
    Goals,
    Stack,
    Results,
    Matrix,
    Charts,
    Statements,
    /// On indexes.
    Advice,
    Findings,
    Doubts,
    Stand,
    Repeat,
    // Names of facts.
    Load,
    Window,
    Operations,
    Dataset,
    StopRules,
    // Columns.
    Operation,
    /// All operations together.
    Total,
    Offered,
    Delivered,
    Goodput,
    Failed,
    Dropped,
    Code,
    Count,
    Effect,
    Statement,
    Calls,
    TotalSeconds,
    MeanMillis,
    SharePercent,
    RowsOfStatement,
    Hit,
    Read,
    // The stand.
    Node,
    Version,
    Program,
    Entrance,
    LimitsOfNode,
    CellsOfNode,
    // What the run is repeated with.
    Command,
    File,
    // Others.
    Generator,
    /// Sessions that wait for nothing.
    Running,
    /// A cell without axes.
    OnlyCell,
    Objectives,
    Trials,
}

/// Words of the program that draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageWord {
    Skip,
    Contents,
    Language,
    Theme,
    ThemeAuto,
    ThemeLight,
    ThemeDark,
    Print,
    Good,
    Doubt,
    Bad,
    Baseline,
    Trial,
    ZoomOut,
    ChartHelp,
    Time,
    ShowTable,
    HideTable,
    MoreRows,
    Marks,
    Evidence,
    /// What a heat map shows, before a choice.
    Figure,
    Worse,
    Same,
    Better,
    /// What a table without room shows when asked, and the reverse.
    AllColumns,
    FewColumns,
    Copy,
    Copied,
    Seconds,
    Milliseconds,
    Microseconds,
    Bytes,
    Kibibytes,
    Mebibytes,
    Gibibytes,
    Tebibytes,
    PerSecond,
    Thousand,
    Million,
    Live,
    Connecting,
    Lost,
    Ended,
    Stop,
    StopSure,
    StopNo,
    Stopping,
    StopFailed,
    NoScript,
    CannotUnpack,
    /// What a summary leaves out for want of room.
    LeftOut,
}

impl PageWord {
    /// By the key under which the program finds it.
    pub const KEYS: [(&'static str, PageWord); 52] = [
        ("skip", PageWord::Skip),
        ("contents", PageWord::Contents),
        ("language", PageWord::Language),
        ("theme", PageWord::Theme),
        ("theme_auto", PageWord::ThemeAuto),
        ("theme_light", PageWord::ThemeLight),
        ("theme_dark", PageWord::ThemeDark),
        ("print", PageWord::Print),
        ("good", PageWord::Good),
        ("doubt", PageWord::Doubt),
        ("bad", PageWord::Bad),
        ("baseline", PageWord::Baseline),
        ("trial", PageWord::Trial),
        ("zoom_out", PageWord::ZoomOut),
        ("chart_help", PageWord::ChartHelp),
        ("time", PageWord::Time),
        ("show_table", PageWord::ShowTable),
        ("hide_table", PageWord::HideTable),
        ("more_rows", PageWord::MoreRows),
        ("marks", PageWord::Marks),
        ("evidence", PageWord::Evidence),
        ("figure", PageWord::Figure),
        ("worse", PageWord::Worse),
        ("same", PageWord::Same),
        ("better", PageWord::Better),
        ("all_columns", PageWord::AllColumns),
        ("few_columns", PageWord::FewColumns),
        ("copy", PageWord::Copy),
        ("copied", PageWord::Copied),
        ("s", PageWord::Seconds),
        ("ms", PageWord::Milliseconds),
        ("us", PageWord::Microseconds),
        ("b", PageWord::Bytes),
        ("kib", PageWord::Kibibytes),
        ("mib", PageWord::Mebibytes),
        ("gib", PageWord::Gibibytes),
        ("tib", PageWord::Tebibytes),
        ("per_second", PageWord::PerSecond),
        ("thousand", PageWord::Thousand),
        ("million", PageWord::Million),
        ("live", PageWord::Live),
        ("connecting", PageWord::Connecting),
        ("lost", PageWord::Lost),
        ("ended", PageWord::Ended),
        ("stop", PageWord::Stop),
        ("stop_sure", PageWord::StopSure),
        ("stop_no", PageWord::StopNo),
        ("stopping", PageWord::Stopping),
        ("stop_failed", PageWord::StopFailed),
        ("no_script", PageWord::NoScript),
        ("cannot_unpack", PageWord::CannotUnpack),
        ("left_out", PageWord::LeftOut),
    ];
}
