//! Fetches the documents of an assignment from the coordinator

use super::lock;
use super::state::AgentState;
use agent::nats::Nats;
use agent::protocol::{Assign, CHUNK, ChunkRequest, chunk_subject, to_bytes};
use agent::seal::LeaseKey;
use model::message;
use model::message::Message;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Time in which the coordinator sends a chunk; after that, the request is repeated.
const CHUNK_TIMEOUT: Duration = Duration::from_secs(1);

/// Decrypted documents of the assignment. Fails if the lease ends.
pub fn documents(
    nats: &Nats,
    state: &Arc<Mutex<AgentState>>,
    assign: &Assign,
) -> Result<Vec<Vec<u8>>, Message> {
    let key = lock(state).key(&assign.lease).ok_or_else(|| message!("agents-lost-lease"))?;
    let numbers = assign.first_document..;
    numbers
        .zip(&assign.documents)
        .map(|(number, length)| document(nats, state, assign, &key, number, *length))
        .collect()
}

fn document(
    nats: &Nats,
    state: &Arc<Mutex<AgentState>>,
    assign: &Assign,
    key: &LeaseKey,
    document: u32,
    length: u64,
) -> Result<Vec<u8>, Message> {
    let subject = chunk_subject(&assign.lease);
    let mut bytes = Vec::with_capacity(length as usize);
    for chunk in 0..length.div_ceil(CHUNK as u64) {
        let request = to_bytes(&ChunkRequest { agent: assign.agent, document, chunk });
        let sealed = loop {
            if let Ok(sealed) = nats.request(&subject, request.clone(), CHUNK_TIMEOUT) {
                break sealed;
            }
            if !lock(state).is_leased(&assign.lease) {
                return Err(message!("agents-lost-lease"));
            }
            std::thread::sleep(Duration::from_millis(50));
        };
        let opened = key.open(document, chunk, sealed).map_err(|_| message!("agents-lost-damaged"))?;
        bytes.extend_from_slice(&opened);
    }
    if bytes.len() as u64 == length { Ok(bytes) } else { Err(message!("agents-lost-damaged")) }
}
