//! Loads that send a recording: the model `replay`, and the recorded mix of an open load.

use super::SetupBuilder;
use super::recorded::is_recorded;
use crate::diagnostic::quote;
use crate::file::{self, Model};
use crate::{RecordedUnit, Recording, ScheduleExtent};
use model::Nanos;
use model::message;
use model::plan::{LoadModel, Operation, OperationKind, RecordingFile};

/// Smallest and largest speed.
const SPEED: (f64, f64) = (0.01, 1000.0);

impl SetupBuilder<'_> {
    /// Recording whose requests the load sends; `None` if there is none or if it cannot be read.
    pub(super) fn recording(&mut self, source: &file::Load) -> Option<Recording> {
        let unit = match source.model {
            Model::Replay => RecordedUnit::Request,
            _ if is_mix(source) => RecordedUnit::Transaction,
            _ => return None,
        };
        let path = source.traffic.as_ref()?;
        let folder = self.request.path.parent().unwrap_or(self.request.path).to_owned();
        let read = (self.request.recording)(&folder.join(path), unit);
        let reason = match read {
            Ok(recording) if recording.operations.is_empty() => match unit {
                RecordedUnit::Request => message!("experiment-recording-empty"),
                RecordedUnit::Transaction => message!("experiment-recording-unfinished"),
            },
            Ok(recording) => return Some(recording),
            Err(reason) => reason,
        };
        let message = message!("experiment-recording-unreadable", file = quote(path), reason);
        self.report("load.traffic", message);
        None
    }

    /// Builds the load of a replay.
    pub(super) fn replay(
        &mut self,
        source: &file::Load,
        recording: Option<&Recording>,
    ) -> (LoadModel, ScheduleExtent) {
        let others = [
            ("clients", source.clients.is_some()),
            ("users", source.users.is_some()),
            ("think", source.think.is_some()),
            ("pacing", source.pacing.is_some()),
            ("max_rate", source.max_rate.is_some()),
            ("coefficient", source.coefficient.is_some()),
            ("schedule", source.schedule.is_some()),
            ("arrivals", source.arrivals.is_some()),
            ("max_in_flight", source.max_in_flight.is_some()),
            ("slack", source.slack.is_some()),
            ("duration", source.duration.is_some()),
            ("warmup", source.warmup.is_some()),
            ("query_mode", source.query_mode.is_some()),
            ("reconnect", source.reconnect.is_some()),
            ("cookies", source.cookies.is_some()),
            ("max_tries", source.max_tries.is_some()),
        ];
        self.not_with(source, "replay", &others);
        self.needs("replay", "traffic", source.traffic.is_some());
        let speed = self.speed(source);
        let file = recording.map_or_else(no_recording, |it| it.file.clone());
        let duration = file.duration_at(speed);
        let max_rate = file.requests_per_second_max as f64 * speed;
        (LoadModel::Replay { recording: file, speed }, ScheduleExtent { duration, max_rate })
    }

    /// Speed at which recorded times pass. A speed out of range is reported, and the nearest one is used.
    pub(super) fn speed(&mut self, source: &file::Load) -> f64 {
        let (min, max) = SPEED;
        let speed = source.speed.unwrap_or(1.0);
        if !(min..=max).contains(&speed) {
            let (value, min, max) = (speed.to_string(), min.to_string(), max.to_string());
            self.report("load.speed", message!("experiment-out-of-range", key = "speed", value, min, max));
        }
        speed.clamp(min, max)
    }

    /// Reports settings that a load cannot have whose transactions are recorded.
    pub(super) fn check_recorded_mix(&mut self, source: &file::Load, has_on_start: bool) {
        let others = [
            ("load.coefficient", source.coefficient.is_some()),
            ("load.duration", source.duration.is_some()),
            ("load.query_mode", source.query_mode.is_some()),
            ("load.reconnect", source.reconnect.is_some()),
            ("load.cookies", source.cookies.is_some()),
            ("load.max_tries", source.max_tries.is_some()),
            ("load.speed", source.speed.is_some()),
            ("on_start", has_on_start),
        ];
        for (path, _) in others.iter().filter(|it| it.1) {
            let key = path.trim_start_matches("load.");
            self.report(path, message!("experiment-traffic-key", key));
        }
    }

    /// Operations of a recording: its statements or its kinds of transactions.
    pub(super) fn recorded_operations(
        &mut self,
        given: &[(String, file::Operation)],
        recording: Option<Recording>,
    ) -> Vec<Operation> {
        if !given.is_empty() {
            self.report("operations", message!("experiment-replay-operations"));
        }
        let operations = recording.map(|it| it.operations).unwrap_or_default();
        let operation = |(name, kind, count): (String, OperationKind, u64)| Operation {
            kind,
            preflight: false,
            ..Operation::script(&name, u32::try_from(count).unwrap_or(u32::MAX).max(1), "")
        };
        operations.into_iter().map(operation).collect()
    }
}

/// True if the load sends the transactions of a recording on its own schedule.
pub(super) fn is_mix(source: &file::Load) -> bool {
    source.model == Model::Open && source.traffic.is_some() && !is_recorded(source)
}

/// Recording in place of one that cannot be read, which is already reported.
fn no_recording() -> RecordingFile {
    RecordingFile {
        path: Default::default(),
        bytes: 0,
        duration: Nanos::ZERO,
        requests: 0,
        requests_per_second_max: 0,
        sessions: 0,
        sessions_max: 1,
    }
}
