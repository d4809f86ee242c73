//! Setup for one step of a search
//!
//! The step has the cell's setup, but at the step's level and with the step's perturbation.

use model::plan::{
    Feed, FeedSource, Goal, Limits, LoadModel, LoadScale, MaxSearch, Node, NodeKind, Setup,
    UserStage as Users,
};
use model::search::{Knob, Perturbation, SearchStep, StepPurpose};
use model::{Nanos, Spacing};

/// Setup for the trial of `step`.
pub fn apply_step(setup: &Setup, find: &Goal, step: &SearchStep) -> Setup {
    let mut setup = setup.clone();
    let ramp = match (find, step.purpose) {
        (Goal::Confirm(it), StepPurpose::Confirm) => it.ramp,
        _ => Nanos::ZERO,
    };
    let load = &mut setup.load;
    match (step.scale, &mut load.model) {
        (LoadScale::Rate, LoadModel::Open { schedule, .. }) => {
            *schedule = ramp_schedule(step.level, ramp, step.window);
            load.duration = None;
        }
        (LoadScale::Rate, other) => {
            let schedule = ramp_schedule(step.level, ramp, step.window);
            let max_in_flight = other.clients();
            *other = LoadModel::Open { schedule, arrivals: Spacing::Poisson, max_in_flight };
            load.duration = None;
        }
        (LoadScale::Clients, load_model) => {
            *load_model = closed_load(load_model, clients(step.level), ramp, step.window);
            load.duration = Some(ramp + step.window);
        }
    }
    if let Some(perturbation) = &step.perturbation {
        perturb(&mut setup, perturbation);
    }
    let load = &mut setup.load;
    // Each thread has at least one client.
    load.threads = u32::from(load.threads).min(load.model.clients()).max(1) as u16;
    setup
}

/// Number of clients at a level.
pub fn clients(level: f64) -> u32 {
    level.round().max(1.0) as u32
}

/// Settings of a search for a maximum that is known to be about `level`. The search starts slightly below `level` and
/// omits the long hold.
pub fn near_level(max: &MaxSearch, level: f64) -> MaxSearch {
    MaxSearch { from: Some(level * START_SHARE), hold: max.window, prove: false, ..max.clone() }
}

/// First level of such a search, as a share of the known maximum.
const START_SHARE: f64 = 0.85;

/// Schedule that rises linearly to `level` during `ramp` and stays there for `window`.
fn ramp_schedule(level: f64, ramp: Nanos, window: Nanos) -> String {
    let seconds = |it: Nanos| it.0 / 1_000_000_000;
    let level = decimal(level);
    let hold = format!("const({level}, {}s)", seconds(window));
    if ramp == Nanos::ZERO { hold } else { format!("line(0, {level}, {}s) {hold}", seconds(ramp)) }
}

/// Decimal text of `value` without an exponent, rounded to a thousandth.
fn decimal(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn closed_load(load: &LoadModel, users: u32, ramp: Nanos, window: Nanos) -> LoadModel {
    let stages = || {
        let held = Users { users, spawn_rate: None, duration: window };
        let come = Users { users, spawn_rate: Some(f64::from(users) / ramp.as_secs_f64()), duration: ramp };
        if ramp == Nanos::ZERO { vec![held] } else { vec![come, held] }
    };
    match load {
        LoadModel::Closed { think, .. } if ramp == Nanos::ZERO => {
            LoadModel::Closed { clients: users, think: *think }
        }
        LoadModel::Closed { think, .. } => LoadModel::Users {
            stages: stages(),
            think: model::plan::ThinkTime::Constant(*think),
            pacing: None,
            rate_max: None,
        },
        LoadModel::Users { think, pacing, rate_max, .. } => {
            LoadModel::Users { stages: stages(), think: *think, pacing: *pacing, rate_max: *rate_max }
        }
        LoadModel::Open { .. } | LoadModel::Log { .. } | LoadModel::Replay { .. } => {
            LoadModel::Closed { clients: users, think: Nanos::ZERO }
        }
    }
}

/// Name of the service to which a part such as `service.web` belongs.
fn service_name(part: &str) -> &str {
    part.split('.').next().unwrap_or(part)
}

/// Applies a perturbation to the setup.
fn perturb(setup: &mut Setup, perturbation: &Perturbation) {
    perturbation.together_with.iter().for_each(|it| perturb(setup, it));
    let to = perturbation.amount.map_or(0.0, |it| it.1);
    let rounded = to.round() as u64;
    let stack = &mut setup.stack;
    let mut limits = |name: &str, change: &dyn Fn(&mut Limits)| {
        stack.limits_mut(name).into_iter().for_each(change);
    };
    let node = |nodes: &mut Vec<Node>, name: &str, change: &dyn Fn(&mut Node)| {
        nodes.iter_mut().filter(|it| it.name == name).for_each(change);
    };
    match &perturbation.knob {
        Knob::Cpu { node: name } => limits(name, &|it| it.cpu = Some(to)),
        Knob::ReadIops { node: name } => limits(name, &|it| it.read_iops = Some(rounded)),
        Knob::WriteIops { node: name } => limits(name, &|it| it.write_iops = Some(rounded)),
        Knob::Memory { node: name } => limits(name, &|it| it.memory = Some(rounded)),
        Knob::PoolSize { node: name } => node(&mut stack.nodes, name, &|node| match &mut node.kind {
            NodeKind::Pooler(it) => it.size = rounded as u32,
            NodeKind::Balancer(it) => it.maxconn = Some(rounded as u32),
            _ => {}
        }),
        Knob::PoolSetting { node: name, setting } => node(&mut stack.nodes, name, &|node| {
            if let NodeKind::Pooler(pooler) = &mut node.kind {
                pooler.size = pooler.size.max(rounded as u32);
                set(&mut pooler.settings, setting, &rounded.to_string());
            }
        }),
        Knob::ServiceEnv { node: name, variable } => node(&mut stack.nodes, service_name(name), &|node| {
            if let NodeKind::Service(service) = &mut node.kind {
                set(&mut service.env, variable, &rounded.to_string());
            }
        }),
        Knob::Slots { node: name } => node(&mut stack.nodes, name, &|node| {
            if let NodeKind::Postgres(postgres) = &mut node.kind {
                postgres.max_connections = rounded as u32;
            }
        }),
        Knob::Setting { name, value } => {
            for node in &mut stack.nodes {
                if let NodeKind::Postgres(postgres) = &mut node.kind {
                    set(&mut postgres.settings, name, value);
                }
            }
        }
        Knob::Clients => {
            if let LoadModel::Open { max_in_flight, .. } = &mut setup.load.model {
                *max_in_flight = rounded as u32;
            }
        }
        Knob::Index { ddl } => {
            if let Some(dataset) = &mut setup.dataset {
                dataset.post_load.push(ddl.clone());
            }
        }
        Knob::Maintenance { statement } => {
            if let Some(dataset) = &mut setup.dataset {
                dataset.post_load.push(statement.clone());
            }
        }
        Knob::KeepConnections => setup.load.reconnect = false,
        Knob::FeedRows { feed } => {
            for one_feed in setup.feeds.iter_mut().filter(|it| it.name == *feed) {
                if let Some(sql) = all_rows(one_feed) {
                    one_feed.source = FeedSource::Query(sql);
                }
            }
        }
    }
}

/// Number of rows that the query requests. If each row is in a different 8 kB block, the rows touch 1.6 GB.
const FEED_ROWS: u32 = 200_000;

/// Query for random rows of the whole table, which replaces the feed's rows. `None` if the feed does not name its
/// table, or if its rows have further columns, for which the query has no values.
pub fn all_rows(feed: &Feed) -> Option<String> {
    let [name] = feed.columns.as_deref()? else { return None };
    let mut parts = feed.lookup_column.as_deref()?.rsplitn(3, '.');
    let (column, table, schema) = (parts.next()?, parts.next()?, parts.next().unwrap_or("public"));
    let quoted = |it: &str| format!("\"{}\"", it.replace('"', "\"\""));
    let [column, name, schema, table] = [column, name, schema, table].map(quoted);
    let (selection, place) = (format!("{column} AS {name}"), format!("{schema}.{table}"));
    Some(format!("SELECT {selection} FROM {place}") + &format!(" ORDER BY random() LIMIT {FEED_ROWS}"))
}

fn set(all: &mut Vec<(String, String)>, name: &str, value: &str) {
    match all.iter_mut().find(|it| it.0 == name) {
        Some(it) => value.clone_into(&mut it.1),
        None => all.push((name.to_owned(), value.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::trial;
    use model::plan::{Confirm, FeedOrder, Replication, Service, SyncMode, TargetLevel};

    fn step(scale: LoadScale, level: f64, stage: StepPurpose, seconds: u64) -> SearchStep {
        SearchStep {
            scale,
            level,
            purpose: stage,
            window: Nanos::from_secs(seconds),
            perturbation: None,
            round: 0,
        }
    }

    fn setup() -> Setup {
        trial::setup("pooled")
    }

    #[test]
    fn applies_levels() {
        let check = |find: &Goal, step: &SearchStep, expected: &str| {
            let load = apply_step(&setup(), find, step).load;
            let actual = match &load.model {
                LoadModel::Open { schedule, .. } => schedule.clone(),
                LoadModel::Closed { clients, .. } => format!("{clients} clients"),
                LoadModel::Users { stages, .. } => {
                    let each = |it: &Users| format!("{}/{:?}", it.users, it.spawn_rate);
                    stages.iter().map(each).collect::<Vec<_>>().join(" ")
                }
                LoadModel::Log { .. } | LoadModel::Replay { .. } => {
                    unreachable!("a search has no recorded load")
                }
            };
            assert_eq!(actual, expected);
            assert_eq!(load.duration.is_some(), step.scale == LoadScale::Clients);
        };
        let once = Goal::Once;
        check(&once, &step(LoadScale::Rate, 646.5, StepPurpose::Ramp, 20), "const(646.5, 20s)");
        check(&once, &step(LoadScale::Rate, 1.0 / 3.0, StepPurpose::Ramp, 20), "const(0.333, 20s)");
        check(&once, &step(LoadScale::Clients, 7.6, StepPurpose::Ramp, 20), "8 clients");
        check(&once, &step(LoadScale::Clients, 0.2, StepPurpose::Ramp, 20), "1 clients");
        let level = TargetLevel::Absolute { level: 50.0, maximum: None };
        let (ramp, hold) = (Nanos::from_secs(10), Nanos::from_secs(60));
        let confirm = Goal::Confirm(Confirm { level, ramp, hold });
        check(
            &confirm,
            &step(LoadScale::Rate, 50.0, StepPurpose::Confirm, 60),
            "line(0, 50, 10s) const(50, 60s)",
        );
        check(&confirm, &step(LoadScale::Rate, 50.0, StepPurpose::Ramp, 20), "const(50, 20s)");
        check(&confirm, &step(LoadScale::Clients, 50.0, StepPurpose::Confirm, 60), "50/Some(5.0) 50/None");
    }

    /// A feed of twenty keys becomes a feed of all keys of the table. A feed with two columns is unchanged.
    #[test]
    fn perturbs_a_feed_to_the_whole_table() {
        let perturbed_query = |columns: Option<&[&str]>, lookup_column: Option<&str>| {
            let mut setup = setup();
            let columns = columns.map(|names| names.iter().map(|it| (*it).to_owned()).collect());
            let (source, order) = (FeedSource::Query("SELECT 1".to_owned()), FeedOrder::Shuffled);
            let lookup_column = lookup_column.map(str::to_owned);
            for name in ["keys", "other"] {
                let (name, source) = (name.to_owned(), source.clone());
                setup.feeds.push(Feed {
                    name,
                    source,
                    columns: columns.clone(),
                    order,
                    lookup_column: lookup_column.clone(),
                });
            }
            let perturbation = Some(Perturbation::new(Knob::FeedRows { feed: "keys".to_owned() }, None));
            let step = SearchStep { perturbation, ..step(LoadScale::Rate, 5.0, StepPurpose::Ramp, 5) };
            let [keys, other] = [0, 1].map(|at| at_feed(&at_setup(&setup, &step), at));
            assert_eq!(other, "SELECT 1");
            keys
        };
        let all = "SELECT \"id\" AS \"key\" FROM \"planted\".\"wide\" ORDER BY random() LIMIT 200000";
        assert_eq!(perturbed_query(Some(&["key"]), Some("planted.wide.id")), all);
        assert_eq!(perturbed_query(Some(&["key"]), Some("wide.id")), all.replace("planted", "public"));
        assert_eq!(perturbed_query(Some(&["key", "name"]), Some("planted.wide.id")), "SELECT 1");
        assert_eq!(perturbed_query(None, Some("planted.wide.id")), "SELECT 1");
        assert_eq!(perturbed_query(Some(&["key"]), None), "SELECT 1");
    }

    fn at_setup(setup: &Setup, step: &SearchStep) -> Setup {
        apply_step(setup, &Goal::Once, step)
    }

    fn at_feed(setup: &Setup, at: usize) -> String {
        match &setup.feeds[at].source {
            FeedSource::Query(sql) => sql.clone(),
            other => panic!("the feed must be a query: {other:?}"),
        }
    }

    #[test]
    fn perturbs_one_setting() {
        let perturbed = |knob: Knob, to: f64| {
            let perturbation = Some(Perturbation::new(knob, Some((1.0, to))));
            let mut setup = setup();
            setup.stack.nodes[0].kind = NodeKind::Service(Service {
                env: vec![("POOL".to_owned(), "3".to_owned())],
                ..Service::default()
            });
            setup.stack.nodes[0].name = "service".to_owned();
            setup.stack.replication = Some(Replication::with_defaults(2, SyncMode::Async));
            apply_step(
                &setup,
                &Goal::Once,
                &SearchStep { perturbation, ..step(LoadScale::Rate, 5.0, StepPurpose::Ramp, 5) },
            )
        };
        let text = |name: &str| name.to_owned();
        let limits = |knob, to| perturbed(knob, to).stack.nodes[0].limits.clone();
        assert_eq!(limits(Knob::Cpu { node: text("service") }, 0.5).cpu, Some(0.5));
        assert_eq!(limits(Knob::ReadIops { node: text("service") }, 800.0).read_iops, Some(800));
        assert_eq!(limits(Knob::WriteIops { node: text("service") }, 80.0).write_iops, Some(80));
        assert_eq!(limits(Knob::Memory { node: text("service") }, 4e8).memory, Some(400_000_000));
        let cpu = Perturbation::new(Knob::Cpu { node: text("service") }, Some((1.0, 0.5)));
        let other = Perturbation::new(Knob::ReadIops { node: text("service") }, Some((1.0, 800.0)));
        let mut both = setup();
        both.stack.nodes[0].name = text("service");
        perturb(&mut both, &Perturbation { together_with: vec![other], ..cpu });
        let limits_of_both = &both.stack.nodes[0].limits;
        assert_eq!((limits_of_both.cpu, limits_of_both.read_iops), (Some(0.5), Some(800)));
        let replicas = || perturbed(Knob::Cpu { node: text("postgres-3") }, 0.5).stack;
        assert_eq!(replicas().replication.map(|it| it.limits.cpu), Some(Some(0.5)));
        assert_eq!(replicas().nodes[0].limits.cpu, setup().stack.nodes[0].limits.cpu);
        let knob = Knob::ServiceEnv { node: text("service"), variable: text("POOL") };
        let NodeKind::Service(service) = perturbed(knob, 6.0).stack.nodes.remove(0).kind else {
            panic!("the node must be a service")
        };
        assert_eq!(service.env, [(text("POOL"), text("6"))]);
        let LoadModel::Open { max_in_flight, .. } = perturbed(Knob::Clients, 400.0).load.model else {
            panic!("a rate requires the open model")
        };
        assert_eq!(max_in_flight, 400);
    }
}
