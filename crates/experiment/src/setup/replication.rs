//! Which replicas and which faults are asked for?

use super::Maker;
use super::stack::is_attached;
use crate::file;
use crate::mistake::{any_of, quote};
use crate::unit::{Duration, Word};
use model::Nanos;
use model::plan::{
    Choice, Deed, Entrance, Event, Fault, Kind, Manager, Node, Part, Patroni, Promoter, Replication, Stack,
    Sync, When, Whom,
};

/// Patroni refuses a shorter one.
const LEAST_TTL: Nanos = Nanos::from_secs(20);

impl Maker<'_> {
    pub(super) fn replicas(&mut self, it: file::Replicas, nodes: &[Node]) -> Replication {
        let here = "stack.replicas";
        match nodes.last() {
            Some(Node { kind: Kind::Postgres(_), entrance, .. }) if *entrance != Entrance::Tcp => {
                let found = "servers reach each other by TCP here, and `postgres` takes something else";
                self.tell("stack.postgres.entrance", found, "write `tcp`, or leave it out");
            }
            Some(it) if is_attached(&it.kind) => {
                let found = "replicas of a PostgreSQL that pgdyno does not start";
                self.tell(here, found, "leave them out: what is attached stays as it is");
            }
            _ => {}
        }
        let sync = it.sync.map_or(Sync::Async, |it| self.sync(&it.0));
        if sync.count() > it.count {
            let found = format!("a commit that waits for {} of {} replicas", sync.count(), it.count);
            self.tell(&format!("{here}.sync"), found, format!("write at most {}", it.count));
        }
        let is_patroni = it.manager == Some(file::Manager::Patroni);
        let of_ours = [
            ("promote", it.promote.is_some()),
            ("patience", it.patience.is_some()),
            ("fence", it.fence.is_some()),
        ];
        for (key, _) in of_ours.iter().filter(|it| it.1 && is_patroni) {
            let found = format!("Patroni decides itself, and has no `{key}`");
            self.tell(&format!("{here}.{key}"), found, "leave it out, or write `manager: ours`");
        }
        if it.patroni.is_some() && !is_patroni {
            let found = "settings of Patroni for replicas that it does not manage";
            self.tell(&format!("{here}.patroni"), found, "add `manager: patroni`, or leave them out");
        }
        let manager = match is_patroni {
            true => Manager::Patroni(self.patroni(&it.patroni.unwrap_or_default())),
            false => {
                let usual = Promoter::default();
                Manager::Ours(Promoter {
                    patience: it.patience.map_or(usual.patience, |it| it.0),
                    choice: match it.promote {
                        None | Some(file::Promote::Advanced) => Choice::Advanced,
                        Some(file::Promote::Laggard) => Choice::Laggard,
                    },
                    fence: it.fence.unwrap_or(usual.fence),
                })
            }
        };
        Replication {
            replicas: it.count,
            sync,
            manager,
            limits: self.limits(&format!("{here}.limits"), it.limits),
            shutdown_sessions: it.shutdown_sessions.unwrap_or(true),
            apart: false,
            disks: false,
            freshness: it.freshness.unwrap_or(true),
        }
    }

    fn sync(&mut self, text: &str) -> Sync {
        let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let count = |it: &str| it.parse::<u32>().ok().filter(|it| *it > 0);
        let found = match words.as_slice() {
            ["async"] => Some(Sync::Async),
            ["first", it] => count(it).map(Sync::First),
            ["any", it] => count(it).map(Sync::Any),
            _ => None,
        };
        found.unwrap_or_else(|| {
            let ways = ["`async`", "`first 1`", "`any 1`"];
            self.tell(
                "stack.replicas.sync",
                format!("{} is nothing a commit can wait for", quote(text)),
                format!("write {}", any_of(&ways)),
            );
            Sync::Async
        })
    }

    fn patroni(&mut self, it: &file::Patroni) -> Patroni {
        let (here, usual) = ("stack.replicas.patroni", Patroni::default());
        let time = |it: Option<Duration>, usual: Nanos| it.map_or(usual, |it| it.0);
        let made = Patroni {
            etcd: it.etcd.unwrap_or(usual.etcd),
            ttl: time(it.ttl, usual.ttl),
            loop_wait: time(it.loop_wait, usual.loop_wait),
            retry_timeout: time(it.retry_timeout, usual.retry_timeout),
            primary_start_timeout: time(it.primary_start_timeout, usual.primary_start_timeout),
            maximum_lag: it.maximum_lag.map_or(usual.maximum_lag, |it| it.0),
            strict: it.strict.unwrap_or(usual.strict),
        };
        if ![1, 3].contains(&made.etcd) {
            let found = format!("{} servers of etcd", made.etcd);
            self.tell(&format!("{here}.etcd"), found, "write 1 or 3");
        }
        if made.ttl < LEAST_TTL {
            self.tell(&format!("{here}.ttl"), "a time to live that Patroni refuses", "write at least 20s");
        } else if made.loop_wait.0 + 2 * made.retry_timeout.0 > made.ttl.0 {
            let found = "`loop_wait` and twice `retry_timeout` are longer than `ttl`";
            self.tell(here, found, "write `ttl: 20s`, `loop_wait: 5s`, `retry_timeout: 5s`, or longer ones");
        }
        made
    }

    /// The faults; servers that are to be cut off get a network of their own, and those whose disk is to be full a disk.
    pub(super) fn faults(&mut self, faults: Vec<file::Fault>, stack: &mut Stack) -> Vec<Fault> {
        let mut made = Vec::new();
        for (i, it) in faults.into_iter().enumerate() {
            if let Some(it) = self.fault(&format!("faults[{i}]"), &it, stack) {
                made.push(it);
            }
        }
        if let Some(it) = &mut stack.replication {
            it.apart = made.iter().any(|it| matches!(it.deed, Deed::CutOff { .. }));
            it.disks = made.iter().any(|it| matches!(it.deed, Deed::FillDisk { .. }));
        }
        made
    }

    fn fault(&mut self, path: &str, it: &file::Fault, stack: &Stack) -> Option<Fault> {
        let deeds = [
            ("kill", &it.kill),
            ("pause", &it.pause),
            ("restart", &it.restart),
            ("switchover", &it.switchover),
            ("cut_off", &it.cut_off),
            ("fill_disk", &it.fill_disk),
            ("withhold", &it.withhold),
        ];
        let there: Vec<(&str, &Word)> = deeds.iter().filter_map(|it| Some((it.0, it.1.as_ref()?))).collect();
        let &[(deed, whom)] = there.as_slice() else {
            let found = match there.is_empty() {
                true => "a fault that does nothing".to_owned(),
                false => format!("a fault that does {} things", there.len()),
            };
            self.tell(path, found, "write one of them, as in `{ at: 20s, kill: primary }`");
            return None;
        };
        let lasts = ["pause", "cut_off", "fill_disk", "withhold"].contains(&deed);
        match it.lasting {
            None if lasts => {
                self.tell(
                    path,
                    format!("a `{deed}` without an end"),
                    "add how long it lasts, as in `for: 5s`",
                );
            }
            Some(_) if !lasts => {
                self.tell(path, format!("`{deed}` takes no time"), "leave out `for`");
            }
            _ => {}
        }
        let lasting = it.lasting.map_or(Nanos::ZERO, |it| it.0);
        if it.part.is_some() && deed != "kill" {
            self.tell(path, format!("`part` beside `{deed}`"), "leave it out: only `kill` knows parts");
        }
        let when = match (it.at, it.after) {
            (at, Some(event)) => {
                let event = match event {
                    file::Event::Promoted => Event::Promoted,
                    file::Event::Rejoined => Event::Rejoined,
                };
                When::After(event, at.map_or(Nanos::ZERO, |it| it.0))
            }
            (Some(at), None) => When::At(at.0),
            (None, None) => {
                self.tell(path, "a fault without a time", "add `at: 20s` or `after: promoted`");
                return None;
            }
        };
        let of_replication = ["switchover", "cut_off", "fill_disk", "withhold"].contains(&deed);
        if of_replication && stack.replication.is_none() {
            let found = format!("`{deed}` where there are no replicas");
            self.tell(path, found, "add `replicas: { count: 2 }` to the stack");
            return None;
        }
        let whom = match (deed, whom.0.as_str()) {
            ("switchover", "any") => None,
            ("withhold", "primary") => Some(Whom::Primary),
            ("withhold", other) => {
                let found = format!("the log of {}", quote(other));
                self.tell(path, found, "write `withhold: primary`");
                return None;
            }
            ("fill_disk", other) if !is_server(other) => {
                let found = format!("the disk of {}", quote(other));
                self.tell(
                    path,
                    found,
                    "write `primary`, `replica`, or a server of PostgreSQL such as `postgres-2`",
                );
                return None;
            }
            (_, it) => Some(self.whom(path, it, stack)?),
        };
        let someone = || whom.clone().expect("only a switchover goes to anyone");
        let deed = match deed {
            "kill" => {
                let part = match it.part {
                    None | Some(file::Part::Node) => Part::Node,
                    Some(file::Part::Postmaster) => Part::Postmaster,
                    Some(file::Part::Patroni) => Part::Patroni,
                };
                Deed::Kill { whom: someone(), part }
            }
            "pause" => Deed::Pause { whom: someone(), lasting },
            "restart" => Deed::Restart { whom: someone() },
            "switchover" => Deed::Switchover { to: whom },
            "cut_off" => Deed::CutOff { whom: someone(), lasting },
            "fill_disk" => Deed::FillDisk { whom: someone(), lasting },
            _ => Deed::Withhold { lasting },
        };
        Some(Fault { when, deed })
    }

    /// A role, or a node that is there and ours.
    fn whom(&mut self, path: &str, name: &str, stack: &Stack) -> Option<Whom> {
        let replicas = stack.replication.as_ref().map_or(0, |it| it.replicas);
        let has_etcd = stack.replication.as_ref().is_some_and(|it| matches!(it.manager, Manager::Patroni(_)));
        let ours = |it: &&Node| !is_attached(&it.kind);
        let mut names: Vec<String> = stack.nodes.iter().filter(ours).map(|it| it.name.clone()).collect();
        names.extend((2..=replicas + 1).map(|it| format!("postgres-{it}")));
        match name {
            "primary" if names.iter().any(|it| it == "postgres") => return Some(Whom::Primary),
            "replica" if replicas > 0 => return Some(Whom::Replica),
            "etcd" if has_etcd => return Some(Whom::Etcd),
            _ if names.iter().any(|it| it == name) => return Some(Whom::Node(name.to_owned())),
            _ => {}
        }
        let quoted: Vec<String> = names.iter().map(|it| format!("`{it}`")).collect();
        let quoted: Vec<&str> = quoted.iter().map(String::as_str).collect();
        let instead = match quoted.is_empty() {
            true => "nothing of this stack is ours".to_owned(),
            false => format!("write {}", any_of(&quoted)),
        };
        self.tell(path, format!("no node of ours is called {}", quote(name)), instead);
        None
    }
}

/// Whether a PostgreSQL of ours is meant.
fn is_server(whom: &str) -> bool {
    ["primary", "replica", "postgres"].contains(&whom) || whom.starts_with("postgres-")
}
