//! Transaction ids that the server assigned

use super::cells::ColumnMapping;
use super::{Probe, ProbeRequest, ProbeTarget, counter};
use model::{Series, Unit};
use std::time::Duration;

pub(super) static PROBE: Probe = Probe {
    name: "pg_transaction_ids",
    target: ProbeTarget::Postgres,
    period: Duration::from_secs(5),
    series: &SERIES,
    request: |_| Some(ProbeRequest::Sql(SQL)),
    read: |answer, out| ColumnMapping::new(&SERIES).read(answer.rows()?, out),
};

static SERIES: [Series; 1] = [counter(
    "pg_transaction_ids",
    Unit::Count,
    "Transaction ids assigned to transactions and subtransactions that write; txid_snapshot_xmax",
)];

const SQL: &str = "select '' as label, txid_snapshot_xmax(txid_current_snapshot()) as pg_transaction_ids";
