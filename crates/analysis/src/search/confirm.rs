//! How is a level approached, and held for long?

use model::plan::{Confirm, Scale};
use model::search::{Stage, Step};

/// The one step of a confirmation. Its window is the hold alone: [`super::judge`] looks at the trial's last seconds, as many
/// as the window is long.
pub fn confirm(level: f64, asked: &Confirm) -> Step {
    let window = asked.hold;
    Step { scale: Scale::Rate, level, stage: Stage::Confirm, window, nudge: None, round: 0 }
}

/// The whole trial in Yandex.Tank's grammar: a smooth ramp, if there is one, and a hold. `rate` is one operation's part of
/// the level. Times are whole seconds there, at least one.
pub fn schedule(rate: f64, asked: &Confirm) -> String {
    let seconds = |it: model::Nanos| (it.as_secs_f64().round() as u64).max(1);
    let hold = format!("const({rate},{}s)", seconds(asked.hold));
    if asked.ramp.0 == 0 { hold } else { format!("line(0,{rate},{}s) {hold}", seconds(asked.ramp)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Nanos;
    use model::plan::Level;

    #[test]
    fn schedules() {
        for (rate, ramp, hold, expected) in [
            (646.0, 60, 300, "line(0,646,60s) const(646,300s)"),
            (23.8, 1, 60, "line(0,23.8,1s) const(23.8,60s)"),
            (100.0, 0, 60, "const(100,60s)"),
        ] {
            let level = Level::Given { level: rate, of: None };
            let asked = Confirm { level, ramp: Nanos::from_secs(ramp), hold: Nanos::from_secs(hold) };
            assert_eq!(schedule(rate, &asked), expected);
            let step = confirm(rate, &asked);
            assert_eq!((step.level, step.stage, step.window), (rate, Stage::Confirm, asked.hold));
        }
    }
}
