//! Tests of a run whose replicas lag

use super::invent::HOSTILE;
use super::*;
use crate::style::CharacterSet;
use model::Nanos;
use model::freshness::{FreshnessResult, ReplicaFreshness, StaleReads, VisibilityDelay};

fn share(old: u64, all: u64, interval: (f64, f64)) -> Option<StaleReads> {
    Some(StaleReads { stale: old, total: all, interval })
}

fn within(ms: u64) -> Option<VisibilityDelay> {
    Some(VisibilityDelay::Within(Nanos::from_millis(ms)))
}

/// Result in which one replica is prompt, one is late, and the old primary does not respond.
fn lagging() -> FreshnessResult {
    let replica = |node: &str, stale, [p50, p90]: [_; 2], unseen, unanswered| ReplicaFreshness {
        node: node.to_owned(),
        stale,
        unanswered,
        p50,
        p90,
        p99: None,
        not_visible: unseen,
    };
    FreshnessResult {
        cell: 0,
        trials: 3,
        bound: Nanos::from_secs(5),
        acknowledged: 300,
        promised: false,
        replicas: vec![
            replica("postgres", None, [None, None], 0, 71),
            replica("postgres-2", share(2, 300, (0.001_8, 0.024)), [within(1), within(2)], 0, 0),
            replica(
                "postgres-3",
                share(220, 296, (0.61, 0.84)),
                [within(410), Some(VisibilityDelay::AfterBound)],
                31,
                4,
            ),
        ],
        round_robin: share(101, 590, (0.101, 0.274)),
    }
}

/// Result in which all replicas are fresh, as promised.
fn fresh() -> FreshnessResult {
    let mut result =
        FreshnessResult { cell: 1, promised: true, round_robin: share(0, 598, (0.0, 0.006_4)), ..lagging() };
    result.replicas.remove(0);
    for replica in &mut result.replicas {
        (replica.stale, replica.not_visible, replica.unanswered) = (share(0, 300, (0.0, 0.012_6)), 0, 0);
        (replica.p50, replica.p90) = (within(1), within(2));
    }
    result
}

fn read(freshness: &[FreshnessResult]) -> RunResult {
    let mut result = account();
    result.freshness = freshness.to_vec();
    result
}

#[test]
fn renders_the_section_in_both_languages() {
    for lang in lang::all() {
        let mut page = page(&read(&[lagging(), fresh()]), lang);
        page.sections.retain(|it| it.id == "freshness");
        assert_eq!(page.sections.len(), 1);
        golden(&format!("read.{}.md", lang.code()), &to_markdown(&page));
    }
    assert!(page(&account(), english()).sections.iter().all(|it| it.id != "freshness"));
}

#[test]
fn terminal_shows_the_same() {
    let style = TerminalStyle { width: 100, characters: CharacterSet::Utf8, colour: false };
    for lang in lang::all() {
        let mut result = read(&[lagging()]);
        result.experiment.cells.truncate(1);
        golden(&format!("read.{}.txt", lang.code()), &crate::search_text::render(&result, style, lang));
    }
}

/// The cell is named if other cells have no replicas.
#[test]
fn names_the_cell_if_others_have_no_replicas() {
    let page = page(&read(&[fresh()]), english());
    let section =
        page.sections.iter().find(|it| it.id == "freshness").expect("the page has a freshness section");
    let [Block::Table(table), Block::Text(own_writes), ..] = &section.blocks[..] else {
        panic!("{section:?}")
    };
    assert!(table.rows.iter().all(|it| it.cells[0] == "pooled"), "{table:?}");
    assert!(own_writes.text.starts_with("pooled: every write was visible"), "{own_writes:?}");
}

#[test]
fn reports_kept_and_broken_promises() {
    let check = |result: FreshnessResult, expected: Option<(&str, Tone)>| {
        let page = page(&read(&[result]), english());
        let section =
            page.sections.iter().find(|section| section.id == "freshness").expect("the section exists");
        let promise = section.blocks.iter().find_map(|block| match block {
            Block::Text(line) if line.text.contains("remote_apply") => Some(line.clone()),
            _ => None,
        });
        let promise = promise
            .as_ref()
            .map(|line| (line.text.rsplit("; ").next().expect("the text has a last part"), line.tone));
        assert_eq!(promise, expected);
    };
    check(fresh(), Some(("none was.", Tone::Good)));
    check(FreshnessResult { promised: true, ..lagging() }, Some(("some were.", Tone::Bad)));
    check(lagging(), None);
    // Without answered reads, nothing is reported about the promise.
    let mut silent = fresh();
    silent.replicas.iter_mut().for_each(|it| it.stale = None);
    check(silent, None);
}

/// A broken promise is a failure, and a promise without answered reads is skipped. Without a promise, there is no test
/// case.
#[test]
fn junit_reports_broken_promises() {
    let mut silent = fresh();
    silent.replicas.iter_mut().for_each(|it| it.stale = None);
    let text = junit(
        &read(&[fresh(), FreshnessResult { promised: true, ..lagging() }, silent, lagging()]),
        "",
        english(),
    );
    let suite = text.split("<testsuite ").find(|it| it.starts_with("name=\"Reads on replicas\""));
    let suite = suite.expect("the page has a freshness section");
    for expected in [
        "tests=\"3\"",
        "failures=\"1\"",
        "skipped=\"1\"",
        "message=\"a write was not visible",
        "on postgres-3",
    ] {
        assert!(suite.contains(expected), "{expected}: {suite}");
    }
}

#[test]
fn escapes_hostile_names() {
    let mut result = read(&[lagging(), fresh()]);
    result.freshness[0].replicas[1].node = HOSTILE.to_owned();
    for lang in lang::all() {
        let text = to_markdown(&page(&result, lang));
        assert!(!text.contains("<img") && !text.contains('\u{202e}') && !text.contains('\u{1b}'), "{text}");
    }
}
