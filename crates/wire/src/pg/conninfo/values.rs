//! Values of connection settings with their locations.

use super::Diagnostic;
use super::keyword::{self, Effect, Keyword};
use model::message;
use model::message::Message;
use std::collections::BTreeMap;

/// Values of the settings, by the settings' names.
#[derive(Default)]
pub(super) struct Values(BTreeMap<&'static str, Value>);

struct Value {
    text: String,
    location: Message,
}

impl Values {
    /// Sets a value, replacing any earlier value.
    pub fn set(&mut self, name: &str, text: String, place: &Message, diagnostics: &mut Vec<Diagnostic>) {
        // Predecessor of `sslmode` that libpq's manual still documents.
        let (name, text) = match (name, text.as_str()) {
            ("requiressl", "1") => ("sslmode", "require".to_owned()),
            ("requiressl", _) => ("sslmode", "prefer".to_owned()),
            _ => (name, text),
        };
        let Some(keyword) = keyword::find(name) else {
            diagnostics.push(unknown_keyword(name, place));
            return;
        };
        if text.contains('\0') {
            let found = message!("conninfo-nul", name = keyword.name);
            diagnostics.push(Diagnostic::new(place, found, message!("conninfo-leave-out")));
            return;
        }
        self.0.insert(keyword.name, Value { text, location: place.clone() });
    }

    /// Sets a value unless the setting already has one.
    pub fn set_default(
        &mut self,
        name: &str,
        text: String,
        place: &Message,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        if !self.0.contains_key(name) {
            self.set(name, text, place, diagnostics);
        }
    }

    /// Adds values from environment variables. Reports variables that are set but not supported.
    pub fn apply_environment(
        &mut self,
        env: &dyn Fn(&str) -> Option<String>,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        for Keyword { name, env: variable, effect, secret } in keyword::ALL {
            if let Some(text) = Some(variable).filter(|it| !it.is_empty()).and_then(|it| env(it)) {
                let place = message!("conninfo-variable", name = *variable);
                self.set_default(name, text, &place, diagnostics);
            }
            if *name == "sslmode" && env("PGREQUIRESSL").is_some_and(|it| it.starts_with('1')) {
                let place = message!("conninfo-variable", name = "PGREQUIRESSL");
                self.set_default(name, "require".into(), &place, diagnostics);
            }
            if let (Effect::FixedValues(allowed), Some(setting)) = (effect, self.0.get(name)) {
                let obeyed = setting.text.is_empty() || allowed.contains(&setting.text.as_str());
                let shown = if *secret { "***" } else { &setting.text };
                if !obeyed {
                    diagnostics.push(Diagnostic::new(
                        &setting.location,
                        message!("conninfo-unsupported", name = *name, value = shown),
                        message!("conninfo-write-fixed", name = *name),
                    ));
                }
            }
        }
    }

    /// Value of a setting, possibly empty; `None` if it is not set.
    pub fn get_raw(&self, name: &'static str) -> Option<&str> {
        self.0.get(name).map(|it| it.text.as_str())
    }

    /// Value of a setting; `None` if it is empty or not set.
    pub fn get(&self, name: &'static str) -> Option<&str> {
        self.get_raw(name).filter(|it| !it.is_empty())
    }

    /// Diagnostic for the value of `name`.
    pub fn diagnostic(&self, name: &'static str, found: Message, suggestion: Message) -> Diagnostic {
        let place = self.0.get(name).map_or_else(|| Message::text(name), |it| it.location.clone());
        Diagnostic::new(place, found, suggestion)
    }

    /// Returns the value of `name`, which must be one of these keywords.
    pub fn keyword<T: Copy>(
        &self,
        name: &'static str,
        choices: &[(&str, T)],
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<T> {
        let text = self.get(name)?;
        let chosen = choices.iter().find(|it| it.0 == text).map(|it| it.1);
        if chosen.is_none() {
            let words: Vec<&str> = choices.iter().map(|it| it.0).collect();
            let found = message!("conninfo-invalid-value", name, value = text);
            let suggestion = message!("conninfo-write-one-of", values = words.join(", "));
            diagnostics.push(self.diagnostic(name, found, suggestion));
        }
        chosen
    }

    /// Integer value of a setting, in libpq's syntax.
    pub fn number(&self, name: &'static str, diagnostics: &mut Vec<Diagnostic>) -> Option<i32> {
        let text = self.get(name)?;
        let number = text.trim().parse().ok();
        if number.is_none() {
            let found = message!("conninfo-invalid-integer", name, value = text);
            diagnostics.push(self.diagnostic(name, found, message!("conninfo-write-integer")));
        }
        number
    }
}

fn unknown_keyword(name: &str, place: &Message) -> Diagnostic {
    // The text before a `=` may be anything, even a password.
    let shown = name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_') && name.len() < 40;
    let found = message!("conninfo-unknown-option", name = shown.then_some(name));
    let suggestion = match keyword::similar(name) {
        Some(similar) => message!("conninfo-similar-option", name = similar),
        None => message!("conninfo-option-list"),
    };
    Diagnostic::new(place, found, suggestion)
}
