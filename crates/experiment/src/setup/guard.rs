//! Limits on the load of systems on other machines.
//!
//! The file must name such a system twice: in its address and in `allow`. Caps apply until the user raises them. A
//! trial with many errors is aborted soon. The system's own permission is checked when pgdyno attaches the system.

use super::load::RequestedLoad;
use super::{SetupBuilder, seconds};
use crate::UrlTarget;
use crate::diagnostic::quote;
use crate::file::Caps;
use model::Nanos;
use model::message;
use model::plan::{Confirm, Goal, LoadModel, LoadScale, Soak, Sweep, TargetLevel};

/// Default caps.
const RATE_MAX: f64 = 1000.0;
const CLIENTS_MAX: u32 = 50;
const DURATION_MAX: Nanos = Nanos::from_secs(300);

/// Default stop rule for a failing system.
const ABORT: &str = "errors(5%, 10s)";

/// Section of an attached system in the file.
#[derive(Clone, Copy, Debug)]
pub struct AttachedSection {
    /// Section in `stack`.
    pub node: &'static str,
    /// Key of the system's address.
    pub address: &'static str,
}

/// Caps for a system on another machine.
#[derive(Clone, Copy, Debug)]
pub struct Guard {
    rate: LimitWithSource<f64>,
    clients: LimitWithSource<u32>,
    duration: LimitWithSource<Nanos>,
}

/// Maximum, and the section of the system to which it applies.
#[derive(Clone, Copy, Debug)]
struct LimitWithSource<T> {
    most: T,
    attached: AttachedSection,
}

/// Combines the caps of a chain: the lowest value of each cap applies.
pub fn strictest(guards: Vec<Guard>) -> Option<Guard> {
    fn less<T: PartialOrd>(a: LimitWithSource<T>, b: LimitWithSource<T>) -> LimitWithSource<T> {
        if b.most < a.most { b } else { a }
    }
    guards.into_iter().reduce(|a, b| Guard {
        rate: less(a.rate, b.rate),
        clients: less(a.clients, b.clients),
        duration: less(a.duration, b.duration),
    })
}

impl SetupBuilder<'_> {
    /// Checks the section of a system on another machine, which the file must name twice. Returns the system's caps.
    pub(super) fn guard(
        &mut self,
        attached: &AttachedSection,
        allow: Option<&str>,
        caps: Option<Caps>,
        place: &UrlTarget,
    ) -> Option<Guard> {
        let path = |key: &str| format!("stack.{}.{key}", attached.node);
        // A local address may lead to another machine. pgdyno detects that when it attaches the system.
        if place.is_local && allow.is_none() {
            if caps.is_some() {
                let (node, address) = (attached.node, &place.address);
                self.report(&path("caps"), message!("experiment-caps-local", node, address));
            }
            return None;
        }
        match allow {
            Some(allow) if allow.eq_ignore_ascii_case(&place.address) => {}
            Some(allow) => {
                let (allow, key, address) = (quote(allow), attached.address, &place.address);
                self.report(&path("allow"), message!("experiment-allow-differs", allow, key, address));
            }
            None => {
                self.report(
                    &path(attached.address),
                    message!("experiment-allow-missing", address = &place.address),
                );
            }
        }
        let caps = caps.unwrap_or_default();
        if let Some(rate) = caps.rate.filter(|it| *it <= 0.0) {
            self.report(&path("caps.rate"), message!("experiment-cap-rate", rate = rate.to_string()));
        }
        if caps.other_sessions.is_some() && attached.address == "url" {
            self.report(&path("caps.other_sessions"), message!("experiment-caps-other-sessions"));
        }
        let attached = *attached;
        Some(Guard {
            rate: LimitWithSource { most: caps.rate.unwrap_or(RATE_MAX), attached },
            clients: LimitWithSource { most: caps.clients.unwrap_or(CLIENTS_MAX), attached },
            duration: LimitWithSource { most: caps.duration.map_or(DURATION_MAX, |it| it.0), attached },
        })
    }

    /// Reports `allow` and `caps` of a node that pgdyno starts: they have no effect.
    pub(super) fn reject_unused_guards(&mut self, attached: &AttachedSection, allow: bool, caps: bool) {
        for key in given(allow, caps) {
            let (node, address) = (attached.node, attached.address);
            let message = message!("experiment-guard-unused", node, key, address);
            self.report(&format!("stack.{node}.{key}"), message);
        }
    }

    /// Checks that a load is within the caps. A closed load gets the cap on the rate as its maximum rate.
    pub(super) fn check_load_caps(&mut self, guard: &Guard, requested: &mut RequestedLoad) {
        let mut beyond = |key: &str, attached: AttachedSection, path: &str, value: String, cap: String| {
            self.report(path, message!("experiment-cap", value, cap, node = attached.node, key));
        };
        let Guard { rate, clients, duration } = *guard;
        let requested_clients = requested.load.model.clients();
        if requested_clients > clients.most {
            let path = match &requested.load.model {
                LoadModel::Open { .. } => "load.max_in_flight",
                LoadModel::Replay { .. } => "load.traffic",
                LoadModel::Users { stages, .. } if stages.len() > 1 => "load.users",
                _ => "load.clients",
            };
            beyond(
                "clients",
                clients.attached,
                path,
                requested_clients.to_string(),
                clients.most.to_string(),
            );
        }
        if requested.duration > duration.most {
            beyond(
                "duration",
                duration.attached,
                "load",
                seconds(requested.duration),
                seconds(duration.most),
            );
        }
        let per_second = |it: f64| format!("{it}/s");
        match &mut requested.load.model {
            LoadModel::Open { .. } | LoadModel::Replay { .. } => {
                if requested.max_rate > rate.most {
                    let requested_rate = per_second(requested.max_rate);
                    let path = match requested.load.model {
                        LoadModel::Replay { .. } => "load.speed",
                        _ => "load.schedule",
                    };
                    beyond("rate", rate.attached, path, requested_rate, per_second(rate.most));
                }
                if requested.load.warmup > Nanos::ZERO {
                    self.report(
                        "load.warmup",
                        message!("experiment-warmup-remote", node = rate.attached.node),
                    );
                }
            }
            model => {
                let most = match model {
                    LoadModel::Users { rate_max, .. } => *rate_max,
                    _ => None,
                };
                if let Some(most) = most.filter(|it| *it > rate.most) {
                    beyond("rate", rate.attached, "load.max_rate", per_second(most), per_second(rate.most));
                }
                let measured = requested.load.duration.unwrap_or(Nanos::ZERO);
                let most = rate.most.min(most.unwrap_or(f64::INFINITY));
                *model = super::users::with_max_rate(model, most, measured);
            }
        }
    }

    /// Checks that a goal is within the caps, and limits searches to them.
    pub(super) fn check_search_caps(&mut self, guard: &Guard, find: &mut Goal) {
        let Guard { rate, clients, duration } = *guard;
        let cap = |scale| match scale {
            LoadScale::Rate => (rate.most, rate.attached, "rate"),
            LoadScale::Clients => (f64::from(clients.most), clients.attached, "clients"),
        };
        let mut exceeded = Vec::new();
        let mut level = |path: String, level: f64, scale: LoadScale| {
            let (most, attached, key) = cap(scale);
            if level > most {
                exceeded.push((path, attached, key, level.to_string(), most.to_string()));
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
            for value in [max.from, max.limit].into_iter().flatten() {
                level(section.to_owned(), value, max.scale);
            }
            let (most, ..) = cap(max.scale);
            max.limit = Some(max.limit.unwrap_or(most).min(most));
            longest = longest.max(max.window).max(max.hold);
        }
        if longest > duration.most {
            let (value, most) = (seconds(longest), seconds(duration.most));
            exceeded.push((section.to_owned(), duration.attached, "duration", value, most));
        }
        for (path, attached, key, value, most) in exceeded {
            let node = attached.node;
            self.report(&path, message!("experiment-cap", value, cap = most, node, key));
        }
    }

    /// Adds the default stop rule unless the file has rules of its own.
    pub(super) fn abort(&mut self, stop: &mut Vec<String>) {
        if stop.is_empty() {
            stop.push(ABORT.to_owned());
            self.warnings.push(message!("experiment-remote-stop-rule", rule = ABORT));
        }
    }
}

/// Names of the keys that are set.
fn given(allow: bool, caps: bool) -> impl Iterator<Item = &'static str> {
    [("allow", allow), ("caps", caps)].into_iter().filter(|it| it.1).map(|it| it.0)
}
