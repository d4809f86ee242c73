//! Which HTTP service is asked for, and may it be loaded?

use super::Maker;
use super::load::Asked;
use super::stack::words;
use crate::Place;
use crate::file::{self, Caps};
use crate::mistake::quote;
use crate::unit::Word;
use model::Nanos;
use model::plan::{Entrance, Kind, LoadModel, Node, Service};

/// Where all three services of the project answer.
const READY: &str = "/health";
/// Of a service on another machine, until they are raised.
const RATE: f64 = 1000.0;
const CLIENTS: u32 = 50;
const LASTING: Nanos = Nanos::from_secs(300);

/// Of a service on another machine.
#[derive(Clone, Copy, Debug)]
pub struct Guard {
    rate: f64,
    clients: u32,
    lasting: Nanos,
}

impl Maker<'_> {
    /// The node, and what guards it if it is on another machine.
    pub(super) fn service(&mut self, it: file::Service) -> (Node, Option<Guard>) {
        let path = |key: &str| format!("stack.service.{key}");
        let limits = self.limits("stack.service.limits", it.limits.clone());
        for (key, text) in [("ready", &it.ready), ("stats", &it.stats)] {
            let Some(text) = text else { continue };
            if !text.starts_with('/') || text.contains(|c: char| !c.is_ascii_graphic()) {
                let found = format!("{} is no path", quote(text));
                self.tell(&path(key), found, "write it as `/health`");
            }
        }
        if it.ready_within.is_some_and(|it| it.0 == Nanos::ZERO) {
            self.tell(
                &path("ready_within"),
                "a service that is ready in no time",
                "write how long, as in 60s",
            );
        }
        let (mut entrance, mut guard) = (Entrance::Tcp, None);
        if let Some(url) = &it.url {
            let beside = [
                ("command", it.command.is_some()),
                ("env", !it.env.0.is_empty()),
                ("copies", it.copies.is_some()),
                ("limits", it.limits.is_some()),
            ];
            for (key, _) in beside.iter().filter(|it| it.1) {
                let found = format!("`service.{key}` beside a URL: pgdyno does not start what is there");
                self.tell(&path(key), found, "leave it out: what is there stays as it is");
            }
            if let Some(place) = self.place(url) {
                entrance = place.entrance;
                guard = self.guard(&it, &place);
            }
        } else {
            for (key, _) in
                [("allow", it.allow.is_some()), ("caps", it.caps.is_some())].iter().filter(|it| it.1)
            {
                let found = format!("`service.{key}` of a service that pgdyno starts");
                self.tell(&path(key), found, "leave it out: it is for one that is there, with a `url`");
            }
            if it.command.as_ref().is_none_or(Vec::is_empty) {
                let instead = "add its program, as in `command: [target/shop, --quiet]`, or the `url` of one that is there";
                self.tell(&path("command"), "`stack.service` has no `command`", instead);
            }
        }
        for name in ["ADDRESS", "DATABASE_URL"] {
            if it.env.0.iter().any(|it| it.0 == name) {
                let found = format!("`{name}` in the service's environment");
                self.tell(&path(&format!("env.{name}")), found, "leave it out: pgdyno chooses it");
            }
        }
        for (name, _) in it.env.0.iter().filter(|it| it.0.is_empty() || it.0.contains(['=', '\0'])) {
            let found = format!("{} is no name of a variable", quote(name));
            self.tell(&path(&format!("env.{name}")), found, "write a name such as `POOL_SIZE`");
        }
        let service = Service {
            command: it.command.map_or(Vec::new(), |it| self.command(it)),
            url: it.url,
            env: words(it.env),
            copies: it.copies.unwrap_or(1),
            ready: it.ready.unwrap_or_else(|| READY.to_owned()),
            ready_within: it.ready_within.map(|it| it.0),
            stats: it.stats,
        };
        (Node { name: "service".to_owned(), kind: Kind::Service(service), entrance, limits }, guard)
    }

    /// What is relative to the file becomes relative to where the file is.
    fn command(&self, words: Vec<Word>) -> Vec<String> {
        let folder = self.request.path.parent().unwrap_or("".as_ref());
        let own = |(i, it): (usize, Word)| {
            let program = i == 0 && it.0.contains('/') && !it.0.starts_with('/');
            match program || it.0.starts_with("./") || it.0.starts_with("../") {
                true => folder.join(&it.0).display().to_string(),
                false => it.0,
            }
        };
        words.into_iter().enumerate().map(own).collect()
    }

    fn place(&mut self, url: &str) -> Option<Place> {
        match (self.request.grammars.url)(url) {
            Err(complaints) => {
                let at = self.at("stack.service.url");
                self.complain(&at, url, complaints);
                None
            }
            Ok(place) => {
                if place.target != "/" {
                    let instead = "leave its path out: operations say what is asked";
                    self.tell(
                        "stack.service.url",
                        format!("a path, {}, in the URL", quote(&place.target)),
                        instead,
                    );
                }
                Some(place)
            }
        }
    }

    fn guard(&mut self, it: &file::Service, place: &Place) -> Option<Guard> {
        if place.near {
            for (key, _) in
                [("allow", it.allow.is_some()), ("caps", it.caps.is_some())].iter().filter(|it| it.1)
            {
                let found = format!("`service.{key}` of a service on this machine");
                self.tell(&format!("stack.service.{key}"), found, "leave it out: it is for other machines");
            }
            return None;
        }
        match &it.allow {
            Some(allow) if allow.eq_ignore_ascii_case(&place.address) => {}
            Some(allow) => {
                let found = format!("{} is not the address in `url`", quote(allow));
                let instead = format!("write `{}`, if that one is meant and may be loaded", place.address);
                self.tell("stack.service.allow", found, instead);
            }
            None => {
                let found = format!("{} is on another machine", quote(&place.address));
                let instead = format!("add `allow: \"{}\"` if it is yours and may be loaded", place.address);
                self.tell("stack.service.url", found, instead);
            }
        }
        let caps: Caps = it.caps.unwrap_or_default();
        if let Some(rate) = caps.rate.filter(|it| *it <= 0.0) {
            self.tell("stack.service.caps.rate", format!("a cap of {rate}/s"), "write more than 0");
        }
        Some(Guard {
            rate: caps.rate.unwrap_or(RATE),
            clients: caps.clients.unwrap_or(CLIENTS),
            lasting: caps.duration.map_or(LASTING, |it| it.0),
        })
    }

    /// Whether a load is within what a service on another machine may be loaded with. A closed load is given its cap.
    pub(super) fn guarded(&mut self, guard: &Guard, asked: &mut Asked) {
        let mut beyond = |key: &str, path: &str, is: String, cap: String| {
            let found = format!("{is}, beyond the cap of {cap} for services on other machines");
            self.tell(path, found, format!("write less, or raise `service.caps.{key}`"));
        };
        let clients = asked.load.model.clients();
        if clients > guard.clients {
            let path = match &asked.load.model {
                LoadModel::Open { .. } => "load.max_in_flight",
                LoadModel::Users { stages, .. } if stages.len() > 1 => "load.users",
                _ => "load.clients",
            };
            beyond("clients", path, format!("{clients} at once"), guard.clients.to_string());
        }
        if asked.lasting > guard.lasting {
            let seconds = |it: Nanos| format!("{}s", it.as_secs_f64());
            beyond("duration", "load", seconds(asked.lasting), seconds(guard.lasting));
        }
        match &mut asked.load.model {
            LoadModel::Open { .. } => {
                if asked.most > guard.rate {
                    beyond("rate", "load.schedule", format!("{}/s", asked.most), format!("{}/s", guard.rate));
                }
                if asked.load.warmup > Nanos::ZERO {
                    let found =
                        "a warm-up of a service on another machine: it is as hard as the service can bear";
                    self.tell("load.warmup", found, "leave it out; let the schedule begin slowly");
                }
            }
            model => {
                let most = match model {
                    LoadModel::Users { rate_max, .. } => *rate_max,
                    _ => None,
                };
                if let Some(most) = most.filter(|it| *it > guard.rate) {
                    beyond("rate", "load.max_rate", format!("{most}/s"), format!("{}/s", guard.rate));
                }
                let measured = asked.load.duration.unwrap_or(Nanos::ZERO);
                *model =
                    super::users::limited(model, guard.rate.min(most.unwrap_or(f64::INFINITY)), measured);
            }
        }
    }
}

/// What a service has that is there already.
pub(super) fn is_attached(kind: &Kind) -> bool {
    matches!(kind, Kind::Service(it) if it.url.is_some())
}
