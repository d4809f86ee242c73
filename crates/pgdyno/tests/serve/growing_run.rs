//! Live updates of a run that is being written, until its end

use super::client::{Events, Server, measured};
use serde_json::Value;
use std::path::Path;
use store::{Run, RunHeader, RunOutcome, RunStatus, TrialEnd, TrialId, TrialRecord, Writer};

/// Run that this process writes as a copy of another one.
pub struct GrowingRun {
    writer: Option<Writer>,
    source: Run,
    trials: Vec<TrialRecord>,
    current: Option<TrialId>,
    pub name: String,
}

impl GrowingRun {
    /// Creates a run with only a header.
    pub fn begin(dir: &Path, source: &Path) -> GrowingRun {
        let source = Run::open(source).expect("the source is a run");
        let header =
            RunHeader { name: "growing".to_owned(), ..source.header().expect("the run file can be read") };
        let writer = store::create(dir, &header).expect("the folder is ours");
        let name = writer.path().file_stem().and_then(|it| it.to_str()).expect("a plain name").to_owned();
        let trials = source.trials().expect("the run file can be read");
        GrowingRun { writer: Some(writer), source, trials, current: None, name }
    }

    fn writer(&mut self) -> &mut Writer {
        self.writer.as_mut().expect("the run has not ended")
    }

    /// Begins the next trial and writes its first `ticks` seconds.
    pub fn trial(&mut self, ticks: usize) {
        let number = self.current.map_or(0, |it| it.0 as usize);
        let trial = self.trials[number].trial.clone();
        self.current = Some(self.writer().begin_trial(trial));
        self.ticks(0, ticks);
    }

    fn ticks(&mut self, from: usize, to: usize) {
        let id = self.current.expect("a trial has begun");
        let all: Vec<_> = self.source.ticks(id).expect("the run file can be read").collect();
        for tick in all.into_iter().take(to).skip(from) {
            self.writer().tick(id, Box::new(tick.expect("the second is complete")));
        }
    }

    fn end_trial(&mut self) {
        let id = self.current.expect("a trial has begun");
        let recorded = &self.trials[id.0 as usize - 1];
        let store::State::Ended(outcome) = recorded.state.clone() else { panic!("it has ended") };
        let end = TrialEnd {
            outcome,
            summary: recorded.summary.clone(),
            valid: recorded.valid,
            measurement: self.source.measurement(id).expect("the run file can be read"),
        };
        self.writer().end_trial(id, end);
    }

    fn finish(&mut self) {
        let outcome =
            RunOutcome { status: RunStatus::Interrupted, reason: None, ended_ms: 1_795_272_800_000 };
        self.writer.take().expect("the run has not ended").finish(outcome).expect("there is room");
    }
}

/// Adds the points of a trial as a page does, without duplicates.
fn points(shown: &mut Vec<Vec<f64>>, trial: usize, at: &Value) {
    shown.resize(shown.len().max(trial + 1), Vec::new());
    for moment in at.as_array().expect("moments") {
        let seconds = moment.as_f64().expect("seconds");
        if shown[trial].last().is_none_or(|last| seconds > *last) {
            shown[trial].push(seconds);
        }
    }
}

fn document(shown: &mut Vec<Vec<f64>>, document: &Value) {
    assert_eq!(document["format"], "pgdyno.page");
    shown.clear();
    for (trial, data) in document["data"].as_array().expect("by trial").iter().enumerate() {
        points(shown, trial, &data["times_s"]);
    }
}

#[test]
fn a_page_receives_points_until_the_end() {
    let server = Server::new();
    let mut written = GrowingRun::begin(&server.folder.join("runs"), &measured());
    let name = written.name.clone();
    written.trial(1);
    let place = format!("GET /runs/{name}/document");
    let mut shown = Vec::new();
    let fetched = server.ask(&place, &[]);
    let fetched: Value = serde_json::from_str(&fetched.body).unwrap_or_else(|it| panic!("{it}: {fetched:?}"));
    assert_eq!(fetched["live"]["events"], format!("/runs/{name}/events"));
    document(&mut shown, &fetched);
    let all = written.source.ticks(TrialId(1)).expect("the run file can be read").remaining();
    let mut stage = 1;
    let mut last = None;
    let mut kinds = Vec::new();
    for event in Events::open(server.address, &name, "Accept-Language: ru\r\n") {
        kinds.push(event.kind.clone());
        last = event.id.or(last);
        match event.kind.as_str() {
            "document" => document(&mut shown, &event.data),
            "points" => {
                let trial = event.data["trial"].as_u64().expect("the value is a count") as usize;
                points(&mut shown, trial, &event.data["times_s"]);
                let charts = event.data["charts"].as_array().expect("charts");
                let new = event.data["times_s"].as_array().expect("moments").len();
                let columns = charts.iter().flat_map(|it| it.as_array().expect("tracks"));
                assert!(
                    columns.into_iter().all(|column| column.as_array().is_some_and(|it| it.len() == new))
                );
            }
            "state" => {
                for (lang, word) in [("en", "Trial"), ("ru", "змерение")] {
                    let text = event.data["text"][lang].as_str().unwrap_or_default();
                    assert!(text.contains(word), "{text}");
                    let now = event.data["now"][lang].as_array().expect("figures in this language");
                    let rate = now[0]["value"].as_str().expect("a rate");
                    assert_eq!(now.len(), 4, "{now:?}");
                    // During set-up, the values of the previous trial are not shown.
                    let is_set_up = text.contains("set up") || text.contains("готов");
                    assert!(!is_set_up || rate == "–", "{text}: {now:?}");
                }
            }
            "end" => break,
            it => panic!("{it}"),
        }
        // Each time the page has caught up, the next part is written.
        let shown_points = shown.iter().map(Vec::len).sum::<usize>();
        match (stage, shown_points) {
            (1, 1..) => written.ticks(1, 2),
            (2, 2..) => written.ticks(2, all),
            (3, shown_points) if shown_points >= all => {
                written.end_trial();
                written.trial(2);
            }
            // The partial second after the window is not shown.
            (4, shown_points) if shown_points > all => written.finish(),
            _ => continue,
        }
        stage += 1;
    }
    assert_eq!(kinds.last().map(String::as_str), Some("end"), "{kinds:?}");
    let seconds = |count: usize| (0..count).map(|it| it as f64).collect::<Vec<_>>();
    assert_eq!(shown, [seconds(all - 1), seconds(2)], "{kinds:?}");
    assert!(kinds.iter().any(|it| it == "points") && kinds.iter().any(|it| it == "document"), "{kinds:?}");
    // A client that reconnects gets status 204, which ends it.
    let header = format!("Last-Event-ID: {}", last.expect("events have ids"));
    assert_eq!(server.ask(&format!("GET /runs/{name}/events"), &[&header]).status, 204);
    let ended: Value = serde_json::from_str(&server.ask(&place, &[]).body).expect("a document");
    assert_eq!(ended["live"], Value::Null);
}

#[test]
fn sends_missed_points_after_a_reconnect() {
    let server = Server::new();
    let mut written = GrowingRun::begin(&server.folder.join("runs"), &measured());
    let name = written.name.clone();
    written.trial(1);
    server.ask(&format!("GET /runs/{name}/document"), &[]);
    let mut id = None;
    let mut known = 0;
    let mut grew = false;
    for event in Events::open(server.address, &name, "") {
        if event.kind != "state" {
            id = event.id;
            known = match event.kind.as_str() {
                "points" => event.data["times_s"][0].as_f64().expect("a second") as usize + 1,
                _ => event.data["data"][0]["times_s"].as_array().map_or(0, Vec::len),
            };
        }
        match (known, &id) {
            (2.., Some(_)) => break,
            // A tick is written once, however often the state is sent meanwhile.
            (1, _) | (0, None) if !std::mem::replace(&mut grew, true) => written.ticks(1, 2),
            _ => {}
        }
    }
    // There are no subscribers at this time.
    written.ticks(2, 3);
    let header = format!("Last-Event-ID: {}\r\n", id.expect("the event has an id"));
    let mut reconnected = Events::open(server.address, &name, &header).filter(|it| it.kind != "state");
    let first = reconnected.next().expect("something was missed");
    assert_eq!(
        (first.kind.as_str(), &first.data["times_s"]),
        ("points", &serde_json::json!([2])),
        "{first:?}"
    );
    // The event id belongs to an older server process.
    let mut stranger = Events::open(server.address, &name, "Last-Event-ID: 12-1-0\r\n");
    assert_eq!(stranger.next().map(|it| it.kind).as_deref(), Some("document"));
}

#[test]
fn stops_a_run_on_request() {
    let server = Server::new();
    let mut written = GrowingRun::begin(&server.folder.join("runs"), &measured());
    let name = written.name.clone();
    let path = server.folder.join(format!("runs/{name}.dyno"));
    let form = format!("x-pgdyno-form: {}", server.form());
    let origin = format!("Origin: http://{}", server.address);
    assert!(!store::is_stop_requested(&path));
    for _ in 0..2 {
        assert_eq!(server.ask(&format!("POST /runs/{name}/stop"), &[&origin, &form]).status, 204);
        assert!(store::is_stop_requested(&path));
    }
    written.finish();
    assert!(!store::is_stop_requested(&path), "it is done");
    assert_eq!(server.ask(&format!("POST /runs/{name}/stop"), &[&origin, &form]).status, 409);
    assert!(!store::is_stop_requested(&path));
}
