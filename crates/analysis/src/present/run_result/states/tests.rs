use super::*;
use crate::fixture::trial::{TestRun, experiment};

fn of_cells(cells: &[&str], runs: &[TestRun]) -> Vec<CellStates> {
    let experiment = experiment(cells, None);
    let facts: Vec<TrialFacts<'_>> = runs.iter().map(|it| it.facts(&experiment)).collect();
    states(&facts)
}

fn text(gauge: Option<Gauge>) -> String {
    gauge.map_or("-".to_owned(), |it| format!("{}/{}", it.mean, it.max))
}

#[test]
fn means_count_groups_without_sessions_as_zero() {
    let total = series::PG_SESSION_GROUPS;
    let group = "active/10.0.0.3/app/shop a/b";
    let run = |repetition, values: &[f64]| {
        let run = TestRun::new(1, repetition).gauge("postgres", total, "", 9.0);
        let idle = run.gauge("postgres", total, "idle/[local]/app/", 5.0);
        (1..)
            .zip(values)
            .fold(idle, |run, (second, value)| run.sample(second, "postgres", total, group, *value))
    };
    // Ten samples in each trial; the sample before the window does not count.
    let runs =
        [run(0, &[4.0, 6.0]), run(1, &[]).sample(0, "postgres", total, group, 99.0), TestRun::new(0, 0)];
    let found = of_cells(&["direct", "pooled"], &runs);
    assert_eq!(found.iter().map(|it| it.cell).collect::<Vec<_>>(), [1]);
    let shown: Vec<String> = found[0]
        .sessions
        .iter()
        .map(|group| {
            let SessionGroup { node, state, client, user, application, sessions } = group;
            format!("{node} {state} {client} {user} <{application}> {}", text(Some(*sessions)))
        })
        .collect();
    assert_eq!(shown, ["postgres idle [local] app <> 5/5", "postgres active 10.0.0.3 app <shop a/b> 0.5/6"]);
}

#[test]
fn pools_combine_console_tables() {
    let gauge = |run: TestRun, series, label, value| run.gauge("pooler", series, label, value);
    let run = gauge(TestRun::new(0, 0), series::POOL_CLIENTS_ACTIVE, "app/app", 195.0);
    let run = gauge(run, series::POOL_CLIENTS_WAITING, "app/app", 176.0);
    let run = gauge(run, series::POOL_SERVERS_ACTIVE, "app/app", 20.0);
    let run = gauge(run, series::POOL_LONGEST_WAIT, "app/app", 2.5);
    let run = run.sample(5, "pooler", series::POOL_LONGEST_WAIT, "app/app", 20.0);
    let run = gauge(run, series::POOL_SIZE, "app", 20.0);
    let run = gauge(run, series::POOL_CONNECTIONS, "app", 20.0);
    let run = run.sample(4, "pooler", series::POOL_PAUSED, "app", 1.0);
    let run = run.sample(5, "pooler", series::POOL_PAUSED, "app", 0.0);
    let found = of_cells(&["pooled"], &[run]);
    let pool = &found[0].pools[0];
    assert_eq!((pool.node.as_str(), pool.pool.as_str()), ("pooler", "app/app"));
    let gauges = [pool.clients_active, pool.clients_waiting, pool.servers_active, pool.servers_idle];
    assert_eq!(gauges.map(text), ["195/195", "176/176", "20/20", "-"]);
    assert_eq!(text(pool.connections), "20/20");
    let figures = [pool.longest_wait, pool.size, pool.reserve, pool.paused];
    assert_eq!(figures, [Some(20.0), Some(20.0), None, Some(0.5)]);
}

#[test]
fn servers_of_balancers_have_counts_over_all_trials() {
    let run = |repetition| {
        let run = TestRun::new(0, repetition);
        let run = run.gauge("balancer", series::BALANCER_SESSIONS, "behind/one", 7.0);
        let run = run.gauge("balancer", series::BALANCER_SESSIONS, "balancer/FRONTEND", 8.0);
        let run = run.counter("balancer", series::BALANCER_CONNECTION_ERRORS, "behind/one", 2.0);
        run.sample(1, "balancer", series::BALANCER_UP, "behind/one", 1.0).sample(
            2,
            "balancer",
            series::BALANCER_UP,
            "behind/one",
            0.0,
        )
    };
    let found = of_cells(&["haproxy"], &[run(0), run(1)]);
    let shown: Vec<String> = found[0]
        .servers
        .iter()
        .map(|found| {
            let ServerStates { server, sessions, up, connection_errors, retries, .. } = found;
            format!("{server} {} {up:?} {connection_errors:?} {retries:?}", text(*sessions))
        })
        .collect();
    // 9 increases of 2 in each trial.
    assert_eq!(shown, ["balancer/FRONTEND 8/8 None None None", "behind/one 7/7 Some(0.5) Some(36.0) None"]);
}
