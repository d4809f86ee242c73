//! Discovery of agents

use crate::cli::CommandError;
use agent::nats::Nats;
use agent::protocol::{Announcement, DISCOVER, from_bytes};
use std::fs;
use std::io::Read;
use std::time::Duration;

/// Time in which agents answer to a discovery.
const DISCOVERY: Duration = Duration::from_millis(700);

/// Agents that answer to a discovery, ordered by identifier.
pub fn discover(nats: &Nats, enough: usize) -> Vec<Announcement> {
    let answers = nats.gather(DISCOVER, Vec::new(), DISCOVERY, enough);
    let mut found: Vec<Announcement> = answers.iter().filter_map(|it| from_bytes(it)).collect();
    found.sort_by(|a, b| a.agent.cmp(&b.agent));
    // Both agents of one name would take the assignments of one.
    found.dedup_by(|next, first| {
        let is_same = next.agent == first.agent;
        first.duplicate |= is_same;
        is_same
    });
    found
}

/// Random identifier, one word of a NATS subject.
pub fn random_id() -> Result<String, CommandError> {
    let mut bytes = [0; 8];
    fs::File::open("/dev/urandom").and_then(|mut it| it.read_exact(&mut bytes))?;
    Ok(format!("{:016x}", u64::from_ne_bytes(bytes)))
}
