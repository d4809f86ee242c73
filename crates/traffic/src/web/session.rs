//! Experiment of recorded requests

use super::curl::SkippedCommand;
use super::document::{self, Document};
use super::exchange::Exchange;
use super::naming;
use super::omitted::{self, OmissionReason, OmittedRequests};
use super::operation::{ImportedOperation, RequestStep};
use super::redirects::{self, Hops};
use super::secrets::{SecretVariable, Secrets, has_cookies, sends_cookies, sets_cookies};
use super::url::Url;
use super::{WebExperiment, WebFormat, WebOperation, WebOptions};
use super::{convert, filter, pace};
use std::collections::{HashMap, HashSet};

/// Maximum number of steps of an operation, and of operations.
const STEPS_MAX: usize = 100;
/// Address of the service if no request has one.
pub(super) const LOCAL: &str = "http://127.0.0.1:8080";

pub(super) fn experiment(
    exchanges: &[Exchange],
    skipped: &[SkippedCommand],
    format: WebFormat,
    options: &WebOptions,
) -> WebExperiment {
    let chosen = options.origin.as_deref().and_then(|origin| Some(Url::parse(origin)?.origin));
    let origin = chosen.or_else(|| filter::origin(exchanges)).unwrap_or_else(|| LOCAL.to_owned());
    let mut left_out = Vec::new();
    // A user who writes a curl command for a static file wants it.
    let with_assets = options.with_assets || format == WebFormat::Curl;
    let selected = filter::select(exchanges, &origin, with_assets, &mut left_out);
    let requests = redirects::join(&selected);
    let is_session = format == WebFormat::Har && !options.by_request;
    let (operations, secrets) = match is_session {
        true => session(&requests, exchanges, &mut left_out),
        false => distinct(&requests, format == WebFormat::Har, &mut left_out),
    };
    let document = Document {
        name: options.name.clone(),
        is_origin_assumed: false,
        ready: ready(&operations, |target| is_page(&requests, target)),
        operations,
        cookies: selected.iter().any(|selected| has_cookies(selected.0)),
        think: (format == WebFormat::Har).then(|| pace::think(exchanges)).flatten(),
        origin,
    };
    let unset_cookies = match selected.iter().any(|selected| sets_cookies(selected.0)) {
        true => 0,
        false => selected.iter().filter(|selected| sends_cookies(selected.0)).count() as u64,
    };
    let file = document::write(&document, &[]);
    let is_used = |secret: &SecretVariable| file.contains(&format!("${{env:{}}}", secret.name));
    WebExperiment {
        format,
        requests: (exchanges.len() + skipped.len()) as u64,
        redirects: (selected.len() - requests.len()) as u64,
        secrets: secrets.variables().into_iter().filter(is_used).collect(),
        skipped: skipped.to_vec(),
        unset_cookies,
        ..of_document(document, left_out)
    }
}

/// Path of the first GET request without variables, redirects and secrets, if `is_page` is true for it.
pub(super) fn ready(operations: &[ImportedOperation], is_page: impl Fn(&str) -> bool) -> Option<String> {
    let steps = operations.iter().flat_map(|operation| &operation.steps);
    let is_simple = |step: &&RequestStep| {
        step.method == "GET" && step.redirects == 0 && step.headers.iter().all(|header| header.1.is_plain())
    };
    // A `$` would be a variable or its escape.
    let targets =
        steps.filter(is_simple).map(|step| step.target.text()).filter(|target| !target.contains('$'));
    targets.into_iter().find(|target| is_page(target))
}

/// True if a request to a target had the status 200, or if its status is not known.
fn is_page(requests: &[Hops<'_>], target: &str) -> bool {
    let is_ok = |hops: &Hops<'_>| hops.response.is_none_or(|response| response.status == 200);
    requests.iter().any(|hops| hops.first.method == "GET" && hops.url.target == target && is_ok(hops))
}

/// One operation with all requests as its steps.
fn session(
    requests: &[Hops<'_>],
    exchanges: &[Exchange],
    left_out: &mut Vec<OmittedRequests>,
) -> (Vec<ImportedOperation>, Secrets) {
    let kept = requests.len().min(STEPS_MAX);
    (kept..requests.len()).for_each(|_| omitted::add(left_out, OmissionReason::TooMany));
    let (mut steps, secrets) = convert::steps(&requests[..kept], true);
    let mut taken = HashSet::new();
    for (number, (step, request)) in steps.iter_mut().zip(requests).enumerate() {
        step.name = naming::unique(&step.name, &mut taken);
        step.pause = pace::pause_before(request.first, exchanges).filter(|_| number > 0);
    }
    let operation =
        ImportedOperation { name: "session".to_owned(), weight: None, set: Vec::new(), feed: None, steps };
    let operations = if kept == 0 { Vec::new() } else { vec![operation] };
    (operations, secrets)
}

/// One operation for each distinct request: with its number as weight, in the order of weights, or else in the order of
/// the requests.
fn distinct(
    requests: &[Hops<'_>],
    weighted: bool,
    left_out: &mut Vec<OmittedRequests>,
) -> (Vec<ImportedOperation>, Secrets) {
    let (steps, secrets) = convert::steps(requests, false);
    let mut counts: Vec<(RequestStep, u64)> = Vec::new();
    let mut places: HashMap<RequestStep, usize> = HashMap::new();
    for step in steps {
        match places.get(&step).filter(|_| weighted) {
            Some(place) => counts[*place].1 += 1,
            None => {
                places.insert(step.clone(), counts.len());
                counts.push((step, 1));
            }
        }
    }
    if weighted {
        counts.sort_by_key(|count| std::cmp::Reverse(count.1));
    }
    for (_, count) in counts.drain(STEPS_MAX.min(counts.len())..) {
        (0..count).for_each(|_| omitted::add(left_out, OmissionReason::TooMany));
    }
    let mut taken = HashSet::new();
    let operation = |(step, count): (RequestStep, u64)| ImportedOperation {
        name: naming::unique(&step.name, &mut taken),
        weight: weighted.then_some(count),
        set: Vec::new(),
        feed: None,
        steps: vec![step],
    };
    (counts.into_iter().map(operation).collect(), secrets)
}

/// Experiment with the operations of a document.
pub(super) fn of_document(document: Document, left_out: Vec<OmittedRequests>) -> WebExperiment {
    let operation = |operation: &ImportedOperation| WebOperation {
        name: operation.name.clone(),
        weight: operation.weight,
        steps: operation.steps.len(),
        captures: operation
            .steps
            .iter()
            .flat_map(|step| &step.captures)
            .map(|capture| capture.0.clone())
            .collect(),
        fill_in: operation.steps.iter().any(|step| step.fill_in)
            || operation.feed.as_ref().is_some_and(|feed| feed.fill_in),
    };
    WebExperiment {
        format: WebFormat::OpenApi,
        unset_cookies: 0,
        origin: document.origin.clone(),
        requests: 0,
        redirects: 0,
        operations: document.operations.iter().map(operation).collect(),
        secrets: Vec::new(),
        left_out,
        skipped: Vec::new(),
        document,
    }
}
