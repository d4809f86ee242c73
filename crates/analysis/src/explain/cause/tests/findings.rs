//! Findings for the tests of causes

use super::*;

pub fn bound(bound: Bound) -> Finding {
    Finding::Bound { cell: 0, bound }
}

pub fn postgres(used: f64) -> Finding {
    let (node, throttled) = ("postgres".into(), Some(used - 0.1));
    Finding::ServerBound {
        cell: 0,
        node,
        cpu: used,
        cpu_limit: 1.0,
        throttled,
        throttled_cpu: None,
        queue: None,
    }
}

pub fn pooler(used: f64) -> Finding {
    Finding::PoolerBound {
        cell: 0,
        node: "pooler".into(),
        cpu: used,
        cpu_limit: 0.1,
        throttled: None,
        throttled_cpu: None,
        pool: 20,
        in_use: Some(20.0),
        active: 1.5,
    }
}

pub fn service(used: f64) -> Finding {
    let (node, throttled) = ("service".into(), Some(0.8));
    bound(Bound::Service { node, cpu: used, cpu_limit: 0.3, throttled, throttled_cpu: None })
}

pub fn pool() -> Finding {
    let node = "pooler".into();
    Finding::PoolBound {
        cell: 0,
        node,
        pool: 20,
        setting: None,
        in_use: 20.0,
        busy: 19.0,
        cpu: 0.05,
        cpu_limit: 0.1,
    }
}

pub fn queue() -> Finding {
    let (node, busy) = ("pooler".into(), Some(19.0));
    Finding::QueueInPooler {
        cell: 0,
        node,
        waiting: Some(180.0),
        longest_wait: Some(2.0),
        in_flight: 200.0,
        busy,
    }
}

pub fn host_cpu(cpu: f64) -> Finding {
    let (node, nodes) = ("db:9100".into(), vec!["postgres".into()]);
    bound(Bound::HostCpu { node, nodes, cpu, cpu_limit: 4.0 })
}

pub fn service_pool() -> Finding {
    let (node, pool) = ("service".into(), "pool".into());
    bound(Bound::ServicePool { node, pool, size: 10.0, busy: 10.0, waiting: Some(150.0), waited_share: None })
}

pub fn threads() -> Finding {
    bound(Bound::ServiceThreads {
        node: "service".into(),
        pool: "".into(),
        size: 5.0,
        busy: 5.0,
        waiting: Some(100.0),
    })
}

pub fn reads(per_second: f64, quota: Option<f64>) -> Finding {
    let (node, per_second) = ("postgres".into(), Some(per_second));
    bound(Bound::Reads { node, per_second, quota, wait_share: Some(0.8), in_bytes: false })
}

pub fn writes() -> Finding {
    let (node, per_second) = ("postgres".into(), Some(195.0));
    bound(Bound::Writes { node, per_second, quota: Some(200.0), wait_share: Some(0.7), in_bytes: false })
}

pub fn memory() -> Finding {
    bound(Bound::Memory {
        node: "postgres".into(),
        used_bytes: 4.19e8,
        limit_bytes: 419_430_400.0,
        read_bytes_per_transaction: 20_000.0,
    })
}

pub fn wal() -> Finding {
    bound(Bound::WalFlush { share: 0.7, active: 18.0 })
}

pub fn replicas() -> Finding {
    bound(Bound::SyncReplicas { share: 0.8, active: 18.0 })
}

pub fn locks() -> Finding {
    let statements = vec!["UPDATE a SET n = n + $1".into()];
    bound(Bound::RowLocks { share: 0.9, active: 18.0, longest_wait: Some(1.0), statements })
}

pub fn scans() -> Finding {
    let table = "book.bookv2".into();
    bound(Bound::Scans { table, scans_per_transaction: 0.9, rows_per_scan: 1e6, cpu_share: Some(0.97) })
}

pub fn clients() -> Finding {
    bound(Bound::Clients {
        clients: 20,
        mean: 0.0067,
        throughput_bound: 2985.0,
        delivered: 2980.0,
        idle: 0.5,
    })
}

pub fn cap() -> Finding {
    Finding::NotOpenLoop {
        cell: 0,
        arrivals: 9000,
        waited: 8000,
        dropped: 10,
        in_flight_cap: 200,
        trials: 1,
        total_trials: 1,
    }
}

pub fn slots() -> Finding {
    let (first_second, max_connections) = (Some(3), Some(50));
    Finding::SlotsExhausted {
        cell: 0,
        limit: ConnectionLimit::Server,
        refusals: 40,
        logged_refusals: 40,
        max_connections,
        first_second,
        trials: 1,
        total_trials: 1,
    }
}

pub fn feed() -> Finding {
    let circumstance = Circumstance::FeedFitsCache {
        feed: "requests".into(),
        rows: 2000,
        distinct: 2000,
        share: 0.0002,
        touched_bytes: 15 << 20,
        table_bytes: 1300 << 20,
        memory_bytes: 400 << 20,
        read: ReadVolume::default(),
    };
    Finding::Circumstance { cell: 0, circumstance }
}

pub fn host() -> Finding {
    let (generator_cpu, pooler_cpu) = (Some(0.5), None);
    Finding::HostBound {
        cell: 0,
        idle: 0.01,
        processors: 2.0,
        generator_cpu,
        pooler_cpu,
        server_cpu: None,
        other_cpu: None,
    }
}

pub fn checkpoints() -> Finding {
    bound(Bound::Checkpoints {
        requested: 2.0,
        share: 0.6,
        throughput_ratio: Some(0.7),
        full_page_share: None,
    })
}
