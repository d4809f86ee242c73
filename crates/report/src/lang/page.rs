//! Sentences of a page, apart from the matrix and its findings.

use model::chart::{ChartKind, ChartSeriesKind, ChartUnit};
use model::matrix::BaselineComparison;
use model::plan::{Dataset, FailoverManager, Limits, Load, SyncMode};
use model::run_result::RunState;
use model::{EventKind, Nanos};

/// Sentences of a page. Called while it is written, from one thread, once per sentence.
pub trait PageWords {
    /// A word for the page's script.
    fn word(&self, it: PageWord) -> &'static str;
    /// A heading, or the name of a value.
    fn term(&self, it: PageTerm) -> &'static str;
    /// Unix time in milliseconds, as UTC to the minute.
    fn moment(&self, unix_ms: u64) -> String;
    /// State of the run; `None` if it is complete.
    fn state(&self, it: RunState, reason: Option<&str>) -> Option<String>;
    fn extent(&self, trials: usize, cells: usize) -> String;
    fn seed(&self, it: u64) -> String;

    fn question(&self, it: &PageQuestion<'_>) -> String;
    /// The answer in one sentence.
    fn answer(&self, it: &PageAnswer<'_>) -> String;
    /// A sentence after the answer: these nodes received no load.
    fn not_passed(&self, nodes: &[&str]) -> String;

    /// `sql`: true if the SQL protocol matters, which HTTP requests lack. `at_once`: numbers of clients, or in-flight
    /// caps, over the cells. `at_once` and an open model's schedule are empty if a search chooses them.
    fn load(&self, it: &Load, sql: bool, at_once: &[u32]) -> String;
    /// Number and duration of each cell's trials.
    fn window(&self, it: &Load, repeat: u32) -> String;
    fn dataset(&self, it: &Dataset) -> String;
    /// Limits of a node; empty if there are none.
    fn limits(&self, it: &Limits) -> String;
    /// A requested limit that was not applied.
    fn no_limit(&self, limit: &str, why: &str) -> String;

    /// Column heading of a quantile, `mean` or `max`, in milliseconds.
    fn times(&self, service: bool, which: &str) -> String;
    /// Column heading of a figure of answer sizes; with an empty `which`, heading of the operations' column.
    fn size(&self, which: &str) -> String;
    /// Mode and size of a pool, limit of a queue, or slots.
    fn room(&self, it: &ConcurrencyLimit) -> String;
    /// CPUs in use, and the quota.
    fn processors(&self, used: f64, of: Option<f64>) -> String;
    /// Throttling, as a share of the quota's periods, 0..=1.
    fn held_back(&self, share: f64) -> String;
    /// Findings about a node, in a few words.
    fn standing(&self, it: BottleneckRole) -> &'static str;
    /// Transactions in service in a node, and those queued there.
    fn occupied(&self, busy: Option<f64>, queue: Option<f64>) -> Option<String>;
    /// Mean time of a transaction in one node.
    fn spent(&self, it: Nanos) -> String;
    /// Role of a server among several. `at_first`: true if it may change.
    fn seat(&self, name: &str, it: ServerSeat, at_first: bool) -> String;
    /// Replication mode, and whether commits wait for replicas, in a few words.
    fn followed(&self, it: SyncMode) -> String;
    /// Settings of the failover manager, as lines.
    fn manages(&self, it: &FailoverManager) -> Vec<String>;
    /// Replicas of the last node of a path. `followed`: result of [`PageWords::followed`]; `manager`: failover manager.
    fn with_replicas(&self, count: usize, followed: &str, manager: &str) -> String;
    /// Text alternative of a drawing: the path, and the node with the longest time per transaction.
    fn drawn(&self, way: &str, longest: Option<(&str, Nanos)>) -> String;

    /// Figure of a heat map, and its baseline.
    fn shaded(&self, figure: &str, baseline: Option<&str>) -> String;
    fn chart(&self, it: ChartKind) -> &'static str;
    /// Label of an axis.
    fn axis(&self, it: ChartUnit) -> &'static str;
    fn track(&self, it: ChartSeriesKind) -> String;
    fn event(&self, it: EventKind) -> &'static str;
    /// `name`: name of the cell; empty if there is only one.
    fn trial(&self, name: &str, repetition: u32) -> String;
    /// Number of folded trials.
    fn more_trials(&self, count: usize) -> String;
    /// Number of folded steps of a search.
    fn all_steps(&self, count: usize) -> String;
    /// Mean time of a statement in the baseline.
    fn mean_in(&self, baseline: &str) -> String;

    /// A remark about `trials` of `of` trials.
    fn in_trials(&self, trials: usize, of: usize, what: &str) -> String;
    /// Name of a fact about the machine by its key, such as `cpu_model`; `None` if the key is unknown.
    fn machine(&self, key: &str) -> Option<&'static str>;
    /// Cells with a configuration: their names, or all.
    fn cells(&self, names: &[&str], of: usize) -> String;
}

/// Question of an experiment.
#[derive(Clone, Copy, Debug)]
pub enum PageQuestion<'a> {
    /// The capacity of one system. `way`: products from the first node to PostgreSQL.
    One { way: &'a str, load: &'a Load },
    /// The effect of the axes.
    Matrix { axes: &'a [&'a str], baseline: Option<&'a str> },
}

/// Answer of an experiment.
#[derive(Clone, Copy, Debug)]
pub enum PageAnswer<'a> {
    /// No trial has ended.
    NotYet,
    /// No trial counts, for a reason that is a complete sentence; `of`: number of trials.
    Nothing {
        why: &'a str,
        of: usize,
    },
    One {
        held: &'a ObjectiveLevel<'a>,
        trials: TrialCounts,
        goals: ObjectiveCounts,
    },
    /// `best` and `worst` are closed-model cells other than the baseline. At least one of the four is present.
    Many {
        baseline: Option<&'a ObjectiveLevel<'a>>,
        best: Option<&'a ObjectiveLevel<'a>>,
        worst: Option<&'a ObjectiveLevel<'a>>,
        open: Option<&'a OpenModelAnswer<'a>>,
        trials: TrialCounts,
        goals: ObjectiveCounts,
    },
}

/// Results of one cell.
#[derive(Clone, Copy, Debug)]
pub struct ObjectiveLevel<'a> {
    pub name: &'a str,
    /// Successful transactions per second, with the 95 % CI.
    pub tps: f64,
    pub interval: Option<(f64, f64)>,
    /// Number of trials of the median.
    pub runs: u32,
    /// Arrivals per second; open model only.
    pub offered: Option<f64>,
    pub p99: Option<Nanos>,
    /// True if the p99 is a lower bound, because arrivals remained unanswered.
    pub p99_at_least: bool,
    /// Comparison with the baseline.
    pub against: Option<BaselineComparison>,
    /// True if the cell is excluded from comparisons: clients were refused or starved, or too many errors occurred.
    pub idle: bool,
}

/// Open-model cells other than the baseline. Their throughput equals the offered rate unless they cannot keep up.
#[derive(Clone, Copy, Debug)]
pub struct OpenModelAnswer<'a> {
    /// Number of cells that keep up with the offered rate, and number of all.
    pub kept_up: usize,
    pub of: usize,
    /// The cell with the highest offered rate of those that keep up.
    pub highest: Option<ObjectiveLevel<'a>>,
    /// The cell that is furthest behind, of the others.
    pub strained: Option<ObjectiveLevel<'a>>,
}

/// Numbers of valid and of all trials.
#[derive(Clone, Copy, Debug)]
pub struct TrialCounts {
    pub valid: usize,
    pub of: usize,
    /// Outages in valid trials: the longest total time without a success in a trial, and the number of such trials.
    pub outage: Option<(Nanos, usize)>,
}

/// Numbers of objectives that all trials met, that some violated, and of the others.
#[derive(Clone, Copy, Debug, Default)]
pub struct ObjectiveCounts {
    pub kept: usize,
    pub broken: usize,
    pub unknown: usize,
}

/// Limit on the transactions that a node serves at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConcurrencyLimit {
    Pool(model::plan::PoolMode, u32),
    MaxConn(u32),
    Slots(u32),
}

/// Role of a server among those with the same rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerSeat {
    Primary,
    Replica,
}

/// Kind of bottleneck in a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BottleneckRole {
    /// The node's CPU is the limiter.
    Processor,
    /// The size of its pool is the limiter.
    Pool,
    /// Transactions queue here for a later node.
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
    /// Advice on indexes.
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
    // The environment.
    Node,
    Version,
    Program,
    Entrance,
    LimitsOfNode,
    CellsOfNode,
    // Repeating the run.
    Command,
    File,
    // Others.
    Generator,
    /// Sessions that do not wait.
    Running,
    /// A cell without axes.
    OnlyCell,
    Objectives,
    Trials,
}

/// Words for the page's script.
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
    /// Label of a heat map's menu.
    Figure,
    Worse,
    Same,
    Better,
    /// Button that shows all columns of a narrow table, and its opposite.
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
    /// Note on the parts that a summary omits for lack of space.
    LeftOut,
}

impl PageWord {
    /// Words by the keys under which the script finds them.
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
