//! Prepared statements and portals of a session, as far as its requests refer to them

use crate::recording::Unrecorded;
use std::collections::HashMap;
use std::sync::Arc;

/// Statement of the extended query protocol.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Prepared {
    pub text: Arc<str>,
    /// Reason why its Parse is not in the recording, so that no request can use it there.
    pub unrecorded: Option<Unrecorded>,
}

/// Statements or portals by their name. The entry without a name is replaced by the next one.
#[derive(Debug, Default)]
pub(super) struct PreparedMap {
    unnamed: Option<Prepared>,
    named: HashMap<Box<[u8]>, Prepared>,
}

impl PreparedMap {
    #[inline]
    pub fn get(&self, name: &[u8]) -> Option<&Prepared> {
        if name.is_empty() { self.unnamed.as_ref() } else { self.named.get(name) }
    }

    /// Adds or replaces an entry.
    pub fn insert(&mut self, name: &[u8], prepared: Prepared) {
        if name.is_empty() {
            self.unnamed = Some(prepared);
        } else if let Some(entry) = self.named.get_mut(name) {
            *entry = prepared;
        } else {
            self.named.insert(name.into(), prepared);
        }
    }

    /// Adds or replaces a statement. A repeated text is shared.
    pub fn insert_text(&mut self, name: &[u8], text: &str, unrecorded: Option<Unrecorded>) {
        let same = self.get(name).filter(|it| &*it.text == text);
        let text = same.map_or_else(|| text.into(), |it| it.text.clone());
        self.insert(name, Prepared { text, unrecorded });
    }

    pub fn remove(&mut self, name: &[u8]) {
        if name.is_empty() {
            self.unnamed = None;
        } else {
            self.named.remove(name);
        }
    }

    /// Marks an entry as one that is not in the recording.
    pub fn leave_out(&mut self, name: &[u8], reason: Unrecorded) {
        let entry = if name.is_empty() { self.unnamed.as_mut() } else { self.named.get_mut(name) };
        if let Some(entry) = entry {
            entry.unrecorded.get_or_insert(reason);
        }
    }

    pub fn clear(&mut self) {
        self.unnamed = None;
        self.named.clear();
    }
}
