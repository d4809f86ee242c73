//! The section `hooks`.

use super::SetupBuilder;
use crate::file;
use crate::unit::Word;
use model::message;
use model::plan::Hooks;

impl SetupBuilder<'_> {
    pub(super) fn hooks(&mut self, source: file::Hooks) -> Hooks {
        let mut hook = |key: &str, words: Option<Vec<Word>>| {
            let Some(words) = words else { return Vec::new() };
            if words.first().is_none_or(|it| it.0.is_empty()) {
                self.report(&format!("hooks.{key}"), message!("experiment-hook-empty", key));
            }
            self.command(words)
        };
        let before_trial = hook("before_trial", source.before_trial);
        let after_trial = hook("after_trial", source.after_trial);
        let directory = self.request.path.parent().unwrap_or("".as_ref()).to_owned();
        Hooks { before_trial, after_trial, directory }
    }
}
