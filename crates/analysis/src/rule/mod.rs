//! When is it enough?
//!
//! Stop rules in the language of Yandex.Tank's autostop, such as `net(xx,25,10)` or `quantile(99, 1s, 10)`. A rule is
//! pure: it sees one [`Tick`] after the other, live or from a stored run, and says so when it fires. Semantics: Tank's
//! `criterions.py` and `cumulative_criterions.py`; where Tank does otherwise, [`parse`] tells the [`Difference`].
//!
//! A duration is `10`, `10s`, `1s500ms`, `1m`; without a unit it is milliseconds where it is a limit of time and seconds
//! where it says how long. The last argument may name an operation (Tank's tag); only its transactions are then looked at.
//!
//! What is a code: `net` codes are the errno of broken, refused and timed out connections, 0 of all others. `http` codes
//! are statuses; a transaction that ended well counts as 200, one without a status as 0. `sql` codes, which Tank does not
//! have, are SQLSTATEs: `sql(40P01, 5, 10)`, `sql(53xxx, 1%, 5)`. Dropped arrivals have none: they got no response. `errors`,
//! which Tank does not have either, asks for no code: whatever did not end well is one, dropped arrivals too.

mod arguments;
mod codes;
#[cfg(test)]
mod fixture;
mod instances;
mod limit;
mod metric;
mod time;
mod total;
mod trend;
mod window;

use arguments::Arguments;
use model::plan::Setup;
pub use model::stop::{StopEvent, TankDifference};
use model::{Interval, PerSecond, Tick};
use std::fmt::Debug;

/// What the rules are about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleContext {
    /// Names of the operations, in the order of a tick's cells.
    pub operations: Vec<String>,
    /// How many transactions can be under way at most.
    pub in_flight_max: u32,
    /// Each transaction connects anew: a refused connection is then a failed transaction already.
    pub connect_each: bool,
}

impl RuleContext {
    pub fn for_setup(setup: &Setup) -> RuleContext {
        RuleContext {
            operations: setup.operations.iter().map(|it| it.name.clone()).collect(),
            in_flight_max: setup.load.model.clients(),
            connect_each: setup.load.reconnect,
        }
    }
}

/// A rule at work.
#[derive(Debug)]
pub struct Rule {
    text: String,
    tank_rc: Option<u8>,
    watch: Box<dyn RuleState>,
}

/// A rule, and where Tank would do otherwise.
#[derive(Debug)]
pub struct ParsedRule {
    pub rule: Rule,
    pub warnings: Vec<TankDifference>,
    /// The series that the rule looks at; `None` for rules about transactions.
    pub series: Option<SeriesName>,
}

/// The name of a series in a rule. Whether there is such a series, the probes know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesName {
    /// Bytes from the beginning of the text.
    pub offset: usize,
    /// Without its label.
    pub name: String,
}

/// A mistake of the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleDiagnostic {
    /// Bytes from the beginning of the text.
    pub offset: usize,
    /// What stands there.
    pub found: String,
    /// What to write instead.
    pub hint: String,
}

/// What a rule does with a tick. Called by [`Rule::watch`] once per second, in order; does not fail.
trait RuleState: Debug + Send {
    /// The first bad second, if the rule fires now.
    fn tick(&mut self, tick: &Tick) -> Option<TriggerSecond>;

    /// Whether it has had nothing to look at yet.
    fn is_blind(&self) -> bool {
        false
    }
}

/// A second that may be the cause.
#[derive(Clone, Copy, Debug, PartialEq)]
struct TriggerSecond {
    second: u64,
    rate: PerSecond,
}

/// One kind of rule.
#[derive(Debug)]
pub struct RuleKind {
    pub name: &'static str,
    /// In Tank's order, `[, operation]` at the end where there is one.
    pub arguments: &'static str,
    /// Tank's exit status.
    pub tank_exit_status: Option<u8>,
    build: BuildFn,
}

type BuildFn = fn(&mut Arguments<'_>) -> Result<Box<dyn RuleState>, RuleDiagnostic>;

/// All kinds.
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

/// Tank lists these, and raises `NotImplementedError` when they are used.
const UNIMPLEMENTED_IN_TANK: [&str; 2] = ["steady_cumulative", "qsat"];

const fn family(name: &'static str, arguments: &'static str, rc: Option<u8>, build: BuildFn) -> RuleKind {
    RuleKind { name, arguments, tank_exit_status: rc, build }
}

/// Reads one rule.
pub fn parse(text: &str, scene: &RuleContext) -> Result<ParsedRule, RuleDiagnostic> {
    let start = text.len() - text.trim_start().len();
    let written = text.trim();
    let Some(open) = written.find('(') else {
        return Err(diagnostic(start, written, &format!("a rule such as `net(xx,25,10)`: {}", rule_names())));
    };
    let name = written[..open].trim_end();
    let Some(family) = RULES.iter().find(|it| it.name == name) else {
        if UNIMPLEMENTED_IN_TANK.contains(&name) {
            let found = format!("`{name}`, which Tank cannot run");
            return Err(RuleDiagnostic { offset: start, found, hint: "`quantile(99, 1s, 10)`".into() });
        }
        return Err(diagnostic(start, name, &format!("one of {}", rule_names())));
    };
    let form = || format!("`{}({})`", family.name, family.arguments);
    let Some(close) = written.find(')') else {
        return Err(diagnostic(start + written.len(), "", &format!("`)`: {}", form())));
    };
    let rest = written[close + 1..].trim();
    if !rest.is_empty() {
        let offset = start + written.len() - rest.len();
        return Err(diagnostic(offset, rest, "one rule only"));
    }
    let mut arguments = Arguments::new(&written[open + 1..close], start + open + 1, scene, form());
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
    /// As the user wrote it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether no second had a value of the series that the rule looks at.
    pub fn is_blind(&self) -> bool {
        self.watch.is_blind()
    }

    /// Looks at the next second; whoever goes on after a rule has fired may see it fire again.
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

/// The first of `rules` that fires over a stored run. Each must be fresh.
pub fn replay(rules: &mut [Rule], ticks: &[Tick]) -> Option<StopEvent> {
    ticks.iter().find_map(|tick| first_fired(rules, tick))
}

/// The first of `rules` that fires now; all of them see the tick.
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

/// Transactions begun per second; of a second in which none began, those that ended.
fn rate(it: &Interval) -> f64 {
    let begun = match it.started {
        0 => it.scripts.iter().map(model::ScriptCounts::arrivals).sum(),
        begun => begun,
    };
    match (it.to - it.from).as_secs_f64() {
        0.0 => begun as f64,
        seconds => begun as f64 / seconds,
    }
}

fn diagnostic(offset: usize, found: &str, instead: &str) -> RuleDiagnostic {
    let found = match found.char_indices().nth(32) {
        _ if found.is_empty() => "nothing".to_owned(),
        None => format!("`{found}`"),
        Some((end, _)) => format!("`{}…`", &found[..end]),
    };
    RuleDiagnostic { offset, found, hint: instead.to_owned() }
}

fn rule_names() -> String {
    RULES.iter().map(|it| it.name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
