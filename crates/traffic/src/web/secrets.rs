//! Secrets of requests, which become environment variables

use super::exchange::{Exchange, header};
use model::message;
use model::message::Message;
use std::collections::HashMap;

/// Environment variable that replaces a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretVariable {
    pub name: String,
    /// Name of the first field or header with the value.
    pub field: String,
    pub kind: SecretKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretKind {
    /// The value of the field.
    Value,
    /// User and password of `Authorization: Basic`, in Base64.
    BasicCredentials,
    /// The value of a cookie, which a request contains outside of the cookies.
    Cookie,
    /// Credentials that an OpenAPI description requires.
    Required,
}

impl From<&SecretVariable> for Message {
    fn from(variable: &SecretVariable) -> Message {
        let SecretVariable { name, field, kind } = variable;
        match kind {
            SecretKind::Value => message!("traffic-web-secret", name, field),
            SecretKind::BasicCredentials => message!("traffic-web-secret-basic", name),
            SecretKind::Cookie => message!("traffic-web-secret-cookie", name, field),
            SecretKind::Required => message!("traffic-web-secret-required", name, field),
        }
    }
}

/// Parts of the names of secret fields. Names are compared in lowercase and without `-`, `_` and the like.
const SECRET_NAMES: [&str; 14] = [
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "pwd",
    "secret",
    "token",
    "apikey",
    "credential",
    "authorization",
    "csrf",
    "xsrf",
    "jwt",
    "signature",
];
/// Further parts of the names of secret headers.
const SECRET_HEADERS: [&str; 3] = ["auth", "session", "accesskey"];
/// Shortest secret that is replaced if it is the whole value of another field, and if it is a part of another text.
const EXACT_MIN: usize = 6;
const PART_MIN: usize = 8;
/// Maximum length of an environment variable's name.
const NAME_MAX: usize = 40;

/// True if values of a field with this name are secret.
pub(super) fn is_secret_name(name: &str) -> bool {
    let plain = plain(name);
    SECRET_NAMES.iter().any(|part| plain.contains(part))
        || words(name).iter().any(|word| word.contains("otp"))
}

/// True if a number in a field with this name is secret: `max_tokens` is a number of tokens.
pub(super) fn is_secret_number(name: &str) -> bool {
    is_secret_name(name) && !name.to_ascii_lowercase().ends_with("tokens")
}

/// True if values of a header with this name are secret.
pub(super) fn is_secret_header(name: &str) -> bool {
    let plain = plain(name);
    is_secret_name(name) || SECRET_HEADERS.iter().any(|part| plain.contains(part))
}

/// Letters and digits in lowercase.
fn plain(name: &str) -> String {
    name.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Words of a name in lowercase, such as `sms` and `code` of `smsCode`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_small = false;
    for character in name.chars() {
        if !character.is_alphanumeric() || character.is_uppercase() && after_small {
            words.push(String::new());
        }
        after_small = character.is_lowercase();
        if character.is_alphanumeric() {
            let word = words.last_mut().expect("there is a first word");
            word.extend(character.to_lowercase());
        }
    }
    words
}

#[derive(Clone, Debug)]
struct Secret {
    value: String,
    field: String,
    kind: SecretKind,
    /// Name of its variable, as soon as a request contains it.
    variable: Option<String>,
}

/// Known secrets and their environment variables.
#[derive(Clone, Debug, Default)]
pub(super) struct Secrets {
    all: Vec<Secret>,
    by_value: HashMap<String, usize>,
}

impl Secrets {
    /// Remembers a secret.
    pub fn add(&mut self, value: &str, field: &str, kind: SecretKind) -> usize {
        if let Some(known) = self.by_value.get(value) {
            return *known;
        }
        self.by_value.insert(value.to_owned(), self.all.len());
        self.all.push(Secret { value: value.to_owned(), field: field.to_owned(), kind, variable: None });
        self.all.len() - 1
    }

    /// Remembers the cookies of a request and of its response.
    pub fn add_cookies(&mut self, exchange: &Exchange) {
        let sent = exchange.headers.iter().filter(|header| header.0.eq_ignore_ascii_case("cookie"));
        let sent = sent.flat_map(|header| header.1.split(';'));
        let response = exchange.response.as_ref();
        let received = response.map(|response| response.headers.as_slice()).unwrap_or_default();
        let received = received.iter().filter(|header| header.0.eq_ignore_ascii_case("set-cookie"));
        let received = received.flat_map(|header| header.1.lines()).filter_map(|line| line.split(';').next());
        let all: Vec<&str> = sent.chain(received).collect();
        for (name, value) in all.into_iter().filter_map(|cookie| cookie.trim().split_once('=')) {
            if value.len() >= PART_MIN {
                self.add(value, name, SecretKind::Cookie);
                self.add(&super::url::decoded(value), name, SecretKind::Cookie);
            }
        }
    }

    /// Name of the environment variable for a secret.
    pub fn variable(&mut self, secret: usize) -> String {
        if let Some(name) = &self.all[secret].variable {
            return name.clone();
        }
        let base = variable_name(&self.all[secret].field);
        let is_taken = |name: &str| self.all.iter().any(|secret| secret.variable.as_deref() == Some(name));
        let mut numbered = (2..).map(|number| format!("{base}_{number}"));
        let name = match is_taken(&base) {
            true => numbered.find(|name| !is_taken(name)).expect("the numbers are endless"),
            false => base,
        };
        self.all[secret].variable = Some(name.clone());
        name
    }

    /// Secret that equals a text.
    pub fn exact(&self, text: &str) -> Option<usize> {
        self.by_value.get(text).copied().filter(|_| text.len() >= EXACT_MIN)
    }

    /// Longest secret that a text begins with.
    pub fn prefix(&self, text: &str) -> Option<(usize, usize)> {
        let all = self.all.iter().enumerate().filter(|(_, secret)| secret.value.len() >= PART_MIN);
        let matching = all.filter(|(_, secret)| text.starts_with(&secret.value));
        matching.map(|(index, secret)| (index, secret.value.len())).max_by_key(|found| found.1)
    }

    /// True if a regular expression, a pointer or a name contains a secret.
    pub fn occur_in(&self, text: &str) -> bool {
        let plain = text.replace('\\', "");
        let decoded = super::url::decoded(&plain);
        let mut all = self.all.iter().filter(|secret| secret.value.len() >= PART_MIN);
        all.any(|secret| [text, &plain, &decoded].iter().any(|text| text.contains(&secret.value)))
    }

    /// Forgets the names of variables.
    pub fn without_variables(mut self) -> Secrets {
        self.all.iter_mut().for_each(|secret| secret.variable = None);
        self
    }

    /// Variables of the secrets that requests contain.
    pub fn variables(&self) -> Vec<SecretVariable> {
        let variable = |secret: &Secret| {
            let (field, kind) = (secret.field.clone(), secret.kind);
            Some(SecretVariable { name: secret.variable.clone()?, field, kind })
        };
        self.all.iter().filter_map(variable).collect()
    }
}

/// Name of the environment variable for a field.
pub(super) fn variable_name(field: &str) -> String {
    let letter =
        |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_uppercase() } else { '_' };
    let name: String = words_separated(field).chars().map(letter).collect();
    let parts: Vec<&str> = name.split('_').filter(|part| !part.is_empty()).collect();
    let mut name = parts.join("_");
    name.truncate(NAME_MAX);
    match name.chars().next() {
        None => "SECRET".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("SECRET_{name}"),
        Some(_) => name,
    }
}

/// Name with an underscore before each uppercase letter that follows a lowercase one.
fn words_separated(name: &str) -> String {
    let mut out = String::new();
    for character in name.chars() {
        if character.is_uppercase() && out.chars().last().is_some_and(char::is_lowercase) {
            out.push('_');
        }
        out.push(character);
    }
    out
}

/// Scheme of an `Authorization` header with the blank behind it, and the credentials.
pub(super) fn scheme(value: &str) -> (&str, &str) {
    match value.find(' ') {
        Some(at)
            if value[..at].chars().all(|character| character.is_ascii_alphabetic() || character == '-') =>
        {
            value.split_at(at + 1)
        }
        _ => ("", value),
    }
}

/// True if requests or responses contain cookies.
pub(super) fn has_cookies(exchange: &Exchange) -> bool {
    sends_cookies(exchange) || sets_cookies(exchange)
}

pub(super) fn sends_cookies(exchange: &Exchange) -> bool {
    header(&exchange.headers, "cookie").is_some()
}

pub(super) fn sets_cookies(exchange: &Exchange) -> bool {
    exchange.response.as_ref().is_some_and(|response| header(&response.headers, "set-cookie").is_some())
}

/// Secret fields within a text, such as `"password": "…"`, `password=…` or `<password>…`: names and the byte ranges of
/// their values.
pub(super) fn fields(text: &str) -> Vec<(&str, std::ops::Range<usize>)> {
    let is_name = |character: char| character.is_ascii_alphanumeric() || "_-".contains(character);
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find(is_name).map(|start| at + start) {
        let end = text[start..].find(|character| !is_name(character)).map_or(text.len(), |end| start + end);
        at = end;
        let name = &text[start..end];
        if !is_secret_name(name) {
            continue;
        }
        let rest = &text[end..];
        // Between a name and its value: quotes, blanks, and one of the separators. A part of a multipart body has an empty
        // line instead.
        let between = rest.len()
            - rest.trim_start_matches([' ', '\t', '\r', '\n', '"', '\'', '\\', ':', '=', '>']).len();
        let separator = &rest[..between];
        if !separator.contains([':', '=', '>']) && !separator.contains("\r\n\r\n") {
            continue;
        }
        let value_start = end + between;
        let quote = separator.chars().last().filter(|last| matches!(last, '"' | '\''));
        let is_part = separator.contains("\r\n\r\n");
        let is_end = |character: char| match quote {
            _ if is_part => character == '\r',
            Some(quote) => character == quote || character == '\\',
            None => character.is_whitespace() || "<&,;\"')}]".contains(character),
        };
        let length = text[value_start..].find(is_end).unwrap_or(text.len() - value_start);
        // `$name` is a variable of GraphQL.
        if length > 0 && !text[value_start..].starts_with(['$', '{', '[', '<']) {
            found.push((name, value_start..value_start + length));
            at = value_start + length;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognises_names() {
        for (name, expected) in [
            ("password", true),
            ("user[password]", true),
            ("userPasswd", true),
            ("new_pwd", true),
            ("client_secret", true),
            ("X-Api-Key", true),
            ("apiKey", true),
            ("api_key", true),
            ("accessToken", true),
            ("otp", true),
            ("sms_otp", true),
            ("userOtp", true),
            ("OTP", true),
            ("notPresent", false),
            ("name", false),
            ("monkey", false),
        ] {
            assert_eq!(is_secret_name(name), expected, "{name}");
        }
        assert!(is_secret_header("X-Auth-User") && !is_secret_name("author"));
    }

    #[test]
    fn names_variables() {
        let mut secrets = Secrets::default();
        for (value, field, expected) in [
            ("a", "user[password]", "USER_PASSWORD"),
            ("b", "user[password]", "USER_PASSWORD_2"),
            ("a", "other", "USER_PASSWORD"),
            ("c", "accessToken", "ACCESS_TOKEN"),
            ("d", "пароль", "SECRET"),
            ("e", "2fa-token", "SECRET_2FA_TOKEN"),
        ] {
            let secret = secrets.add(value, field, SecretKind::Value);
            assert_eq!(secrets.variable(secret), expected);
        }
        assert_eq!(secrets.variables().len(), 5);
        assert!(secrets.without_variables().variables().is_empty());
    }

    #[test]
    fn finds_fields_in_texts() {
        for (text, expected) in [
            (r#"mutation { login(name: "a", password: "b c") }"#, &["b c"][..]),
            (r#"{\"token\":\"x\"}"#, &["x"]),
            ("<password>x</password>", &["x"]),
            ("a=1&password=x&b=2", &["x"]),
            ("name=\"password\"\r\n\r\nx y\r\n--", &["x y"]),
            ("password: $password, token: {", &[]),
            ("the password is long", &[]),
            ("token=", &[]),
        ] {
            let found: Vec<&str> = fields(text).into_iter().map(|field| &text[field.1]).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn splits_schemes() {
        assert_eq!(scheme("Bearer abc"), ("Bearer ", "abc"));
        assert_eq!(scheme("abc"), ("", "abc"));
        assert_eq!(scheme("a1 b"), ("", "a1 b"));
    }
}
