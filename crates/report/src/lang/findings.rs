//! Texts of findings
//!
//! Findings with the same beginning form one paragraph: first the common text, then the text of each cell.

mod bound;
mod circumstance;
mod group;

use super::{Lang, cell_list, cell_name, request};
use crate::say;
use group::{ApparentGain, CellSelection, ExcludedCount, RemainingGroup, ShareRange};
use model::Nanos;
use model::finding::{
    CellResponse, ConnectionLimit, Finding, IncomparableReason, SizeChange, ThroughputComparison,
};
use model::plan::Transport;

impl Lang {
    /// Grouping key: findings with equal keys are reported together. It is the beginning of their paragraph.
    pub fn group(&self, finding: &Finding) -> String {
        let rounded = |number: f64| self.numbers().fixed(number, 0);
        match finding {
            Finding::SlotsExhausted { limit: ConnectionLimit::Role, .. } => say!(self, "finding-slots-role"),
            Finding::SlotsExhausted { limit: ConnectionLimit::Database, .. } => {
                say!(self, "finding-slots-database")
            }
            Finding::SlotsExhausted { max_connections, .. } => {
                say!(self, "finding-slots", max_connections = max_connections.map(|slots| slots.to_string()))
            }
            Finding::ClientsStarved { pool: None, .. } => say!(self, "finding-starved"),
            Finding::ClientsStarved { pool: Some((mode, size)), .. } => {
                say!(self, "finding-starved-pool", size = *size, mode = self.of_pool_mode(*mode))
            }
            Finding::NotCompared { .. } => say!(self, "finding-not-compared"),
            Finding::HostBound { processors, .. } => {
                say!(self, "finding-host-bound", processors = rounded(*processors))
            }
            Finding::GeneratorShare { processors, .. } => {
                say!(self, "finding-generator-share", processors = rounded(*processors))
            }
            Finding::LikeForLikeCost { .. } => say!(self, "finding-like-for-like"),
            Finding::UnlikeComparison { transports, other_transport, .. } => {
                let transports: Vec<String> = group::distinct(transports)
                    .into_iter()
                    .map(|transport| self.transport(transport))
                    .collect();
                let transport_name = match other_transport {
                    Transport::Unix => "unix",
                    Transport::Tcp => "tcp",
                    Transport::Tls => "tls",
                };
                say!(
                    self,
                    "finding-unlike",
                    transports = transports.join(&say!(self, "finding-and")),
                    with = transport_name
                )
            }
            Finding::NoDifference { .. } => say!(self, "finding-no-difference"),
            Finding::QueueInPooler { node, waiting: Some(_), .. } => say!(self, "finding-queue-pooler", node),
            Finding::QueueInPooler { node, waiting: None, .. } => {
                say!(self, "finding-queue-pooler-unknown", node)
            }
            Finding::QueueInBalancer { node, maxconn, .. } => {
                say!(self, "finding-queue-balancer", node, maxconn = maxconn.map(|bound| bound.to_string()))
            }
            Finding::PoolerBound { node, .. } => say!(self, "finding-pooler-bound", node),
            Finding::PoolBound { node, pool, setting, .. } => match setting {
                Some(setting) => {
                    say!(self, "finding-pool-bound-by-setting", node, setting, pool = pool.to_string())
                }
                None => say!(self, "finding-pool-bound", node),
            },
            Finding::ServerBound { node, queue: Some(_), .. } => say!(self, "finding-server-queue", node),
            Finding::ServerBound { node, .. } => say!(self, "finding-server-bound", node),
            Finding::SessionsWait { event, .. } => say!(self, "finding-sessions-wait", event),
            Finding::Failures { code, name, .. } => say!(self, "finding-failures", code, name = *name),
            Finding::Deadlocks { .. } => say!(self, "finding-deadlocks"),
            // Omit the cell's name, because the paragraph already contains it.
            Finding::NotConcurrent { other_busy, .. } => {
                say!(self, "finding-not-concurrent", busy = self.numbers().fixed(*other_busy, 1))
            }
            Finding::NotOpenLoop { in_flight_cap, .. } => {
                say!(self, "finding-not-open", clients = in_flight_cap.to_string())
            }
            Finding::AnswerSizes { operation, change: SizeChange::SmallerThanRecorded { .. }, .. } => {
                say!(self, "finding-sizes-below-recorded", operation)
            }
            Finding::AnswerSizes { operation, change: SizeChange::LargerThanRecorded { .. }, .. } => {
                say!(self, "finding-sizes-above-recorded", operation)
            }
            Finding::RecordedStatus { operation, .. } => say!(self, "finding-recorded-status", operation),
            Finding::RequestsMissing { .. } => say!(self, "finding-requests-missing"),
            Finding::RecordedResponseTimes { operation, .. } => {
                say!(self, "finding-recorded-times", operation)
            }
            Finding::ReplayAsRecorded { .. } => say!(self, "finding-replay-as-recorded"),
            Finding::ReplayDiverged { operation, .. } => say!(self, "finding-replay-diverged", operation),
            Finding::NoRows { operation, command, statement, .. } => {
                let needs_rows = statement.needs_rows();
                let (statement, command) = (statement.keyword(), (command + 1).to_string());
                if needs_rows {
                    say!(self, "finding-no-rows", operation, command, statement)
                } else {
                    say!(self, "finding-no-rows-expected", operation, command, statement)
                }
            }
            Finding::AnswerSizes { operation, step, .. } => {
                say!(self, "finding-sizes", request = request(operation, step.as_deref()))
            }
            Finding::ClientsLeftAfterTest { node, .. } => say!(self, "finding-clients-left", node),
            Finding::Bound { bound, .. } => self.bound(bound),
            Finding::Circumstance { circumstance, .. } => self.circumstance(circumstance),
            Finding::OpenAndClosed { .. } => say!(self, "finding-open-closed"),
            Finding::LoginsDiffer { .. } => say!(self, "finding-logins-differ"),
            Finding::FeedsDiffer { feed, .. } => say!(self, "finding-feeds-differ", feed),
        }
    }

    /// Renders the findings of one group, at least one. `names` lists the names of the cells.
    pub fn findings(&self, all: &[&Finding], names: &[String]) -> String {
        let begin = self.group(all[0]);
        // A single cell has no name.
        let cells = all.iter().map(|finding| self.finding_cell(finding, names).trim().to_owned());
        let cells: Vec<String> = cells.filter(|cell| !cell.is_empty()).collect();
        let cells = cells.join("; ");
        match group::rest(all, names.len()) {
            RemainingGroup::Table => say!(self, "finding-table", begin),
            RemainingGroup::Each if cells.is_empty() => begin,
            // The figures of a single cell are in parentheses.
            RemainingGroup::Each if cells.starts_with('(') => format!("{begin} {cells}"),
            RemainingGroup::Each => say!(self, "finding-paragraph", begin, cells),
            RemainingGroup::EachBeside(other_cell) => {
                say!(self, "finding-deadlocks-beside", begin, cell = cell_name(names, other_cell), cells)
            }
            RemainingGroup::LeftOut(reasons) => {
                say!(self, "finding-paragraph", begin, cells = self.excluded(&reasons, names))
            }
            RemainingGroup::Seeming(gain) => {
                say!(self, "finding-paragraph", begin, cells = self.apparent_gain(&gain, names))
            }
            RemainingGroup::Shares(shares) => {
                say!(self, "finding-shares", begin, cells = self.share_range(&shares, names))
            }
        }
    }

    /// Renders the text that one finding adds to its group.
    fn finding_cell(&self, finding: &Finding, names: &[String]) -> String {
        let numbers = self.numbers();
        let name = |cell: &usize| cell_name(names, *cell);
        let tenths = |number: f64| numbers.fixed(number, 1);
        match finding {
            Finding::SlotsExhausted {
                cell,
                refusals,
                logged_refusals,
                first_second,
                trials,
                total_trials,
                ..
            } => {
                say!(
                    self,
                    "finding-slots-cell",
                    cell = name(cell),
                    refused = *refusals,
                    logged = *logged_refusals,
                    first = first_second.filter(|second| *second > 0).map(|second| second.to_string()),
                    some = self.some_trials(*trials, *total_trials)
                )
            }
            Finding::ClientsStarved {
                cell, clients_served, clients_without_success, clients, jain, ..
            } => say!(
                self,
                "finding-starved-cell",
                cell = name(cell),
                served = clients_served.to_string(),
                clients = clients.to_string(),
                hardly = clients - clients_served - clients_without_success,
                jain = numbers.fixed(*jain, 2)
            ),
            Finding::NotCompared { cell, .. } | Finding::LikeForLikeCost { cell, .. } => {
                name(cell).to_owned()
            }
            Finding::HostBound { cell, generator_cpu, pooler_cpu, server_cpu, other_cpu, .. } => {
                let hundredths = |used: &Option<f64>| used.map(|cpus| numbers.fixed(cpus, 2));
                let each = [
                    hundredths(generator_cpu).map(|cpus| say!(self, "finding-used-generator", cpus)),
                    hundredths(pooler_cpu).map(|cpus| say!(self, "finding-used-before", cpus)),
                    hundredths(server_cpu).map(|cpus| say!(self, "finding-used-server", cpus)),
                    hundredths(other_cpu).map(|cpus| say!(self, "finding-used-others", cpus)),
                ];
                say!(self, "finding-figures-cell", cell = name(cell), figures = self.joined(each))
            }
            Finding::GeneratorShare { cell, generator_cpu, .. } => {
                say!(
                    self,
                    "finding-figure-cell",
                    cell = name(cell),
                    figure = numbers.fixed(*generator_cpu, 2)
                )
            }
            Finding::UnlikeComparison { cell, comparison, like_for_like_ratio, .. } => say!(
                self,
                "finding-unlike-cell",
                cell = name(cell),
                change = numbers.change(comparison.ratio),
                like = numbers.change(*like_for_like_ratio)
            ),
            Finding::NoDifference { cell, other_cell, mode, other_mode, comparison } => {
                let named = group::is_named_by_mode(names, [(*cell, *mode), (*other_cell, *other_mode)]);
                say!(
                    self,
                    "finding-no-difference-cell",
                    cell = name(cell),
                    with = name(other_cell),
                    mode = (!named).then(|| self.pool_mode(*mode)),
                    with_mode = (!named).then(|| self.of_pool_mode(*other_mode)),
                    change = self.compared(comparison)
                )
            }
            Finding::QueueInPooler { cell, waiting, longest_wait, in_flight, busy, .. } => {
                let figures = [
                    Some(tenths(waiting.unwrap_or(*in_flight))),
                    longest_wait.map(|seconds| numbers.seconds(seconds)),
                    busy.map(tenths),
                ];
                say!(self, "finding-queue-cell", cell = name(cell), figures = self.joined(figures))
            }
            Finding::QueueInBalancer { cell, waiting, wait, .. } => {
                let figures = [Some(tenths(*waiting)), wait.map(|seconds| numbers.seconds(seconds))];
                say!(self, "finding-queue-cell", cell = name(cell), figures = self.joined(figures))
            }
            Finding::PoolerBound {
                cell,
                cpu,
                cpu_limit,
                throttled,
                throttled_cpu,
                pool,
                in_use,
                active,
                ..
            } => {
                let [cpu, throttled, stalled] =
                    self.cpu_figures(*cpu, *cpu_limit, *throttled, *throttled_cpu);
                let in_use = in_use.map(|in_use| self.in_use(in_use, *pool));
                let running = Some(say!(self, "finding-running", active = tenths(*active)));
                let figures = self.joined([cpu, throttled, stalled, in_use, running]);
                say!(self, "finding-figures-cell", cell = name(cell), figures)
            }
            Finding::PoolBound { cell, pool, in_use, busy, cpu, cpu_limit, .. } => {
                let busy = say!(self, "finding-busy-server", busy = tenths(*busy));
                let [cpu, ..] = self.cpu_figures(*cpu, *cpu_limit, None, None);
                let figures = self.joined([Some(self.in_use(*in_use, *pool)), Some(busy), cpu]);
                say!(self, "finding-figures-cell", cell = name(cell), figures)
            }
            Finding::ServerBound { cell, cpu, cpu_limit, throttled, throttled_cpu, queue, .. } => {
                let [cpu, throttled, stalled] =
                    self.cpu_figures(*cpu, *cpu_limit, *throttled, *throttled_cpu);
                let queue = queue.map(|it| say!(self, "finding-runnable", sessions = tenths(it)));
                let figures = self.joined([cpu, throttled, stalled, queue]);
                say!(self, "finding-figures-cell", cell = name(cell), figures)
            }
            Finding::SessionsWait { cell, share, active, .. } => say!(
                self,
                "finding-sessions-cell",
                cell = name(cell),
                share = numbers.percent(*share, 0),
                active = tenths(*active)
            ),
            Finding::Failures { cell, count, sent, .. } => {
                say!(self, "finding-failures-cell", cell = name(cell), count = *count, total = *sent)
            }
            Finding::Deadlocks { cell, per_thousand, interval, runs } => say!(
                self,
                "finding-deadlocks-cell",
                cell = name(cell),
                rate = numbers.fixed(*per_thousand, 2),
                interval = interval.map(|interval| numbers.range(interval, 2)),
                runs = *runs
            ),
            Finding::NotConcurrent { cell, busy, .. } => {
                say!(self, "finding-figure-cell", cell = name(cell), figure = tenths(*busy))
            }
            Finding::NotOpenLoop { cell, arrivals, waited, dropped, trials, total_trials, .. } => say!(
                self,
                "finding-not-open-cell",
                cell = name(cell),
                waited = *waited,
                dropped = *dropped,
                arrivals = *arrivals,
                some = self.some_trials(*trials, *total_trials)
            ),
            Finding::AnswerSizes { cell, change, share, .. } => {
                self.size_change(name(cell), change, &numbers.percent(*share, 0), names)
            }
            Finding::RecordedStatus { cell, count, share, .. } => say!(
                self,
                "finding-recorded-status-cell",
                cell = name(cell),
                share = numbers.percent(*share, 0),
                count = *count
            ),
            Finding::RequestsMissing { cell, requests, missing, share } => say!(
                self,
                "finding-requests-missing-cell",
                cell = name(cell),
                share = numbers.percent(*share, 1),
                missing = numbers.count(*missing),
                recorded = numbers.count(requests + missing)
            ),
            Finding::RecordedResponseTimes {
                cell,
                count,
                recorded_p50,
                recorded_p99,
                measured_p50,
                measured_p99,
                ..
            } => {
                let both = |p50: Nanos, p99: Option<Nanos>| {
                    let (p50, p99) = (numbers.time(p50), p99.map(|it| numbers.time(it)));
                    say!(self, "finding-recorded-times-quantiles", p50, p99)
                };
                say!(
                    self,
                    "finding-recorded-times-cell",
                    cell = name(cell),
                    count = numbers.count(*count),
                    recorded = both(*recorded_p50, *recorded_p99),
                    measured = both(*measured_p50, *measured_p99)
                )
            }
            Finding::ReplayAsRecorded { cell, results, with_rows } => say!(
                self,
                "finding-replay-as-recorded-cell",
                cell = name(cell),
                results = *results,
                rows = numbers.count(*with_rows)
            ),
            Finding::ReplayDiverged {
                cell,
                results,
                failed,
                succeeded,
                other_errors,
                fewer_rows,
                more_rows,
                ..
            } => {
                let kinds = [
                    ("failed", *failed),
                    ("succeeded", *succeeded),
                    ("error", *other_errors),
                    ("fewer", *fewer_rows),
                    ("more", *more_rows),
                ];
                let kinds = kinds.iter().filter(|(_, count)| *count > 0);
                let text = |(kind, count): &(&str, u64)| {
                    say!(self, "finding-replay-difference", kind = *kind, count = numbers.count(*count))
                };
                let differences = kinds.map(text).collect::<Vec<_>>().join(", ");
                let (cell, results) = (name(cell), *results);
                say!(self, "finding-replay-diverged-cell", cell, results, differences)
            }
            Finding::NoRows { cell, count, share, second, .. } => say!(
                self,
                "finding-no-rows-cell",
                cell = name(cell),
                share = numbers.percent(*share, 0),
                count = *count,
                second = second.map(|it| it.to_string())
            ),
            Finding::ClientsLeftAfterTest { cell, clients, trials, total_trials, .. } => say!(
                self,
                "finding-clients-left-cell",
                cell = name(cell),
                clients = *clients,
                some = self.some_trials(*trials, *total_trials)
            ),
            Finding::Bound { cell, bound } => {
                say!(self, "finding-figures-cell", cell = name(cell), figures = self.bound_figures(bound))
            }
            Finding::Circumstance { cell, circumstance } => self.circumstance_cell(name(cell), circumstance),
            Finding::OpenAndClosed { cell, other_cell, offered, open, closed } => say!(
                self,
                "finding-open-closed-cell",
                with = name(other_cell),
                closed = self.response(closed),
                cell = name(cell),
                offered = numbers.three(*offered) + &numbers.per_second,
                open = self.response(open)
            ),
            Finding::LoginsDiffer {
                cell,
                other_cell,
                logins,
                other_logins,
                server_cpu,
                other_server_cpu,
            } => {
                let cpu = |cpu: &Option<f64>| cpu.map(|used| numbers.fixed(used, 2));
                say!(
                    self,
                    "finding-logins-cell",
                    cell = name(cell),
                    rate = numbers.three(logins.per_second),
                    cpu = cpu(server_cpu),
                    with = name(other_cell),
                    with_rate = numbers.three(other_logins.per_second),
                    with_cpu = cpu(other_server_cpu)
                )
            }
            Finding::FeedsDiffer { cell, other_cell, response, other_response, read, other_read, .. } => {
                say!(
                    self,
                    "finding-feeds-cell",
                    cell = name(cell),
                    response = self.response(response),
                    read = self.read_volume(*read),
                    with = name(other_cell),
                    with_response = self.response(other_response),
                    with_read = self.read_volume(*other_read)
                )
            }
        }
    }

    fn size_change(&self, cell: &str, change: &SizeChange, share: &str, names: &[String]) -> String {
        let size = |bytes: u64| self.bytes(bytes as f64);
        match *change {
            SizeChange::Fell { before_bytes, after_bytes, second } => {
                let second = second.to_string();
                say!(
                    self,
                    "finding-sizes-fell",
                    cell,
                    before = size(before_bytes),
                    second,
                    after = size(after_bytes),
                    share
                )
            }
            SizeChange::TwoPopulations { small_bytes, large_bytes } => {
                say!(
                    self,
                    "finding-sizes-two",
                    cell,
                    share,
                    small = size(small_bytes),
                    large = size(large_bytes)
                )
            }
            SizeChange::SmallerThan { other_cell, bytes, other_bytes } => say!(
                self,
                "finding-sizes-smaller",
                cell,
                here = size(bytes),
                with = cell_name(names, other_cell),
                there = size(other_bytes)
            ),
            SizeChange::SmallerThanRecorded { bytes, recorded_bytes }
            | SizeChange::LargerThanRecorded { bytes, recorded_bytes } => say!(
                self,
                "finding-sizes-recorded",
                cell,
                share,
                here = size(bytes),
                recorded = size(recorded_bytes)
            ),
        }
    }

    fn excluded(&self, reasons: &[(IncomparableReason, Vec<ExcludedCount>)], names: &[String]) -> String {
        let cell = |excluded: &ExcludedCount| {
            let failed = excluded.failed.map(|share| self.numbers().percent(share, 1));
            say!(self, "finding-left-out-cell", cell = cell_name(names, excluded.cell), failed)
        };
        let each = reasons.iter().map(|(reason, cells)| {
            let cells = cells.iter().map(cell).collect::<Vec<_>>().join(", ");
            match reason {
                IncomparableReason::SlotsExhausted => say!(self, "finding-left-out-slots", cells),
                IncomparableReason::ClientsStarved => say!(self, "finding-left-out-starved", cells),
                IncomparableReason::Errors { .. } => say!(self, "finding-left-out-errors", cells),
            }
        });
        each.collect::<Vec<_>>().join("; ")
    }

    fn apparent_gain(&self, gain: &ApparentGain, names: &[String]) -> String {
        let [changes, like] = [gain.unlike, gain.like].map(|range| self.numbers().changes(range));
        say!(self, "finding-unlike-many", changes, like, cells = cell_list(names, &gain.cells))
    }

    fn share_range(&self, shares: &ShareRange, names: &[String]) -> String {
        let range = |used: Option<(f64, f64)>| used.map(|range| self.numbers().range(range, 2));
        let used = self.joined([
            range(shares.generator).map(|cpus| say!(self, "finding-range-generator", cpus)),
            range(shares.before).map(|cpus| say!(self, "finding-range-before", cpus)),
            range(shares.server).map(|cpus| say!(self, "finding-range-server", cpus)),
            range(shares.others).map(|cpus| say!(self, "finding-range-others", cpus)),
        ]);
        match &shares.cells {
            CellSelection::All => say!(self, "finding-shares-all", used),
            CellSelection::AllBut(cells) => {
                say!(self, "finding-shares-all-but", cells = cell_list(names, cells), used)
            }
            CellSelection::These(cells) => {
                say!(self, "finding-shares-these", cells = cell_list(names, cells), used)
            }
        }
    }

    /// Change of throughput: `-15.6 % (95 % CI -16.1 to -15.3 %)`.
    fn compared(&self, comparison: &ThroughputComparison) -> String {
        let interval = comparison.interval.map(|interval| self.numbers().changes(interval));
        say!(self, "finding-change", change = self.numbers().change(comparison.ratio), interval)
    }

    /// Number of a cell's trials that have the finding; empty if all trials have it.
    fn some_trials(&self, trials: u32, total: u32) -> String {
        if trials == total { String::new() } else { say!(self, "finding-some-trials", trials, total) }
    }

    /// Response time at a rate: `p99 171 ms at 47.7/s`.
    fn response(&self, response: &CellResponse) -> String {
        let rate = self.numbers().three(response.delivered) + &self.numbers().per_second;
        say!(
            self,
            "finding-response",
            p99 = response.p99.map(|seconds| self.numbers().seconds(seconds)),
            rate
        )
    }

    fn in_use(&self, in_use: f64, pool: u32) -> String {
        say!(self, "finding-in-use", in_use = self.numbers().fixed(in_use, 1), pool = pool.to_string())
    }

    /// CPU usage, share of throttled periods, and CPUs that the node could not use because it was throttled.
    fn cpu_figures(
        &self,
        used: f64,
        limit: f64,
        throttled: Option<f64>,
        throttled_cpu: Option<f64>,
    ) -> [Option<String>; 3] {
        let numbers = self.numbers();
        // Omit less than a hundredth of a CPU, because it is negligible.
        let stalled = throttled_cpu.filter(|cpu| *cpu >= 0.01);
        [
            Some(say!(self, "finding-cpu", used = numbers.fixed(used, 2), limit = numbers.plain(limit))),
            throttled.map(|share| say!(self, "finding-throttled", share = numbers.percent(share, 0))),
            stalled.map(|cpu| say!(self, "finding-stalled", cpu = numbers.fixed(cpu, 2))),
        ]
    }

    /// Joins the known figures.
    fn joined(&self, figures: impl IntoIterator<Item = Option<String>>) -> String {
        figures.into_iter().flatten().collect::<Vec<_>>().join(self.numbers().among())
    }
}
