//! Did every acknowledged write outlive what was done?
//!
//! A ledger of the trial is kept while the load goes on; afterwards everything that has a token is read from the primary, and
//! both are compared.

use super::actor::Acted;
use crate::clock::{system_us, unix_time};
use crate::voice::{Trouble, plain};
use analysis::durability::judge;
use analysis::replication;
use load::driver::Clock;
use load::ledger::Drain;
use model::Nanos;
use model::durability::{
    Answer, Entry, Fault, History, Promised, Promotion, Reading, Rows, Standbys, Token, Verdict,
};
use model::ordeal::{After, Inflicted, ReadBack};
use model::plan::{Deed, Part, Whom};
use stack::chain;
use stack::readback::Snapshot;
use stack::roles::{Direct, Watched};
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use store::ledger::{self, Keeper, Ledger, Source};

/// A query that sorts millions of rows shows its first one late.
const READING: Duration = Duration::from_secs(120);
/// A primary must answer by then.
const PRIMARY: Duration = Duration::from_secs(30);

/// A ledger that is being kept.
#[derive(Debug)]
pub struct Kept {
    path: PathBuf,
    keeper: Keeper,
}

/// Seals the tokens of one trial: invented, so that no row of another one is taken for its own.
pub fn secret() -> u64 {
    RandomState::new().hash_one("token")
}

impl Kept {
    /// Begins the ledger of a trial, numbered from 1, beside the run's file. Its moments are those of `clock`.
    pub fn begin(run: &Path, trial: u32, drain: Drain, clock: Clock) -> Result<Kept, Trouble> {
        let path = ledger::beside(run, trial);
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let boot = u128::from_str_radix(&boot.trim().replace('-', ""), 16).unwrap_or(0);
        let invented = RandomState::new();
        let halves = [invented.hash_one(0), invented.hash_one(1)];
        let header = ledger::Header {
            run: u128::from(halves[0]) << 64 | u128::from(halves[1]),
            boot,
            begun_ms: unix_time().0 / 1_000_000,
        };
        let file = Ledger::create(&path, &header).map_err(|it| Trouble::new(it.to_string()))?;
        let clocks = move || (clock.now(), system_us());
        let keeper = ledger::keep(file, Drained(drain), clocks)
            .map_err(|it| Trouble::new(format!("could not keep {}: {}", path.display(), plain(&it))))?;
        Ok(Kept { path, keeper })
    }

    /// Why there is nothing to be believed any more.
    pub fn trouble(&self) -> Option<String> {
        self.keeper.trouble().map(super::super::trouble)
    }

    /// Everything is written; gives the ledger's file.
    pub fn finish(self) -> Result<PathBuf, Trouble> {
        let failed = |it| Trouble::new(format!("could not end {}: {}", self.path.display(), plain(&it)));
        self.keeper.finish().map_err(failed)?;
        Ok(self.path)
    }
}

/// What the threads told.
struct Drained(Drain);

impl Source for Drained {
    fn take(&mut self, to: &mut Vec<Entry>) {
        self.0.take(to);
    }

    fn written(&mut self) {
        self.0.written();
    }
}

/// Reads back what a ledger speaks of.
#[derive(Debug)]
pub struct Reader {
    ledger: PathBuf,
    /// Of one column each.
    queries: Vec<String>,
    secret: u64,
    /// Sequences that may have been used, by session.
    reserved: Vec<u64>,
    readings: Vec<Reading>,
}

impl Reader {
    pub fn new(ledger: PathBuf, queries: Vec<String>, secret: u64) -> Result<Reader, Trouble> {
        let mut reserved = Vec::new();
        for it in entries(&ledger)? {
            if let Entry::Reserved { session, until } = it {
                let session = session as usize;
                if reserved.len() <= session {
                    reserved.resize(session + 1, 0);
                }
                reserved[session] = until.max(reserved[session]);
            }
        }
        Ok(Reader { ledger, queries, secret, reserved, readings: Vec::new() })
    }

    /// Reads everything from whichever server takes writes.
    pub fn read(&mut self, servers: &[Direct], after: After, clock: Clock) -> Result<ReadBack, String> {
        let began = Instant::now();
        let (node, (asked, known), mut snapshot) = primary(servers, clock)?;
        let mut rows = Rows::new(&self.reserved);
        let mut count = 0;
        for it in &self.queries {
            let secret = self.secret;
            snapshot
                .rows(it, |text| {
                    if let Some(token) = Token::find(text) {
                        count += 1;
                        rows.add(token.key, token.is_authentic(secret));
                    }
                })
                .map_err(|it| it.to_string())?;
        }
        let (server, in_recovery) = (snapshot.server.clone(), snapshot.in_recovery);
        self.readings.push(Reading { began: asked, known, server, in_recovery, rows });
        Ok(ReadBack { after, node, rows: count, took: Nanos(began.elapsed().as_nanos() as u64) })
    }

    /// What all of it says. `begun` and `over`: when the window began and the load was over, by the ledger's clock.
    pub fn verdict(
        self,
        acted: &Acted,
        watched: &Watched,
        (begun, over): (Nanos, Nanos),
    ) -> Result<Verdict, Trouble> {
        let mut all = entries(&self.ledger)?;
        all.by_ref().for_each(drop);
        let history = History {
            end: all.end(),
            promised: promised(watched),
            samples: watched.samples(),
            faults: faults(acted, watched, begun),
            promotions: acted.promotions.iter().map(|(at, it)| promotion(begun + *at, it, watched)).collect(),
            over,
            readings: self.readings,
            control: None,
        };
        let path = &self.ledger;
        Ok(judge(&history, || entries(path).into_iter().flatten()))
    }
}

fn entries(path: &Path) -> Result<ledger::Entries<std::io::BufReader<fs::File>>, Trouble> {
    ledger::open(path).map_err(|it| Trouble::new(it.to_string()))
}

/// The server that takes writes; of several, which is wrong, the one with the newest history. With when its snapshot was asked
/// for, and when all had answered.
fn primary(servers: &[Direct], clock: Clock) -> Result<(String, (Nanos, Nanos), Snapshot), String> {
    let until = Instant::now() + PRIMARY;
    loop {
        let asked = clock.now();
        let snapshots: Vec<_> =
            servers.iter().map(|it| (it.name.clone(), Snapshot::begin(it, READING))).collect();
        let why = snapshots.iter().find_map(|it| it.1.as_ref().err().map(ToString::to_string));
        let alive = snapshots.into_iter().filter_map(|(name, it)| Some((name, it.ok()?)));
        let newest = alive.filter(|it| !it.1.in_recovery).max_by_key(|it| it.1.server.timeline);
        match newest {
            Some((name, it)) => return Ok((name, (asked, clock.now()), it)),
            None if Instant::now() > until => {
                return Err(why.unwrap_or_else(|| "no server takes writes".to_owned()));
            }
            None => std::thread::sleep(Duration::from_millis(100)),
        }
    }
}

/// What servers that take writes promised. Settings that we do not know promise nothing that is known.
fn promised(watched: &Watched) -> Vec<Promised> {
    let promised = |it: &stack::roles::Settings| {
        let standbys = replication::parse(&it.synchronous_standby_names).ok()?;
        let promise = replication::promise(&it.synchronous_commit, standbys.as_ref())?;
        Some(Promised { at: it.at, server: it.server.clone(), promise })
    };
    watched.settings.iter().filter_map(promised).collect()
}

/// What was done, by the ledger's clock.
fn faults(acted: &Acted, watched: &Watched, begun: Nanos) -> Vec<Fault> {
    let all = &acted.ordeal.inflicted;
    let fault = |(number, it): (usize, &Inflicted)| {
        let next = all.get(number + 1).map_or(Nanos::MAX, |it| it.at);
        let followed =
            acted.ordeal.promoted.iter().any(|promoted| it.at <= promoted.at && promoted.at < next);
        let at = begun + it.at;
        let must = match &it.deed {
            Deed::Kill { whom: Whom::Primary, part: Part::Node } | Deed::Switchover { .. } => true,
            Deed::Kill { whom: Whom::Node(name), part: Part::Node } => was_primary(name, at, watched),
            _ => false,
        };
        Fault { at, fails_over: must || followed }
    };
    // What is withheld shows at the next fault.
    let tells =
        |it: &&(usize, &Inflicted)| !it.1.nodes.is_empty() && !matches!(it.1.deed, Deed::Withhold { .. });
    let done = all.iter().enumerate().filter(|it| tells(&it));
    done.map(fault).collect()
}

/// Whether the node was, of those seen to take writes by then, the one with the newest history.
fn was_primary(node: &str, at: Nanos, watched: &Watched) -> bool {
    let took_writes = watched.spells.iter().filter(|it| !it.in_recovery && it.from <= at);
    took_writes.max_by_key(|it| (it.server.timeline, it.from)).is_some_and(|it| it.node == node)
}

/// What was decided, and from what: what the failed primary had asked for, and who confirmed to it, is as it was seen last.
fn promotion(at: Nanos, it: &chain::Promotion, watched: &Watched) -> Promotion {
    let settings = watched.settings.iter().rfind(|of| of.node == it.from && of.at <= at);
    let standbys: Option<Standbys> =
        settings.and_then(|it| replication::parse(&it.synchronous_standby_names).ok().flatten());
    let followed = watched.followed.iter().rfind(|of| of.node == it.from && of.from <= at);
    let synchronous = |name: &str| {
        let its = followed.and_then(|it| it.followers.iter().find(|it| it.name == name));
        its.is_some_and(|it| matches!(it.sync_state.as_str(), "sync" | "quorum"))
    };
    let answer = |of: &chain::Seen| Answer {
        name: of.name.clone(),
        received: of.state.map(|it| it.flushed.max(it.replayed).0),
        synchronous: synchronous(&of.name),
    };
    let answers = it.seen.iter().filter(|of| of.name != it.from).map(answer).collect();
    Promotion { at, promoted: it.to.clone(), standbys, answers }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::durability::Server;
    use model::ordeal::{Ordeal, Promoted};
    use stack::roles::Spell;

    #[test]
    fn faults_that_another_server_follows() {
        let s = Nanos::from_secs;
        let inflicted = |at, deed, nodes: &[&str]| Inflicted {
            at: s(at),
            healed: None,
            deed,
            nodes: nodes.iter().map(|it| (*it).to_owned()).collect(),
        };
        let pause = || Deed::Pause { whom: Whom::Primary, lasting: s(5) };
        let kill = |whom| Deed::Kill { whom, part: Part::Node };
        let named = |name: &str| kill(Whom::Node(name.to_owned()));
        let promoted = |at| Promoted {
            from: "a".to_owned(),
            to: "b".to_owned(),
            at: s(at),
            healthy: None,
            timeline: 2,
            safe: None,
        };
        let all = vec![
            inflicted(1, Deed::Withhold { lasting: s(1) }, &["a"]),
            inflicted(2, kill(Whom::Primary), &["a"]),
            inflicted(10, pause(), &["b"]),
            inflicted(20, pause(), &["b"]),
            inflicted(30, kill(Whom::Replica), &["c"]),
            inflicted(40, kill(Whom::Primary), &[]), // could not be done
            inflicted(50, named("b"), &["b"]),
            inflicted(60, named("a"), &["a"]), // the primary of old
            inflicted(70, Deed::Kill { whom: Whom::Node("b".to_owned()), part: Part::Postmaster }, &["b"]),
        ];
        let spell = |node: &str, timeline, in_recovery, from: u64, to: u64| Spell {
            node: node.to_owned(),
            server: Server { system: 1, address: node.to_owned(), started_us: 0, timeline },
            in_recovery,
            from: s(100 + from),
            to: s(100 + to),
        };
        let spells = vec![
            spell("a", 1, false, 0, 11),
            spell("b", 1, true, 0, 12),
            spell("b", 2, false, 12, 49),
            spell("a", 2, true, 15, 80),
            spell("c", 3, false, 51, 80), // after it was killed
        ];
        let watched = Watched { spells, ..Watched::default() };
        let ordeal = Ordeal { inflicted: all, promoted: vec![promoted(12)], ..Ordeal::default() };
        let acted = Acted { ordeal, promotions: Vec::new(), gone: Vec::new() };
        let told: Vec<(u64, bool)> =
            faults(&acted, &watched, s(100)).iter().map(|it| (it.at.0 / s(1).0, it.fails_over)).collect();
        let expected =
            [(102, true), (110, true), (120, false), (130, false), (150, true), (160, false), (170, false)];
        assert_eq!(told, expected);
    }
}
