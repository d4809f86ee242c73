//! Tests of the texts about reads on replicas

use super::*;
use model::freshness::{FreshnessResult, ReplicaFreshness, StaleReads};

pub(super) fn texts(lang: &Lang) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let mut add = |name: String, text: &str| all.push((name, text.to_owned()));
    let bound = Nanos::from_secs(5);
    add("visible".to_owned(), &lang.visible("№"));
    add("unseen".to_owned(), &lang.not_visible(bound));
    for is_kept in [true, false] {
        add("applied".to_owned(), &lang.remote_apply(is_kept));
    }
    for all in [1, 2, 21, 12_345] {
        for old in [0, 1, all] {
            let share = StaleReads { stale: old, total: all, interval: (0.001, 0.987) };
            add("in turn".to_owned(), &lang.round_robin(&share));
            for count in [0, 1, 2, 5] {
                let replica = ReplicaFreshness {
                    node: NODE.to_owned(),
                    stale: Some(share),
                    unanswered: 0,
                    p50: None,
                    p90: None,
                    p99: None,
                    not_visible: 0,
                };
                let result = FreshnessResult {
                    cell: 0,
                    trials: 1,
                    bound,
                    acknowledged: all,
                    promised: false,
                    replicas: vec![replica; count],
                    round_robin: None,
                };
                add("own".to_owned(), &lang.own_writes(&result, if count == 1 { "№" } else { "" }));
            }
        }
    }
    all
}
