//! Finding on active sessions that collapse while the load is constant

use super::{CellTrials, Finding, TrialFacts};
use crate::facts::event_count::is_server;
use crate::facts::samples::{self, sum_of_increases, sums};
use crate::facts::trial::LoadSecond;
use crate::stats::quantile::median;
use model::finding::{ActiveCount, Circumstance};
use model::plan::LoadModel;
use model::{LogEvent, Nanos};
use std::collections::BTreeMap;
use std::ops::Range;

/// Number of seconds before the collapse with which it is compared.
const BEFORE: usize = 5;
/// Shortest collapse, in seconds. Samples of a shorter time may show a checkpoint or a pause of the service.
const SECONDS_MIN: usize = 3;
/// Smallest number of active sessions before the collapse; fewer sessions vary by chance.
const ACTIVE_MIN: f64 = 4.0;
/// Share of the active sessions below which the number has collapsed.
const SHARE_MAX: f64 = 0.5;
/// Largest change of a constant rate. Arrivals may also differ by four standard deviations of a Poisson process.
const RATE_CHANGE_MAX: f64 = 0.1;
const DEVIATIONS_MAX: f64 = 4.0;
/// Growth of the in-flight transactions, as a ratio and as a number.
const GROWTH_MIN: (f64, f64) = (1.2, 2.0);
/// Share of the clients from which in-flight transactions cannot grow further.
const CAP_SHARE: f64 = 0.95;
const QUERY_CANCELED: &str = "57014";

/// Collapse of one gauge.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Collapse {
    /// First second with few active sessions, and the number of these seconds.
    from: usize,
    seconds: usize,
    before: f64,
    during: f64,
    rate: f64,
    in_flight_before: f64,
    in_flight_after: u64,
}

/// Finding on the longest collapse in a cell's trials. The clients of the nearest pooler have precedence over
/// PostgreSQL's sessions. Injected faults interrupt sessions, so the finding requires a setup without faults.
pub fn active_collapse(cell: &CellTrials<'_>) -> Option<Finding> {
    if !cell.setup.faults.is_empty() {
        return None;
    }
    let pooler = cell.pooler().map(|it| (it.name.as_str(), ActiveCount::Clients));
    let server = cell.server().map(|it| (it.name.as_str(), ActiveCount::Sessions));
    let mut gauges = [pooler, server].into_iter().flatten();
    gauges.find_map(|(node, counted)| of_gauge(cell, node, counted))
}

fn of_gauge(cell: &CellTrials<'_>, node: &str, counted: ActiveCount) -> Option<Finding> {
    let cap = match cell.setup.load.model {
        LoadModel::Open { max_in_flight, .. } | LoadModel::Log { max_in_flight, .. } => max_in_flight,
        LoadModel::Closed { .. } | LoadModel::Users { .. } | LoadModel::Replay { .. } => u32::MAX,
    };
    let found = cell.trials.iter().filter_map(|trial| {
        let active = active_by_second(trial, node, counted);
        Some((*trial, find_collapse(&active, trial.load, cap)?))
    });
    let found: Vec<(&TrialFacts<'_>, Collapse)> = found.collect();
    let trials = found.len() as u32;
    let (trial, collapse) = found.into_iter().max_by_key(|it| it.1.seconds)?;
    let seconds = collapse.from..collapse.from + collapse.seconds;
    let before = collapse.from - BEFORE..collapse.from;
    let server = &cell.server()?.name;
    let logins = |seconds: &Range<usize>| {
        let all = sums(trial.samples, server, samples::PG_SESSIONS_BEGUN, |_| true);
        let [from, to] = [seconds.start, seconds.end].map(|it| Nanos::from_secs(it as u64));
        rate(&all.into_iter().filter(|it| from <= it.0 && it.0 <= to).collect::<Vec<_>>())
    };
    let sessions = by_second(&sums(trial.samples, server, samples::PG_SESSIONS, |_| true));
    let number = |seconds: &Range<usize>| median(seconds.clone().filter_map(|it| *sessions.get(it)?));
    let closed =
        number(&before).zip(number(&seconds)).map_or(0.0, |(before, during)| (before - during).max(0.0));
    let circumstance = Circumstance::ActiveCollapse {
        node: node.to_owned(),
        counted,
        before: collapse.before,
        during: collapse.during,
        from_second: collapse.from as u64,
        seconds: collapse.seconds as u64,
        rate: collapse.rate,
        in_flight_before: collapse.in_flight_before,
        in_flight_after: collapse.in_flight_after,
        cancelled: cancelled(trial, &seconds),
        logins: logins(&before).zip(logins(&seconds)),
        closed,
        repetition: trial.repetition,
        trials,
        total_trials: cell.trials.len() as u32,
    };
    Some(Finding::Circumstance { cell: cell.number, circumstance })
}

/// Number of active clients or sessions in each second; `None` for a second without a sample.
fn active_by_second(trial: &TrialFacts<'_>, node: &str, counted: ActiveCount) -> Vec<Option<f64>> {
    if counted == ActiveCount::Clients {
        return by_second(&sums(trial.samples, node, samples::POOL_CLIENTS_ACTIVE, |_| true));
    }
    // A state without sessions has no sample.
    let mut moments: BTreeMap<Nanos, f64> = BTreeMap::new();
    for series in [samples::PG_SESSIONS, samples::PG_USED] {
        moments.extend(sums(trial.samples, node, series, |_| true).into_iter().map(|it| (it.0, 0.0)));
    }
    moments.extend(sums(trial.samples, node, samples::PG_SESSIONS, |it| it == "active"));
    by_second(&moments.into_iter().collect::<Vec<_>>())
}

/// Mean of the samples of each second.
fn by_second(samples: &[(Nanos, f64)]) -> Vec<Option<f64>> {
    let mut sums: Vec<(f64, u32)> = Vec::new();
    for (at, value) in samples {
        let second = (at.0.saturating_sub(1) / 1_000_000_000) as usize;
        if sums.len() <= second {
            sums.resize(second + 1, (0.0, 0));
        }
        sums[second].0 += value;
        sums[second].1 += 1;
    }
    sums.into_iter().map(|(sum, count)| (count > 0).then(|| sum / f64::from(count))).collect()
}

/// Increase of a counter per second; `None` with fewer than two samples.
fn rate(samples: &[(Nanos, f64)]) -> Option<f64> {
    let elapsed = (samples.last()?.0 - samples.first()?.0).as_secs_f64();
    (elapsed > 0.0).then(|| sum_of_increases(samples) / elapsed)
}

/// Number of cancelled statements that a log shows from the second before the collapse to its end. Poolers repeat the
/// server's messages, so the log with the most lines counts.
fn cancelled(trial: &TrialFacts<'_>, seconds: &Range<usize>) -> u64 {
    let [from, to] = [seconds.start.saturating_sub(1), seconds.end].map(|it| Nanos::from_secs(it as u64));
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    let events = trial.events.iter().filter(|it| it.code.as_deref() == Some(QUERY_CANCELED));
    for event in events.filter(|it| from < it.at && it.at <= to) {
        let node = if is_server(trial, &event.node) { "" } else { &event.node };
        *counts.entry(node).or_default() += LogEvent::line_count(event);
    }
    counts.into_values().max().unwrap_or(0)
}

/// The longest collapse; `None` if there is none. `cap` is the number of clients.
fn find_collapse(active: &[Option<f64>], load: &[LoadSecond], cap: u32) -> Option<Collapse> {
    let seconds = active.len().min(load.len());
    let starts = BEFORE..seconds;
    let all = starts.filter_map(|from| collapse_at(&active[..seconds], &load[..seconds], cap, from));
    all.max_by(|a, b| (a.seconds, b.from).cmp(&(b.seconds, a.from)))
}

fn collapse_at(active: &[Option<f64>], load: &[LoadSecond], cap: u32, from: usize) -> Option<Collapse> {
    let before: Option<Vec<f64>> = active[from - BEFORE..from].iter().copied().collect();
    let each = before?;
    let before = median(each.iter().copied()).filter(|it| *it >= ACTIVE_MIN)?;
    if each.iter().any(|it| *it < SHARE_MAX * before) {
        return None;
    }
    let few = active[from..].iter().map_while(|value| value.filter(|it| *it < SHARE_MAX * before));
    let few: Vec<f64> = few.collect();
    let to = from + few.len();
    let rate = median(load[from - BEFORE..from].iter().map(|it| it.offered)).filter(|it| *it > 0.0)?;
    let mean = |range: Range<usize>| {
        let count = range.len() as f64;
        load[range].iter().map(|it| it.offered).sum::<f64>() / count
    };
    let tolerance = (RATE_CHANGE_MAX * rate).max(DEVIATIONS_MAX * rate.sqrt());
    let is_constant = load[from - BEFORE..to].iter().all(|it| (it.offered - rate).abs() <= tolerance);
    if few.len() < SECONDS_MIN || !is_constant {
        return None;
    }
    let (first, second) = (mean(from - BEFORE..from), mean(from..to));
    let in_flight_before = median(load[from - BEFORE..from].iter().map(|it| it.in_flight as f64))?;
    let in_flight_after = load[to - 1].in_flight;
    let grows = in_flight_after as f64 >= GROWTH_MIN.0 * in_flight_before + GROWTH_MIN.1
        || in_flight_after as f64 >= CAP_SHARE * f64::from(cap);
    let deviation = (first * (1.0 / BEFORE as f64 + 1.0 / few.len() as f64)).sqrt();
    let found = grows && (second - first).abs() <= (RATE_CHANGE_MAX * first).max(DEVIATIONS_MAX * deviation);
    let during = few.iter().sum::<f64>() / few.len() as f64;
    found.then_some(Collapse {
        from,
        seconds: few.len(),
        before,
        during,
        rate,
        in_flight_before,
        in_flight_after,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::trial::{TestRun, experiment};
    use model::plan::{Fault, FaultAction, FaultTarget, FaultTrigger, Setup};

    /// Searches a collapse in rows of active sessions, offered rate and in-flight transactions, one per second.
    fn check(rows: &[(f64, f64, u64)], expected: Option<(usize, usize)>) {
        // A negative number of sessions means that there is no sample.
        let active: Vec<Option<f64>> = rows.iter().map(|row| Some(row.0).filter(|it| *it >= 0.0)).collect();
        let load: Vec<LoadSecond> =
            rows.iter().map(|&(_, offered, in_flight)| LoadSecond { offered, in_flight }).collect();
        let found = find_collapse(&active, &load, 200).map(|it| (it.from, it.seconds));
        assert_eq!(found, expected, "{rows:?}");
    }

    /// Finding on a trial whose pooler's clients or PostgreSQL's sessions collapse in second 7 of twelve.
    fn find(word: &str, change: impl Fn(&mut Setup)) -> Option<Circumstance> {
        let mut experiment = experiment(&[word], None);
        change(&mut experiment.cells[0].setup);
        let mut run = TestRun::new(0, 0);
        for second in 1..=12 {
            let active = if second <= 7 { 20.0 } else { 5.0 };
            run = run
                .sample(second, "pooler", samples::POOL_CLIENTS_ACTIVE, "app/app", active)
                .sample(second, "postgres", samples::PG_SESSIONS, "active", active)
                .sample(second, "postgres", samples::PG_SESSIONS, "idle", 10.0)
                .sample(
                    second,
                    "postgres",
                    samples::PG_SESSIONS_BEGUN,
                    "app",
                    if second > 8 { 50.0 } else { 0.0 },
                );
        }
        let load: Vec<(f64, u64)> = (1..=12).map(|it| (100.0, if it <= 7 { 20 } else { 20 * it })).collect();
        let run = run.load(&load).cancelled_at(8).cancelled_at(3);
        let facts = run.facts(&experiment);
        let cell = CellTrials { number: 0, setup: &experiment.cells[0].setup, trials: vec![&facts] };
        match active_collapse(&cell)? {
            Finding::Circumstance { circumstance, .. } => Some(circumstance),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn reports_evidence_of_the_same_seconds() {
        let shown = |found: Option<Circumstance>| match found.expect("there is a collapse") {
            Circumstance::ActiveCollapse {
                node,
                from_second,
                seconds,
                in_flight_after,
                cancelled,
                logins,
                closed,
                ..
            } => format!("{node} {from_second} {seconds} {in_flight_after} {cancelled} {logins:?} {closed}"),
            other => panic!("{other:?}"),
        };
        let expected = "7 5 240 1 Some((0.0, 10.0)) 15";
        assert_eq!(shown(find("pooled", |_| {})), format!("pooler {expected}"));
        assert_eq!(shown(find("direct", |_| {})), format!("postgres {expected}"));
        let fault = |setup: &mut Setup| {
            let action = FaultAction::Restart { target: FaultTarget::Primary };
            setup.faults.push(Fault { trigger: FaultTrigger::At(Nanos::from_secs(7)), action });
        };
        assert_eq!(find("pooled", fault), None, "an injected fault is no finding");
    }

    type Row = (f64, f64, u64);

    fn steady(seconds: usize) -> Vec<Row> {
        vec![(20.0, 200.0, 30); seconds]
    }

    #[test]
    fn finds_collapse_at_constant_load() {
        let collapse: Vec<Row> = (1..=4).map(|it| (6.0, 200.0, 30 + 20 * it)).collect();
        check(&[steady(8), collapse.clone(), steady(4)].concat(), Some((8, 4)));
        // It lasts until the end, or arrivals vary as in a Poisson process.
        check(&[steady(8), collapse.clone()].concat(), Some((8, 4)));
        let random = |row: &Row, offered| (row.0, offered, row.2);
        let rates = [187.0, 214.0, 171.0, 203.0, 226.0, 195.0, 210.0, 182.0, 205.0];
        let rows: Vec<Row> = [steady(5), collapse.clone()]
            .concat()
            .iter()
            .zip(rates)
            .map(|(row, rate)| random(row, rate))
            .collect();
        check(&rows, Some((5, 4)));
        // The longest counts; all clients are busy already.
        check(&[steady(6), collapse[..3].to_vec(), steady(6), collapse.clone()].concat(), Some((15, 4)));
        check(&[vec![(20.0, 200.0, 199); 6], vec![(6.0, 200.0, 200); 3]].concat(), Some((6, 3)));
    }

    #[test]
    fn is_silent_without_collapse() {
        let row = |active, offered, in_flight| vec![(active, offered, in_flight); 4];
        for (name, rows) in [
            ("steady", steady(20)),
            ("half, not less", [steady(8), row(10.0, 200.0, 90)].concat()),
            ("too short", [steady(8), row(6.0, 200.0, 90)[..2].to_vec(), steady(8)].concat()),
            ("the load ends", [steady(8), row(6.0, 20.0, 90)].concat()),
            ("the load falls", [steady(8), row(6.0, 130.0, 90)].concat()),
            ("in-flight transactions do not grow", [steady(8), row(6.0, 200.0, 30)].concat()),
            ("in-flight transactions fall", [steady(8), row(6.0, 200.0, 10)].concat()),
            ("few sessions", [vec![(3.0, 200.0, 30); 8], row(0.0, 200.0, 90)].concat()),
            ("too early", [steady(4), row(6.0, 200.0, 90)].concat()),
            ("no load", [vec![(20.0, 0.0, 30); 8], row(6.0, 0.0, 90)].concat()),
            ("nothing", vec![]),
            (
                "a ramp",
                (0..20).map(|it| (20.0, 50.0 * f64::from(it), 30)).chain(row(6.0, 1000.0, 90)).collect(),
            ),
            (
                "samples are missing before it",
                [steady(6), vec![(-1.0, 200.0, 30)], steady(2), row(6.0, 200.0, 90)].concat(),
            ),
            (
                "samples are missing in it",
                [steady(8), row(6.0, 200.0, 90)[..2].to_vec(), vec![(-1.0, 200.0, 90); 4]].concat(),
            ),
        ] {
            println!("{name}");
            check(&rows, None);
        }
    }
}
