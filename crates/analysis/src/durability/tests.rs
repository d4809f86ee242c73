//! Literal histories: writes, reads, and the expected verdict

mod history_text;
mod planted;
mod simulated_cluster;

use super::*;
use history_text::{HistoryText, describe_verdict};
use model::Nanos;
use model::durability::*;

/// Checks the verdict on writes and reads. Each write is one word: a session, then `a` (acknowledged), `l` (local
/// only), `f` (failed) or `u` (unknown). `!` before the letter makes it another attempt of the session's last write.
/// `@1` continues with another server on the next timeline; `X` is a fault. Each read lists the keys that it found,
/// separated by blanks.
#[track_caller]
fn check(writes: &str, readings: &[&str], expected: &str) {
    check_with(writes, readings, |_| {}, expected);
}

#[track_caller]
fn check_with(writes: &str, readings: &[&str], change: impl FnOnce(&mut HistoryText), expected: &str) {
    let mut text = HistoryText::parse(writes, readings);
    change(&mut text);
    assert_eq!(describe_verdict(&text.judge()), expected, "{writes} | {readings:?}");
}

/// Tests of Jepsen's `set` and `set-full` checkers in this notation: attempts, acknowledgements and a final read.
/// Jepsen counts a failed element that is present as recovered; pgdyno does not. Jepsen ignores duplicate elements;
/// pgdyno counts them.
#[test]
fn judges_sets_as_jepsen() {
    check("", &[], "Unknown; not read");
    check("0a", &[], "Unknown; not read, younger 1");
    check("0u", &[], "Unknown; not read");
    check("", &[""], "Kept");
    check("0a", &["0/0"], "Kept");
    check("0a 0a 1a", &["0/0 0/1 1/0"], "Kept");
    check("0a", &[""], "Broken lost 1 0/0");
    check("0a 1a 2a", &["0/0 2/0"], "Broken lost 1 1/0, hole 1 1/0");
    check("0u", &[""], "Kept");
    check("0u", &["0/0"], "Kept");
    check("0f", &[""], "Kept");
    check("0f", &["0/0"], "Broken false failure 1 0/0");
    check("0a", &["0/0 0/1"], "Broken phantom 1 0/1");
    check("0a", &["0/0 9/0"], "Broken phantom 1 9/0");
    check("", &["0/0"], "Broken phantom 1 0/0");
    check("0a", &["0/0 0/1", "0/0 0/1"], "Broken phantom 1 0/1");
    check("0a", &["0/0 0/0"], "Broken duplicate 1 0/0");
    check("0a", &["0/0 0/0 0/0"], "Broken duplicate 1 0/0");
    check_with("0a", &["0/0 0/70", "0/0"], |text| text.history.end = None, "Broken flicker 1 0/70; open");
    // All anomalies at once, as in Jepsen's pathological case.
    check("0u 1a 2a", &["2/0 2/0 3/0"], "Broken lost 1 1/0, hole 1 1/0, phantom 1 3/0, duplicate 1 2/0");
    // Present, then absent; absent, then present again.
    check("0a", &["0/0", ""], "Broken lost 1 0/0, flicker 1 0/0");
    check("0a", &["", "0/0"], "Broken flicker 1 0/0");
    check("0a", &["0/0", "", "0/0"], "Broken flicker 1 0/0");
    check("0u", &["0/0", ""], "Broken flicker 1 0/0");
    check("0u", &["", "0/0"], "Kept");
    check("0a", &["0/0", "0/0", "0/0"], "Kept");
    // The reads are at 20 and 30 ms; the fault is at the time of one of them.
    let fault = |at: u64| {
        move |text: &mut HistoryText| {
            text.history.faults =
                vec![FaultEvent { at: Nanos::from_millis(at), fails_over: false, crashes_hosts: false }];
        }
    };
    check_with("0u", &["0/0", ""], fault(20), "Broken flicker 1 0/0; 0 failovers; silent after 0");
    check_with("0u", &["0/0", ""], fault(30), "Unknown; 0 failovers; silent after 0");
}

#[test]
fn judges_all_attempts_of_one_write() {
    check("0u 0!a", &["0/0"], "Kept");
    check("0f 0!a", &["0/0"], "Kept");
    check("0f 0!f", &["0/0"], "Broken false failure 1 0/0");
    check("0f 0!u", &["0/0"], "Kept");
    check("0u 0!f", &["0/0"], "Kept");
    check("0u 0!a", &[""], "Broken lost 1 0/0");
    check("0a 0!u", &[""], "Broken lost 1 0/0");
    check("0u 0!a 0a", &["0/0 0/0 0/1"], "Kept duplicate by retry 1 0/0");
    check("0u 0a", &["0/0 0/1 0/1"], "Broken duplicate 1 0/1");
    check("0l", &["0/0"], "Kept");
    check("0l", &[""], "Broken lost 1 0/0");
    check("0l @1 1a", &["1/0"], "Kept lost locally 1 0/0; 1 failovers");
    check("0l 0!a", &[""], "Broken lost 1 0/0");
    check("0a 0!l", &[""], "Broken lost 1 0/0");
}

#[test]
fn finds_holes_in_a_session() {
    check("0a 0a 0a", &["0/0 0/2"], "Broken lost 1 0/1, hole 1 0/1");
    check("0a 0u", &["0/1"], "Broken lost 1 0/0, hole 1 0/0");
    check("0a 0a 0a 0a", &["0/3"], "Broken lost 3 0/0 0/1 0/2, hole 3 0/0 0/1 0/2");
    // The order of commits in different sessions is known if one ended before the other began.
    check("0a 1a", &["1/0"], "Broken lost 1 0/0, hole 1 0/0");
    check("0a 1u", &["1/0"], "Broken lost 1 0/0, hole 1 0/0");
    check("1a 0a", &["1/0"], "Broken lost 1 0/0");
    let invoked = |at: u64| {
        move |text: &mut HistoryText| {
            let last = text.entries.iter_mut().rfind(|it| matches!(it, LedgerEntry::Completed(_)));
            if let Some(LedgerEntry::Completed(attempt)) = last {
                attempt.invoked = Nanos(at);
            }
        }
    };
    // The first write ends at 11 ms.
    check_with("0a 1a", &["1/0"], invoked(11_000_000), "Broken lost 1 0/0, hole 1 0/0");
    check_with("0a 1a", &["1/0"], invoked(10_999_999), "Broken lost 1 0/0");
    check("0u 0a", &["0/1"], "Kept");
    check("0f 0a", &["0/1"], "Kept");
    // Rows on the next server prove nothing about the previous server.
    check("0a 0a @1 0a", &["0/0 0/2"], "Broken lost 1 0/1; 1 failovers");
    check("0a 0a @1 0!a", &["0/1"], "Broken lost 1 0/0; 1 failovers");
}

#[test]
fn classifies_losses_by_promise() {
    let set = |promise: Promise| {
        move |text: &mut HistoryText| {
            text.history.promises.iter_mut().for_each(|it| it.promise = promise.clone());
        }
    };
    let some = || replication::parse("ANY 1 (a,b)").expect("well-formed").expect("standbys are named");
    let check_under = |promise: Promise, writes, readings: &[&str], expected| {
        check_with(writes, readings, set(promise), expected);
    };
    // The writes end at 11, 21, 31 and 51 ms.
    let failover = "0a 0a 1a @1 0a";
    let asynchronous = "Kept lost unpromised 2 0/1 1/0; point 2 of 2 sessions, run 1; 1 failovers";
    let broken = "Broken lost 2 0/1 1/0; 1 failovers";
    check_under(Promise::Local, failover, &["0/0 0/2"], asynchronous);
    check_under(Promise::None, failover, &["0/0 0/2"], asynchronous);
    check_under(Promise::RemoteWrite(some()), failover, &["0/0 0/2"], broken);
    check_under(Promise::Flush(some()), failover, &["0/0 0/2"], broken);
    check_under(Promise::Apply(some()), failover, &["0/0 0/2"], broken);
    // Without a failover or a crash, every write stays.
    for promise in [Promise::Local, Promise::None, Promise::RemoteWrite(some()), Promise::Flush(some())] {
        check_under(promise, "0a 0a 1a", &["0/0"], "Broken lost 2 0/1 1/0");
    }
    // A write precedes later writes of its server in the WAL, so its absence is a hole. A crash loses a write that is only
    // in memory without a hole, and shows as an unknown outcome of another write.
    let hole = "Broken hole 1 0/0, lost unpromised 1 0/0; point 1 of 1 sessions, run 1; 1 failovers";
    let unpromised = "Kept lost unpromised 1 0/0; point 1 of 1 sessions, run 1; 1 failovers";
    check_under(Promise::Local, "0a 0a @1 1a", &["0/1 1/0"], hole);
    check_under(Promise::None, "0a 0a @1 1a", &["0/1 1/0"], hole);
    check_under(Promise::Local, "0a 2u 0a @1 1a", &["0/1 1/0"], hole);
    check_under(Promise::None, "0a 2u 0a @1 1a", &["0/1 1/0"], unpromised);
}

#[test]
fn classifies_losses_when_promises_change() {
    let change = |at: u64| {
        move |text: &mut HistoryText| {
            let mut weaker = text.history.promises[0].clone();
            (weaker.at, weaker.promise) = (Nanos::from_millis(at), Promise::Local);
            text.history.promises.insert(1, weaker);
        }
    };
    // The write ends at 11 ms. Promises up to a second before and after it are considered.
    let (failover, present) = ("0a @1 0a", &["0/1"][..]);
    let ambiguous = "Unknown lost while the promise changed 1 0/0; 1 failovers; while promise changed";
    let broken = "Broken lost 1 0/0; 1 failovers";
    check_with(failover, present, change(1), ambiguous);
    check_with(failover, present, change(1011), ambiguous);
    check_with(failover, present, change(1012), broken);
    let late = |text: &mut HistoryText| {
        text.history.read_backs[0].started += Nanos::from_secs(10);
        text.history.read_backs[0].identified += Nanos::from_secs(10);
        for entry in &mut text.entries {
            if let LedgerEntry::Completed(attempt) = entry {
                attempt.invoked += Nanos::from_secs(10);
                attempt.ended += Nanos::from_secs(10);
            }
        }
    };
    let both = |at| {
        move |text: &mut HistoryText| {
            change(at)(text);
            late(text);
        }
    };
    check_with(failover, present, both(9011), ambiguous);
    let unpromised = "Kept lost unpromised 1 0/0; point 1 of 1 sessions, run 1; 1 failovers";
    check_with(failover, present, both(9010), unpromised);
    let unasked = |text: &mut HistoryText| text.history.promises.clear();
    check_with(
        failover,
        present,
        unasked,
        "Unknown lost while the promise changed 1 0/0; 1 failovers; promise unknown 1",
    );
    check_with("0a", &["0/0"], unasked, "Kept");
    // Without a failover or a crash, a loss breaks any promise.
    check_with("0a", &[""], unasked, "Broken lost 1 0/0");
    check_with("0a", &[""], change(1), "Broken lost 1 0/0");
    // The promise of another server is ignored. If the server is unknown, any of the promises may apply, but the
    // timeline at the time of the acknowledgement must be known.
    let other = |text: &mut HistoryText| text.history.promises[1].promise = Promise::Local;
    check_with(failover, present, other, broken);
    let behind = |text: &mut HistoryText| {
        other(text);
        text.forget_servers();
    };
    let no_cause = "Unknown lost while the promise changed 1 0/0; while promise changed";
    check_with(failover, present, behind, no_cause);
    let sampled = |text: &mut HistoryText| {
        behind(text);
        for (number, ms) in [(0, 0), (1, 15)] {
            let (at, server) = (Nanos::from_millis(ms), text.server(number));
            text.history.samples.push(RoleSample { at, server, in_recovery: false, fsync: true });
        }
    };
    check_with(failover, present, sampled, ambiguous);
}

#[test]
fn finds_split_brain_and_deposed_primaries() {
    check("0a X @1 0a", &["0/0 0/1"], "Kept; 1 failovers, outage 30 ms");
    check("0a X 0a", &["0/0 0/1"], "Unknown; 0 failovers, outage 20 ms; fault unseen 0");
    check("0a X @1", &["0/0"], "Unknown; 0 failovers; fault unseen 0, silent after 0");
    // The old server continues to acknowledge writes after the new one has begun.
    check("0a @1 1a @0 0a", &["0/0 0/1 1/0"], "Broken split brain 1 0/1; 1 failovers");
    check("0a @1 1a @0 0u", &["0/0 1/0"], "Kept; 1 failovers");
    check("0a @1 1a @0 0l", &["0/0 1/0"], "Broken split brain 1 0/1, lost locally 1 0/1; 1 failovers");
    check("0a @1 1a 1a", &["0/0 1/0 1/1"], "Kept; 1 failovers");
    // A write in flight when the new server first acknowledged, at 31 ms, may have been committed before.
    let sent = |at: u64| {
        move |text: &mut HistoryText| {
            if let Some(LedgerEntry::Completed(attempt)) =
                text.entries.iter_mut().rfind(|it| matches!(it, LedgerEntry::Completed(_)))
            {
                attempt.invoked = Nanos(at);
            }
        }
    };
    let split = "Broken split brain 1 0/1; 1 failovers";
    check_with("0a @1 1a @0 0a", &["0/0 0/1 1/0"], sent(30_999_999), "Kept; 1 failovers");
    check_with("0a @1 1a @0 0a", &["0/0 0/1 1/0"], sent(31_000_000), split);
    check_with(
        "0a @1 1a @0 0a",
        &["0/0 1/0"],
        sent(30_999_999),
        "Broken lost 1 0/1, split brain 1 0/1; 1 failovers",
    );
    check_with("0a @1 1a @0 0l", &["0/0 1/0"], sent(30_999_999), "Kept lost locally 1 0/1; 1 failovers");
    // An untrusted read does not count.
    let standby = |text: &mut HistoryText| text.history.read_backs[0].in_recovery = true;
    check_with("0a", &["", "0/0"], standby, "Kept");
    check_with("0a", &[""], standby, "Unknown; from standby 0, not read, younger 1");
    let old = |text: &mut HistoryText| text.history.read_backs[0].server = text.server(0);
    check_with("0a @1 0a", &["0/0", "0/0 0/1"], old, "Kept; 1 failovers");
    let elsewhere = |text: &mut HistoryText| text.history.read_backs[0].server.system = 7;
    check_with("0a", &["", "0/0"], elsewhere, "Kept");
    check_with("0a", &[""], elsewhere, "Unknown; from elsewhere 0, not read, younger 1");
    let sampled = |before: bool, after: bool| {
        move |text: &mut HistoryText| {
            let reading = &text.history.read_backs[0];
            let (server, start) = (reading.server.clone(), reading.started);
            let sample =
                |at, in_recovery| RoleSample { at, server: server.clone(), in_recovery, fsync: true };
            text.history.samples = vec![sample(start - Nanos(1), before), sample(start + Nanos(1), after)];
        }
    };
    check_with("0a", &[""], sampled(true, true), "Unknown; from standby 0, not read, younger 1");
    check_with("0a", &["0/0"], sampled(true, false), "Kept");
    check_with("0a", &["0/0"], sampled(false, true), "Kept");
    // The server was promoted before it responded.
    let promoted = |known: u64| {
        move |text: &mut HistoryText| {
            sampled(true, true)(text);
            text.history.read_backs[0].identified += Nanos(known);
        }
    };
    check_with("0a", &["0/0"], promoted(1), "Kept");
    check_with("0a", &[""], promoted(0), "Unknown; from standby 0, not read, younger 1");
    // A single sample covers only one side of the read.
    let at_once = |text: &mut HistoryText| {
        sampled(true, true)(text);
        text.history.samples.truncate(1);
        text.history.samples[0].at = text.history.read_backs[0].started;
    };
    check_with("0a", &["0/0"], at_once, "Kept");
    let recovering = |from: u64, to: u64| {
        move |text: &mut HistoryText| {
            let server = text.server(0);
            let sample =
                |at| RoleSample { at: Nanos(at), server: server.clone(), in_recovery: true, fsync: true };
            text.history.samples = vec![sample(from), sample(to)];
        }
    };
    // The write lasts from 10 to 11 ms.
    check_with("0a", &["0/0"], recovering(9_999_999, 11_000_001), "Unknown; standby acknowledged");
    check_with("0a", &["0/0"], recovering(10_000_000, 12_000_000), "Kept");
    check_with("0a", &["0/0"], recovering(9_000_000, 11_000_000), "Kept");
    let several = |text: &mut HistoryText| text.rename(1, |it| it.system = 9);
    check_with("0a @1 0a", &["0/0 0/1"], several, "Unknown; several systems");
}

#[test]
fn incomplete_ledgers_raise_doubts() {
    let end = |end: LedgerEnd| move |text: &mut HistoryText| text.history.end = Some(end);
    check_with("0a", &["0/0"], end(LedgerEnd::Open), "Unknown; open");
    check_with("0a", &[""], end(LedgerEnd::Open), "Broken lost 1 0/0; open");
    check_with("0a", &["0/0"], end(LedgerEnd::Torn { bytes: 7 }), "Unknown; torn 7");
    check_with("0a", &["0/0"], |text| text.history.end = None, "Unknown; open");
    // In an open ledger, sequences after the last outcome may have been sent. Sequences that were not reserved were not
    // sent.
    check_with("0a", &["0/0 0/1"], end(LedgerEnd::Open), "Unknown; open");
    check_with("0a", &["0/0 0/1024"], end(LedgerEnd::Open), "Broken phantom 1 0/1024; open");
    // The last write of a session may have been retried; earlier ones were not.
    check_with("0f", &["0/0"], end(LedgerEnd::Open), "Unknown; open");
    check_with("0f 0a", &["0/0 0/1"], end(LedgerEnd::Open), "Broken false failure 1 0/0; open");
    check_with("0u", &["0/0 0/0"], end(LedgerEnd::Open), "Unknown duplicate by retry 1 0/0; open");
    check_with("0u 0a", &["0/0 0/0"], end(LedgerEnd::Open), "Broken lost 1 0/1, duplicate 1 0/0; open");
    let weak = |text: &mut HistoryText| {
        end(LedgerEnd::Open)(text);
        text.history.promises.iter_mut().for_each(|it| it.promise = Promise::Local);
    };
    let lost = "Unknown lost unpromised 1 0/0; point 1 of 1 sessions, run 1; 1 failovers; open";
    check_with("0a @1 0u 1a", &["0/1 1/0"], weak, lost);
    let without = |sequence: u64| {
        move |text: &mut HistoryText| {
            text.entries
                .retain(|it| !matches!(it, LedgerEntry::Completed(it) if it.key.sequence == sequence));
        }
    };
    check_with("0a 0a 0a", &["0/0 0/1 0/2"], without(1), "Unknown; gaps 1");
    check_with("0a 0a 0a", &["0/0 0/1 0/2"], without(0), "Unknown; gaps 1");
    let twisted = |change: fn(&mut WriteAttempt)| {
        move |text: &mut HistoryText| {
            let last = text.entries.iter_mut().rev().find_map(|entry| match entry {
                LedgerEntry::Completed(it) => Some(it),
                _ => None,
            });
            change(last.expect("the history has an entry"));
        }
    };
    let contradicts = "Unknown; contradictions 1";
    check_with("0a 0a", &["0/0 0/1"], twisted(|it| it.ended = Nanos(0)), contradicts);
    // Contradictory evidence does not prove a loss either.
    check_with(
        "0a 0a",
        &["0/0"],
        twisted(|it| it.ended = Nanos(0)),
        "Unknown lost 1 0/1, hole 1 0/1; contradictions 1",
    );
    check_with("0a 0a", &["0/0 0/1"], twisted(|it| it.number = 0), contradicts);
    check_with("0a 0!a", &["0/0"], twisted(|it| it.number = 1), contradicts);
    check_with("0a 0a", &["0/0 0/1"], twisted(|it| it.server = Some(ServerId(5))), contradicts);
    check_with("0a 0a 0a", &["0/0 0/1"], twisted(|it| it.key.sequence = 0), contradicts);
    let unreserved =
        |text: &mut HistoryText| text.entries.retain(|it| !matches!(it, LedgerEntry::Reserved { .. }));
    check_with("0a", &["0/0"], unreserved, contradicts);
    let renamed = |text: &mut HistoryText| {
        let other = ServerInstance { system: 3, ..text.server(0) };
        text.entries.push(LedgerEntry::Server(ServerId(0), other));
    };
    check_with("0a", &["0/0"], renamed, contradicts);
}

#[test]
fn ignores_reads_before_the_write() {
    let early = |at: u64| move |text: &mut HistoryText| text.history.read_backs[0].started = Nanos(at);
    // The write ends at 11 ms.
    check_with("0a", &[""], early(10_999_999), "Unknown; younger 1");
    check_with("0l", &[""], early(10_999_999), "Unknown; younger 1");
    check_with("0a", &[""], early(11_000_000), "Broken lost 1 0/0");
    check_with("0a", &["", "0/0"], early(10_999_999), "Kept");
}

#[test]
fn a_control_without_losses_raises_a_doubt() {
    let control = |lost: Option<u64>| {
        move |text: &mut HistoryText| text.history.control = lost.map(|lost| ControlResult { lost })
    };
    check_with("0a", &["0/0"], control(None), "Unknown; no control");
    check_with("0a", &["0/0"], control(Some(0)), "Unknown; control lost nothing");
    check_with("0a", &["0/0"], control(Some(1)), "Kept");
    check_with("0a", &[""], control(None), "Broken lost 1 0/0; no control");
}

#[test]
fn finds_foreign_rows() {
    let forge = |text: &mut HistoryText| {
        let key = WriteKey { session: 0, sequence: 0 };
        text.history.read_backs[0].keys.add(key, false);
    };
    check_with("0a", &["0/0"], forge, "Broken phantom 1 0/0");
    check_with("0a", &[""], forge, "Broken lost 1 0/0, phantom 1 0/0");
    check_with("0a", &["0/0 5/7"], forge, "Broken phantom 2 0/0 5/7");
    let far = WriteKey { session: 0, sequence: u64::MAX };
    check_with(
        "0a",
        &["0/0"],
        |text| text.history.read_backs[0].keys.add(far, true),
        "Broken phantom 1 0/18446744073709551615",
    );
}

#[test]
fn judges_promotions() {
    let promote = |promoted: &'static str| {
        move |text: &mut HistoryText| {
            let answer = |name: &str, received| StandbyPosition {
                name: name.to_owned(),
                received: Some(received),
                synchronous: true,
            };
            text.history.promotions = vec![PromotionDecision {
                at: Nanos(0),
                promoted: promoted.to_owned(),
                standbys: replication::parse("ANY 1 (a,b)").expect("well-formed"),
                positions: vec![answer("a", 9), answer("b", 5)],
            }];
        }
    };
    check_with("0a", &["0/0"], promote("a"), "Kept");
    check_with("0a", &["0/0"], promote("b"), "Broken wrong promotion 1");
}

#[test]
fn computes_recovery_points() {
    let asynchronous =
        |text: &mut HistoryText| text.history.promises.iter_mut().for_each(|it| it.promise = Promise::Local);
    // Writes end at 11, 21, 31 and 51 ms. The fault is at 40 ms.
    check_with(
        "0a 0a 1a X @1 0a",
        &["0/0 0/2"],
        asynchronous,
        "Kept lost unpromised 2 0/1 1/0; point 2 of 2 sessions, run 1, -19000000..-9000000; 1 failovers, outage 30 ms",
    );
    check_with(
        "0a 0a 0a 0a X @1 1a",
        &["0/0 1/0"],
        asynchronous,
        "Kept lost unpromised 3 0/1 0/2 0/3; point 3 of 1 sessions, run 3, -29000000..-9000000; 1 failovers, outage 30 ms",
    );
    check_with(
        "0a 0a @1 0a 0a X 1a",
        &["0/1 0/2 1/0"],
        asynchronous,
        "Broken lost 1 0/3, hole 2 0/0 0/3, lost unpromised 1 0/0; point 1 of 1 sessions, run 1, -49000000..-49000000; 1 failovers, outage 20 ms; fault unseen 0",
    );
}

#[test]
fn finds_outages_after_faults() {
    // Each of the two faults has a separate longest gap.
    check(
        "0a X @1 1a 1a X @2 1f 1f 1f 0a",
        &["0/0 1/0 1/1 0/1"],
        "Kept; 2 failovers, outage 30 ms, outage 60 ms",
    );
    // A gap that contains both faults belongs to both. A gap that contains neither belongs to the fault before it.
    check("0a X X @1 0a", &["0/0 0/1"], "Kept; 1 failovers, outage 40 ms, outage 40 ms");
    check("0a X @1 0a 1f 1f 1f 0a", &["0/0 0/1 0/2"], "Kept; 1 failovers, outage 40 ms");
    // A gap without an end.
    check("0a X @1 1a 1f 1f 1f 1f", &["0/0 1/0"], "Kept; 1 failovers, outage 40 ms");
    // A gap in which no attempt was possible. The first write ends at 11 ms.
    let over = |text: &mut HistoryText| text.history.load_ended = Nanos::from_millis(111);
    check_with(
        "0a X @1",
        &["0/0"],
        over,
        "Unknown; 0 failovers, outage 100 ms; fault unseen 0, silent after 0",
    );
    // A gap that ends at a fault does not belong to that fault, nor does a gap that begins at the next fault.
    let at = |moments: &'static [u64]| {
        move |text: &mut HistoryText| {
            let fault = |ms: &u64| FaultEvent {
                at: Nanos::from_millis(*ms),
                fails_over: false,
                crashes_hosts: false,
            };
            let faults = moments.iter().map(fault);
            text.history.faults = faults.collect();
        }
    };
    check_with("0a 1f 1f 0a 0a", &["0/0 0/1 0/2"], at(&[41]), "Kept; 0 failovers, outage 10 ms");
    check_with(
        "0a 0a 1f 1f 0a",
        &["0/0 0/1 0/2"],
        at(&[15, 21]),
        "Kept; 0 failovers, outage 10 ms, outage 30 ms",
    );
    check_with(
        "0a 0a 1f 1f 0a",
        &["0/0 0/1 0/2"],
        at(&[15, 51]),
        "Unknown; 0 failovers, outage 30 ms; silent after 1",
    );
}

/// Acknowledgements may be out of order and hours apart.
#[test]
fn finds_gaps_between_slots() {
    let mut pulse = success_times::SuccessTimes::default();
    let at = |ms: u64| Nanos::from_secs(4 * 3600) + Nanos::from_millis(ms);
    [0, 5, 3, 40, 1, 38].into_iter().for_each(|it| pulse.add(at(it)));
    pulse.flush();
    let faults = [FaultEvent { at: at(10), fails_over: true, crashes_hosts: false }];
    let outages = pulse.outages(&faults, at(41), ClientKind::New);
    assert_eq!(outages.iter().map(|it| (it.from, it.to)).collect::<Vec<_>>(), [(at(5), at(38))]);

    // Nothing succeeded before the first fault.
    let fault = |ms| FaultEvent { at: at(ms), fails_over: true, crashes_hosts: false };
    let mut late = success_times::SuccessTimes::default();
    [5000, 5010, 5020].into_iter().for_each(|it| late.add(at(it)));
    late.flush();
    let outages = late.outages(&[fault(1000), fault(5015)], at(5030), ClientKind::New);
    let found: Vec<_> = outages.iter().map(|it| (it.from, it.to, it.is_ongoing())).collect();
    assert_eq!(found, [(at(1000), at(5000), false), (at(5020), at(5030), false)]);
}

#[test]
fn computes_loss_probability_bounds() {
    for (failovers, expected) in [(0, 1.0), (1, 0.95), (10, 0.2589), (59, 0.0495), (298, 0.01)] {
        assert!(
            (loss_probability_bound(failovers) - expected).abs() < 5e-5,
            "{failovers}: {}",
            loss_probability_bound(failovers)
        );
    }
}

#[test]
fn counts_all_anomalies_and_names_some() {
    let found = HistoryText::parse(&"0a ".repeat(12), &[""]).judge().anomalies;
    assert_eq!((found[0].count, found[0].examples.len()), (12, EXAMPLES));
    let twice = HistoryText::parse("0a 0a 1a", &["0/0 0/0 0/1 0/1 1/0 1/0"]).judge().anomalies;
    assert_eq!((twice[0].count, twice[0].examples.len()), (3, 3));
}

#[test]
fn counts_writes_by_outcome() {
    let mut text = HistoryText::parse("0a 0l 0f 0u 1u 1f 1!f 2u 2u", &["0/0 0/1 0/3"]);
    let misrouted = WriteOutcome::Failed(model::Code::SqlState(*b"25006"));
    let last =
        text.entries.iter_mut().rfind(|it| matches!(it, LedgerEntry::Completed(it) if it.key.session == 1));
    if let Some(LedgerEntry::Completed(attempt)) = last {
        attempt.outcome = misrouted;
    }
    let counts = text.judge().counts;
    let expected = WriteCounts {
        acknowledged: 1,
        local: 1,
        failed: 2,
        unknown: 4,
        unknown_present: 1,
        unresolved: 0,
        misrouted: 1,
    };
    assert_eq!(counts, expected);
    // In a closed ledger, reserved sequences without an outcome were not used. In an open ledger, this is unknown.
    let reserved = 3 * 1024 - 4 - 2 - 2;
    let ends = [Some(LedgerEnd::Closed), Some(LedgerEnd::Open), Some(LedgerEnd::Torn { bytes: 7 }), None];
    let unresolved_counts = |text: &mut HistoryText| {
        ends.map(|end| {
            text.history.end = end;
            text.judge().counts.unresolved
        })
    };
    assert_eq!(unresolved_counts(&mut text), [0, reserved, reserved, reserved]);
    // A sequence between two completed ones may lack an outcome too.
    text.entries.retain(
        |it| !matches!(it, LedgerEntry::Completed(it) if it.key == WriteKey { session: 0, sequence: 2 }),
    );
    assert_eq!(unresolved_counts(&mut text), [1, reserved + 1, reserved + 1, reserved + 1]);
}

#[test]
fn clock_steps_change_no_verdict() {
    let clocks = |steps: &'static [(u64, u64)]| {
        move |text: &mut HistoryText| {
            let clock = |&(at, wall): &(u64, u64)| LedgerEntry::Clock {
                at: Nanos::from_millis(at),
                wall_us: 1_000_000_000_000 + wall * 1000,
            };
            text.entries.extend(steps.iter().map(clock));
        }
    };
    check_with("0a", &["0/0"], clocks(&[(0, 5), (1000, 1005), (2000, 2400)]), "Kept");
    check_with("0a", &["0/0"], clocks(&[(0, 0), (1000, 1500)]), "Kept");
    check_with("0a", &["0/0"], clocks(&[(0, 0), (1000, 1501)]), "Kept; clock 501000");
    check_with(
        "0a",
        &["0/0"],
        clocks(&[(3_600_000, 3_600_000), (3_601_000, 1000)]),
        "Kept; clock -3600000000",
    );
}
