//! Descriptions of operations, feeds, services, goals and faults

use model::Nanos;
use model::plan::{
    CaptureSource, Expectation, Fault, FaultAction, FaultScope, FaultTarget, FaultTrigger, Feed, FeedFormat,
    FeedOrder, FeedSource, Goal, HttpStep, IsolationPeers, LoadScale, MaxSearch, NodeKind, Operation,
    OperationKind, Service, Setup, StatsAddress, StatsPage, TargetLevel, TriggerEvent,
};
use report::lang::Lang;
use report::say;
use std::path::Path;

/// Longest shown statement, in characters.
const STATEMENT_CHARS_MAX: usize = 60;

/// Mix of a setup, such as `by_author, 10/s: GET /books?author=${author}, feed books`. Empty if all operations are
/// plain scripts.
pub fn describe_mix(setup: &Setup, lang: &Lang) -> Vec<String> {
    let is_plain = |operation: &Operation| {
        matches!(operation.kind, OperationKind::Script { .. })
            && operation.feed.is_none()
            && operation.rate.is_none()
            && operation.schedule.is_none()
    };
    if setup.operations.iter().all(is_plain) {
        return Vec::new();
    }
    let line = |operation: &Operation| {
        let share = match (&operation.schedule, operation.rate) {
            (Some(schedule), _) => schedule.clone(),
            (None, Some(rate)) => format!("{rate}/s"),
            (None, None) => format!("×{}", operation.weight),
        };
        let request = describe_operation(&operation.kind, operation.feed.as_deref(), lang);
        let feed = operation.feed.as_ref().filter(|_| !operation.kind.is_ammo());
        say!(lang, "check-operation", name = &operation.name, share, request, feed)
    };
    setup.operations.iter().map(line).collect()
}

/// Data of the trials, and what happens to the database of an attached server. Empty without a dataset.
pub fn describe_data(setup: &Setup, lang: &Lang) -> Vec<String> {
    let Some(dataset) = &setup.dataset else { return Vec::new() };
    let mut lines = vec![lang.dataset(dataset)];
    if matches!(setup.stack.nodes.last().map(|it| &it.kind), Some(NodeKind::Attached(_))) {
        lines.push(say!(lang, "check-data-dropped", keep = dataset.keep));
    }
    lines
}

/// Commands before and after each trial.
pub fn describe_hooks(setup: &Setup) -> Vec<String> {
    let hooks = [("before_trial", &setup.hooks.before_trial), ("after_trial", &setup.hooks.after_trial)];
    let given = hooks.into_iter().filter(|it| !it.1.is_empty());
    given.map(|(name, command)| format!("{name}: {}", command.join(" "))).collect()
}

/// Requests at the start of each client; `None` without such requests.
pub fn describe_start(setup: &Setup, lang: &Lang) -> Option<String> {
    let start = setup.on_start.as_deref()?;
    let request = describe_operation(&start.kind, None, lang);
    Some(say!(lang, "check-on-start", request, feed = start.feed.as_ref()))
}

fn describe_operation(kind: &OperationKind, feed: Option<&str>, lang: &Lang) -> String {
    match kind {
        OperationKind::Script { origin: Some(origin), .. } => {
            say!(lang, "check-script", path = origin.display().to_string())
        }
        OperationKind::Script { origin: None, text } => {
            let is_statement = |line: &&str| !line.trim_start().starts_with('\\');
            shorten(text.lines().find(is_statement).unwrap_or_default().trim())
        }
        OperationKind::Http(steps) => {
            let steps: Vec<String> = steps.iter().map(|step| describe_step(step, lang)).collect();
            steps.join(&say!(lang, "check-then"))
        }
        OperationKind::Recorded { statement } => shorten(statement),
        OperationKind::RecordedTransaction { statements } => {
            let names: Vec<&str> = statements.iter().map(|it| it.name.as_str()).collect();
            shorten(&names.join(&say!(lang, "check-then")))
        }
        OperationKind::Ammo => say!(lang, "check-ammo", feed = feed.unwrap_or_default()),
        OperationKind::TaggedAmmo { tag } => {
            say!(lang, "check-tagged-ammo", feed = feed.unwrap_or_default(), tag = tag.as_ref())
        }
    }
}

fn shorten(line: &str) -> String {
    let short: String = line.chars().take(STATEMENT_CHARS_MAX).collect();
    if short.len() < line.len() { format!("{short}…") } else { short }
}

/// Step of an HTTP operation, such as `POST /login → token from /token`.
fn describe_step(step: &HttpStep, lang: &Lang) -> String {
    let mut text = format!("{} {}", step.method, step.target);
    if step.redirects > 0 {
        text += &format!(", {}", say!(lang, "check-redirects", count = u32::from(step.redirects)));
    }
    if !step.headers.is_empty() {
        let names: Vec<&str> = step.headers.iter().map(|it| it.0.as_str()).collect();
        text += &format!(", {}", say!(lang, "check-headers", names = names.join(", ")));
    }
    if let Some(expected) = describe_expectation(&step.expect, lang) {
        text += &format!(", {expected}");
    }
    if step.decompress {
        text += &format!(", {}", say!(lang, "check-decompress"));
    }
    let capture = |(name, source): &(String, CaptureSource)| match source {
        CaptureSource::Json(path) => say!(lang, "check-capture", name, source = path),
        CaptureSource::Header(header) => say!(lang, "check-capture-header", name, header),
        CaptureSource::Regex(pattern) => say!(lang, "check-capture", name, source = pattern.to_string()),
    };
    let captures: Vec<String> = step.captures.iter().map(capture).collect();
    if !captures.is_empty() {
        text += &format!(" → {}", captures.join(", "));
    }
    if step.pause.is_none() {
        return text;
    }
    say!(lang, "check-pause", pause = step.pause.to_string(), request = text)
}

/// Accepted responses, such as `expects status 200 and "total"`; `None` for the default.
fn describe_expectation(expect: &Expectation, lang: &Lang) -> Option<String> {
    let range = |(first, last): &(u16, u16)| match first == last {
        true => first.to_string(),
        false => format!("{first}–{last}"),
    };
    let ranges: Vec<String> = expect.status.iter().map(range).collect();
    let quoted = |text: &String| format!("\"{}\"", shorten(text));
    let status = (!ranges.is_empty()).then(|| say!(lang, "check-status", ranges = ranges.join(", ")));
    let contains = expect.contains.iter().map(quoted);
    let not_contains = expect.not_contains.iter().map(|it| say!(lang, "check-without", text = quoted(it)));
    let all: Vec<String> = status.into_iter().chain(contains).chain(not_contains).collect();
    (!all.is_empty()).then(|| say!(lang, "check-expect", list = all.join(", ")))
}

/// Feed in one line, such as `books: books.csv.gz (CSV), zipfian(1.2), for book.bookv2.author`.
pub fn describe_feed(feed: &Feed, lang: &Lang) -> String {
    let source = match &feed.source {
        FeedSource::File { path, format, .. } => {
            let format = match format {
                FeedFormat::Csv => "CSV".to_owned(),
                FeedFormat::Tsv => "TSV".to_owned(),
                FeedFormat::JsonLines => "JSON Lines".to_owned(),
                FeedFormat::Uri => say!(lang, "check-requests", format = "uri"),
                FeedFormat::UriPost => say!(lang, "check-requests", format = "uripost"),
                FeedFormat::Raw => say!(lang, "check-requests", format = "raw"),
                FeedFormat::Access => say!(lang, "check-access-log"),
            };
            format!("{} ({format})", path.display())
        }
        FeedSource::Query(_) => say!(lang, "check-query"),
        FeedSource::Rows(rows) => say!(lang, "check-rows", count = rows.len()),
    };
    let order = match feed.order {
        FeedOrder::Sequential => "sequential".to_owned(),
        FeedOrder::Shuffled => "shuffled".to_owned(),
        FeedOrder::Random => "random".to_owned(),
        FeedOrder::Zipfian { s } => format!("zipfian({s})"),
        FeedOrder::Once => "once".to_owned(),
    };
    say!(lang, "check-feed", name = &feed.name, source, order, column = feed.lookup_column.as_ref())
}

/// Name of a service, and facts about it. `programs` has the descriptions of its programs.
pub fn describe_service(
    service: &Service,
    name: &str,
    programs: &[String],
    lang: &Lang,
) -> (String, Vec<String>) {
    let mut facts = Vec::new();
    let name = match &service.url {
        Some(url) => say!(lang, "check-attached", name = url.to_string()),
        None => {
            let program = service.command.first().map(Path::new).and_then(Path::file_name);
            facts.extend(program.map(|name| name.display().to_string()));
            facts.extend(
                (!programs.is_empty()).then(|| say!(lang, "check-programs", programs = programs.join(" · "))),
            );
            let files = service.programs.iter().flat_map(|it| &it.files);
            let files: Vec<&str> = service.files.iter().chain(files).map(|it| it.name.as_str()).collect();
            facts.extend((!files.is_empty()).then(|| say!(lang, "check-files", files = files.join(" "))));
            facts.extend((service.copies > 1).then(|| say!(lang, "check-copies", count = service.copies)));
            facts.extend(service.env.iter().map(|(name, value)| format!("{name}={value}")));
            name.to_owned()
        }
    };
    let pages: Vec<String> = service.stats.iter().map(describe_page).collect();
    facts.extend((!pages.is_empty()).then(|| say!(lang, "check-stats", pages = pages.join(" "))));
    facts.extend(describe_metrics(&service.metrics, lang));
    (name, facts)
}

/// Page with statistics, such as `:9113/metrics`.
fn describe_page(page: &StatsPage) -> String {
    match &page.address {
        StatsAddress::Path(path) => path.clone(),
        StatsAddress::Port(port, path) => format!(":{port}{path}"),
        StatsAddress::Url(url) => url.clone(),
    }
}

/// URLs of the metrics of a node's hosts; `None` without any.
pub fn describe_metrics(urls: &[String], lang: &Lang) -> Option<String> {
    (!urls.is_empty()).then(|| say!(lang, "check-metrics", urls = urls.join(" ")))
}

/// Goal of an experiment, in lines. Empty for a goal without settings.
pub fn describe_goal(goal: &Goal, lang: &Lang) -> Vec<String> {
    let numbers = lang.numbers();
    let time = |duration: Nanos| numbers.duration(duration);
    let max = |search: &MaxSearch| {
        let scale = match search.scale {
            LoadScale::Rate => "rate",
            LoadScale::Clients => "clients",
        };
        say!(
            lang,
            "check-goal-max",
            scale,
            precision = format!("{}{}%", numbers.plain(search.precision * 100.0), numbers.gap),
            from = search.from.map(|level| numbers.plain(level)),
            limit = search.limit.map(|level| numbers.plain(level)),
            window = time(search.window),
            hold = time(search.hold),
            prove = search.prove
        )
    };
    let level = |level: &TargetLevel| match level {
        TargetLevel::Absolute { level, .. } => numbers.plain(*level),
        TargetLevel::Share { share, .. } => {
            let share = format!("{}{}%", numbers.plain(share * 100.0), numbers.gap);
            say!(lang, "check-goal-share", share)
        }
    };
    let then = match goal {
        Goal::Confirm(confirm) => {
            let (ramp, hold) = (time(confirm.ramp), time(confirm.hold));
            Some(say!(lang, "check-goal-confirm", level = level(&confirm.level), ramp, hold))
        }
        Goal::Soak(soak) => {
            Some(say!(lang, "check-goal-soak", level = level(&soak.level), duration = time(soak.duration)))
        }
        Goal::Sweep(_) => Some(say!(lang, "check-goal-sweep")),
        Goal::Failover => Some(say!(lang, "check-goal-failover")),
        Goal::Once | Goal::Max(_) => None,
    };
    goal.max_search().map(max).into_iter().chain(then).collect()
}

/// Fault and its time, in the keywords of the experiment file, such as `at 20s: kill primary`.
pub fn describe_fault(fault: &Fault, lang: &Lang) -> String {
    let time = |duration: Nanos| lang.numbers().duration(duration);
    let target = |target: &FaultTarget| match target {
        FaultTarget::Primary => "primary".to_owned(),
        FaultTarget::Replica => "replica".to_owned(),
        FaultTarget::Node(name) => name.clone(),
        FaultTarget::Store(product) => product.key.to_owned(),
    };
    let action = match &fault.action {
        FaultAction::Kill { target: node, scope } => match scope {
            FaultScope::Node => say!(lang, "check-fault-kill", node = target(node)),
            FaultScope::Postmaster => say!(lang, "check-fault-kill-postmaster", node = target(node)),
            FaultScope::Manager(manager) => {
                say!(lang, "check-fault-kill-manager", node = target(node), manager = manager.name)
            }
        },
        FaultAction::Pause { target: node, duration } => {
            say!(lang, "check-fault-pause", node = target(node), duration = time(*duration))
        }
        FaultAction::Restart { target: node } => say!(lang, "check-fault-restart", node = target(node)),
        FaultAction::Switchover { target: node } => {
            say!(lang, "check-fault-switchover", node = node.as_ref().map(target))
        }
        FaultAction::Isolate { target: node, duration, from } => {
            let (node, duration) = (target(node), time(*duration));
            match from {
                IsolationPeers::All => say!(lang, "check-fault-isolate", node, duration),
                IsolationPeers::Servers => say!(lang, "check-fault-separate", node, duration),
                IsolationPeers::Nodes(peers) => {
                    let peers = peers.iter().map(target).collect::<Vec<_>>().join(", ");
                    say!(lang, "check-fault-separate-nodes", node, duration, peers)
                }
            }
        }
        FaultAction::FreezeDisk { target: node, duration } => {
            say!(lang, "check-fault-freeze-disk", node = target(node), duration = time(*duration))
        }
        FaultAction::ShiftClock { target: node, by_ns, duration } => {
            let (direction, by) =
                (if *by_ns < 0 { "back" } else { "forward" }, time(Nanos(by_ns.unsigned_abs())));
            say!(
                lang,
                "check-fault-shift-clock",
                node = target(node),
                direction,
                by,
                duration = time(*duration)
            )
        }
        FaultAction::FillDisk { target: node, duration } => {
            say!(lang, "check-fault-fill-disk", node = target(node), duration = time(*duration))
        }
        FaultAction::Run { command, within, .. } => {
            say!(lang, "check-fault-run", command = command.join(" "), within = time(*within))
        }
        FaultAction::External { within } => say!(lang, "check-fault-external", within = time(*within)),
        FaultAction::BlockReplication { duration } => {
            say!(lang, "check-fault-block-replication", duration = duration.map(time))
        }
    };
    match fault.trigger {
        FaultTrigger::At(at) => say!(lang, "check-fault-at", time = time(at), action),
        FaultTrigger::After(event, delay) => {
            let event = match event {
                TriggerEvent::Promoted => "promoted",
                TriggerEvent::Rejoined => "rejoined",
            };
            let delay = (delay > Nanos::ZERO).then(|| time(delay));
            say!(lang, "check-fault-after", event, delay, action)
        }
    }
}

/// Ledgers of a setup, such as `write: SELECT token FROM payments`. Operations without a ledger are omitted.
pub fn describe_ledgers(setup: &Setup) -> Vec<String> {
    let line = |operation: &Operation| {
        Some(format!("{}: {}", operation.name, operation.ledger.as_ref()?.text().trim()))
    };
    setup.operations.iter().filter_map(line).collect()
}
