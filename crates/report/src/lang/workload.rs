//! Question, load and dataset of an experiment

use super::Lang;
use crate::say;
use model::plan::{
    CacheState, Content, Dataset, Extract, Load, LoadModel, MissingRequests, RecordedLog, RecordedMix,
    RecordingFile, SourceDatabase, ThinkTime, UserStage,
};
use model::summary::QueryMode;
use model::{Nanos, PerSecond, Spacing};

/// Question of an experiment.
#[derive(Clone, Copy, Debug)]
pub enum PageQuestion<'a> {
    /// The experiment measures one system's capacity. `path` lists the products from the first node to PostgreSQL.
    One { path: &'a str, load: &'a Load },
    /// The experiment measures the effect of its axes.
    Matrix { axes: &'a [&'a str], baseline: Option<&'a str> },
}

impl Lang {
    pub fn question(&self, question: &PageQuestion<'_>) -> String {
        match *question {
            PageQuestion::One { path, load } => match &load.model {
                LoadModel::Closed { clients, .. } => {
                    say!(self, "page-question-clients", path, count = *clients)
                }
                users @ LoadModel::Users { .. } => {
                    say!(self, "page-question-users", path, count = users.clients())
                }
                LoadModel::Open { schedule, .. } => say!(self, "page-question-schedule", path, schedule),
                LoadModel::Log { log, .. } => {
                    say!(self, "page-question-log", path, feeds = self.list_texts(&log.feeds))
                }
                LoadModel::Replay { recording, .. } => {
                    say!(self, "page-question-replay", path, recording = recording.name())
                }
            },
            PageQuestion::Matrix { axes, baseline } => {
                say!(self, "page-question-axes", axes = self.list(axes), baseline)
            }
        }
    }

    /// Describes a load. If `sql` is true, some operation contains SQL, and the query protocol is described too.
    /// `concurrency` lists the numbers of clients, or the in-flight caps, of the cells. `concurrency` and an open
    /// model's schedule are empty if a search chooses them.
    pub fn load(&self, load: &Load, sql: bool, concurrency: &[u32]) -> String {
        let numbers = self.numbers();
        let count = concurrency.last().copied().unwrap_or_default();
        let clients: Vec<String> = concurrency.iter().map(|&count| numbers.count(count.into())).collect();
        let clients = self.alternatives(&clients);
        let mut parts = match &load.model {
            LoadModel::Closed { think, .. } => {
                let clients = (count > 0).then(|| say!(self, "page-clients", clients, count));
                let parts = [Some(say!(self, "page-closed-model")), clients, self.thinking(*think)];
                parts.into_iter().flatten().collect::<Vec<String>>()
            }
            LoadModel::Users { stages, think, pacing, rate_max } => {
                let think = match *think {
                    ThinkTime::Constant(time) => self.thinking(time),
                    ThinkTime::Exponential { mean } => {
                        Some(say!(self, "page-thinking-exponential", mean = numbers.chosen(mean)))
                    }
                    ThinkTime::LogNormal { median, sigma } => Some(say!(
                        self,
                        "page-thinking-log-normal",
                        median = numbers.chosen(median),
                        sigma = numbers.plain(sigma)
                    )),
                };
                let parts = [
                    Some(say!(self, "page-closed-model")),
                    Some(self.users(stages, clients, count)),
                    think,
                    pacing.map(|time| say!(self, "page-pacing", time = numbers.chosen(time))),
                    rate_max.map(|rate| say!(self, "page-rate-limit", rate = numbers.plain(rate))),
                ];
                parts.into_iter().flatten().collect()
            }
            LoadModel::Open { schedule, arrivals, .. } => {
                let arrivals = match arrivals {
                    Spacing::Even => say!(self, "page-arrivals-even"),
                    Spacing::Poisson => say!(self, "page-arrivals-poisson"),
                };
                let mut parts = vec![say!(self, "page-open-model")];
                parts.extend(load.traffic.as_ref().map(|it| self.recorded_mix(it)));
                parts.extend((!schedule.is_empty()).then(|| schedule.clone()));
                parts.extend([arrivals, say!(self, "page-in-flight-cap", clients)]);
                parts
            }
            LoadModel::Log { log, speed, .. } => {
                let mut parts = vec![say!(self, "page-open-model")];
                parts.extend([self.recorded_log(log, *speed), say!(self, "page-in-flight-cap", clients)]);
                parts
            }
            LoadModel::Replay { recording, speed } => vec![self.replay(recording, *speed)],
        };
        let is_recorded = load.traffic.is_some() || matches!(load.model, LoadModel::Replay { .. });
        parts.extend((sql && !is_recorded).then(|| match load.query_mode {
            QueryMode::Simple => say!(self, "page-protocol-simple"),
            QueryMode::Extended => say!(self, "page-protocol-extended"),
            QueryMode::Prepared => say!(self, "page-protocol-prepared"),
        }));
        parts.extend(load.reconnect.then(|| say!(self, "page-reconnect")));
        parts.extend(load.timeout.map(|time| say!(self, "page-timeout", time = numbers.chosen(time))));
        parts.extend(
            (load.max_tries > 1).then(|| say!(self, "page-tries", count = u32::from(load.max_tries))),
        );
        parts.join(", ")
    }

    /// Describes a recorded mix: `9,000 transactions of 40 sessions in shop.traffic`.
    pub fn recorded_mix(&self, mix: &RecordedMix) -> String {
        let numbers = self.numbers();
        say!(
            self,
            "load-recorded-mix",
            recording = mix.recording.name(),
            transactions = numbers.count(mix.transactions),
            sessions = numbers.count(mix.sessions),
            unfinished = mix.unfinished
        )
    }

    /// Describes a replay: `replay of shop.traffic at twice its speed, 12,000 requests of 40 sessions`.
    pub fn replay(&self, recording: &RecordingFile, speed: f64) -> String {
        let numbers = self.numbers();
        say!(
            self,
            "load-replay",
            recording = recording.name(),
            speed = numbers.plain(speed),
            requests = numbers.count(recording.requests),
            sessions = numbers.count(recording.sessions)
        )
    }

    /// Describes the requests of a recorded log: `12,000 requests of the feed log at their recorded times, speed 2, 13 min,
    /// 34/s on average and 90/s at most; 3 % of the recorded requests are missing (…)`.
    pub fn recorded_log(&self, log: &RecordedLog, speed: f64) -> String {
        let numbers = self.numbers();
        let duration = log.duration_at(speed);
        let mean = (log.requests as f64 / duration.as_secs_f64() * 100.0).round() / 100.0;
        let missing = (log.missing.total() > 0).then(|| self.missing_requests(log));
        say!(
            self,
            "load-recorded-log",
            feeds = self.list_texts(&log.feeds),
            speed = numbers.plain(speed),
            requests = numbers.count(log.requests),
            duration = numbers.duration(duration),
            mean = numbers.rate(PerSecond(mean)),
            peak = numbers.rate(PerSecond(log.requests_per_second_max as f64 * speed)),
            missing
        )
    }

    /// Share of the recorded requests that a load does not send, with the reasons.
    fn missing_requests(&self, log: &RecordedLog) -> String {
        let numbers = self.numbers();
        let MissingRequests { with_body, without_request, misfits, without_time } = log.missing;
        let reason =
            |reason: &str, count: u64| (count > 0).then(|| say!(self, "load-missing-reason", reason, count));
        let reasons: Vec<String> = [
            reason("body", with_body),
            reason("request", without_request),
            reason("misfit", misfits),
            reason("time", without_time),
        ]
        .into_iter()
        .flatten()
        .collect();
        let share = numbers.percent(log.missing_share(), 1);
        say!(self, "load-missing-requests", share, reasons = reasons.join(", "))
    }

    /// Names in a list.
    fn list_texts(&self, names: &[String]) -> String {
        self.list(&names.iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn thinking(&self, time: Nanos) -> Option<String> {
        (time > Nanos::ZERO).then(|| say!(self, "page-thinking", time = self.numbers().chosen(time)))
    }

    /// Describes users, as in `users in stages: 1000 (50/s) for 1 min 30 s, 500 for 1 min`. For a single stage, `users`
    /// lists the numbers of users of all cells. The last of these numbers is `count`, which selects the plural form.
    fn users(&self, stages: &[UserStage], users: String, count: u32) -> String {
        let numbers = self.numbers();
        let rate = |stage: &UserStage| stage.spawn_rate.map(|rate| numbers.plain(rate));
        if let [only] = stages {
            return say!(self, "page-users", users, count, rate = rate(only));
        }
        let stage = |stage: &UserStage| {
            let users = numbers.count(stage.users.into());
            say!(self, "page-stage", users, rate = rate(stage), duration = self.span(stage.duration))
        };
        say!(self, "page-stages", stages = stages.iter().map(stage).collect::<Vec<_>>().join(", "))
    }

    /// Number and duration of each cell's trials.
    pub fn window(&self, load: &Load, repeat: u32) -> String {
        let duration = load.duration.map(|time| self.span(time));
        let warmup = (load.warmup > Nanos::ZERO).then(|| self.span(load.warmup));
        let transactions = load.transactions;
        say!(self, "page-trial-window", repeat, duration, transactions, warmup)
    }

    pub fn dataset(&self, dataset: &Dataset) -> String {
        let rows = |table: &str, rows: u64| say!(self, "page-data-rows", table, rows);
        let content = match &dataset.content {
            Content::Tickets { rows: count } => rows("book.tickets", *count),
            Content::Books { rows: count } => rows("book.bookv2", *count),
            Content::Declared(tables) => {
                let each = tables.iter().map(|table| rows(&table.name, table.rows));
                each.collect::<Vec<_>>().join("; ")
            }
            Content::Users { users } => say!(self, "page-data-users", table = "social.users", users = *users),
            Content::Profiles { users, per_user } => {
                say!(self, "page-data-profiles", users = *users, each = *per_user)
            }
            Content::Pgbench { scale } => say!(self, "page-data-pgbench", scale = *scale),
            Content::Dump { files } => {
                let each = files.iter().map(|file| {
                    let (path, size) = (file.path.display().to_string(), self.bytes(file.bytes as f64));
                    say!(self, "page-data-dump", path, size)
                });
                each.collect::<Vec<_>>().join("; ")
            }
            Content::Source(SourceDatabase { dsn, extract }) => match extract {
                Extract::All => say!(self, "page-data-source", dsn),
                Extract::Schema => say!(self, "page-data-source-schema", dsn),
                Extract::Sample { fraction } => {
                    say!(
                        self,
                        "page-data-source-sample",
                        dsn,
                        percent = self.numbers().plain(fraction * 100.0)
                    )
                }
            },
            Content::Template { database } => say!(self, "page-data-template", database),
            Content::Delivery { scale } => {
                say!(self, "page-data-delivery", scale = self.numbers().plain(*scale))
            }
        };
        let cache = match dataset.cache {
            CacheState::Warm => say!(self, "page-cache-warm"),
            CacheState::Cold => say!(self, "page-cache-cold"),
            CacheState::AsIs => say!(self, "page-cache-as-loaded"),
        };
        let data = say!(self, "page-data", content, cache, seed = dataset.seed.to_string());
        if dataset.keep { say!(self, "page-data-kept", data) } else { data }
    }
}
