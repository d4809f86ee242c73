//! Compiled log format of a web server

use super::field::{self, Field, LoggedMoment};
use model::message;
use model::message::Message;

/// nginx's predefined format, which a configuration uses without defining it.
const COMBINED: &str = r#"$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent""#;
/// Common log format, which NCSA's server introduced.
const COMMON: &str = r#"%h %l %u %t "%r" %>s %b"#;
/// Format of HAProxy's `option httplog`, see the configuration manual, section 8.2.3.
const HTTPLOG: &str = "%ci:%cp [%tr] %ft %b/%s %TR/%Tw/%Tc/%Tr/%Ta %ST %B %CC %CS %tsc %ac/%fc/%bc/%sc/%rc %sq/%bq %hr %hs %{+Q}r";

/// Format of the lines of a web server's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFormat {
    /// Text before the first field.
    pub(super) prefix: Vec<u8>,
    pub(super) pieces: Vec<Piece>,
    /// Moment that the lines' times describe.
    pub moment: LoggedMoment,
    /// True if a line may begin with the header of a syslog message.
    pub(super) has_syslog_header: bool,
}

/// Field with the text that follows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub field: Field,
    /// Variable as the format contains it.
    pub name: String,
    /// Next text of the format; empty if only fields follow.
    pub until: Vec<u8>,
    /// True if `until` follows directly, false if another field is before it.
    pub is_separated: bool,
    /// First byte of the next field, if it follows directly.
    pub stop: Option<u8>,
    /// True if a query follows directly, and a dash stands for an absent query.
    pub query_may_be_dash: bool,
}

/// Server whose syntax a format has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dialect {
    Nginx,
    Apache,
    HaProxy,
}

/// Part of a format.
#[derive(Debug)]
enum Token {
    Text(String),
    Field { field: Field, name: String, moment: Option<LoggedMoment> },
}

impl LogFormat {
    /// Parses a format as a configuration contains it: the text, or the whole directive. The names `common`,
    /// `combined` and `httplog` are predefined.
    ///
    /// # Errors
    /// The format is malformed, or does not contain the method and the target of a request.
    pub fn parse(text: &str) -> Result<LogFormat, Message> {
        let (text, escape) = match text.trim() {
            "combined" => (COMBINED.to_owned(), ""),
            "common" => (COMMON.to_owned(), ""),
            "httplog" => (HTTPLOG.to_owned(), ""),
            text => unquote_directive(text)?,
        };
        // nginx writes a dash for an absent value only with its default escaping.
        let has_dashes = matches!(escape, "" | "default") && !text.starts_with('{');
        let dialect = dialect(&text).ok_or_else(|| message!("feed-log-no-variable"))?;
        let tokens = match dialect {
            Dialect::Nginx => nginx_tokens(&text),
            Dialect::Apache => apache_tokens(&text)?,
            Dialect::HaProxy => haproxy_tokens(&text),
        };
        let moment = tokens.iter().find_map(|token| match token {
            Token::Field { moment, .. } => *moment,
            Token::Text(_) => None,
        });
        let default = if dialect == Dialect::Nginx { LoggedMoment::End } else { LoggedMoment::Start };
        let format = LogFormat {
            prefix: match tokens.first() {
                Some(Token::Text(text)) => text.clone().into_bytes(),
                _ => Vec::new(),
            },
            pieces: pieces(&tokens, has_dashes && dialect == Dialect::Nginx)?,
            moment: moment.unwrap_or(default),
            has_syslog_header: dialect == Dialect::HaProxy,
        };
        let has = |is: fn(&Field) -> bool| format.pieces.iter().any(|it| is(&it.field));
        if !has(|it| matches!(it, Field::RequestLine)) {
            if !has(|it| matches!(it, Field::Method)) {
                return Err(message!("feed-log-no-method"));
            }
            if !has(|it| matches!(it, Field::Target | Field::DecodedPath)) {
                return Err(message!("feed-log-no-target"));
            }
        }
        Ok(format)
    }

    /// True if the lines contain times.
    pub fn has_times(&self) -> bool {
        self.pieces.iter().any(|it| matches!(&it.field, Field::Time(pattern) if pattern.has_date()))
    }
}

fn dialect(text: &str) -> Option<Dialect> {
    const HAPROXY_ONLY: [&str; 6] = ["%ci", "%ST", "%HM", "%TR", "%{+", "%ft"];
    let is_nginx = text.match_indices('$').any(|(at, _)| {
        text[at + 1..].starts_with(|it: char| it == '{' || it == '_' || it.is_ascii_alphabetic())
    });
    match () {
        () if is_nginx => Some(Dialect::Nginx),
        () if HAPROXY_ONLY.iter().any(|it| text.contains(it)) => Some(Dialect::HaProxy),
        () if text.contains('%') => Some(Dialect::Apache),
        () => None,
    }
}

/// Text of a format without the directive that defines it and without its quotes, and the value of nginx's `escape`.
fn unquote_directive(text: &str) -> Result<(String, &str), Message> {
    let after = |keyword: &str| text.strip_prefix(keyword).filter(|it| it.starts_with(char::is_whitespace));
    let rest = match (after("log_format"), after("LogFormat").or_else(|| after("log-format"))) {
        // The name of the format precedes its text.
        (Some(rest), _) => rest.trim_start().split_once(char::is_whitespace).map_or("", |it| it.1),
        (None, Some(rest)) => rest,
        (None, None) => text,
    };
    let rest = rest.trim();
    let is_directive = rest.len() < text.len();
    let (escape, rest) = match rest.strip_prefix("escape=") {
        Some(escape) => escape.split_once(char::is_whitespace).unwrap_or((escape, "")),
        None => ("", rest),
    };
    let rest = rest.trim_start();
    // A bare text may begin with a quote that belongs to the format.
    let is_quoted = is_directive || rest.starts_with('\'') && rest.trim_end_matches(';').ends_with('\'');
    if !is_quoted || !rest.starts_with(['\'', '"']) {
        return Ok((unescape(rest.trim_end_matches(';')), escape));
    }
    let mut out = String::new();
    let mut rest = rest;
    while let Some(quote @ ('\'' | '"')) = rest.chars().next() {
        let end = closing_quote(&rest[1..], quote).ok_or_else(|| message!("feed-log-open-quote"))?;
        out += &unescape(&rest[1..=end]);
        rest = rest[end + 2..].trim_start();
    }
    Ok((out, escape))
}

/// Position of the first quote that no backslash escapes.
fn closing_quote(text: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    text.char_indices().find_map(|(at, c)| {
        let ends = c == quote && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        ends.then_some(at)
    })
}

/// Removes the backslashes with which a configuration escapes quotes, blanks and backslashes.
fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match (c, rest.clone().next()) {
            ('\\', Some('t')) => out.push('\t'),
            ('\\', Some(next @ ('"' | '\'' | '\\' | ' '))) => out.push(next),
            _ => {
                out.push(c);
                continue;
            }
        }
        rest.next();
    }
    out
}

fn push_text(tokens: &mut Vec<Token>, text: &str) {
    match tokens.last_mut() {
        _ if text.is_empty() => {}
        Some(Token::Text(last)) => last.push_str(text),
        _ => tokens.push(Token::Text(text.to_owned())),
    }
}

fn nginx_tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        push_text(&mut tokens, before);
        let bare =
            |text: &str| text.find(|it: char| it != '_' && !it.is_ascii_alphanumeric()).unwrap_or(text.len());
        let (name, left) = match after.strip_prefix('{').and_then(|it| it.split_once('}')) {
            Some(braced) => braced,
            None => after.split_at(bare(after)),
        };
        rest = left;
        match name {
            "" => push_text(&mut tokens, "$"),
            _ => tokens.push(Token::Field {
                field: field::nginx(name),
                name: format!("${name}"),
                moment: None,
            }),
        }
    }
    push_text(&mut tokens, rest);
    tokens
}

fn apache_tokens(text: &str) -> Result<Vec<Token>, Message> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        push_text(&mut tokens, before);
        if let Some(left) = after.strip_prefix('%') {
            push_text(&mut tokens, "%");
            rest = left;
            continue;
        }
        // Conditions such as `!200,304`, and `<` or `>` for the first or last of redirected requests.
        let modifiers = after.find(|it: char| !it.is_ascii_digit() && !"!,<>".contains(it));
        let (modifiers, left) = after.split_at(modifiers.unwrap_or(after.len()));
        let (argument, left) = match left.strip_prefix('{') {
            Some(braced) => {
                let (argument, left) =
                    braced.split_once('}').ok_or_else(|| message!("feed-log-open-brace"))?;
                (Some(argument), left)
            }
            None => (None, left),
        };
        // Trailers are `%{name}^ti` and `%{name}^to`.
        let letters = left.strip_prefix('^').unwrap_or(left);
        let count = if letters.len() < left.len() { 2 } else { 1 };
        let letter = letters.chars().nth(count - 1).filter(|_| count == 1).unwrap_or('^');
        let end = letters.char_indices().nth(count).map_or(letters.len(), |it| it.0);
        rest = &letters[end..];
        let name = &after[..after.len() - rest.len()];
        let (field, moment) = field::apache(argument, letter, modifiers.contains('<'))
            .map_err(|unknown| message!("feed-log-time-pattern", unknown, variable = format!("%{name}")))?;
        tokens.push(Token::Field { field, name: format!("%{name}"), moment });
    }
    push_text(&mut tokens, rest);
    Ok(tokens)
}

fn haproxy_tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text;
    let mut all_quoted = false;
    while let Some((before, after)) = rest.split_once('%') {
        push_text(&mut tokens, before);
        let (flags, left) = match after.strip_prefix('{').and_then(|it| it.split_once('}')) {
            Some(flagged) => flagged,
            None => ("", after),
        };
        let (name, left) = match left.strip_prefix('[').and_then(|it| it.split_once(']')) {
            Some((_, left)) => ("", left),
            None => left.split_at(left.find(|it: char| !it.is_ascii_alphabetic()).unwrap_or(left.len())),
        };
        rest = left;
        let is_quoted = flags.contains("+Q") || all_quoted && !flags.contains("-Q");
        if name == "o" {
            // `%o` sets flags for all later variables and writes nothing.
            all_quoted = is_quoted;
            rest = rest.trim_start();
            continue;
        }
        let quote = if is_quoted { "\"" } else { "" };
        push_text(&mut tokens, quote);
        let field = field::haproxy(name);
        let moment = matches!(field, Field::Time(_)).then_some(LoggedMoment::Start);
        tokens.push(Token::Field { field, name: format!("%{name}"), moment });
        push_text(&mut tokens, quote);
    }
    push_text(&mut tokens, rest);
    tokens
}

/// Fields with the texts between them. The error names two fields between which there is no boundary.
fn pieces(tokens: &[Token], has_dashes: bool) -> Result<Vec<Piece>, Message> {
    let mut pieces = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let Token::Field { field, name, .. } = token else { continue };
        let following = tokens[at + 1..].iter().find_map(|token| match token {
            Token::Text(text) => Some(text.clone().into_bytes()),
            Token::Field { .. } => None,
        });
        let mut stop = None;
        if let Some(Token::Field { field: next, name: second, .. }) = tokens.get(at + 1) {
            stop = match next {
                Field::Target | Field::DecodedPath => Some(b'/'),
                Field::QueryMark | Field::MarkedQuery => Some(b'?'),
                _ => None,
            };
            let ends_itself = matches!(field, Field::Time(_) | Field::QueryMark);
            if stop.is_none() && !ends_itself {
                return Err(message!("feed-log-adjacent", first = name, second));
            }
        }
        pieces.push(Piece {
            field: field.clone(),
            name: name.clone(),
            until: following.unwrap_or_default(),
            is_separated: !matches!(tokens.get(at + 1), Some(Token::Field { .. })),
            stop,
            query_may_be_dash: has_dashes && stop == Some(b'?'),
        });
    }
    Ok(pieces)
}

#[cfg(test)]
mod tests;
