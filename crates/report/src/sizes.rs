//! Sizes of HTTP answers for a terminal.

use crate::findings::lines;
use crate::lang::Lang;
use crate::matrix::{Style, names};
use crate::page::sizes;
use model::account::Account;

/// A table by cell and operation; empty where there are no sizes.
pub fn text(account: &Account, style: Style, lang: &dyn Lang) -> String {
    let table = sizes(account, &names(&account.matrix), lang);
    table.map_or(String::new(), |it| format!("\n{}", lines(&it, style)))
}
