//! Notification of the end of a run, for webhooks

use crate::bound::{Figure, key_figures};
use crate::closing::{self, Closing};
use crate::lang::Lang;
use crate::say;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use model::run_result::{RunResult, RunState};
use serde::Serialize;

/// Maximum number of pictures. A run may search the maximum of many cells.
const PICTURES_MAX: usize = 4;

/// Body of the request to a webhook.
#[derive(Debug, Serialize)]
pub struct Notification {
    /// State, answer, verdict and doubts of the run as plain text with several lines. Chat servers that follow Slack's
    /// webhooks show this text, and ignore the other members.
    pub text: String,
    /// Name of the experiment.
    pub experiment: String,
    /// File name of the run without `.dyno`.
    pub run: String,
    pub state: RunState,
    /// Exit status of the command, 0..=99.
    pub exit_status: u8,
    /// Start and end of the run, Unix time in milliseconds.
    pub started_ms: u64,
    pub ended_ms: Option<u64>,
    /// The answer in one or more lines.
    pub answer: Vec<String>,
    /// Verdict on the trials; `null` if nothing was measured.
    pub verdict: Option<String>,
    pub doubts: Vec<String>,
    /// Pictures of the result; empty if nothing was measured.
    pub pictures: Vec<NotificationPicture>,
}

#[derive(Debug, Serialize)]
pub struct NotificationPicture {
    pub caption: String,
    /// Always `image/png`.
    pub media_type: &'static str,
    pub base64: String,
}

/// Builds the notification of a run that ended with `exit_status`.
pub fn notification(result: &RunResult, exit_status: u8, lang: &Lang) -> Notification {
    let lang = lang.for_experiment(&result.experiment);
    let info = &result.info;
    let Closing { answer, verdict, doubts, .. } = closing::for_run(result, Vec::new(), lang);
    let state = lang.state(info.state, info.reason.as_ref());
    let state = state.unwrap_or_else(|| lang.run_state(info.state));
    let title = say!(lang, "notification-title", run = &info.name, state);
    let doubt_lines = doubts.iter().map(|it| format!("- {it}"));
    let lines: Vec<String> =
        [title].into_iter().chain(answer.clone()).chain(verdict.clone()).chain(doubt_lines).collect();
    let picture = |figure: Figure| NotificationPicture {
        base64: STANDARD.encode(figure.png()),
        caption: figure.caption,
        media_type: "image/png",
    };
    Notification {
        text: lines.join("\n"),
        experiment: result.experiment.name.clone(),
        run: info.name.clone(),
        state: info.state,
        exit_status,
        started_ms: info.started_ms,
        ended_ms: info.ended_ms,
        answer,
        verdict,
        doubts,
        pictures: key_figures(result, lang).into_iter().take(PICTURES_MAX).map(picture).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::{english, russian};
    use crate::page::tests::sample_runs;
    use expect_test::{Expect, expect};

    fn check(kind: &str, lang: &Lang, expected: &Expect) {
        let all = sample_runs();
        let run = &all.iter().find(|it| it.0 == kind).expect("a kind of run").1;
        let Notification { text, state, exit_status, pictures, .. } = notification(run, 99, lang);
        let mut out = format!("{text}\n{state:?} {exit_status}\n");
        for NotificationPicture { caption, base64, .. } in pictures {
            let bytes = STANDARD.decode(base64).expect("base64");
            assert!(bytes.starts_with(b"\x89PNG\r\n"));
            out += &format!("picture: {caption}\n");
        }
        expected.assert_eq(&out);
    }

    #[test]
    fn has_the_answer_and_a_picture() {
        check(
            "maximum",
            english(),
            &expect![[r#"
            pools-20251121-144000: complete
            The system sustains 646 arrivals per second. Limit: disk reads of postgres.
            Verdict: valid (2 of 2 trials valid)
            Complete 99
            picture: All steps of the search (6): rates and response times by level. A cross marks a level that was not sustained, a ring a trial that does not count.
        "#]],
        );
        check(
            "matrix",
            russian(),
            &expect![[r#"
            pools-20251121-144000: завершён
            pooled: 18 120/с, это 0,84 от 21 570/с в direct; p99 12,3 мс против 12,3 мс.
            Оценка: верно с оговорками (верных измерений: 4 из 4)
            - измерено без ограничений, которые не удалось применить: pooler.cpu: /sys/fs/cgroup/cpu: Read-only file system
            - в 1 из 4 измерений: поток 1 генератора ждал ЦП 6 % времени, и время ответа включает это
            Complete 99
            picture: Пропускная способность ячеек: медиана измерений и 95 % ДИ
        "#]],
        );
        check(
            "failover",
            english(),
            &expect![[r#"
            pools-20251121-144000: complete
            pooled: 21 of 48120 acknowledged writes were lost in 20 failovers; no setting promised that they survive.
            Verdict: valid with doubts (4 of 4 trials valid)
            - measured without limits that could not be applied: pooler.cpu: /sys/fs/cgroup/cpu: Read-only file system
            - in 1 of 4 trials: thread 1 of the generator waited for a CPU 6 % of the time, and response times include this
            Complete 99
            picture: Successful transactions per second around the fault, in 1 trial
        "#]],
        );
    }
}
