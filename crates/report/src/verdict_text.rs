//! Durability verdict of one ledger or history, for a terminal

use crate::findings::paragraph;
use crate::lang::Lang;
use crate::say;
use crate::style::TerminalStyle;
use crate::terminal::sanitise_line;
use crate::text::to_characters;
use model::durability::{Anomaly, AnomalyKind, DurabilityVerdict, InconclusiveReason, ServerInstance};

/// Renders a verdict: conclusion, counts, servers, anomalies and reasons for doubt. `name` is the file or the history.
pub fn render(
    name: &str,
    verdict: &DurabilityVerdict,
    servers: &[ServerInstance],
    style: TerminalStyle,
    lang: &Lang,
) -> String {
    let line =
        |begin: &str, text: &str| paragraph(begin, &to_characters(text, style.characters), style.width);
    let conclusion = lang.conclusion(verdict.conclusion);
    let mut out = line("", &say!(lang, "judge-conclusion", name = sanitise_line(name), conclusion));
    let counts = &verdict.counts;
    out += &line(
        "  ",
        &say!(
            lang,
            "judge-counts",
            acknowledged = counts.acknowledged,
            warned = counts.local,
            failed = counts.failed,
            unknown = counts.unknown,
            unresolved = counts.unresolved
        ),
    );
    out += &line("  ", &losses(verdict, lang));
    for server in servers {
        let timeline = server.timeline.to_string();
        out += &line("  ", &say!(lang, "judge-server", address = sanitise_line(&server.address), timeline));
    }
    for invariant in &verdict.invariants {
        out += &line("  ", &lang.invariant(invariant));
    }
    for anomaly in &verdict.anomalies {
        out += &line("  - ", &anomaly_text(anomaly, lang));
    }
    for doubt in verdict.doubts.iter().filter(|it| !is_about_control(it)) {
        out += &line("  - ", &lang.inconclusive_reason(doubt));
    }
    // A single trial has no control, so this reason is stated only if it is the only one.
    if verdict.doubts.iter().all(is_about_control) {
        verdict.doubts.iter().for_each(|it| out += &line("  - ", &lang.inconclusive_reason(it)));
    }
    out
}

/// Number of lost writes, or that it is unknown.
fn losses(verdict: &DurabilityVerdict, lang: &Lang) -> String {
    let is_loss = |kind| {
        matches!(kind, AnomalyKind::Lost | AnomalyKind::LostAmbiguous | AnomalyKind::LostWithoutPromise)
    };
    let lost: u64 = verdict.anomalies.iter().filter(|it| is_loss(it.kind)).map(|it| it.count).sum();
    let (acknowledged, failovers) = (verdict.counts.acknowledged, verdict.failovers);
    if verdict.doubts.contains(&InconclusiveReason::NotReadBack) {
        return say!(lang, "failover-loss-unknown", acknowledged, failovers);
    }
    say!(lang, "failover-lost", lost, acknowledged, failovers)
}

fn anomaly_text(anomaly: &Anomaly, lang: &Lang) -> String {
    let examples: Vec<String> =
        anomaly.examples.iter().map(|it| format!("{}/{}", it.session, it.sequence)).collect();
    say!(
        lang,
        "judge-anomaly",
        anomaly = lang.anomaly(anomaly.kind),
        count = anomaly.count,
        meaning = lang.anomaly_meaning(anomaly.kind),
        examples = (!examples.is_empty()).then(|| examples.join(", "))
    )
}

fn is_about_control(reason: &InconclusiveReason) -> bool {
    matches!(reason, InconclusiveReason::NoControl | InconclusiveReason::ControlLostNothing)
}
