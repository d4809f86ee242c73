//! The slack of an open load reaches the generator and the result

use super::workspace::Workspace;

/// A busy machine only makes the lag longer.
#[test]
fn a_slack_delays_arrivals_and_is_stored() {
    let yaml = "stack: { postgres: {} }
operations: { one: { sql: SELECT 1 } }
load: { model: open, schedule: \"const(200, 2s)\", max_in_flight: 20, slack: 50ms }
";
    let workspace = Workspace::new("slack", yaml);
    let ended = workspace.run(&[]);
    let trials = workspace.stored().trials().expect("the run can be read");
    let summary = trials[0].summary.as_ref().unwrap_or_else(|| panic!("no measurement: {}", ended.err));
    assert_eq!(summary["plan"]["model"]["slack_ns"], 50_000_000);
    let median = summary["generator"]["send_lag"]["p50_ns"].as_u64().expect("hundreds of arrivals");
    assert!(median >= 10_000_000, "the median lag is {median} ns");
}
