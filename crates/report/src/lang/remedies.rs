//! Sentences on what to do about a limiter, and on the perturbations that were tried

use super::Lang;
use crate::say;
use model::avoidable_work::AvoidableWork;
use model::finding::ConnectionLimit;
use model::lock::LockKind;
use model::search::{FittedValue, Limit, Perturbation};

impl Lang {
    /// Remedy for a limiter: one or two sentences.
    pub fn cause_remedy(&self, limit: &Limit) -> String {
        match limit {
            Limit::Cpu { node } => say!(self, "search-do-cpu", node),
            Limit::Reads { node } => say!(self, "search-do-reads", node),
            Limit::Writes { node } => say!(self, "search-do-writes", node),
            Limit::WalFlush => say!(self, "search-do-wal"),
            Limit::SyncReplicas => say!(self, "search-do-sync-replicas"),
            Limit::Memory { node } => say!(self, "search-do-memory", node),
            Limit::Pool { node } => say!(self, "search-do-pool", node),
            Limit::PoolSetting { node, setting } => say!(self, "search-do-pool-setting", node, setting),
            Limit::ServicePool { node } => say!(self, "search-do-service-pool", node),
            Limit::ServiceThreads { node } => say!(self, "search-do-service-threads", node),
            Limit::Service { node } => say!(self, "search-do-service", node),
            Limit::Slots { limit: ConnectionLimit::Role, .. } => {
                say!(self, "search-do-role-connections", command = "`ALTER ROLE … CONNECTION LIMIT`")
            }
            Limit::Slots { limit: ConnectionLimit::Database, .. } => {
                say!(self, "search-do-database-connections", command = "`ALTER DATABASE … CONNECTION LIMIT`")
            }
            Limit::Slots { .. } => say!(self, "search-do-slots"),
            Limit::RowLocks { .. } => say!(self, "search-do-row-locks"),
            Limit::Locks { lock, .. } => match lock {
                LockKind::Advisory => say!(self, "search-do-locks-advisory"),
                LockKind::Relation | LockKind::Object => say!(self, "search-do-locks-relation"),
                LockKind::Extend => say!(self, "search-do-locks-extend"),
                LockKind::BufferPin => say!(self, "search-do-locks-buffer-pin"),
                LockKind::Heavyweight { .. } => say!(self, "search-do-locks-heavyweight"),
                LockKind::Lightweight { name } => self.lightweight_lock_remedy(name),
            },
            Limit::Work { work } => self.work_remedy(work),
            Limit::IdleTransactions => say!(self, "search-do-idle-transactions"),
            Limit::ResultReading => say!(self, "search-do-result-reading"),
            Limit::DelayedAcknowledgements => say!(self, "search-do-delayed-acknowledgements"),
            Limit::Scan { ddl, .. } => say!(self, "search-do-scan", ddl = ddl.as_ref()),
            Limit::Checkpoints => say!(self, "search-do-checkpoints"),
            Limit::Conflicts { code } => say!(self, "search-do-conflicts", is_deadlock = code == "40P01"),
            Limit::Clients => say!(self, "search-do-clients"),
            Limit::ClientCap => say!(self, "search-remedy-client-cap"),
            Limit::Feed { .. } => say!(self, "search-do-feed"),
            Limit::Host => say!(self, "search-do-host"),
            Limit::Generator => say!(self, "search-remedy-generator"),
            Limit::Together { limits } => {
                let remedies: Vec<String> = limits.iter().map(|it| self.cause_remedy(it)).collect();
                remedies.join(" ")
            }
        }
    }

    /// Effect of the perturbation that proved the limiter: one sentence.
    pub fn proven_gain(&self, perturbation: &Perturbation, ratio: FittedValue) -> String {
        let perturbation = self.perturbation(perturbation);
        say!(self, "search-gain", perturbation, ratio = self.fitted(&ratio))
    }

    /// Other limits that perturbations proved: one sentence.
    pub fn other_limits(&self, limits: &[&Limit]) -> String {
        let limits: Vec<String> = limits.iter().map(|it| self.limit(it)).collect();
        say!(self, "search-other-limits", limits = limits.join(self.numbers().among()))
    }

    /// Suspects that perturbations excluded: one sentence.
    pub fn excluded_suspects(&self, limits: &[&Limit]) -> String {
        let limits: Vec<String> = limits.iter().map(|it| self.limit(it)).collect();
        say!(self, "search-excluded", limits = limits.join(self.numbers().among()))
    }

    /// Remedy for waits for a lightweight lock. Names differ between versions, even in case. Source: PostgreSQL's manual,
    /// "Wait Events of Type LWLock".
    fn lightweight_lock_remedy(&self, name: &str) -> String {
        match name.to_ascii_lowercase().as_str() {
            "lockmanager" | "lock_manager" => say!(self, "search-do-locks-lock-manager"),
            "walinsert" | "wal_insert" => say!(self, "search-do-locks-wal-insert"),
            "buffermapping" | "buffer_mapping" => say!(self, "search-do-locks-buffer-mapping"),
            "procarray" => say!(self, "search-do-locks-proc-array"),
            "subtransslru" | "subtransbuffer" | "subtrans" => say!(self, "search-do-locks-subtransactions"),
            "multixactoffsetslru"
            | "multixactmemberslru"
            | "multixactoffsetbuffer"
            | "multixactmemberbuffer" => {
                say!(self, "search-do-locks-multixacts")
            }
            "buffercontent" | "buffer_content" => say!(self, "search-do-locks-buffer-content"),
            _ => say!(self, "search-do-locks-lightweight"),
        }
    }

    fn work_remedy(&self, work: &AvoidableWork) -> String {
        match work {
            AvoidableWork::TemporaryFiles => say!(self, "search-do-temporary-files"),
            AvoidableWork::Jit => say!(self, "search-do-jit"),
            AvoidableWork::Planning => say!(self, "search-do-planning"),
            AvoidableWork::Logins => say!(self, "search-do-logins"),
            AvoidableWork::DeadRows { table } => say!(self, "search-do-dead-rows", table),
            AvoidableWork::EmptyPages { table } => say!(self, "search-do-empty-pages", table),
            AvoidableWork::Subtransactions => say!(self, "search-do-subtransactions"),
            AvoidableWork::OldStatistics { table } => say!(self, "search-do-old-statistics", table),
            AvoidableWork::OldSnapshot => say!(self, "search-do-old-snapshot"),
            AvoidableWork::Autovacuum => say!(self, "search-do-autovacuum"),
            AvoidableWork::LargeValues { .. } => say!(self, "search-do-large-values"),
            AvoidableWork::DiscardedRows { table } => say!(self, "search-do-discarded-rows", table),
            AvoidableWork::UnusedIndexes { .. } => say!(self, "search-do-unused-indexes"),
            AvoidableWork::Function { .. } => say!(self, "search-do-function"),
            AvoidableWork::UnindexedForeignKey { table, columns } => {
                say!(self, "search-do-foreign-key", table, columns)
            }
            AvoidableWork::SkippedRows { .. } => say!(self, "search-do-skipped-rows"),
            AvoidableWork::GenericPlans { .. } => say!(self, "search-do-generic-plans"),
            AvoidableWork::LargeResult => say!(self, "search-do-large-result"),
            AvoidableWork::RepeatedStatement => say!(self, "search-do-repeated-statement"),
            AvoidableWork::Condition { obstacle, .. } => {
                say!(self, "search-do-condition", remedy = self.obstacle_remedy(obstacle))
            }
        }
    }
}
