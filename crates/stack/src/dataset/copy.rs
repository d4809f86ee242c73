//! COPY over several connections at once
//!
//! Each idle connection takes the next block. A single connection sends rows in order; several connections send them in
//! any order.

use super::TableSpec;
use crate::client::{self, Connection};
use crate::interrupt::{self, with_flag};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;

/// Rows for one table.
#[derive(Clone, Copy, Debug)]
pub(super) enum RowSource<'a> {
    /// Rows are generated while they are sent, in blocks of this many rows.
    Generated(&'a TableSpec, u64),
    /// Rows were generated beforehand: row count and bytes of each block.
    Buffered(&'a [(u64, Vec<u8>)]),
}

/// Number of rows and bytes sent so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CopyProgress {
    pub rows: u64,
    pub bytes: u64,
}

impl RowSource<'_> {
    /// Sends the block at index `at`; returns `None` after the last block.
    fn send(&self, at: u64, copy: &mut client::CopyIn<'_>) -> Result<Option<CopyProgress>, client::Error> {
        let mut sent = CopyProgress::default();
        match *self {
            RowSource::Generated(spec, block) => {
                let first = at.saturating_mul(block);
                if first >= spec.rows {
                    return Ok(None);
                }
                let end = spec.rows.min(first + block);
                sent.rows = end - first;
                copy.send(|out| {
                    let from = out.len();
                    (first..end).for_each(|row| (spec.write)(row, out));
                    sent.bytes = (out.len() - from) as u64;
                })?;
            }
            RowSource::Buffered(blocks) => {
                let Some((rows, bytes)) = blocks.get(at as usize) else { return Ok(None) };
                sent = CopyProgress { rows: *rows, bytes: bytes.len() as u64 };
                copy.send(|out| out.extend_from_slice(bytes))?;
            }
        }
        Ok(Some(sent))
    }
}

/// Sends all rows of `source` with the statement `sql` over all connections, one thread each.
///
/// Reports the amount sent so far from the calling thread.
pub(super) fn copy_rows(
    connections: &mut [Connection],
    sql: &str,
    frame: (&[u8], &[u8]),
    source: RowSource<'_>,
    on_progress: &mut dyn FnMut(CopyProgress),
) -> Result<CopyProgress, client::Error> {
    // A failed connection makes the other connections stop.
    let (next, failed) = (AtomicU64::new(0), AtomicBool::new(false));
    let mut total = CopyProgress::default();
    let mut add = |progress: CopyProgress| {
        total = CopyProgress { rows: total.rows + progress.rows, bytes: total.bytes + progress.bytes };
        on_progress(total);
    };
    if let [connection] = connections {
        copy_share(connection, sql, frame, source, &next, &failed, &mut add)?;
        return Ok(total);
    }
    let flag = interrupt::flag();
    let ends = thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        let (next, failed, flag) = (&next, &failed, &flag);
        let workers: Vec<_> = connections
            .iter_mut()
            .map(|connection| {
                let sender = sender.clone();
                scope.spawn(move || {
                    let mut send_progress = |it| sender.send(it).expect("the other end outlives the workers");
                    let mut copy =
                        || copy_share(connection, sql, frame, source, next, failed, &mut send_progress);
                    let end = with_flag(flag.clone(), &mut copy);
                    if end.is_err() {
                        failed.store(true, Ordering::Relaxed);
                    }
                    end
                })
            })
            .collect();
        drop(sender);
        receiver.iter().for_each(add);
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|it| std::panic::resume_unwind(it)))
            .collect::<Vec<_>>()
    });
    let mut errors: Vec<client::Error> = ends.into_iter().filter_map(Result::err).collect();
    // Connections that were stopped report `Stopped`; the first other error is the cause.
    errors.sort_by_key(|it| matches!(it, client::Error::Stopped));
    errors.into_iter().next().map_or(Ok(total), Err)
}

/// Sends blocks over one connection until none is left.
fn copy_share(
    connection: &mut Connection,
    sql: &str,
    (head, tail): (&[u8], &[u8]),
    source: RowSource<'_>,
    next: &AtomicU64,
    failed: &AtomicBool,
    sent: &mut dyn FnMut(CopyProgress),
) -> Result<(), client::Error> {
    let mut copy = connection.copy_in(sql)?;
    if !head.is_empty() {
        copy.send(|out| out.extend_from_slice(head))?;
    }
    loop {
        if failed.load(Ordering::Relaxed) {
            // The COPY is dropped unfinished, so it fails at the server.
            return Err(client::Error::Stopped);
        }
        match source.send(next.fetch_add(1, Ordering::Relaxed), &mut copy) {
            Ok(Some(it)) => sent(it),
            Ok(None) => break,
            Err(error) => return Err(error),
        }
    }
    if !tail.is_empty() {
        copy.send(|out| out.extend_from_slice(tail))?;
    }
    copy.finish()?;
    Ok(())
}
