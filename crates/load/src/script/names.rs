//! Which slot belongs to which variable name?

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::Arc;

use super::Slot;

/// The names of all variables of a program, by slot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VariableNames {
    by_slot: Vec<Box<str>>,
    /// All slots, in the order of their names.
    sorted: Vec<Slot>,
}

impl VariableNames {
    /// The slot of `name`, if any script reads or sets it.
    pub fn slot(&self, name: &str) -> Option<Slot> {
        self.find("", name.as_bytes())
    }

    /// The slot of the name `prefix` + `rest`; does not allocate.
    fn find(&self, prefix: &str, rest: &[u8]) -> Option<Slot> {
        let wanted = || prefix.bytes().chain(rest.iter().copied());
        let at = self.sorted.binary_search_by(|&slot| self[usize::from(slot)].bytes().cmp(wanted())).ok()?;
        Some(self.sorted[at])
    }
}

impl Deref for VariableNames {
    type Target = [Box<str>];

    fn deref(&self) -> &[Box<str>] {
        &self.by_slot
    }
}

/// `\gset` and `\aset`: which variables the columns of a result are kept in.
#[derive(Clone, Debug)]
pub struct ResultStore {
    /// Stands before each column's name; empty for the plain name.
    pub prefix: Box<str>,
    /// `\aset`: rows of all statements, none expected; otherwise exactly one row, of the last statement.
    pub all_rows: bool,
    pub(super) names: Arc<VariableNames>,
}

/// A variable cannot be called so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidName;

impl ResultStore {
    /// The slot that keeps `column`; `None` if no script uses the variable. Does not allocate.
    ///
    /// An invalid name is an error even if nobody uses it: pgbench stops with `error storing into variable …`.
    pub fn slot_of(&self, column: &[u8]) -> Result<Option<Slot>, InvalidName> {
        let starts_badly =
            self.prefix.bytes().chain(column.iter().copied()).next().is_none_or(|b| !starts_name(b));
        if starts_badly || !self.prefix.bytes().chain(column.iter().copied()).all(continues_name) {
            return Err(InvalidName);
        }
        Ok(self.names.find(&self.prefix, column))
    }
}

/// Whether a variable may be called `name`: letters, digits, underscores and anything beyond ASCII, not a digit first.
pub fn is_valid_name(name: &str) -> bool {
    name.bytes().next().is_some_and(starts_name) && name.bytes().all(continues_name)
}

pub(super) fn starts_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || !byte.is_ascii()
}

pub(super) fn continues_name(byte: u8) -> bool {
    starts_name(byte) || byte.is_ascii_digit()
}

/// Gives out slots while scripts are read.
#[derive(Debug, Default)]
pub(super) struct NameTable {
    slots: HashMap<Box<str>, Slot>,
    by_slot: Vec<Box<str>>,
    /// More names were asked for than there are slots; the extra ones got slot 0.
    pub overflowed: bool,
}

impl NameTable {
    pub fn slot(&mut self, name: &str) -> Slot {
        if let Some(&slot) = self.slots.get(name) {
            return slot;
        }
        let Ok(slot) = Slot::try_from(self.by_slot.len()) else {
            self.overflowed = true;
            return 0;
        };
        self.slots.insert(name.into(), slot);
        self.by_slot.push(name.into());
        slot
    }

    /// The slot of a name that somebody has asked for.
    pub fn get(&self, name: &str) -> Option<Slot> {
        self.slots.get(name).copied()
    }

    pub fn name(&self, slot: Slot) -> &str {
        &self.by_slot[usize::from(slot)]
    }

    pub fn names(&self) -> &[Box<str>] {
        &self.by_slot
    }

    pub fn finish(self) -> VariableNames {
        let mut sorted: Vec<Slot> = self.slots.into_values().collect();
        sorted.sort_unstable_by_key(|&slot| &self.by_slot[usize::from(slot)]);
        VariableNames { by_slot: self.by_slot, sorted }
    }
}
