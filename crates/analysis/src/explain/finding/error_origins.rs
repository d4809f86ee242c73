//! Finding on the sessions that caused the errors in PostgreSQL's log

use super::{CellTrials, Finding, TrialFacts};
use crate::facts::event_count::is_server;
use model::finding::{Circumstance, LoggedErrors, SessionOrigin};
use model::plan::{NodeKind, Transport};
use model::{EventKind, LogEvent, LogSession, Nanos};

/// Kinds of events that are errors, in the order in which the finding lists them.
const KINDS: [EventKind; 4] =
    [EventKind::Deadlock, EventKind::TooManyConnections, EventKind::Fatal, EventKind::Error];

/// Finding on the trials' errors by origin; `None` if no log line identifies its session.
pub fn error_origins(cell: &CellTrials<'_>) -> Option<Finding> {
    let mut errors: Vec<LoggedErrors> = Vec::new();
    for kind in KINDS {
        let first = errors.len();
        for trial in &cell.trials {
            for event in trial.events.iter().filter(|it| it.kind == kind && is_in_trial(trial, it)) {
                let origin = origin(trial, event);
                match errors[first..].iter_mut().find(|it| it.origin == origin) {
                    Some(it) => it.lines += event.line_count(),
                    None => errors.push(LoggedErrors { kind, origin, lines: event.line_count() }),
                }
            }
        }
        errors[first..].sort_by_key(|it| std::cmp::Reverse(it.lines));
    }
    let known = errors.iter().any(|it| it.origin != SessionOrigin::Unknown);
    let circumstance = Circumstance::ErrorOrigins { errors };
    known.then_some(Finding::Circumstance { cell: cell.number, circumstance })
}

/// True for the server's events within the window. Clients log in before the window, and may be refused then.
fn is_in_trial(trial: &TrialFacts<'_>, event: &LogEvent) -> bool {
    let begun = event.at > Nanos::ZERO || event.kind == EventKind::TooManyConnections;
    begun && is_server(trial, &event.node)
}

/// Origin of the session that caused an event.
///
/// Poolers and balancers pass on the clients' `application_name`. A session with that name therefore belongs to the
/// node next to PostgreSQL, if the session uses that node's transport. A service sets its own `application_name`. A
/// pooler's own login has not set the name yet.
fn origin(trial: &TrialFacts<'_>, event: &LogEvent) -> SessionOrigin {
    let Some(session) = &event.session else { return SessionOrigin::Unknown };
    if session.is_own() {
        return SessionOrigin::Own;
    }
    let before = trial.upstream_nodes();
    let is_load = session.application == LogSession::LOAD;
    let has_service = before.iter().any(|it| matches!(it.kind, NodeKind::Service(_)));
    let is_local = trial.server().is_some_and(|it| it.transport == Transport::Unix);
    let may_use_path = is_load || has_service || session.application == LogSession::UNKNOWN;
    match before.last() {
        Some(node) if may_use_path && is_local == (session.client == LogSession::LOCAL) => {
            SessionOrigin::Node { node: node.name.clone() }
        }
        _ if is_load => SessionOrigin::Direct,
        _ => {
            SessionOrigin::Other { application: session.application.clone(), client: session.client.clone() }
        }
    }
}
