//! Checks strings in an experiment file whose grammar is defined in another crate

use super::settings;
use crate::operation_steps;
use analysis::verdict::rule::{self, RuleContext};
use analysis::verdict::{failover_objective, objective};
use experiment::{GrammarDiagnostic, GrammarResult, Grammars, ScheduleExtent, UrlTarget};
use load::script::{Pattern, PatternError};
use load::{schedule, script};
use model::message::Message;
use model::plan::{Setup, Transport};
use model::summary::QueryMode;
use model::{Curve, message, quote};
use std::net::IpAddr;
use wire::http::{Host, Url, UrlProblem};

/// Grammars of this program, for the experiment reader.
pub const ALL: Grammars<'static> = Grammars {
    schedule: &check_schedule,
    script: &check_script,
    url: &check_address,
    dsn: &database,
    log_format: &check_log_format,
    regex: &check_regex,
    secret: &check_secret,
    settings: &settings::check_settings,
    rule: &check_rule,
    objective: &check_objective,
};

fn check_schedule(text: &str) -> GrammarResult<ScheduleExtent> {
    let fill_in = |span| GrammarDiagnostic { span, message: message!("schedule-fill-in") };
    let missing: Vec<GrammarDiagnostic> = model::fill_in_places(text).map(fill_in).collect();
    if !missing.is_empty() {
        return Err(missing);
    }
    let curve = schedule::parse(text)?;
    Ok(ScheduleExtent { duration: curve.duration(), max_rate: peak_rate(&curve) })
}

/// Highest rate of a schedule, per second.
fn peak_rate(curve: &Curve) -> f64 {
    match curve {
        Curve::Ramp { from, to, .. } => from.0.max(to.0),
        Curve::Chain(parts) => parts.iter().map(peak_rate).fold(0.0, f64::max),
    }
}

fn check_log_format(text: &str) -> GrammarResult {
    let diagnostic = |message| vec![GrammarDiagnostic { span: 0..text.len(), message }];
    feed::LogFormat::parse(text).map(drop).map_err(diagnostic)
}

fn check_address(text: &str) -> GrammarResult<UrlTarget> {
    let reject = |message| Err(vec![GrammarDiagnostic { span: 0..text.len(), message }]);
    let url = match Url::parse(text) {
        Ok(url) => url,
        Err(error) if error.problem == UrlProblem::Credentials => {
            return reject(message!("experiment-url-password"));
        }
        Err(error) => {
            return reject(url_message(error.problem));
        }
    };
    let transport = match (&url.host, url.tls) {
        (Host::Unix(_), _) => Transport::Unix,
        (_, true) => Transport::Tls,
        (_, false) => Transport::Tcp,
    };
    let (address, near) = match &url.host {
        Host::Unix(path) => (path.clone(), true),
        Host::Tcp(name, port) => {
            let ip = name.parse::<IpAddr>();
            let near =
                ip.as_ref().map_or_else(|_| name.eq_ignore_ascii_case("localhost"), IpAddr::is_loopback);
            let brackets = matches!(ip, Ok(IpAddr::V6(_)));
            (if brackets { format!("[{name}]:{port}") } else { format!("{name}:{port}") }, near)
        }
    };
    Ok(UrlTarget { address, transport, is_local: near, target: url.target })
}

fn url_message(problem: UrlProblem) -> Message {
    let (key, scheme) = match problem {
        UrlProblem::Blank => ("blank", None),
        UrlProblem::NoSocket => ("socket", None),
        UrlProblem::RelativeTarget => ("relative", None),
        UrlProblem::NoScheme => ("no-scheme", None),
        UrlProblem::UnknownScheme(scheme) => ("scheme", Some(scheme)),
        UrlProblem::Credentials => ("password", None),
        UrlProblem::AfterBracket => ("after-bracket", None),
        UrlProblem::NoIpv6Address => ("ipv6", None),
        UrlProblem::NoHost => ("host", None),
        UrlProblem::Port => ("port", None),
    };
    message!("experiment-url", problem = key, scheme)
}

fn database(text: &str) -> Option<UrlTarget> {
    let place = stack::chain::describe_dsn(text).ok()?;
    let (transport, target) = (Transport::Tcp, String::new());
    Some(UrlTarget { address: place.address, transport, is_local: place.is_local, target })
}

fn check_regex(text: &str) -> GrammarResult {
    text.parse::<Pattern>().map(|_| ()).map_err(|error| {
        vec![GrammarDiagnostic {
            span: 0..text.len(),
            message: message!(
                "experiment-regex",
                reason = error.reason.to_string(),
                example = PatternError::EXAMPLE
            ),
        }]
    })
}

fn check_secret(name: &str) -> GrammarResult {
    // Check only that the variable exists. Its value is read when a request is sent, and is never stored.
    match std::env::var_os(name) {
        Some(held) if held.to_str().is_some() => Ok(()),
        held => {
            let message = message!("experiment-environment", name, is_set = held.is_some());
            Err(vec![GrammarDiagnostic { span: 0..0, message }])
        }
    }
}

fn check_rule(text: &str, setup: &Setup) -> GrammarResult {
    parse_rule(text, &RuleContext::for_setup(setup)).map(drop).map_err(|it| vec![it])
}

/// Parses a stop rule. A series that no probe writes is an error.
pub fn parse_rule(text: &str, context: &RuleContext) -> Result<rule::ParsedRule, GrammarDiagnostic> {
    let parsed = rule::parse(text, context)?;
    if let Some(rule::SeriesName { offset, name }) = &parsed.series
        && !series().any(|it| it == name)
    {
        let message = message!("rule-series", name = quote(name), similar = similar_series(name));
        return Err(GrammarDiagnostic { span: *offset..offset + name.len(), message });
    }
    Ok(parsed)
}

/// Names of all series that are sampled in a trial.
fn series() -> impl Iterator<Item = &'static str> {
    let of_probes = stack::component::series().into_iter().map(|it| it.name);
    of_probes.chain([stack::freshness::SERIES])
}

/// Names of the most similar series: the series whose name differs in only a few letters, or else the series that have
/// the most words in common. `None` if no series is similar.
fn similar_series(name: &str) -> Option<Vec<Message>> {
    const MOST: usize = 8;
    let renamed = Some(model::product::current_series_name(name)).filter(|renamed| *renamed != name);
    if let Some(meant) = renamed.or_else(|| experiment::nearest(name, series())) {
        return Some(experiment::any_of([meant]));
    }
    let words: Vec<&str> = name.split('_').filter(|it| it.len() > 2).collect();
    let shared = |it: &str| words.iter().filter(|word| it.contains(**word)).count();
    let mut all: Vec<&str> = series().filter(|it| shared(it) > 0).collect();
    all.sort_by_key(|it| std::cmp::Reverse(shared(it)));
    all.truncate(MOST);
    (!all.is_empty()).then(|| experiment::any_of(all))
}

fn check_objective(text: &str, setup: &Setup) -> GrammarResult {
    if let Some(parsed) = failover_objective::parse(text) {
        let has_ledger = setup.operations.iter().any(|it| it.ledger.is_some());
        return match parsed {
            Ok(_) if setup.faults.is_empty() || !has_ledger => {
                Err(vec![GrammarDiagnostic::in_part(text, text, message!("objective-failover"))])
            }
            Ok(_) => Ok(()),
            Err(diagnostic) => Err(vec![diagnostic]),
        };
    }
    let operations = RuleContext::for_setup(setup).operations;
    let steps: Vec<Vec<String>> =
        operation_steps::operations(setup).into_iter().map(|it| it.commands).collect();
    objective::parse_with_steps(text, &operations, &steps).map(drop).map_err(|it| vec![it])
}

fn check_script(text: &str, mode: QueryMode, known: Option<&[String]>) -> GrammarResult {
    let mode = match mode {
        QueryMode::Simple => script::Mode::Simple,
        QueryMode::Extended => script::Mode::Extended,
        QueryMode::Prepared => script::Mode::Prepared,
    };
    let to_grammar_diagnostic = |diagnostic: script::Diagnostic| {
        let line: usize =
            text.split_inclusive('\n').take((diagnostic.line as usize).saturating_sub(1)).map(str::len).sum();
        let before = diagnostic.text.chars().take((diagnostic.column as usize).saturating_sub(1));
        let start = (line + before.map(char::len_utf8).sum::<usize>()).min(text.len());
        let end = text[start..].chars().next().map_or(start, |c| start + c.len_utf8());
        let at = if diagnostic.line == 0 { 0..0 } else { start..end };
        GrammarDiagnostic { span: at, message: diagnostic.message }
    };
    let source = script::ScriptSource::new("", text);
    let predefined: Vec<&str> = known.unwrap_or_default().iter().map(String::as_str).collect();
    let all = match script::parse(&[source], mode, false, &predefined) {
        Ok(program) if program.has_only_empty_statements(0) => {
            return Err(vec![GrammarDiagnostic { span: 0..0, message: message!("experiment-script-empty") }]);
        }
        Ok(_) if known.is_none() => Vec::new(),
        Ok(program) => program.undefined,
        Err(all) => all,
    };
    if all.is_empty() { Ok(()) } else { Err(all.into_iter().map(to_grammar_diagnostic).collect()) }
}
