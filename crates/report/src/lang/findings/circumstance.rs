//! Texts about circumstances under which a cell was measured

use super::{Lang, group};
use crate::say;
use crate::text::truncate;
use model::finding::{
    ActiveCount, Circumstance, CopyShare, FindingRule, LoggedErrors, MissingInput, ReadVolume, SessionOrigin,
    TrialTrend, UsageCounter,
};
use model::matrix::Figure;
use model::{EventKind, Nanos};

/// Maximum number of characters that a sentence shows of a statement.
const STATEMENT_MAX: usize = 120;

impl Lang {
    /// Beginning of a paragraph about a circumstance.
    pub(super) fn circumstance(&self, circumstance: &Circumstance) -> String {
        match circumstance {
            Circumstance::FeedFitsCache {
                feed, distinct, touched_bytes, table_bytes, memory_bytes, ..
            } => {
                let [touched, bytes, memory] =
                    [touched_bytes, table_bytes, memory_bytes].map(|bytes| self.bytes(*bytes as f64));
                let distinct = *distinct;
                say!(self, "circumstance-feed-cached", feed, distinct, touched, bytes, memory)
            }
            Circumstance::ChainedPools { service, connections, pooler, pool, .. } => say!(
                self,
                "circumstance-chained-pools",
                service,
                connections = self.numbers().fixed(*connections, 0),
                pooler,
                pool = pool.to_string()
            ),
            Circumstance::DeadlockStatements { .. } => say!(self, "circumstance-deadlock-statements"),
            Circumstance::HiddenDeadlocks { .. } => say!(self, "circumstance-hidden-deadlocks"),
            Circumstance::NoFreeSlots { .. } => say!(self, "circumstance-no-free-slots"),
            Circumstance::ActiveCollapse { .. } => say!(self, "circumstance-active-collapse"),
            Circumstance::SessionsLost { .. } => say!(self, "circumstance-sessions-lost"),
            Circumstance::UnevenCopies { service, balancer, .. } => {
                say!(self, "circumstance-uneven-copies", service, balancer)
            }
            Circumstance::ConnectionStorm { .. } => say!(self, "circumstance-connection-storm"),
            Circumstance::GeneratorLate { .. } => say!(self, "circumstance-generator-late"),
            Circumstance::NoisyHost { .. } => say!(self, "circumstance-noisy-host"),
            Circumstance::TrialTrends { .. } => say!(self, "circumstance-trial-trends"),
            Circumstance::Bloat { first_dead_rows, last_dead_rows, .. } => {
                say!(self, "circumstance-bloat", grown = last_dead_rows > first_dead_rows)
            }
            Circumstance::IdleTransactions { .. } => say!(self, "circumstance-idle-transactions"),
            Circumstance::LittlesLawViolation { node, .. } => say!(self, "circumstance-littles-law", node),
            Circumstance::DataChanged { .. } => say!(self, "circumstance-data-changed"),
            Circumstance::NotUsed { node, counter: UsageCounter::Transactions, .. } => {
                say!(self, "circumstance-not-used", node)
            }
            Circumstance::NotUsed { node, counter: UsageCounter::Sessions, .. } => {
                say!(self, "circumstance-no-session", node)
            }
            Circumstance::ErrorOrigins { .. } => say!(self, "circumstance-error-origins"),
            Circumstance::RulesSkipped { rules } => {
                let each = group::by_missing_input(rules).into_iter().map(|(missing, rules)| {
                    let rules: Vec<String> = rules.into_iter().map(|rule| self.finding_rule(rule)).collect();
                    let reason = self.missing_input(missing);
                    say!(self, "circumstance-not-judged-because", rules = rules.join(", "), reason)
                });
                say!(self, "circumstance-not-judged", rules = each.collect::<Vec<_>>().join("; "))
            }
        }
    }

    /// Name and figures of one cell; empty if its paragraph is complete without them.
    pub(super) fn circumstance_cell(&self, cell: &str, circumstance: &Circumstance) -> String {
        let figures = match circumstance {
            Circumstance::GeneratorLate { trials, total_trials, .. } => {
                let [trials, total] = [trials, total_trials].map(u32::to_string);
                return say!(self, "circumstance-trials", cell, trials, total);
            }
            other => self.circumstance_figures(other),
        };
        match figures.is_empty() {
            true => cell.to_owned(),
            false => say!(self, "finding-figures-cell", cell, figures),
        }
    }

    fn circumstance_figures(&self, circumstance: &Circumstance) -> String {
        let numbers = self.numbers();
        let tenths = |number: f64| numbers.fixed(number, 1);
        let rounded = |number: f64| numbers.three(number.round());
        match circumstance {
            Circumstance::FeedFitsCache { read, .. } => self.joined([self.read_volume(*read)]),
            Circumstance::ChainedPools {
                assignments_per_transaction, sets_per_transaction, waiting, ..
            } => self.joined([
                assignments_per_transaction
                    .map(|times| say!(self, "circumstance-assignments", times = numbers.three(times))),
                sets_per_transaction.map(|sets| say!(self, "circumstance-sets", sets = numbers.three(sets))),
                waiting.map(|waiting| say!(self, "bound-waiting", waiting = tenths(waiting))),
            ]),
            Circumstance::DeadlockStatements { most, total, kinds } => say!(
                self,
                "circumstance-deadlock-group",
                count = most.group.count,
                total = *total,
                kinds = *kinds,
                statements = most
                    .group
                    .statements
                    .iter()
                    .map(|it| format!("`{}`", truncate(it, STATEMENT_MAX)))
                    .collect::<Vec<_>>()
                    .join(", "),
                relations = Some(most.group.relations.join(", ")).filter(|it| !it.is_empty()),
                locks = most.group.locks.join(", "),
                time = numbers.time(most.group.first),
                trial = (most.first_repetition > 0).then(|| (most.first_repetition + 1).to_string())
            ),
            Circumstance::HiddenDeadlocks { counted, clients, databases } => say!(
                self,
                "circumstance-deadlocks-counted",
                counted = *counted,
                clients = *clients,
                databases = databases.join(", ")
            ),
            collapse @ Circumstance::ActiveCollapse { .. } => self.active_collapse(collapse),
            Circumstance::NoFreeSlots { share, sessions } => say!(
                self,
                "circumstance-slots-full",
                share = numbers.percent(*share, 0),
                sessions = numbers.fixed(*sessions, 0)
            ),
            Circumstance::SessionsLost { fatal, killed, abandoned, databases } => {
                let figure = |count: u64, text: String| (count > 0).then_some(text);
                let figures = self.joined([
                    figure(*fatal, say!(self, "circumstance-sessions-fatal", count = *fatal)),
                    figure(*killed, say!(self, "circumstance-sessions-killed", count = *killed)),
                    figure(*abandoned, say!(self, "circumstance-sessions-abandoned", count = *abandoned)),
                ]);
                say!(self, "circumstance-in-databases", figures, databases = databases.join(", "))
            }
            Circumstance::UnevenCopies { requests, shares, .. } => {
                let share = |CopyShare { node, share }: &CopyShare| {
                    say!(self, "circumstance-copy-share", node, share = numbers.percent(*share, 0))
                };
                let shares = shares.iter().map(share).collect::<Vec<_>>().join(", ");
                say!(self, "circumstance-copy-shares", shares, requests = *requests)
            }
            Circumstance::ConnectionStorm { logins, cancelled_per_thousand } => self.joined([
                logins.map(|logins| {
                    let [rate, each] =
                        [logins.per_second, logins.per_transaction].map(|rate| numbers.three(rate));
                    say!(self, "circumstance-logins", rate, each)
                }),
                (*cancelled_per_thousand > 0.0).then(|| {
                    say!(self, "circumstance-cancelled", count = numbers.three(*cancelled_per_thousand))
                }),
            ]),
            Circumstance::NoisyHost { stolen_cpu, jitter } => self.joined([
                stolen_cpu.map(|cpus| say!(self, "circumstance-stolen", cpus = numbers.fixed(cpus, 2))),
                jitter.map(|seconds| say!(self, "circumstance-late-timers", time = numbers.seconds(seconds))),
            ]),
            Circumstance::TrialTrends { trends, trials } => {
                let trends = trends.iter().map(|it| Some(self.trial_trend(it)));
                self.joined(trends.chain([Some(say!(self, "circumstance-trend-trials", trials = *trials))]))
            }
            Circumstance::Bloat { first_dead_rows, last_dead_rows, live_rows, vacuums, trials } => self
                .joined([
                    Some(say!(
                        self,
                        "circumstance-dead-rows",
                        first = rounded(*first_dead_rows),
                        trials = *trials,
                        last = rounded(*last_dead_rows),
                        live = rounded(*live_rows)
                    )),
                    (*vacuums > 0.0)
                        .then(|| say!(self, "circumstance-vacuums", count = numbers.fixed(*vacuums, 0))),
                ]),
            Circumstance::IdleTransactions {
                sessions,
                longest_idle,
                horizon_sessions,
                blocked_sessions,
                pool,
            } => self.joined([
                Some(say!(self, "circumstance-idle-sessions", sessions = tenths(*sessions))),
                Some(say!(self, "circumstance-idle-longest", time = numbers.seconds(*longest_idle))),
                (*horizon_sessions > 0.0)
                    .then(|| say!(self, "circumstance-idle-horizon", sessions = tenths(*horizon_sessions))),
                (*blocked_sessions > 0.0)
                    .then(|| say!(self, "circumstance-idle-blocked", sessions = tenths(*blocked_sessions))),
                pool.map(|(size, waiting)| {
                    say!(self, "circumstance-idle-pool", clients = tenths(waiting), size = size.to_string())
                }),
            ]),
            Circumstance::LittlesLawViolation { concurrency, expected, per_second, time, .. } => {
                self.joined([
                    Some(say!(
                        self,
                        "circumstance-number",
                        number = tenths(*concurrency),
                        expected = tenths(*expected)
                    )),
                    Some(numbers.three(*per_second) + &numbers.per_second),
                    Some(say!(self, "circumstance-time-each", time = numbers.seconds(*time))),
                ])
            }
            Circumstance::DataChanged { min_bytes, max_bytes, tables_replaced, restarted, .. } => {
                let [least, most] = [min_bytes, max_bytes].map(|bytes| self.bytes(*bytes as f64));
                self.joined([
                    (min_bytes != max_bytes).then(|| say!(self, "circumstance-data-sizes", least, most)),
                    tables_replaced.then(|| say!(self, "circumstance-tables-replaced")),
                    restarted.then(|| say!(self, "circumstance-server-restarted")),
                ])
            }
            Circumstance::NotUsed { counter, transactions, node_count, trials, total_trials, .. } => {
                let [trials, total] = [trials, total_trials].map(u32::to_string);
                let (counted, transactions) = (*node_count, *transactions);
                self.joined([Some(match counter {
                    UsageCounter::Transactions => {
                        say!(self, "circumstance-counted", counted, transactions, trials, total)
                    }
                    UsageCounter::Sessions => {
                        say!(self, "circumstance-sessions", counted, transactions, trials, total)
                    }
                })])
            }
            Circumstance::ErrorOrigins { errors } => {
                let each = errors.iter().map(|errors| self.logged_errors(errors));
                each.collect::<Vec<_>>().join("; ")
            }
            Circumstance::GeneratorLate { .. } | Circumstance::RulesSkipped { .. } => String::new(),
        }
    }

    /// Describes a collapse of active sessions, and its probable cause if there is evidence.
    fn active_collapse(&self, collapse: &Circumstance) -> String {
        let Circumstance::ActiveCollapse {
            node,
            counted,
            before,
            during,
            from_second,
            seconds,
            rate,
            in_flight_before,
            in_flight_after,
            cancelled,
            logins,
            closed,
            repetition,
            trials,
            total_trials,
        } = collapse
        else {
            unreachable!("the caller passes a collapse")
        };
        let numbers = self.numbers();
        let whole = |number: f64| numbers.fixed(number, 0);
        let [before, during] = [before, during].map(|it| numbers.fixed(*it, 1));
        let change = match counted {
            ActiveCount::Clients => say!(self, "circumstance-collapse-clients", node, before, during),
            ActiveCount::Sessions => say!(self, "circumstance-collapse-sessions", node, before, during),
        };
        let reconnected = logins.filter(|(before, during)| during - before >= 1.0 && *during >= 2.0 * before);
        let evidence = self.joined([
            (*cancelled > 0).then(|| say!(self, "circumstance-collapse-cancelled", count = *cancelled)),
            (*closed >= 1.0).then(|| say!(self, "circumstance-collapse-closed", count = whole(*closed))),
            reconnected.map(|(before, during)| {
                let [before, during] = [before, during].map(|it| numbers.fixed(it, 1));
                say!(self, "circumstance-collapse-logins", before, during)
            }),
        ]);
        say!(
            self,
            "circumstance-collapse",
            change,
            second = from_second.to_string(),
            duration = numbers.chosen(Nanos::from_secs(*seconds)),
            trial = (*total_trials > 1).then(|| (repetition + 1).to_string()),
            rate = whole(*rate),
            first = whole(*in_flight_before),
            last = in_flight_after.to_string(),
            evidence = Some(evidence).filter(|it| !it.is_empty()),
            trials = trials.to_string(),
            total = total_trials.to_string()
        )
    }

    /// Describes kind, origin and number of errors in PostgreSQL's log.
    fn logged_errors(&self, LoggedErrors { kind, origin, lines }: &LoggedErrors) -> String {
        let kind = match kind {
            EventKind::Deadlock => say!(self, "circumstance-errors-deadlock"),
            EventKind::TooManyConnections => say!(self, "circumstance-errors-slots"),
            EventKind::Fatal => say!(self, "circumstance-errors-fatal"),
            _ => say!(self, "circumstance-errors-other"),
        };
        let origin = match origin {
            SessionOrigin::Node { node } => say!(self, "circumstance-origin-node", node),
            SessionOrigin::Direct => say!(self, "circumstance-origin-direct"),
            SessionOrigin::Own => say!(self, "circumstance-origin-own"),
            SessionOrigin::Other { application, client } => {
                say!(self, "circumstance-origin-other", application, client)
            }
            SessionOrigin::Unknown => say!(self, "circumstance-origin-unknown"),
        };
        let count = *lines;
        say!(self, "circumstance-errors", kind, origin, count)
    }

    /// Blocks and bytes that a transaction read; `None` if they were not measured.
    pub(super) fn read_volume(&self, read: ReadVolume) -> Option<String> {
        let blocks = read.blocks.map(|blocks| self.numbers().three(blocks));
        let disk = read.disk_bytes.map(|bytes| self.numbers().bytes(bytes));
        let is_known = blocks.is_some() || disk.is_some();
        is_known.then(|| say!(self, "circumstance-read", blocks, disk))
    }

    fn trial_trend(&self, trend: &TrialTrend) -> String {
        let TrialTrend { figure, first, last, change_interval: (low, high) } = *trend;
        let numbers = self.numbers();
        // Columns of times are in milliseconds.
        let scale = if figure == Figure::P99 { 1e3 } else { 1.0 };
        let [first, last] = [first, last].map(|value| numbers.three(scale * value));
        let interval = numbers.range((scale * low, scale * high), 2);
        let direction = match () {
            () if low > 0.0 => "rises",
            () if high < 0.0 => "falls",
            () => "none",
        };
        say!(self, "circumstance-trial-trend", figure = self.figure(figure), first, last, direction, interval)
    }

    fn finding_rule(&self, rule: FindingRule) -> String {
        match rule {
            FindingRule::ServerCpu => say!(self, "circumstance-rule-server-cpu"),
            FindingRule::PoolerCpu => say!(self, "circumstance-rule-pooler-cpu"),
            FindingRule::BalancerCpu => say!(self, "circumstance-rule-balancer-cpu"),
            FindingRule::ServiceCpu => say!(self, "circumstance-rule-service-cpu"),
            FindingRule::RemoteHost => say!(self, "circumstance-rule-remote-host"),
            FindingRule::SharedHost => say!(self, "circumstance-rule-shared-host"),
            FindingRule::Pool => say!(self, "circumstance-rule-pool"),
            FindingRule::ServicePool => say!(self, "circumstance-rule-service-pool"),
            FindingRule::ServiceThreads => say!(self, "circumstance-rule-service-threads"),
            FindingRule::Waits => say!(self, "circumstance-rule-waits"),
            FindingRule::Reads => say!(self, "circumstance-rule-reads"),
            FindingRule::Writes => say!(self, "circumstance-rule-writes"),
            FindingRule::Memory => say!(self, "circumstance-rule-memory"),
            FindingRule::Scans => say!(self, "circumstance-rule-scans"),
            FindingRule::AvoidableWork => say!(self, "circumstance-rule-avoidable-work"),
            FindingRule::ResultReading => say!(self, "circumstance-rule-result-reading"),
            FindingRule::Checkpoints => say!(self, "circumstance-rule-checkpoints"),
            FindingRule::Storm => say!(self, "circumstance-rule-storm"),
            FindingRule::Bloat => say!(self, "circumstance-rule-bloat"),
            FindingRule::IdleTransactions => say!(self, "circumstance-rule-idle-transactions"),
            FindingRule::Host => say!(self, "circumstance-rule-host"),
            FindingRule::Feed => say!(self, "circumstance-rule-feed"),
        }
    }

    fn missing_input(&self, missing: MissingInput) -> String {
        match missing {
            MissingInput::Group => say!(self, "circumstance-missing-group"),
            MissingInput::Quota => say!(self, "circumstance-missing-quota"),
            MissingInput::Server => say!(self, "circumstance-missing-server"),
            MissingInput::Console => say!(self, "circumstance-missing-console"),
            MissingInput::Samples => say!(self, "circumstance-missing-samples"),
            MissingInput::Stats => say!(self, "circumstance-missing-stats"),
            MissingInput::Metrics => say!(self, "circumstance-missing-metrics"),
            MissingInput::Machine => say!(self, "circumstance-missing-machine"),
            MissingInput::Column => say!(self, "circumstance-missing-column"),
        }
    }
}
