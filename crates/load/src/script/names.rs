//! Variable names and their slots

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::Arc;

use super::Slot;

/// Names of all variables of a program, by slot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VariableNames {
    by_slot: Vec<Box<str>>,
    /// Slots in the alphabetical order of their names.
    sorted: Vec<Slot>,
}

impl VariableNames {
    /// Slot of the variable `name`; `None` if no script uses it.
    pub fn slot(&self, name: &str) -> Option<Slot> {
        self.find("", name.as_bytes())
    }

    /// Slot of the name `prefix` + `rest`; does not allocate.
    fn find(&self, prefix: &str, rest: &[u8]) -> Option<Slot> {
        let name = || prefix.bytes().chain(rest.iter().copied());
        let at = self.sorted.binary_search_by(|&slot| self[usize::from(slot)].bytes().cmp(name())).ok()?;
        Some(self.sorted[at])
    }
}

impl Deref for VariableNames {
    type Target = [Box<str>];

    fn deref(&self) -> &[Box<str>] {
        &self.by_slot
    }
}

/// Variables in which `\gset` or `\aset` stores the columns of a result.
#[derive(Clone, Debug)]
pub struct ResultStore {
    /// Prefix of each column's name; may be empty.
    pub prefix: Box<str>,
    /// True for `\aset`, which accepts any number of rows and all statements. False for `\gset`, which requires exactly
    /// one row from the last statement.
    pub all_rows: bool,
    pub(super) names: Arc<VariableNames>,
}

/// Error: the text is not a valid variable name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidName;

impl ResultStore {
    /// Slot of `column`; `None` if no script uses the variable. Does not allocate.
    ///
    /// An invalid name is an error even if it is unused: pgbench stops with `error storing into variable …`.
    pub fn slot_of(&self, column: &[u8]) -> Result<Option<Slot>, InvalidName> {
        let starts_badly =
            self.prefix.bytes().chain(column.iter().copied()).next().is_none_or(|b| !starts_name(b));
        if starts_badly || !self.prefix.bytes().chain(column.iter().copied()).all(continues_name) {
            return Err(InvalidName);
        }
        Ok(self.names.find(&self.prefix, column))
    }
}

/// True for a valid variable name: letters, digits, underscores and non-ASCII characters, without a leading digit.
pub fn is_valid_name(name: &str) -> bool {
    name.bytes().next().is_some_and(starts_name) && name.bytes().all(continues_name)
}

pub(super) fn starts_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || !byte.is_ascii()
}

pub(super) fn continues_name(byte: u8) -> bool {
    starts_name(byte) || byte.is_ascii_digit()
}

/// Allocates slots while scripts are parsed.
#[derive(Debug, Default)]
pub(super) struct NameTable {
    slots: HashMap<Box<str>, Slot>,
    by_slot: Vec<Box<str>>,
    /// True if there were more names than slots. The remaining names then have slot 0.
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

    /// Slot of a name; `None` if the name has no slot yet.
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
