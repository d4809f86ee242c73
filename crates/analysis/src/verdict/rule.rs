//! Stop rules in the language of Yandex.Tank's autostop
//!
//! Examples are `net(xx,25,10)` and `quantile(99, 1s, 10)`. A rule does no I/O: it reads one [`Tick`] after the other,
//! live or from a stored run, and reports when it fires. The semantics are those of Tank's `criterions.py` and
//! `cumulative_criterions.py`. Where pgdyno differs from Tank, [`parse`] returns the [`TankDifference`].
//!
//! A duration is `10`, `10s`, `1s500ms` or `1m`. Without a unit, a time limit is in milliseconds, and the duration of a
//! condition is in seconds. The last argument may name an operation (Tank's tag). The rule then counts only
//! transactions of this operation.
//!
//! The `net` code is the errno of a broken, refused or timed-out connection, otherwise 0. The `http` code is the
//! status; it is 200 for a successful transaction and 0 for a failure without a status. The `sql` code is the SQLSTATE,
//! as in `sql(40P01, 5, 10)` or `sql(53xxx, 1%, 5)`. Dropped arrivals have no code, because they got no response.
//! `errors` compares no code. It counts all arrivals that did not succeed, including dropped arrivals. Tank has neither
//! `sql` nor `errors`.

mod arguments;
mod codes;
#[cfg(test)]
mod fixture;
mod instances;
mod limit;
mod mask;
mod metric;
mod time;
mod total;
mod trend;
mod window;

use arguments::Arguments;
use model::message::Message;
use model::plan::Setup;
pub use model::stop::{StopEvent, TankDifference};
use model::{GrammarDiagnostic, Interval, PerSecond, Tick, message, quote};
use std::fmt::Debug;

/// Context in which rules are parsed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleContext {
    /// Names of the operations, in the order of the scripts in a tick.
    pub operations: Vec<String>,
    /// Maximum number of transactions that can be in flight.
    pub in_flight_max: u32,
    /// True if each transaction opens its own connection, so that a refused connection counts as a failed transaction.
    pub reconnect: bool,
}

impl RuleContext {
    pub fn for_setup(setup: &Setup) -> RuleContext {
        RuleContext {
            operations: setup.operations.iter().map(|it| it.name.clone()).collect(),
            in_flight_max: setup.load.model.clients(),
            reconnect: setup.load.reconnect,
        }
    }
}

/// Stop rule with its state.
#[derive(Debug)]
pub struct Rule {
    text: String,
    tank_rc: Option<u8>,
    watch: Box<dyn RuleState>,
}

/// Result of parsing a rule: the rule and its differences from Tank.
#[derive(Debug)]
pub struct ParsedRule {
    pub rule: Rule,
    pub warnings: Vec<TankDifference>,
    /// Series that the rule reads; `None` for rules on transactions.
    pub series: Option<SeriesName>,
}

/// Series name in a rule. Only the probes know whether the series exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesName {
    /// Offset of the name from the beginning of the rule, in bytes.
    pub offset: usize,
    /// Name without its label.
    pub name: String,
}

/// State of one kind of stop rule. [`Rule::tick`] calls it once per second, in order of time, on the caller's thread. A
/// rule cannot fail.
trait RuleState: Debug + Send {
    /// Reads the next second. If the rule fires in this second, returns the first bad second.
    fn tick(&mut self, tick: &Tick) -> Option<TriggerSecond>;

    /// True if no second so far had a value that the rule reads.
    fn is_blind(&self) -> bool {
        false
    }
}

/// Second that may have caused the rule to fire.
#[derive(Clone, Copy, Debug, PartialEq)]
struct TriggerSecond {
    second: u64,
    rate: PerSecond,
}

/// Name and syntax of one kind of rule.
#[derive(Debug)]
pub struct RuleKind {
    pub name: &'static str,
    /// Arguments in Tank's order, with `[, operation]` at the end if the rule has one.
    pub arguments: &'static str,
    /// Exit status of Tank after this rule fires; `None` for rules that Tank does not have.
    pub tank_exit_status: Option<u8>,
    build: BuildFn,
}

type BuildFn = fn(&mut Arguments<'_>) -> Result<Box<dyn RuleState>, GrammarDiagnostic>;

/// All kinds of rules.
pub const RULES: &[RuleKind] = &[
    family("time", "T, D[, operation]", Some(21), time::mean),
    family("quantile", "q, T, D[, operation]", Some(21), time::quantile),
    family("http", "mask, N or P%, D[, operation]", Some(22), codes::http),
    family("net", "mask, N or P%, D[, operation]", Some(23), codes::net),
    family("instances", "N or P%, D", Some(24), instances::build),
    family("limit", "D", Some(21), limit::build),
    family("metric_higher", "node, metric, value, D", Some(31), metric::higher),
    family("metric_lower", "node, metric, value, D", Some(32), metric::lower),
    family("total_time", "T, P%, D[, operation]", Some(25), total::time),
    family("total_http", "mask, N or P%, D[, operation]", Some(26), total::http),
    family("total_net", "mask, N or P%, D[, operation]", Some(27), total::net),
    family("negative_http", "mask, N or P%, D[, operation]", Some(28), total::negative_http),
    family("negative_net", "mask, N or P%, D[, operation]", Some(29), total::negative_net),
    family("http_trend", "mask, D[, operation]", Some(30), trend::build),
    family("errors", "N or P%, D[, operation]", None, codes::errors),
    family("sql", "mask, N or P%, D[, operation]", None, codes::sql),
    family("total_sql", "mask, N or P%, D[, operation]", None, total::sql),
];

/// Rules that Tank lists but does not implement; Tank raises `NotImplementedError` for them.
const UNIMPLEMENTED_IN_TANK: [&str; 2] = ["steady_cumulative", "qsat"];

const fn family(name: &'static str, arguments: &'static str, rc: Option<u8>, build: BuildFn) -> RuleKind {
    RuleKind { name, arguments, tank_exit_status: rc, build }
}

/// Parses one rule. A diagnostic has the position of the wrong text.
pub fn parse(text: &str, context: &RuleContext) -> Result<ParsedRule, GrammarDiagnostic> {
    let written = text.trim();
    let reject = |part, message| Err(GrammarDiagnostic::in_part(text, part, message));
    let name = written.split('(').next().unwrap_or_default().trim_end();
    let open = written.find('(').unwrap_or(written.len());
    let Some(family) = RULES.iter().find(|it| it.name == name && open < written.len()) else {
        if UNIMPLEMENTED_IN_TANK.contains(&name) {
            return reject(name, message!("rule-not-in-tank", name = quote(name)));
        }
        return reject(name, message!("rule-unknown", text = quoted(name), names = rule_names()));
    };
    let form = format!("{}({})", family.name, family.arguments);
    let Some(close) = written.find(')') else {
        return reject(&written[written.len()..], message!("rule-unclosed", form));
    };
    let rest = written[close + 1..].trim();
    if !rest.is_empty() {
        return reject(rest, message!("rule-trailing", text = quote(rest)));
    }
    let offset = text.len() - text.trim_start().len() + open + 1;
    let mut arguments = Arguments::new(&written[open + 1..close], offset, context, form);
    let watch = (family.build)(&mut arguments)?;
    arguments.expect_end()?;
    let mut warnings = arguments.warnings;
    if family.tank_exit_status.is_none() {
        warnings.push(TankDifference::NotInTank);
    }
    let series = arguments.series;
    Ok(ParsedRule {
        rule: Rule { text: written.to_owned(), tank_rc: family.tank_exit_status, watch },
        warnings,
        series,
    })
}

impl Rule {
    /// Text of the rule, as the user wrote it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// True if no second so far had a value of the series that the rule reads.
    pub fn is_blind(&self) -> bool {
        self.watch.is_blind()
    }

    /// Reads the next second. If the caller continues after a rule has fired, the rule may fire again.
    pub fn tick(&mut self, tick: &Tick) -> Option<StopEvent> {
        let cause = self.watch.tick(tick)?;
        Some(StopEvent {
            rule: self.text.clone(),
            cause_second: cause.second,
            at_second: tick.second,
            rate_at_cause: cause.rate,
            tank_rc: self.tank_rc,
        })
    }
}

/// First of `rules` that fires over a stored run. The rules must not have read any tick yet.
pub fn replay(rules: &mut [Rule], ticks: &[Tick]) -> Option<StopEvent> {
    ticks.iter().find_map(|tick| first_fired(rules, tick))
}

/// First of `rules` that fires at this tick. All rules read the tick.
pub fn first_fired(rules: &mut [Rule], tick: &Tick) -> Option<StopEvent> {
    let mut fired = None;
    for rule in rules {
        let now = rule.tick(tick);
        fired = fired.or(now);
    }
    fired
}

impl TriggerSecond {
    fn from_tick(tick: &Tick) -> TriggerSecond {
        TriggerSecond { second: tick.second, rate: PerSecond(rate(&tick.interval)) }
    }
}

/// Transactions begun per second, or if none began, transactions ended per second.
fn rate(interval: &Interval) -> f64 {
    let begun = match interval.started {
        0 => interval.scripts.iter().map(model::ScriptCounts::arrivals).sum(),
        begun => begun,
    };
    match (interval.to - interval.from).as_secs_f64() {
        0.0 => begun as f64,
        seconds => begun as f64 / seconds,
    }
}

/// The text in backquotes; `None` if it is empty.
pub(crate) fn quoted(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| quote(text))
}

/// Message for a name that belongs to no operation.
pub(crate) fn unknown_operation(name: &str, operations: &[String]) -> Message {
    message!("rule-operation", text = quoted(name), names = operations.join(", "))
}

fn rule_names() -> String {
    RULES.iter().map(|it| it.name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
