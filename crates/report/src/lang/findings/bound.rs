//! Texts about resources that bound the throughput

use super::Lang;
use crate::lang::short;
use crate::say;
use model::avoidable_work::WorkEvidence;
use model::finding::Bound;
use model::lock::LockKind;

impl Lang {
    /// Beginning of a paragraph about a bound.
    pub(super) fn bound(&self, bound: &Bound) -> String {
        match bound {
            Bound::Service { node, .. } => say!(self, "bound-service", node),
            Bound::ServicePool { node, pool, .. } => say!(self, "bound-service-pool", node, pool),
            Bound::HostCpu { node, nodes, .. } => {
                say!(self, "bound-host-cpu", host = node, nodes = nodes.join(", "))
            }
            Bound::ServiceThreads { node, pool, .. } => {
                let pool = Some(pool).filter(|it| !it.is_empty());
                say!(self, "bound-service-threads", node, pool)
            }
            Bound::Reads { node, .. } => say!(self, "bound-reads", node),
            Bound::Writes { node, .. } => say!(self, "bound-writes", node),
            Bound::Memory { node, .. } => say!(self, "bound-memory", node),
            Bound::WalFlush { .. } => say!(self, "bound-wal-flush"),
            Bound::SyncReplicas { .. } => say!(self, "bound-sync-replicas"),
            Bound::RowLocks { .. } => say!(self, "bound-row-locks"),
            Bound::Locks { lock, .. } => self.waits_for_locks(lock),
            Bound::AvoidableWork { evidence } => {
                say!(self, "bound-avoidable-work", work = self.avoidable_work(&evidence.work()))
            }
            Bound::ResultReading { .. } => say!(self, "bound-result-reading"),
            Bound::DelayedAcknowledgements { .. } => say!(self, "bound-delayed-acknowledgements"),
            Bound::Scans { table, .. } => say!(self, "bound-scans", table),
            Bound::Checkpoints { .. } => say!(self, "bound-checkpoints"),
            Bound::Clients { clients, .. } => say!(self, "bound-clients", clients = clients.to_string()),
        }
    }

    fn waits_for_locks(&self, lock: &LockKind) -> String {
        match lock {
            LockKind::Advisory => say!(self, "bound-locks-advisory"),
            LockKind::Relation => say!(self, "bound-locks-relation"),
            LockKind::Extend => say!(self, "bound-locks-extend"),
            LockKind::Object => say!(self, "bound-locks-object"),
            LockKind::BufferPin => say!(self, "bound-locks-buffer-pin"),
            LockKind::Heavyweight { name } => say!(self, "bound-locks-heavyweight", name),
            LockKind::Lightweight { name } => say!(self, "bound-locks-lightweight", name),
        }
    }

    fn work_figures(&self, evidence: &WorkEvidence) -> String {
        let numbers = self.numbers();
        let percent = |share: f64| numbers.percent(share, 0);
        let rows = |rows: f64| numbers.three(rows.round());
        let of_statement = |statement: &Option<String>| {
            statement.as_ref().map(|it| say!(self, "bound-statements", statements = short(it)))
        };
        match evidence {
            WorkEvidence::TemporaryFiles {
                files_per_transaction: files,
                bytes_per_transaction: bytes,
                statement,
                ..
            } => {
                let (files, bytes) = (numbers.three(*files), numbers.bytes(*bytes));
                self.joined([
                    Some(say!(self, "bound-temporary-files", files, bytes)),
                    of_statement(statement),
                ])
            }
            WorkEvidence::Jit { share, statement } => self.joined([
                Some(say!(self, "bound-share-of-server", share = percent(*share))),
                of_statement(statement),
            ]),
            WorkEvidence::Planning { share, mean, statement } => self.joined([
                Some(say!(self, "bound-share-of-server", share = percent(*share))),
                Some(say!(self, "bound-planning", time = numbers.seconds(*mean))),
                of_statement(statement),
            ]),
            WorkEvidence::Logins { per_second, per_transaction, mean } => self.joined([
                Some(say!(
                    self,
                    "circumstance-logins",
                    rate = numbers.three(*per_second),
                    each = numbers.three(*per_transaction)
                )),
                mean.map(|it| say!(self, "circumstance-time-each", time = numbers.seconds(it))),
            ]),
            WorkEvidence::DeadRows { live_rows, dead_rows, bytes, .. } => self.joined([
                Some(say!(self, "bound-dead-rows", dead = rows(*dead_rows), live = rows(*live_rows))),
                bytes.map(|it| numbers.bytes(it)),
            ]),
            WorkEvidence::EmptyPages { bytes, row_bytes, scans_per_transaction, .. } => say!(
                self,
                "bound-empty-pages",
                size = numbers.bytes(*bytes),
                needed = numbers.bytes(*row_bytes),
                scans = numbers.three(*scans_per_transaction)
            ),
            WorkEvidence::Subtransactions { ids_per_transaction, statement } => self.joined([
                Some(say!(self, "bound-subtransactions", ids = numbers.three(*ids_per_transaction))),
                of_statement(statement),
            ]),
            WorkEvidence::OldStatistics { live_rows, changed_rows, .. } => {
                say!(self, "bound-changed-rows", changed = rows(*changed_rows), live = rows(*live_rows))
            }
            WorkEvidence::OldSnapshot { age, first_dead_rows, last_dead_rows } => {
                let [first, last] = [first_dead_rows, last_dead_rows].map(|it| rows(*it));
                say!(self, "bound-old-snapshot", age = numbers.seconds(*age), first, last)
            }
            WorkEvidence::Autovacuum { share, workers } => {
                let workers = numbers.fixed(*workers, 1);
                say!(self, "bound-autovacuum", workers, share = percent(*share))
            }
            WorkEvidence::GrownTable { growth, read_per_transaction, returned_per_transaction, .. } => self
                .joined([
                    Some(self.rows_read(*read_per_transaction, *returned_per_transaction)),
                    Some(say!(self, "bound-grown-table", growth = numbers.three(*growth))),
                ]),
            WorkEvidence::DiscardedRows { read_per_transaction, returned_per_transaction, .. } => {
                self.rows_read(*read_per_transaction, *returned_per_transaction)
            }
            WorkEvidence::LargeValues { toast_blocks_per_transaction, blocks_per_transaction, .. } => say!(
                self,
                "bound-toast-blocks",
                toast = numbers.three(*toast_blocks_per_transaction),
                blocks = numbers.three(*blocks_per_transaction)
            ),
            WorkEvidence::UnusedIndexes { indexes, rows_per_transaction, statement, .. } => self.joined([
                Some(say!(
                    self,
                    "bound-unused-indexes",
                    indexes = numbers.three(*indexes),
                    rows = numbers.three(*rows_per_transaction)
                )),
                of_statement(&Some(statement.clone())),
            ]),
            WorkEvidence::UnindexedForeignKey { deletes_per_transaction, read_per_transaction, .. } => say!(
                self,
                "bound-foreign-key",
                deletes = numbers.three(*deletes_per_transaction),
                read = numbers.three(*read_per_transaction)
            ),
            WorkEvidence::SkippedRows {
                read_per_transaction, returned_per_transaction, statement, ..
            } => self.joined([
                Some(self.rows_read(*read_per_transaction, *returned_per_transaction)),
                of_statement(&Some(statement.clone())),
            ]),
            WorkEvidence::LargeResult { rows_per_execution, share, statement } => self.joined([
                Some(say!(
                    self,
                    "bound-large-result",
                    rows = rows(*rows_per_execution),
                    share = percent(*share)
                )),
                of_statement(&Some(statement.clone())),
            ]),
            WorkEvidence::RepeatedStatement { calls_per_transaction, share, statements, statement } => self
                .joined([
                    Some(say!(
                        self,
                        "bound-repeated-statement",
                        statements = *statements,
                        calls = numbers.three(*calls_per_transaction),
                        share = percent(*share)
                    )),
                    of_statement(&Some(statement.clone())),
                ]),
            WorkEvidence::Function { share, calls_per_transaction, mean, .. } => self.joined([
                Some(say!(self, "bound-share-of-server", share = percent(*share))),
                Some(say!(
                    self,
                    "bound-function",
                    calls = numbers.three(*calls_per_transaction),
                    time = numbers.seconds(*mean)
                )),
            ]),
        }
    }

    /// Rows that index scans read, and rows that statements returned or changed.
    fn rows_read(&self, read: f64, returned: f64) -> String {
        let numbers = self.numbers();
        say!(self, "bound-rows-read", read = numbers.three(read), returned = numbers.three(returned))
    }

    /// Figures of one cell with a bound.
    pub(super) fn bound_figures(&self, bound: &Bound) -> String {
        let numbers = self.numbers();
        let tenths = |number: f64| numbers.fixed(number, 1);
        let rounded = |number: f64| numbers.fixed(number, 0);
        let percent = |share: f64| numbers.percent(share, 0);
        let per_second = |rate: f64| numbers.three(rate) + &numbers.per_second;
        let waiting = |waiting: Option<f64>| {
            waiting.map(|waiting| say!(self, "bound-waiting", waiting = tenths(waiting)))
        };
        let sessions = |share: f64, active: f64| {
            Some(say!(self, "bound-sessions", share = percent(share), active = tenths(active)))
        };
        match bound {
            Bound::Service { cpu, cpu_limit, throttled, throttled_cpu, .. } => {
                self.joined(self.cpu_figures(*cpu, *cpu_limit, *throttled, *throttled_cpu))
            }
            Bound::HostCpu { cpu, cpu_limit, .. } => {
                self.joined(self.cpu_figures(*cpu, *cpu_limit, None, None))
            }
            Bound::ServicePool { size, busy, waiting: waits, waited_share, .. } => self.joined([
                Some(say!(self, "bound-in-use", busy = tenths(*busy), size = rounded(*size))),
                waiting(*waits),
                waited_share.map(|share| say!(self, "bound-had-to-wait", share = percent(share))),
            ]),
            Bound::ServiceThreads { size, busy, waiting: waits, .. } => self.joined([
                Some(say!(self, "bound-busy", busy = tenths(*busy), size = rounded(*size))),
                waiting(*waits),
            ]),
            Bound::Reads { per_second, quota, wait_share, in_bytes, .. }
            | Bound::Writes { per_second, quota, wait_share, in_bytes, .. } => {
                let amount = |amount| if *in_bytes { numbers.bytes(amount) } else { numbers.three(amount) };
                self.joined([
                    per_second.map(|rate| {
                        say!(self, "bound-per-second", rate = amount(rate), quota = quota.map(amount))
                    }),
                    wait_share.map(|share| say!(self, "bound-sessions-wait", share = percent(share))),
                ])
            }
            Bound::Memory { used_bytes, limit_bytes, read_bytes_per_transaction, .. } => {
                let [used, limit, read] =
                    [used_bytes, limit_bytes, read_bytes_per_transaction].map(|bytes| numbers.bytes(*bytes));
                self.joined([
                    Some(say!(self, "bound-memory-used", used, limit)),
                    Some(say!(self, "bound-memory-read", read)),
                ])
            }
            Bound::AvoidableWork { evidence } => self.work_figures(evidence),
            Bound::DelayedAcknowledgements { p50, p90, server } => self.joined([
                Some(format!("p50 {}", numbers.seconds(*p50))),
                Some(format!("p90 {}", numbers.seconds(*p90))),
                Some(say!(self, "bound-server-time", time = numbers.seconds(*server))),
            ]),
            Bound::WalFlush { share, active }
            | Bound::SyncReplicas { share, active }
            | Bound::ResultReading { share, active } => self.joined([sessions(*share, *active)]),
            Bound::RowLocks { share, active, longest_wait, statements }
            | Bound::Locks { share, active, longest_wait, statements, .. } => {
                let statements: Vec<String> = statements.iter().map(|statement| short(statement)).collect();
                let statements = (!statements.is_empty()).then(|| statements.join(" | "));
                self.joined([
                    sessions(*share, *active),
                    longest_wait.map(|seconds| say!(self, "bound-longest", time = numbers.seconds(seconds))),
                    statements.map(|statements| say!(self, "bound-statements", statements)),
                ])
            }
            Bound::Scans { scans_per_transaction, rows_per_scan, cpu_share, .. } => self.joined([
                Some(say!(self, "bound-scans-each", scans = numbers.three(*scans_per_transaction))),
                Some(say!(self, "bound-scan-rows", rows = numbers.three(rows_per_scan.round()))),
                cpu_share.map(|share| say!(self, "bound-scan-cpu", share = percent(share))),
            ]),
            Bound::Checkpoints { requested, share, throughput_ratio, full_page_share } => self.joined([
                (*requested > 0.0)
                    .then(|| say!(self, "bound-checkpoints-requested", count = rounded(*requested))),
                Some(say!(self, "bound-checkpoints-share", share = percent(*share))),
                throughput_ratio
                    .map(|ratio| say!(self, "bound-checkpoints-slowed", change = numbers.change(ratio))),
                full_page_share
                    .map(|share| say!(self, "bound-checkpoints-full-pages", share = percent(share))),
            ]),
            Bound::Clients { mean, throughput_bound, delivered, idle, .. } => self.joined([
                Some(say!(
                    self,
                    "bound-clients-rate",
                    rate = per_second(*delivered),
                    most = per_second(*throughput_bound)
                )),
                Some(say!(self, "bound-clients-mean", time = numbers.seconds(*mean))),
                Some(say!(self, "bound-clients-idle", share = percent(*idle))),
            ]),
        }
    }
}
