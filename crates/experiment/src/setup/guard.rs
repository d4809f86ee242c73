//! Limits on the load of systems on other machines.
//!
//! Such a system must be named twice. Caps apply until they are raised, and a trial that fails is aborted soon. The
//! system's own permission is checked when it is attached.

use super::SetupBuilder;
use super::load::RequestedLoad;
use crate::UrlTarget;
use crate::diagnostic::quote;
use crate::file::Caps;
use model::Nanos;
use model::plan::{Confirm, Goal, LoadModel, LoadScale, Soak, Sweep, TargetLevel};

/// Default caps.
const RATE: f64 = 1000.0;
const CLIENTS: u32 = 50;
const LASTING: Nanos = Nanos::from_secs(300);

/// Default stop rule for a failing system.
const ABORT: &str = "errors(5%, 10s)";

/// Section of an attached system in the file.
#[derive(Clone, Copy, Debug)]
pub struct AttachedSection {
    /// Section in `stack`.
    pub node: &'static str,
    /// Key of its address.
    pub address: &'static str,
    /// Noun for the attached system.
    pub noun: &'static str,
}

/// Caps for a system on another machine.
#[derive(Clone, Copy, Debug)]
pub struct Guard {
    rate: LimitWithSource<f64>,
    clients: LimitWithSource<u32>,
    lasting: LimitWithSource<Nanos>,
}

/// Maximum, and the section that sets it.
#[derive(Clone, Copy, Debug)]
struct LimitWithSource<T> {
    most: T,
    door: AttachedSection,
}

/// Combines the caps of a chain: the lowest of each applies.
pub fn strictest(guards: Vec<Guard>) -> Option<Guard> {
    fn less<T: PartialOrd>(a: LimitWithSource<T>, b: LimitWithSource<T>) -> LimitWithSource<T> {
        if b.most < a.most { b } else { a }
    }
    guards.into_iter().reduce(|a, b| Guard {
        rate: less(a.rate, b.rate),
        clients: less(a.clients, b.clients),
        lasting: less(a.lasting, b.lasting),
    })
}

impl SetupBuilder<'_> {
    /// Checks the section of a system on another machine: it must be named twice. Returns its caps.
    pub(super) fn guard(
        &mut self,
        door: &AttachedSection,
        allow: Option<&str>,
        caps: Option<Caps>,
        place: &UrlTarget,
    ) -> Option<Guard> {
        let path = |key: &str| format!("stack.{}.{key}", door.node);
        // An address of this machine may lead to another one; that is detected when it is attached.
        if place.is_local && allow.is_none() {
            if caps.is_some() {
                let found = format!("`{}.caps` of a {} on this machine", door.node, door.noun);
                let instead = format!(
                    "leave it out, or add `allow: \"{}\"` if the address leads to another machine",
                    place.address
                );
                self.report(&path("caps"), found, instead);
            }
            return None;
        }
        match allow {
            Some(allow) if allow.eq_ignore_ascii_case(&place.address) => {}
            Some(allow) => {
                let found = format!("{} is not the address in `{}`", quote(allow), door.address);
                let instead = format!("write `{}`, if that one is meant and may be loaded", place.address);
                self.report(&path("allow"), found, instead);
            }
            None => {
                let found = format!("{} is on another machine", quote(&place.address));
                let instead = format!("add `allow: \"{}\"` if it is yours and may be loaded", place.address);
                self.report(&path(door.address), found, instead);
            }
        }
        let caps = caps.unwrap_or_default();
        if let Some(rate) = caps.rate.filter(|it| *it <= 0.0) {
            self.report(&path("caps.rate"), format!("a cap of {rate}/s"), "write more than 0");
        }
        if caps.others.is_some() && door.address == "url" {
            let found = "who else is at work in a service cannot be seen";
            self.report(&path("caps.others"), found, "leave it out: it is for what speaks SQL");
        }
        let door = *door;
        Some(Guard {
            rate: LimitWithSource { most: caps.rate.unwrap_or(RATE), door },
            clients: LimitWithSource { most: caps.clients.unwrap_or(CLIENTS), door },
            lasting: LimitWithSource { most: caps.duration.map_or(LASTING, |it| it.0), door },
        })
    }

    /// Reports `allow` and `caps` of a node that pgdyno starts: they have no effect.
    pub(super) fn reject_unused_guards(&mut self, door: &AttachedSection, allow: bool, caps: bool) {
        let article = if door.address == "url" { "a" } else { "an" };
        for key in given(allow, caps) {
            let found = format!("`{}.{key}` of a {} that pgdyno starts", door.node, door.noun);
            let instead =
                format!("leave it out: it is for one that is there, with {article} `{}`", door.address);
            self.report(&format!("stack.{}.{key}", door.node), found, instead);
        }
    }

    /// Checks that a load is within the caps. A closed load gets the rate's cap as its maximum rate.
    pub(super) fn check_load_caps(&mut self, guard: &Guard, asked: &mut RequestedLoad) {
        let mut beyond = |key: &str, door: AttachedSection, path: &str, is: String, cap: String| {
            let found = format!("{is}, beyond the cap of {cap} for {}s on other machines", door.noun);
            self.report(path, found, format!("write less, or raise `{}.caps.{key}`", door.node));
        };
        let Guard { rate, clients: many, lasting } = *guard;
        let clients = asked.load.model.clients();
        if clients > many.most {
            let path = match &asked.load.model {
                LoadModel::Open { .. } => "load.max_in_flight",
                LoadModel::Users { stages, .. } if stages.len() > 1 => "load.users",
                _ => "load.clients",
            };
            beyond("clients", many.door, path, format!("{clients} at once"), many.most.to_string());
        }
        if asked.duration > lasting.most {
            let seconds = |it: Nanos| format!("{}s", it.as_secs_f64());
            beyond("duration", lasting.door, "load", seconds(asked.duration), seconds(lasting.most));
        }
        let per_second = |it: f64| format!("{it}/s");
        match &mut asked.load.model {
            LoadModel::Open { .. } => {
                if asked.max_rate > rate.most {
                    let is = per_second(asked.max_rate);
                    beyond("rate", rate.door, "load.schedule", is, per_second(rate.most));
                }
                if asked.load.warmup > Nanos::ZERO {
                    let noun = rate.door.noun;
                    let found = format!(
                        "a warm-up of a {noun} on another machine: it is as hard as the {noun} can bear"
                    );
                    self.report("load.warmup", found, "leave it out; let the schedule begin slowly");
                }
            }
            model => {
                let most = match model {
                    LoadModel::Users { rate_max, .. } => *rate_max,
                    _ => None,
                };
                if let Some(most) = most.filter(|it| *it > rate.most) {
                    beyond("rate", rate.door, "load.max_rate", per_second(most), per_second(rate.most));
                }
                let measured = asked.load.duration.unwrap_or(Nanos::ZERO);
                let most = rate.most.min(most.unwrap_or(f64::INFINITY));
                *model = super::users::with_max_rate(model, most, measured);
            }
        }
    }

    /// Checks that a goal is within the caps, and limits searches to them.
    pub(super) fn check_search_caps(&mut self, guard: &Guard, find: &mut Goal) {
        let Guard { rate, clients, lasting } = *guard;
        let cap = |scale| match scale {
            LoadScale::Rate => (rate.most, rate.door, "rate"),
            LoadScale::Clients => (f64::from(clients.most), clients.door, "clients"),
        };
        let mut told = Vec::new();
        let mut level = |path: String, level: f64, scale: LoadScale| {
            let (most, door, key) = cap(scale);
            if level > most {
                told.push((path, door, key, level.to_string(), most.to_string()));
            }
        };
        let (section, held) = match find {
            Goal::Once | Goal::Failover | Goal::Sweep(Sweep { max: None }) => return,
            Goal::Max(_) => ("find.max", Nanos::ZERO),
            Goal::Sweep(_) => ("find.sweep.max", Nanos::ZERO),
            Goal::Confirm(it) => ("find.confirm", it.ramp + it.hold),
            Goal::Soak(it) => ("find.soak", it.duration),
        };
        if let Goal::Confirm(Confirm { level: TargetLevel::Absolute { level: given, .. }, .. })
        | Goal::Soak(Soak { level: TargetLevel::Absolute { level: given, .. }, .. }) = find
        {
            // The rate of a closed load is limited separately, by the load itself.
            level(format!("{section}.level"), *given, LoadScale::Rate);
        }
        let mut longest = held;
        if let Some(max) = find.max_search_mut() {
            for it in [max.from, max.limit].into_iter().flatten() {
                level(section.to_owned(), it, max.scale);
            }
            let (most, ..) = cap(max.scale);
            max.limit = Some(max.limit.unwrap_or(most).min(most));
            longest = longest.max(max.window).max(max.hold);
        }
        if longest > lasting.most {
            let seconds = |it: Nanos| format!("{}s", it.as_secs_f64());
            let (is, most) = (seconds(longest), seconds(lasting.most));
            told.push((section.to_owned(), lasting.door, "duration", is, most));
        }
        for (path, door, key, is, most) in told {
            let found = format!("{is}, beyond the cap of {most} for {}s on other machines", door.noun);
            self.report(&path, found, format!("write less, or raise `{}.caps.{key}`", door.node));
        }
    }

    /// Adds the default stop rule unless the file has rules of its own.
    pub(super) fn abort(&mut self, guard: &Guard, stop: &mut Vec<String>) {
        if stop.is_empty() {
            stop.push(ABORT.to_owned());
            self.remarks.push(format!(
                "{ABORT} ends a trial, since the {} is on another machine; `stop` of your own takes its place",
                guard.rate.door.noun
            ));
        }
    }
}

/// Names of the keys that are set.
fn given(allow: bool, caps: bool) -> impl Iterator<Item = &'static str> {
    [("allow", allow), ("caps", caps)].into_iter().filter(|it| it.1).map(|it| it.0)
}
