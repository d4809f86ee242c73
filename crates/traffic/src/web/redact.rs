//! Placeholders in place of secrets
//!
//! The same secret has the same placeholder everywhere in a recording, so that the import finds which response a value came
//! from. Placeholders depend on a random key that is not stored, so that no secret can be guessed from them.

use super::distinctive::is_distinctive;
use super::parts::{ExchangePart, edit};
use super::secrets::{self, is_secret_name};
use super::{convert, markup, url};
use crate::proxy::http::HttpExchange;
use hmac::{Hmac, KeyInit, Mac};
use model::percent_encode;
use sha2::Sha256;
use std::collections::HashMap;

/// Shortest secret that is replaced outside of its own fields, and shortest one that consists of digits.
const ANYWHERE_MIN: usize = 6;
const DIGITS_MIN: usize = 8;
/// Length from which a secret is also replaced within a longer word.
const WITHIN_WORDS_MIN: usize = 16;

/// Replaces the secrets of a recording.
#[derive(Clone, Debug)]
pub(super) struct Redactor {
    key: [u8; 32],
    /// Written forms of the secrets, with their placeholders, by their first bytes.
    by_beginning: HashMap<[u8; ANYWHERE_MIN], Vec<(String, String)>>,
    /// Secrets and their placeholders.
    placeholders: HashMap<String, String>,
}

impl Redactor {
    /// Redactor for the secrets of all exchanges. `key` is random.
    pub fn new(key: [u8; 32], exchanges: &mut [HttpExchange]) -> Redactor {
        let mut redactor = Redactor { key, by_beginning: HashMap::new(), placeholders: HashMap::new() };
        for exchange in exchanges {
            edit(exchange, &mut |part| {
                redactor.learn(part);
                None
            });
        }
        for candidates in redactor.by_beginning.values_mut() {
            candidates.sort_by_key(|candidate| std::cmp::Reverse(candidate.0.len()));
        }
        redactor
    }

    /// Replaces all secrets of an exchange.
    pub fn redact(&mut self, exchange: &mut HttpExchange) {
        edit(exchange, &mut |part| Some(self.replace(part)));
    }

    /// Number of different secrets.
    pub fn secrets(&self) -> usize {
        self.placeholders.len()
    }

    /// Remembers the secrets of a part.
    fn learn(&mut self, part: ExchangePart<'_>) {
        let text = match part {
            ExchangePart::Secret(value) => return self.add(value, true),
            ExchangePart::Cookie(value) => return self.add(value, is_distinctive(&canonical(value))),
            ExchangePart::Text(text) => text,
            ExchangePart::Fields(text) => {
                secrets::fields(text).into_iter().for_each(|field| self.add(&text[field.1], true));
                text
            }
            ExchangePart::Document { text, is_script } => {
                let values = if is_script { markup::script_values(text) } else { markup::values(text) };
                let secret = values.into_iter().filter(|value| is_secret_name(&value.name));
                secret.for_each(|value| self.add(&value.value, true));
                text
            }
        };
        for (at, _) in text.match_indices("eyJ") {
            if let Some(length) = convert::json_web_token(&text[at..]) {
                self.add(&text[at..at + length], true);
            }
        }
    }

    fn add(&mut self, value: &str, is_replaced_anywhere: bool) {
        let secret = canonical(value);
        if secret.is_empty() {
            return;
        }
        let placeholder = self.placeholder(&secret);
        self.placeholders.insert(secret.clone(), placeholder.clone());
        let is_number = secret.bytes().all(|byte| byte.is_ascii_digit());
        if !is_replaced_anywhere || is_number && secret.len() < DIGITS_MIN {
            return;
        }
        for form in [value.to_owned()].into_iter().chain(written_forms(&secret)) {
            let Some(beginning) = form.as_bytes().first_chunk() else { continue };
            let candidates = self.by_beginning.entry(*beginning).or_default();
            if !candidates.iter().any(|candidate| candidate.0 == form) {
                candidates.push((form, placeholder.clone()));
            }
        }
    }

    /// Placeholder for a secret: digits for a number, and letters and digits for other texts.
    fn placeholder(&self, secret: &str) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key).expect("HMAC accepts keys of every length");
        mac.update(secret.as_bytes());
        let hash = mac.finalize().into_bytes();
        if secret.bytes().all(|byte| byte.is_ascii_digit()) {
            let number = hash[..8].iter().fold(0, |sum: u64, byte| sum << 8 | u64::from(*byte));
            return (100_000_000_000 + number % 900_000_000_000).to_string();
        }
        let digits = hash[..13].iter().map(|byte| format!("{byte:02x}"));
        format!("hidden{}", digits.collect::<String>())
    }

    fn replace(&self, part: ExchangePart<'_>) -> String {
        match part {
            ExchangePart::Secret(value) | ExchangePart::Cookie(value) => match canonical(value) {
                empty if empty.is_empty() => empty,
                secret => self.placeholder(&secret),
            },
            ExchangePart::Text(text) | ExchangePart::Document { text, .. } => self.without_secrets(text),
            ExchangePart::Fields(text) => {
                let (mut out, mut at) = (String::new(), 0);
                for (_, range) in secrets::fields(text) {
                    out += &self.without_secrets(&text[at..range.start]);
                    out += &self.placeholder(&canonical(&text[range.clone()]));
                    at = range.end;
                }
                out + &self.without_secrets(&text[at..])
            }
        }
    }

    /// Text in which all known secrets are replaced.
    fn without_secrets(&self, text: &str) -> String {
        let is_word = |character: Option<char>| character.is_some_and(char::is_alphanumeric);
        let (mut out, mut start, mut at) = (String::new(), 0, 0);
        while let Some(beginning) = text.as_bytes()[at..].first_chunk() {
            let candidates = self.by_beginning.get(beginning).filter(|_| text.is_char_boundary(at));
            let found = candidates.into_iter().flatten().find(|(form, _)| {
                text[at..].starts_with(form.as_str())
                    && (form.len() >= WITHIN_WORDS_MIN
                        || !is_word(text[..at].chars().next_back())
                            && !is_word(text[at + form.len()..].chars().next()))
            });
            match found {
                Some((form, placeholder)) => {
                    out += &text[start..at];
                    out += placeholder;
                    at += form.len();
                    start = at;
                }
                None => at += 1,
            }
        }
        out + &text[start..]
    }
}

/// Secret without the encoding and the quotes that its place requires.
fn canonical(value: &str) -> String {
    let value = value.trim();
    let value = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value);
    url::decoded(value)
}

/// Forms in which a secret is written in URLs, forms, JSON and HTML.
fn written_forms(secret: &str) -> Vec<String> {
    let encoded = percent_encode(secret);
    let html = secret.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let html = html.replace('"', "&quot;").replace('\'', "&#39;");
    let json = secret.replace('\\', "\\\\").replace('"', "\\\"");
    vec![
        secret.to_owned(),
        lowercase_escapes(&encoded),
        encoded.replace("%20", "+"),
        encoded,
        html.replace('+', "&#43;"),
        html.replace('+', "&#x2B;").replace('=', "&#x3D;"),
        html.replace('+', "&#x2B;"),
        html,
        json.replace('/', "\\/"),
        json,
    ]
}

/// Percent-encoded text with lowercase hexadecimal digits.
fn lowercase_escapes(encoded: &str) -> String {
    let mut left = 0;
    let lowercase = |character: char| {
        left = if character == '%' { 2 } else { i32::max(left - 1, -1) };
        if left >= 0 { character.to_ascii_lowercase() } else { character }
    };
    encoded.chars().map(lowercase).collect()
}

#[cfg(test)]
mod tests;
