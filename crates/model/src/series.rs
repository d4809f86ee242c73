//! Names of the sampled series that several crates use.
//!
//! Series of poolers and balancers are normalised: a name has one meaning for all products.
//! [`crate::product::Product::series`] lists the series that a product reports.

/// Pool size, by configured database. A sample exists as soon as the console responds.
pub const POOL_SIZE: &str = "pool_size";
/// Clients of a pooler that do not wait for a server connection, by pool. All pooler series are by pool.
pub const POOL_CLIENTS_ACTIVE: &str = "pool_clients_active";
/// Clients that have sent a request and wait for a server connection, by pool.
pub const POOL_CLIENTS_WAITING: &str = "pool_clients_waiting";
/// Waiting time of the client that has waited longest, in seconds, by pool.
pub const POOL_LONGEST_WAIT: &str = "pool_longest_wait";
/// Server connections that are assigned to a client, by pool.
pub const POOL_SERVERS_ACTIVE: &str = "pool_servers_active";
/// Server connections that are not assigned to a client, by pool.
pub const POOL_SERVERS_IDLE: &str = "pool_servers_idle";
/// Completed transactions, by pool (counter).
pub const POOL_TRANSACTIONS: &str = "pool_transactions";
/// Time spent in transactions, in seconds, by pool (counter).
pub const POOL_TRANSACTION_TIME: &str = "pool_transaction_time";
/// Time that clients waited for a server connection, in seconds, by pool (counter).
pub const POOL_WAIT_TIME: &str = "pool_wait_time";
/// Assignments of a server connection to a client, by pool (counter).
pub const POOL_ASSIGNMENTS: &str = "pool_assignments";

/// Additional server connections for clients that wait long, open server connections, and 1 while the database is
/// paused, by configured database.
pub const POOL_RESERVE: &str = "pool_reserve";
pub const POOL_CONNECTIONS: &str = "pool_connections";
pub const POOL_PAUSED: &str = "pool_paused";

/// Open sessions of a balancer, by proxy and server. Labels of client sessions end in `/FRONTEND`.
/// [`BALANCER_SESSIONS_BEGUN`] is the number of sessions that began.
pub const BALANCER_SESSIONS: &str = "balancer_sessions";
pub const BALANCER_SESSIONS_BEGUN: &str = "balancer_sessions_begun";
/// Connections that wait in a balancer for a server, by proxy and server. Connections that are not yet assigned to a
/// server have the label `BACKEND`.
pub const BALANCER_QUEUE: &str = "balancer_queue";
/// Mean time that recent connections spent in the queue, in seconds, by proxy and server.
pub const BALANCER_QUEUE_TIME: &str = "balancer_queue_time";

/// 1 while a server of a balancer accepts sessions, otherwise 0, by proxy and server. The counters are failed
/// connections to the server, invalid responses of the server, and repeated connections to it.
pub const BALANCER_UP: &str = "balancer_up";
pub const BALANCER_CONNECTION_ERRORS: &str = "balancer_connection_errors";
pub const BALANCER_RESPONSE_ERRORS: &str = "balancer_response_errors";
pub const BALANCER_RETRIES: &str = "balancer_retries";

/// Maximum number of connections of a service's pool, by pool.
pub const SERVICE_POOL_SIZE: &str = "service_pool_size";
pub const SERVICE_POOL_BUSY: &str = "service_pool_busy";
pub const SERVICE_POOL_WAITING: &str = "service_pool_waiting";
pub const SERVICE_POOL_WAITED: &str = "service_pool_waited_total";
/// Threads or processes of a service that serve requests, by pool.
pub const SERVICE_THREADS_SIZE: &str = "service_threads_size";
pub const SERVICE_THREADS_BUSY: &str = "service_threads_busy";
pub const SERVICE_THREADS_WAITING: &str = "service_threads_waiting";
/// CPU time of a service's process, as its page reports it.
pub const SERVICE_PROCESS_CPU: &str = "service_process_cpu";
/// Gauges and counters that the experiment file names. The label is the metric's name with its labels.
pub const SERVICE_METRIC: &str = "service_metric";
pub const SERVICE_COUNTER: &str = "service_counter";

/// Client sessions by state, as the server reports them: `active`, `idle`, `idle in transaction`, …
pub const PG_SESSIONS: &str = "pg_sessions";
/// Client sessions by state, client address, user and application, joined by `/`. The value without a label is the
/// number of all sessions, and [`OTHER_SESSIONS`] is the label of all small groups together.
pub const PG_SESSION_GROUPS: &str = "pg_session_groups";
pub const OTHER_SESSIONS: &str = "…/…/…/…";
pub const PG_USED: &str = "pg_connections_used";
/// Connection slots that are free for ordinary users; at most zero if the next login is refused.
pub const PG_FREE: &str = "pg_connections_free";
/// Active sessions by wait event, such as `Lock/transactionid`; `running` means no wait.
pub const PG_WAITS: &str = "pg_active_waits";
/// Sessions that wait for a lock. The label is the queryid of the waiting statement, followed by the statement's text.
pub const PG_LOCK_WAITERS: &str = "pg_lock_waiters";
/// Lock requests that are not granted, by kind and mode. The value without a label is their sum.
pub const PG_LOCKS_WAITING: &str = "pg_locks_waiting";
/// Age of the oldest open transaction, in seconds.
pub const PG_LONGEST_TRANSACTION: &str = "pg_longest_transaction";
pub const PG_LONGEST_LOCK_WAIT: &str = "pg_longest_lock_wait";
/// Rows returned or changed by statements, by queryid. The value without a queryid is for all statements together.
pub const PG_STATEMENT_ROWS: &str = "pg_statement_rows";
pub const PG_STATEMENT_TEXT: &str = "pg_statement_text";
/// Probe that reports [`PG_STATEMENT_TEXT`].
pub const PG_STATEMENT_TEXTS_PROBE: &str = "pg_statement_texts";
pub const PG_STATEMENT_CALLS: &str = "pg_statement_calls";
pub const PG_STATEMENT_TIME: &str = "pg_statement_time";
pub const PG_STATEMENT_HIT: &str = "pg_statement_hit";
pub const PG_STATEMENT_READ: &str = "pg_statement_read";
/// Time of planning and of just-in-time compilation, number of plans, and blocks of temporary files written, by queryid.
pub const PG_STATEMENT_PLANNING: &str = "pg_statement_planning";
pub const PG_STATEMENT_PLANS: &str = "pg_statement_plans";
pub const PG_STATEMENT_JIT: &str = "pg_statement_jit";
pub const PG_STATEMENT_TEMPORARY: &str = "pg_statement_temporary";
pub const PG_SETS: &str = "pg_sets";
/// Blocks that were not found in shared buffers, by database. The series up to [`PG_DATABASE_SIZE`] are by database
/// too.
pub const PG_BLOCKS_READ: &str = "pg_blocks_read";
/// Blocks that were found in shared buffers, by database.
pub const PG_BLOCKS_HIT: &str = "pg_blocks_hit";
pub const PG_COMMITS: &str = "pg_commits";
pub const PG_ROLLBACKS: &str = "pg_rollbacks";
/// Transactions of the monitoring session, which [`PG_COMMITS`] and [`PG_ROLLBACKS`] include.
pub const PG_MONITOR_TRANSACTIONS: &str = "pg_monitor_transactions";
pub const PG_DEADLOCKS: &str = "pg_deadlocks";
pub const PG_SESSIONS_BEGUN: &str = "pg_sessions_begun";
/// Sessions that ended because the server or an operator terminated them, or because the client's connection broke.
pub const PG_SESSIONS_FATAL: &str = "pg_sessions_fatal";
pub const PG_SESSIONS_KILLED: &str = "pg_sessions_killed";
pub const PG_SESSIONS_ABANDONED: &str = "pg_sessions_abandoned";
/// Temporary files written, and their size, by database.
pub const PG_TEMP_FILES: &str = "pg_temp_files";
pub const PG_TEMP_BYTES: &str = "pg_temp_bytes";
pub const PG_DATABASE_SIZE: &str = "pg_database_size";
/// Sequential scans, by table.
pub const PG_SCANS: &str = "pg_table_scans";
pub const PG_SCANNED_ROWS: &str = "pg_table_scanned_rows";
/// Size of a table that is scanned, and bytes that its rows need, by table.
pub const PG_SCANNED_BYTES: &str = "pg_table_scanned_bytes";
pub const PG_ROW_BYTES: &str = "pg_table_row_bytes";
/// Transaction ids assigned to transactions and subtransactions.
pub const PG_TRANSACTION_IDS: &str = "pg_transaction_ids";
/// Rows deleted from the referenced table, by foreign key without an index.
pub const PG_FOREIGN_KEY_DELETES: &str = "pg_foreign_key_deletes";
/// Updated rows, as a sum over all tables. [`PG_ROWS_HOT_UPDATED`] counts the HOT updates among them.
pub const PG_ROWS_UPDATED: &str = "pg_rows_updated";
pub const PG_ROWS_HOT_UPDATED: &str = "pg_rows_hot_updated";
/// Dead row versions, as a sum over all tables.
pub const PG_DEAD_ROWS: &str = "pg_dead_rows";
pub const PG_LIVE_ROWS: &str = "pg_live_rows";
/// Live rows, dead row versions, rows changed since the last ANALYZE, and size, by table.
pub const PG_TABLE_LIVE_ROWS: &str = "pg_table_live_rows";
pub const PG_TABLE_DEAD_ROWS: &str = "pg_table_dead_rows";
pub const PG_TABLE_CHANGED_ROWS: &str = "pg_table_changed_rows";
pub const PG_TABLE_BYTES: &str = "pg_table_bytes";
/// Live rows fetched by index scans, TOAST blocks read, rows written with new index entries, indexes that no statement has
/// used, and size relative to the last VACUUM or ANALYZE, by table.
pub const PG_TABLE_INDEX_ROWS: &str = "pg_table_index_rows";
pub const PG_TABLE_TOAST_BLOCKS: &str = "pg_table_toast_blocks";
pub const PG_TABLE_INDEXED_WRITES: &str = "pg_table_indexed_writes";
pub const PG_TABLE_UNUSED_INDEXES: &str = "pg_table_unused_indexes";
pub const PG_TABLE_GROWTH: &str = "pg_table_growth";
/// Autovacuum workers, by wait event.
pub const PG_AUTOVACUUM_WORKERS: &str = "pg_autovacuum_workers";
/// Calls of functions, and the time in them without the functions that they call, by function.
pub const PG_FUNCTION_CALLS: &str = "pg_function_calls";
pub const PG_FUNCTION_TIME: &str = "pg_function_time";
/// Age of the oldest open transaction that has a snapshot, in seconds.
pub const PG_OLDEST_SNAPSHOT: &str = "pg_oldest_snapshot";
/// Full-page images in the WAL, and bytes of WAL.
pub const PG_WAL_FULL_PAGES: &str = "pg_wal_fpi";
pub const PG_WAL_BYTES: &str = "pg_wal_bytes";
pub const PG_VACUUMS: &str = "pg_vacuums";
pub const PG_CHECKPOINTS: &str = "pg_checkpoints";
/// Sessions that have been idle in transaction for longer than a second. [`PG_IDLE_HORIZON`] counts the idle sessions
/// that hold back vacuum. [`PG_IDLE_BLOCKED`] counts the sessions that wait for a lock of an idle session.
/// [`PG_IDLE_LONGEST`] is the longest idle time.
pub const PG_IDLE_TRANSACTIONS: &str = "pg_idle_transactions";
pub const PG_IDLE_HORIZON: &str = "pg_idle_transactions_horizon";
pub const PG_IDLE_BLOCKED: &str = "pg_idle_transactions_blocked";
pub const PG_IDLE_LONGEST: &str = "pg_idle_transaction_longest";
/// Buffers written, by the kind of process that wrote them.
pub const PG_BUFFERS_WRITTEN: &str = "pg_buffers_written";
/// Time from the primary's commit of recent WAL until a replica had replayed it, in seconds, by replica. Missing while
/// there is nothing to replay.
pub const PG_REPLICATION_REPLAY_LAG: &str = "pg_replication_replay_lag";
/// Amount of WAL that a replica has not replayed, in bytes, by replica.
pub const PG_REPLICATION_UNREPLAYED: &str = "pg_replication_unreplayed";
/// Time from the acknowledgement of a write until a replica shows the write, in seconds.
pub const REPLICA_VISIBLE_AFTER: &str = "replica_visible_after";

/// Successful transactions of an agent in the last second, per second. The node is the agent.
pub const AGENT_RATE: &str = "agent_rate";
/// Median and 99th percentile of the response times of an agent in the last second, in seconds. Missing if there are too
/// few transactions.
pub const AGENT_P50: &str = "agent_p50";
pub const AGENT_P99: &str = "agent_p99";
/// 99th percentile of an agent's send lag in the last second, in seconds. Missing if there are too few transactions.
pub const AGENT_SEND_LAG: &str = "agent_send_lag";
/// CPUs that an agent used in the last second, including busy-waiting.
pub const AGENT_CPU: &str = "agent_cpu";

pub const CGROUP_CPU: &str = "cgroup_cpu";
pub const CGROUP_READS: &str = "cgroup_reads";
pub const CGROUP_WRITES: &str = "cgroup_writes";
pub const CGROUP_READ_BYTES: &str = "cgroup_read_bytes";
pub const CGROUP_WRITTEN_BYTES: &str = "cgroup_written_bytes";
pub const CGROUP_MEMORY: &str = "cgroup_memory";
pub const CGROUP_THROTTLED_TIME: &str = "cgroup_throttled_time";
pub const CGROUP_PERIODS: &str = "cgroup_periods";
pub const CGROUP_THROTTLED: &str = "cgroup_throttled";
pub const PROCESS_CPU_LIMIT: &str = "process_cpu_limit";
pub const PROCESS_CPU: [&str; 2] = ["process_cpu_user", "process_cpu_system"];
/// Resident memory of a node's processes, without shared memory and mapped files.
pub const PROCESS_PRIVATE_MEMORY: &str = "process_private_memory";
pub const PROCESS_FILES: &str = "process_files";
pub const PROCESS_READ_BYTES: &str = "process_read_bytes";
pub const PROCESS_WRITTEN_BYTES: &str = "process_written_bytes";
/// Runnable and uninterruptible tasks of a machine, as the kernel's 1-minute mean. [`HOST_RUNNABLE`] and [`HOST_BLOCKED`]
/// are the current numbers of tasks that need a CPU, and of tasks that wait for a disk.
pub const HOST_LOAD: &str = "host_load_1m";
pub const HOST_RUNNABLE: &str = "host_runnable";
pub const HOST_BLOCKED: &str = "host_blocked";
/// Memory of a machine, by kind.
pub const HOST_MEMORY: &str = "host_memory";
/// Bytes received by a machine, by interface.
pub const NETWORK_RECEIVED_BYTES: &str = "network_received_bytes";
pub const NETWORK_SENT_BYTES: &str = "network_sent_bytes";
/// CPU time of a whole machine, by kind. The node is `host` for this machine, otherwise the host of the metrics.
pub const HOST_CPU: &str = "host_cpu";
/// Reads and writes of a machine's disks, by device.
pub const DISK_READS: &str = "disk_reads";
pub const DISK_WRITES: &str = "disk_writes";
/// Bytes read from disk, by device.
pub const DISK_READ_BYTES: &str = "disk_read_bytes";
pub const DISK_WRITTEN_BYTES: &str = "disk_written_bytes";
