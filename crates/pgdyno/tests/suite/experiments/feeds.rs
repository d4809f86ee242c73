//! A feed whose rows are used once each may end the load before its planned end

use super::workspace::Workspace;

const YAML: &str = "
stack: { postgres: {} }
feeds: { few: { order: once, rows: [{ n: 1 }, { n: 2 }, { n: 3 }, { n: 4 }, { n: 5 }, { n: 6 }, { n: 7 }, { n: 8 }] } }
operations: { one: { feed: few, sql: 'SELECT :n' } }
objectives: [ 'tps > 1', 'errors < 50%' ]
";

/// Load, and whether it ends before its planned end.
const LOADS: [(&str, bool); 4] = [
    ("{ model: closed, clients: 2, threads: 2, duration: 60s }", true),
    ("{ model: open, schedule: 'const(20, 60s)', max_in_flight: 4 }", true),
    // Eight arrivals, and eight rows.
    ("{ model: open, schedule: 'const(4, 2s)', max_in_flight: 4 }", false),
    // The second operation continues, and only the first client draws from the feed.
    ("{ model: closed, clients: 2, threads: 2, think: 100ms, duration: 60s }", true),
];

#[test]
fn a_feed_that_ends_the_load_early_is_reported_and_meets_no_objective() {
    for (load, ends_early) in LOADS {
        let workspace = Workspace::new("once", &format!("{YAML}load: {load}\n"));
        let ended = workspace.run(&["--json"]);
        let document = ended.expect(if ends_early { 4 } else { 0 }).document();
        let trial = &document["matrix"]["rows"][0]["trials"][0];
        let mut doubts = trial["doubts"].as_array().cloned().unwrap_or_default();
        doubts.retain(|doubt| doubt["kind"] == "feed_exhausted");
        let objectives: Vec<_> =
            document["matrix"]["objectives"].as_array().expect("the value is an array").iter().collect();
        let (met, unknown) = if ends_early { (0, 1) } else { (1, 0) };
        for objective in objectives {
            assert_eq!(
                (objective["met"].as_u64(), objective["unknown"].as_u64()),
                (Some(met), Some(unknown)),
                "{load}: {objective}"
            );
        }
        let sentence = "a feed with `order: once` has only 8 rows";
        assert_eq!(ended.err.contains(sentence), ends_early, "{load}: {}", ended.err);
        if !ends_early {
            assert!(doubts.is_empty(), "{load}: {doubts:?}");
            continue;
        }
        assert_eq!(doubts[0]["rows"].as_u64(), Some(8));
        let end = |name: &str| doubts[0][name].as_f64().expect("the value is a number");
        assert!(end("at_ns") < 0.5 * end("planned_ns"), "{load}: {doubts:?}");
    }
}
