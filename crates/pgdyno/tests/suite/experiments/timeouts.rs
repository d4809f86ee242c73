//! Statements that time out are cancelled on the server, so sessions do not accumulate

use super::postgres_servers::start_server;
use super::workspace::Workspace;
use std::time::Duration;

const CLIENTS: usize = 4;

/// Statements take twenty seconds, and clients time out after a tenth of a second.
const SLOW: &str = "
stack: { POOLER postgres: { attach: \"ADDRESS\" } }
operations: { slow: { sql: SELECT pg_sleep(20) } }
load: { model: closed, clients: 4, threads: 1, duration: 3s, timeout: 100ms }
";

#[test]
fn timed_out_statements_leave_no_sessions() {
    let (_supervisor, postgres) = start_server();
    let address = format!("host=127.0.0.1 port={} user=postgres dbname=postgres", postgres.port);
    let mut connection =
        postgres.target().open(Duration::from_secs(10)).unwrap_or_else(|error| panic!("{error:?}"));
    let mut sleeping = || -> usize {
        let count = "select count(*) from pg_stat_activity where query like 'SELECT pg_sleep(20)%'";
        connection.value(count).expect("the server answers").and_then(|it| it.parse().ok()).expect("a number")
    };
    let pooler = "pooler: { kind: pgbouncer, mode: transaction, size: 20 },";
    for (name, pooler) in [("straight", ""), ("pooled", pooler)] {
        {
            let yaml = SLOW.replace("POOLER", pooler).replace("ADDRESS", &address);
            let workspace = Workspace::new(name, &yaml);
            let mut command = workspace.command(&[]);
            let mut running =
                workspace.spawn_command(command.env("PGPASSWORD", postgres.password().reveal()));
            let mut most = 0;
            while !running.has_exited() {
                most = most.max(sleeping());
            }
            running.wait();
            assert!((1..=CLIENTS).contains(&most), "{name}: {most} sessions of {CLIENTS} clients");
        }
    }
}
