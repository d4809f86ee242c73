//! Setup updates for the display: transient or permanent

use super::test_bed::Update;
use report::live::{Activity, Milestone};
use stack::chain::ChainProgress;
use stack::dataset::Stage;
use stack::restore::CachePreparation;
use std::time::Duration;

/// Minimum interval between two updates about the number of loaded rows.
pub const LOADING_INTERVAL: Duration = Duration::from_millis(200);

#[derive(Clone, Debug, PartialEq)]
pub enum DisplayUpdate {
    Transient(Activity),
    Permanent(Milestone),
}

/// Form in which an update is displayed; `None` for an update that takes no time and has no information for the user.
pub fn display_update(update: &Update<'_>) -> Option<DisplayUpdate> {
    Some(match update {
        Update::Chain(ChainProgress::Fetching(major)) => {
            DisplayUpdate::Transient(Activity::Fetching { major: *major })
        }
        Update::Chain(ChainProgress::Starting(node)) => {
            DisplayUpdate::Transient(Activity::Starting { node: node.name.clone() })
        }
        Update::Chain(ChainProgress::Ready(node, took)) => {
            DisplayUpdate::Permanent(Milestone::Ready { node: node.plan.name.clone(), took: (*took).into() })
        }
        Update::Chain(ChainProgress::Stopping(_)) => return None,
        Update::Loading(Stage::Rows(sent), total) => {
            DisplayUpdate::Transient(Activity::Loading { sent: *sent, total: *total })
        }
        Update::Loading(Stage::Dropping, _) => DisplayUpdate::Transient(Activity::Dropping),
        Update::Loading(Stage::Keys, _) => DisplayUpdate::Transient(Activity::Keys),
        Update::Loading(Stage::Dump, _) => DisplayUpdate::Transient(Activity::RestoringDump),
        Update::Loading(Stage::Statistics, _) => DisplayUpdate::Transient(Activity::Statistics),
        Update::Loaded(load) if load.reused => {
            DisplayUpdate::Permanent(Milestone::AlreadyLoaded { rows: load.rows })
        }
        Update::Loaded(load) => {
            let (rows, took, rate) = (load.rows, load.took.into(), model::PerSecond(load.rows_per_second));
            DisplayUpdate::Permanent(Milestone::Loaded { rows, took, rate })
        }
        Update::DataReused(copy) => {
            DisplayUpdate::Permanent(Milestone::DataReused { bytes: copy.bytes, took: copy.took.into() })
        }
        Update::DataStored(copy) => {
            DisplayUpdate::Permanent(Milestone::DataStored { bytes: copy.bytes, took: copy.took.into() })
        }
        Update::ReadingSource => DisplayUpdate::Transient(Activity::ReadingSource),
        Update::SourceRead(dump) => {
            let (address, database) = (dump.snapshot.address.clone(), dump.snapshot.database.clone());
            let bytes = dump.files.iter().map(|it| it.bytes).sum();
            let at = dump.snapshot.taken_at.clone();
            DisplayUpdate::Permanent(Milestone::SourceRead { address, database, at, bytes })
        }
        Update::Sampled(table, rows) => DisplayUpdate::Permanent(Milestone::Sampled {
            table: (*table).to_owned(),
            kept: rows.kept,
            total: rows.total,
        }),
        Update::Restored(it) => DisplayUpdate::Transient(Activity::Restored { took: it.took.into() }),
        Update::DataUnchanged => DisplayUpdate::Transient(Activity::DataUnchanged),
        Update::Warmed(CachePreparation::ColdUnavailable) => {
            DisplayUpdate::Permanent(Milestone::CacheNotCold)
        }
        Update::StaleDirectory(it) => DisplayUpdate::Permanent(Milestone::StaleDirectory((*it).clone())),
        Update::Warmed(_) => DisplayUpdate::Transient(Activity::Warmed),
    })
}
