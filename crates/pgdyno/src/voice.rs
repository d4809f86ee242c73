//! How does the program speak on standard error? As pgbench: `pgbench: error: …`, then detail and hint.

pub mod language;

use crate::bench::options::Mistake;
use report::plot::Characters;

/// Speaks under the name by which the program was called.
#[derive(Clone, Debug)]
pub struct Voice {
    pub program: String,
}

impl Voice {
    pub fn error(&self, what: &str) {
        self.say("error: ", what);
    }

    pub fn warning(&self, what: &str) {
        self.say("warning: ", what);
    }

    pub fn detail(&self, what: &str) {
        self.say("detail: ", what);
    }

    pub fn hint(&self, what: &str) {
        self.say("hint: ", what);
    }

    pub fn info(&self, what: &str) {
        self.say("", what);
    }

    /// One message is one write, so that those of several threads do not mix.
    fn say(&self, kind: &str, what: &str) {
        errln!("{}: {kind}{}", self.program, what.trim_end());
    }

    /// All mistakes, each with what to write instead.
    pub fn mistakes(&self, all: &[Mistake]) {
        for it in all {
            self.error(&it.what);
            if let Some(detail) = &it.detail {
                self.detail(detail);
            }
            self.hint(&it.instead);
        }
        self.hint(&format!("Try \"{} --help\" for more information.", self.program));
    }
}

/// What the terminal can show, by the locale.
pub fn characters() -> Characters {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok().filter(|it| !it.is_empty()));
    let locale = locale.unwrap_or_default().to_ascii_lowercase();
    let utf8 = locale.contains("utf-8") || locale.contains("utf8");
    if utf8 { Characters::Utf8 } else { Characters::Ascii }
}

/// The system's words, without a number that only a programmer understands.
pub fn plain(error: &impl ToString) -> String {
    let words = error.to_string();
    words.split(" (os error").next().unwrap_or_default().to_owned()
}

/// Why the work could not be done, and what may help.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trouble {
    pub what: String,
    pub hint: Option<String>,
}

impl Trouble {
    pub fn new(what: impl Into<String>) -> Trouble {
        Trouble { what: what.into(), hint: None }
    }

    pub fn hint(self, hint: impl Into<String>) -> Trouble {
        Trouble { hint: Some(hint.into()), ..self }
    }

    pub fn tell(&self, voice: &Voice) {
        voice.error(&self.what);
        if let Some(hint) = &self.hint {
            voice.hint(hint);
        }
    }
}
