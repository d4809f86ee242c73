//! Processes of an attached node, which are found by the address at which they listen

use super::{Collector, Observation};
use crate::client::Address;
use crate::listener::{Listener, ListenerSearch, serves_product};
use model::message;
use model::message::Message;
use model::product::Product;
use std::path::Path;
use std::time::{Duration, Instant};

/// Interval between searches, which read the open files of all processes.
const SEARCH_INTERVAL: Duration = Duration::from_secs(5);

/// Processes that listen at the address of an attached node.
pub(super) struct AttachedProcesses {
    node: String,
    address: Address,
    product: &'static Product,
    pids: Vec<u32>,
    /// True if the program is the node's product. Otherwise, it may forward to another machine or into a container.
    pub is_product: bool,
    next_search: Instant,
    reported: Vec<Message>,
}

impl AttachedProcesses {
    pub(super) fn new(node: &str, address: Address, product: &'static Product) -> AttachedProcesses {
        let (node, pids, is_product, reported) = (node.to_owned(), Vec::new(), true, Vec::new());
        AttachedProcesses { node, address, product, pids, is_product, next_search: Instant::now(), reported }
    }

    /// Process ids of the main processes; empty if they are unknown. Searches again after one of them has ended, such
    /// as at a restart of the server.
    pub(super) fn main_processes(&mut self, collector: &mut Collector) -> &[u32] {
        let runs = |pid: &u32| Path::new(&format!("/proc/{pid}")).exists();
        if !self.pids.is_empty() && self.pids.iter().all(runs) || Instant::now() < self.next_search {
            return &self.pids;
        }
        self.next_search = Instant::now() + SEARCH_INTERVAL;
        self.pids.clear();
        let address = self.address.to_string();
        let note = match ListenerSearch::run(&self.address) {
            ListenerSearch::Found(listeners) => self.take(listeners, collector),
            ListenerSearch::OtherMachine => return &self.pids,
            ListenerSearch::NoSocket => message!("listener-none", address),
            ListenerSearch::Hidden => message!("listener-hidden", address),
        };
        if !self.reported.contains(&note) {
            self.reported.push(note.clone());
            collector.send(Observation::Note { node: self.node.clone(), message: note });
        }
        &self.pids
    }

    /// Takes the processes of the node's product, otherwise those of the first program. Samples of another program have
    /// its name, because they say nothing about the node.
    fn take(&mut self, mut listeners: Vec<Listener>, collector: &mut Collector) -> Message {
        let expected = listeners.iter().position(|it| serves_product(&it.program, self.product));
        self.is_product = expected.is_some();
        let Listener { program, pids } = listeners.swap_remove(expected.unwrap_or(0));
        self.pids = pids;
        let address = self.address.to_string();
        if self.is_product {
            collector.node.clone_from(&self.node);
            return message!("listener-found", program, address);
        }
        collector.node = format!("{program} at {address}");
        message!("listener-other-program", program, address, name = &collector.node)
    }
}
