//! Values of connection settings with their locations.

use super::Diagnostic;
use super::keyword::{self, Effect, Keyword};
use std::collections::BTreeMap;

/// Values of the settings, by the settings' names.
#[derive(Default)]
pub(super) struct Values(BTreeMap<&'static str, Value>);

struct Value {
    text: String,
    location: String,
}

impl Values {
    /// Sets a value, replacing any earlier value.
    pub fn set(&mut self, name: &str, text: String, place: &str, diagnostics: &mut Vec<Diagnostic>) {
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
            diagnostics.push(Diagnostic::new(place, format!("a NUL in the value of {name}"), "leave it out"));
            return;
        }
        self.0.insert(keyword.name, Value { text, location: place.to_owned() });
    }

    /// Sets a value unless the setting already has one.
    pub fn set_default(&mut self, name: &str, text: String, place: &str, diagnostics: &mut Vec<Diagnostic>) {
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
                self.set_default(name, text, &format!("environment variable {variable}"), diagnostics);
            }
            if *name == "sslmode" && env("PGREQUIRESSL").is_some_and(|it| it.starts_with('1')) {
                self.set_default(name, "require".into(), "environment variable PGREQUIRESSL", diagnostics);
            }
            if let (Effect::FixedValues(allowed, instead), Some(setting)) = (effect, self.0.get(name)) {
                let obeyed = setting.text.is_empty() || allowed.contains(&setting.text.as_str());
                let shown = if *secret { "***" } else { &setting.text };
                if !obeyed {
                    diagnostics.push(Diagnostic::new(
                        &setting.location,
                        format!("{name}={shown} is not supported"),
                        *instead,
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
    pub fn diagnostic(&self, name: &'static str, found: String, instead: &str) -> Diagnostic {
        let place = self.0.get(name).map_or(name, |it| &it.location);
        Diagnostic::new(place, found, instead)
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
            let instead = format!("write one of {}", words.join(", "));
            diagnostics.push(self.diagnostic(name, format!("invalid {name} value: \"{text}\""), &instead));
        }
        chosen
    }

    /// Integer value of a setting, in libpq's syntax.
    pub fn number(&self, name: &'static str, diagnostics: &mut Vec<Diagnostic>) -> Option<i32> {
        let text = self.get(name)?;
        let number = text.trim().parse().ok();
        if number.is_none() {
            let found = format!("invalid integer value \"{text}\" for connection option \"{name}\"");
            diagnostics.push(self.diagnostic(name, found, "write a whole number"));
        }
        number
    }
}

fn unknown_keyword(name: &str, place: &str) -> Diagnostic {
    // The text before a `=` may be any text, even a password.
    let shown = name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_') && name.len() < 40;
    let found =
        if shown { format!("invalid connection option \"{name}\"") } else { "no connection option".into() };
    let instead = keyword::similar(name).map_or_else(
        || "the PostgreSQL manual lists them under \"Parameter Key Words\"".to_owned(),
        |it| format!("perhaps {it} is meant"),
    );
    Diagnostic::new(place, found, instead)
}
