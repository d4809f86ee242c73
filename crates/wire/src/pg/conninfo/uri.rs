//! Parser of connection URIs such as `postgresql://user@host:5432/db?options`.
//!
//! ```text
//! postgresql://[user[:password]@][host[:port][,…]][/dbname][?keyword=value[&…]]
//! ```

use super::values::Values;
use super::{Diagnostic, keyword, location};
use crate::percent::percent_decode;
use model::message;
use model::message::Message;

/// Removes the scheme of a PostgreSQL URI; `None` for other texts.
pub(super) fn strip_scheme(text: &str) -> Option<&str> {
    text.strip_prefix("postgresql://").or_else(|| text.strip_prefix("postgres://"))
}

/// Parses the URI. `rest` is its part after the scheme.
pub(super) fn parse(uri: &str, rest: &str, values: &mut Values, diagnostics: &mut Vec<Diagnostic>) {
    let mut reader = UriParser { uri, values, diagnostics };
    if let Err(diagnostic) = reader.parse(rest) {
        reader.diagnostics.push(*diagnostic);
    }
}

struct UriParser<'a> {
    uri: &'a str,
    values: &'a mut Values,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl<'a> UriParser<'a> {
    fn parse(&mut self, rest: &'a str) -> Result<(), Box<Diagnostic>> {
        let rest = match rest.split_once(['@', '/']) {
            Some((credentials, after)) if rest.as_bytes()[credentials.len()] == b'@' => {
                self.credentials(credentials);
                after
            }
            Some((before, after))
                if before.contains(':') && after.split('?').next().unwrap_or_default().contains('@') =>
            {
                let found = message!("conninfo-at-after-slash");
                return Err(self.diagnostic(before, found, message!("conninfo-encode-slash")));
            }
            _ => rest,
        };
        let authority = rest;
        let (hosts, ports, rest) = self.hosts(authority)?;
        for (name, text) in [("host", hosts.as_str()), ("port", &ports)] {
            if !text.is_empty() {
                self.set_decoded(name, text, authority);
            }
        }
        let (path, query) = match rest.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (rest, None),
        };
        if let Some(name) = path.strip_prefix('/').filter(|it| !it.is_empty()) {
            self.set_decoded("dbname", name, name);
        }
        let mut query = query.unwrap_or_default();
        let mut after_secret = false;
        while !query.is_empty() {
            let (parameter, after) = query.split_once('&').unwrap_or((query, ""));
            let name = parameter.split('=').next().unwrap_or_default();
            if after_secret && keyword::find(name).is_none() {
                let found = message!("conninfo-text-after-password");
                return Err(self.diagnostic(parameter, found, message!("conninfo-encode-ampersand")));
            }
            if let Err(diagnostic) = self.parameter(parameter) {
                self.diagnostics.push(*diagnostic);
            }
            after_secret = keyword::find(name).is_some_and(|it| it.secret);
            query = after;
        }
        Ok(())
    }

    fn credentials(&mut self, text: &'a str) {
        let (user, password) = text.split_once(':').unwrap_or((text, ""));
        for (name, text) in [("user", user), ("password", password)] {
            if !text.is_empty() {
                self.set_decoded(name, text, text);
            }
        }
    }

    /// Splits off the hosts and ports. Returns both as comma-separated lists, and the text after them.
    fn hosts(&self, text: &'a str) -> Result<(String, String, &'a str), Box<Diagnostic>> {
        let (mut hosts, mut ports, mut rest) = (String::new(), String::new(), text);
        loop {
            let end = if let Some(inside) = rest.strip_prefix('[') {
                let Some(length) = inside.find(']') else {
                    let found = message!("conninfo-missing-bracket");
                    return Err(self.diagnostic(rest, found, message!("conninfo-close-bracket")));
                };
                if length == 0 {
                    return Err(self.diagnostic(
                        rest,
                        message!("conninfo-empty-address"),
                        message!("conninfo-write-brackets"),
                    ));
                }
                let after = &inside[length + 1..];
                if let Some(odd) = after.chars().next().filter(|it| !":/?,".contains(*it)) {
                    let found = message!("conninfo-unexpected-character", character = format!("{odd:?}"));
                    return Err(self.diagnostic(after, found, message!("conninfo-write-port-database")));
                }
                length + 2
            } else {
                rest.find([':', '/', '?', ',']).unwrap_or(rest.len())
            };
            let (host, after) = rest.split_at(end);
            hosts.push_str(host.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(host));
            let (port, after) = match after.strip_prefix(':') {
                Some(after) => after.split_at(after.find(['/', '?', ',']).unwrap_or(after.len())),
                None => ("", after),
            };
            ports.push_str(port);
            if host.find('@').is_some_and(|at| at > 0) || port.contains('@') {
                let found = message!("conninfo-second-at");
                return Err(self.diagnostic(rest, found, message!("conninfo-encode-at")));
            }
            rest = after;
            let Some(after) = rest.strip_prefix(',') else { return Ok((hosts, ports, rest)) };
            rest = after;
            hosts.push(',');
            ports.push(',');
        }
    }

    fn parameter(&mut self, text: &'a str) -> Result<(), Box<Diagnostic>> {
        let Some((name, value)) = text.split_once('=') else {
            let found = message!("conninfo-missing-separator");
            return Err(self.diagnostic(text, found, message!("conninfo-write-keyword-value")));
        };
        if value.contains('=') {
            let found = message!("conninfo-extra-separator");
            return Err(self.diagnostic(text, found, message!("conninfo-encode-equals")));
        }
        let name = self.decode(name, name, false)?;
        let secret = keyword::find(&name).is_some_and(|it| it.secret);
        let value = self.decode(value, value, secret)?;
        // URIs written for JDBC contain `ssl=true` instead of `sslmode=require`.
        let (name, value) = match (name.as_str(), value.as_str()) {
            ("ssl", "true") => ("sslmode".to_owned(), "require".to_owned()),
            _ => (name, value),
        };
        self.values.set(&name, value, &self.location(text), self.diagnostics);
        Ok(())
    }

    /// Sets `name` to the decoded `text`. `near` is the part of the URI that diagnostics point to.
    fn set_decoded(&mut self, name: &'static str, text: &str, near: &'a str) {
        match self.decode(text, near, name == "password") {
            Ok(text) => self.values.set(name, text, &self.location(near), self.diagnostics),
            Err(diagnostic) => self.diagnostics.push(*diagnostic),
        }
    }

    /// Decodes each `%XX` in `text`. `near` is the part of the URI that diagnostics point to.
    fn decode(&self, text: &str, near: &'a str, secret: bool) -> Result<String, Box<Diagnostic>> {
        let Some(bytes) = percent_decode(text) else {
            let found = message!("conninfo-invalid-token", token = (!secret).then(|| format!("{text:?}")));
            return Err(self.diagnostic(near, found, message!("conninfo-encode-percent")));
        };
        if text.contains("%00") {
            return Err(self.diagnostic(
                near,
                message!("conninfo-encoded-nul"),
                message!("conninfo-leave-out"),
            ));
        }
        String::from_utf8(bytes).map_err(|_| {
            self.diagnostic(near, message!("conninfo-encoded-not-utf8"), message!("conninfo-encode-utf8"))
        })
    }

    fn diagnostic(&self, near: &'a str, found: Message, suggestion: Message) -> Box<Diagnostic> {
        Box::new(Diagnostic::new(self.location(near), found, suggestion))
    }

    /// Location of a diagnostic: the position of `near`, a part of the URI, within the URI.
    fn location(&self, near: &'a str) -> Message {
        location(self.uri, near.as_ptr().addr() - self.uri.as_ptr().addr())
    }
}
