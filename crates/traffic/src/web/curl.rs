//! Reader of curl commands
//!
//! Reads what `Copy as cURL (bash)` of browsers writes, and commands that people write. Options that only change what
//! curl prints or how it connects are ignored. Source: curl(1), version 8.

mod options;
mod skipped;

pub use skipped::{CommandDiagnostic, SkippedCommand};

use super::exchange::{Exchange, RequestBody, header};
use super::shell::{self, ShellCommand};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use model::percent_encode;
use options::{Meaning, OPTIONS};

/// Maximum number of redirects that `-L` follows here, as browsers do. Experiments allow 20.
const REDIRECTS: u8 = 5;
const REDIRECTS_MAX: u8 = 20;

/// True if a command of the text begins with `curl`.
pub(super) fn is_curl(text: &str) -> bool {
    shell::commands(text).iter().any(|command| arguments(command).is_some())
}

/// Requests of all curl commands, and the commands that cannot be translated. Other commands are ignored.
pub(super) fn read(text: &str) -> (Vec<Exchange>, Vec<SkippedCommand>) {
    let (mut exchanges, mut skipped) = (Vec::new(), Vec::new());
    for command in shell::commands(text) {
        let Some(arguments) = arguments(&command) else { continue };
        let requests = match command.unclosed {
            true => Err(CommandDiagnostic::UnclosedQuote),
            false => CurlRequest::parse(arguments).and_then(CurlRequest::exchanges),
        };
        match requests {
            Ok(requests) => exchanges.extend(requests),
            Err(reason) => skipped.push(SkippedCommand { line: command.line, reason }),
        }
    }
    (exchanges, skipped)
}

/// Words after `curl`; `None` for another command. A prompt before the command is skipped.
fn arguments(command: &ShellCommand) -> Option<&[String]> {
    let words = match command.words.split_first()? {
        (prompt, rest) if prompt == "$" => rest,
        _ => &command.words,
    };
    let (program, arguments) = words.split_first()?;
    let program = program.rsplit(['/', '\\']).next().unwrap_or_default();
    matches!(program, "curl" | "curl.exe").then_some(arguments)
}

/// Options of one command.
#[derive(Debug, Default)]
struct CurlRequest {
    method: Option<String>,
    urls: Vec<String>,
    headers: Vec<(String, String)>,
    data: Option<String>,
    is_json: bool,
    is_get: bool,
    is_head: bool,
    redirects: Option<u8>,
    follows: bool,
}

impl CurlRequest {
    fn parse(arguments: &[String]) -> Result<CurlRequest, CommandDiagnostic> {
        let mut request = CurlRequest::default();
        let mut words = arguments.iter();
        let mut only_urls = false;
        while let Some(word) = words.next() {
            if only_urls || !word.starts_with('-') || word == "-" {
                request.urls.push(word.clone());
            } else if word == "--" {
                only_urls = true;
            } else if let Some(name) = word.strip_prefix("--") {
                // `--no-compressed` and similar options turn others off.
                let known = OPTIONS.iter().find(|option| option.0 == name);
                let negated = name.strip_prefix("no-");
                let negated = negated.and_then(|name| OPTIONS.iter().find(|option| option.0 == name));
                match (known, negated) {
                    (Some((.., meaning)), _) => request.option(*meaning, word, None, &mut words)?,
                    (None, Some(_)) => {}
                    (None, None) => return Err(CommandDiagnostic::UnknownOption { option: word.clone() }),
                }
            } else {
                request.letters(&word[1..], &mut words)?;
            }
        }
        Ok(request)
    }

    /// Applies options of one letter. The last one may be followed by its value, as in `-sXPOST`.
    fn letters<'a>(
        &mut self,
        letters: &str,
        words: &mut impl Iterator<Item = &'a String>,
    ) -> Result<(), CommandDiagnostic> {
        for (at, letter) in letters.char_indices() {
            let option = format!("-{letter}");
            let Some((.., meaning)) = OPTIONS.iter().find(|option| option.1 == Some(letter)) else {
                return Err(CommandDiagnostic::UnknownOption { option });
            };
            let rest = &letters[at + letter.len_utf8()..];
            self.option(*meaning, &option, Some(rest).filter(|rest| !rest.is_empty()), words)?;
            if meaning.has_value() {
                break;
            }
        }
        Ok(())
    }

    fn option<'a>(
        &mut self,
        meaning: Meaning,
        option: &str,
        joined: Option<&str>,
        words: &mut impl Iterator<Item = &'a String>,
    ) -> Result<(), CommandDiagnostic> {
        let option = || option.to_owned();
        let value = match meaning.has_value() {
            true => joined.or_else(|| words.next().map(String::as_str)),
            false => Some(""),
        };
        let value = value.ok_or_else(|| CommandDiagnostic::MissingValue { option: option() })?;
        let is_file = |value: &str| match value.starts_with('@') {
            true => Err(CommandDiagnostic::File { option: option() }),
            false => Ok(()),
        };
        match meaning {
            Meaning::Request => self.method = Some(value.to_owned()),
            Meaning::Header => {
                is_file(value)?;
                self.header(value);
            }
            Meaning::Data => {
                is_file(value)?;
                self.data(value, "&");
            }
            Meaning::DataRaw => self.data(value, "&"),
            Meaning::DataUrlencode => {
                let encoded = match value.split_once('=') {
                    Some((name, content)) if !name.contains('@') => {
                        let equals = if name.is_empty() { "" } else { "=" };
                        format!("{name}{equals}{}", percent_encode(content))
                    }
                    _ if value.contains('@') => return Err(CommandDiagnostic::File { option: option() }),
                    _ => percent_encode(value),
                };
                self.data(&encoded, "&");
            }
            Meaning::Json => {
                is_file(value)?;
                self.is_json = true;
                self.data(value, "");
            }
            Meaning::Get => self.is_get = true,
            Meaning::Head => self.is_head = true,
            Meaning::User => {
                let value = format!("Basic {}", STANDARD.encode(value));
                self.headers.push(("Authorization".to_owned(), value));
            }
            // A value without `=` is the name of a file.
            Meaning::Cookie => self.headers.push(("Cookie".to_owned(), value.to_owned())),
            Meaning::Url => self.urls.push(value.to_owned()),
            Meaning::Location => self.follows = true,
            Meaning::MaxRedirects => {
                let count = value.parse::<i64>().map_or(REDIRECTS_MAX, |count| {
                    u8::try_from(count).map_or(REDIRECTS_MAX, |count| count.min(REDIRECTS_MAX))
                });
                self.redirects = Some(count);
            }
            Meaning::Ignored | Meaning::IgnoredValue => {}
            Meaning::Unsupported | Meaning::UnsupportedValue => {
                return Err(CommandDiagnostic::Option { option: option() });
            }
        }
        Ok(())
    }

    /// Adds a header. `Name:` removes a header of curl, and `Name;` is a header without a value.
    fn header(&mut self, text: &str) {
        if let Some((name, value)) = text.split_once(':').filter(|header| !header.1.trim().is_empty()) {
            self.headers.push((name.trim().to_owned(), value.trim().to_owned()));
        } else if let Some(name) = text.strip_suffix(';') {
            self.headers.push((name.trim().to_owned(), String::new()));
        }
    }

    fn data(&mut self, value: &str, separator: &str) {
        match &mut self.data {
            Some(data) => {
                data.push_str(separator);
                data.push_str(value);
            }
            None => self.data = Some(value.to_owned()),
        }
    }

    /// One exchange for each URL of the command.
    fn exchanges(mut self) -> Result<Vec<Exchange>, CommandDiagnostic> {
        if self.urls.is_empty() {
            return Err(CommandDiagnostic::MissingUrl);
        }
        let query = self.data.take_if(|_| self.is_get);
        let default = match &self.data {
            _ if self.is_head => "HEAD",
            Some(_) => "POST",
            None => "GET",
        };
        let method = self.method.as_deref().unwrap_or(default);
        if self.is_json {
            for (name, value) in [("Content-Type", "application/json"), ("Accept", "application/json")] {
                if header(&self.headers, name).is_none() {
                    self.headers.push((name.to_owned(), value.to_owned()));
                }
            }
        } else if self.data.is_some() && header(&self.headers, "content-type").is_none() {
            let value = "application/x-www-form-urlencoded";
            self.headers.push(("Content-Type".to_owned(), value.to_owned()));
        }
        let redirects = if self.follows { self.redirects.unwrap_or(REDIRECTS) } else { 0 };
        let exchange = |url: &String| {
            let mut address = if url.contains("://") { url.clone() } else { format!("http://{url}") };
            if let Some(query) = &query {
                address = address.split('#').next().unwrap_or_default().to_owned();
                address.push(if address.contains('?') { '&' } else { '?' });
                address.push_str(query);
            }
            let body = self.data.clone().filter(|data| !data.is_empty());
            let mut exchange = Exchange {
                headers: self.headers.clone(),
                body: body.map_or(RequestBody::Empty, RequestBody::Text),
                redirects,
                ..Exchange::of_request(method, &address)
            };
            if let Some(user) = exchange.url.as_ref().and_then(|url| url.user.as_ref())
                && header(&exchange.headers, "authorization").is_none()
            {
                let value = format!("Basic {}", STANDARD.encode(user));
                exchange.headers.push(("Authorization".to_owned(), value));
            }
            exchange
        };
        Ok(self.urls.iter().map(exchange).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::message::Message;

    /// One line per exchange: method, address, headers and body.
    fn summary(text: &str) -> String {
        let (exchanges, skipped) = read(text);
        let mut out = String::new();
        for exchange in &exchanges {
            let headers: Vec<String> =
                exchange.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
            let body = match &exchange.body {
                RequestBody::Text(text) => format!(" {text}"),
                _ => String::new(),
            };
            let redirects =
                if exchange.redirects == 0 { String::new() } else { format!(" +{}", exchange.redirects) };
            out += &format!(
                "{} {} [{}]{body}{redirects}\n",
                exchange.method,
                exchange.address,
                headers.join(", ")
            );
        }
        for skipped in &skipped {
            out += &format!("{}\n", Message::from(skipped).describe());
        }
        out
    }

    fn check(command: &str, expected: &str) {
        assert_eq!(summary(command).trim_end(), expected, "{command}");
    }

    #[test]
    fn translates_options() {
        const FORM: &str = "Content-Type: application/x-www-form-urlencoded";
        for (command, expected) in [
            ("curl http://a.test", "GET http://a.test []".to_owned()),
            ("/usr/bin/curl a.test/b", "GET http://a.test/b []".to_owned()),
            ("$ curl --url a.test", "GET http://a.test []".to_owned()),
            ("curl -XPUT -d a=1 --data b=2 a.test", format!("PUT http://a.test [{FORM}] a=1&b=2")),
            ("curl -sSXDELETE a.test", "DELETE http://a.test []".to_owned()),
            (
                "curl -H 'X-A: b:c' -H 'Accept:' -H 'X-B;' a.test",
                "GET http://a.test [X-A: b:c, X-B: ]".to_owned(),
            ),
            ("curl --data-raw @x a.test", format!("POST http://a.test [{FORM}] @x")),
            ("curl --data-ascii x --data-binary y a.test", format!("POST http://a.test [{FORM}] x&y")),
            (
                "curl --data-urlencode 'a=b c' --data-urlencode '=d&' --data-urlencode 'e f' a.test",
                format!("POST http://a.test [{FORM}] a=b%20c&d%26&e%20f"),
            ),
            (
                "curl --json '{}' a.test",
                "POST http://a.test [Content-Type: application/json, Accept: application/json] {}".to_owned(),
            ),
            ("curl -G -d q=1 -d r=2 'a.test/?p=0#x'", "GET http://a.test/?p=0&q=1&r=2 []".to_owned()),
            ("curl -I a.test", "HEAD http://a.test []".to_owned()),
            ("curl -u me:pw a.test", "GET http://a.test [Authorization: Basic bWU6cHc=]".to_owned()),
            (
                "curl http://me:pw@a.test",
                "GET http://me:pw@a.test [Authorization: Basic bWU6cHc=]".to_owned(),
            ),
            (
                "curl -H 'Authorization: Bearer x' http://me:pw@a.test",
                "GET http://me:pw@a.test [Authorization: Bearer x]".to_owned(),
            ),
            ("curl -b a=b a.test", "GET http://a.test [Cookie: a=b]".to_owned()),
            ("curl -A x -e y -o z -w f -m 3 -k -v -i --compressed a.test", "GET http://a.test []".to_owned()),
            ("curl -L a.test", "GET http://a.test [] +5".to_owned()),
            ("curl -L --max-redirs 2 a.test", "GET http://a.test [] +2".to_owned()),
            ("curl -L --max-redirs -1 a.test", "GET http://a.test [] +20".to_owned()),
            ("curl --max-redirs 2 a.test", "GET http://a.test []".to_owned()),
            ("curl a.test b.test", "GET http://a.test []\nGET http://b.test []".to_owned()),
            ("curl --no-keepalive-time -- a.test", "GET http://a.test []".to_owned()),
            ("curl a.test | jq .", "GET http://a.test []".to_owned()),
            ("curl -d '' a.test", format!("POST http://a.test [{FORM}]")),
        ] {
            check(command, &expected);
        }
    }

    #[test]
    fn reports_what_cannot_be_translated() {
        for (command, expected) in [
            ("\ncurl -F a=@b a.test", "traffic-web-curl-skipped(2, traffic-web-curl-option(-F))"),
            ("curl -T file a.test", "traffic-web-curl-skipped(1, traffic-web-curl-option(-T))"),
            ("curl -d @file a.test", "traffic-web-curl-skipped(1, traffic-web-curl-file(-d))"),
            ("curl --json @file a.test", "traffic-web-curl-skipped(1, traffic-web-curl-file(--json))"),
            ("curl -H @file a.test", "traffic-web-curl-skipped(1, traffic-web-curl-file(-H))"),
            (
                "curl --data-urlencode a@b a.test",
                "traffic-web-curl-skipped(1, traffic-web-curl-file(--data-urlencode))",
            ),
            ("curl --none a.test", "traffic-web-curl-skipped(1, traffic-web-curl-unknown(--none))"),
            ("curl -s? a.test", "traffic-web-curl-skipped(1, traffic-web-curl-unknown(-?))"),
            ("curl a.test -H", "traffic-web-curl-skipped(1, traffic-web-curl-value(-H))"),
            ("curl -s", "traffic-web-curl-skipped(1, traffic-web-curl-url)"),
            ("curl 'a.test", "traffic-web-curl-skipped(1, traffic-web-curl-quote)"),
            ("echo curl", ""),
        ] {
            check(command, expected);
        }
    }
}
