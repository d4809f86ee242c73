//! Conversion of recorded requests to requests with variables

use super::exchange::{Exchange, RequestBody, Response, header};
use super::form;
use super::headers;
use super::json::Json;
use super::naming;
use super::operation::{Body, JsonBody, RequestStep};
use super::redirects::Hops;
use super::responses::{Location, ResponseValues};
use super::secrets::{self, SecretKind, Secrets, is_secret_header, is_secret_name, is_secret_number};
use super::template::{RequestTemplate, TemplatePart};
use super::url::decoded;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Converts requests in their order.
#[derive(Debug)]
struct Converter<'a> {
    responses: ResponseValues<'a>,
    secrets: Secrets,
}

/// Steps of requests. With `captures`, values of earlier responses become variables.
pub(super) fn steps(requests: &[Hops<'_>], captures: bool) -> (Vec<RequestStep>, Secrets) {
    // The first pass finds the secrets, because a request may contain a secret of a later one.
    let mut secrets = Secrets::default();
    let mut steps = Vec::new();
    for _ in 0..2 {
        let mut converter =
            Converter { responses: ResponseValues::default(), secrets: secrets.without_variables() };
        steps = converter.steps(requests, captures);
        secrets = converter.secrets;
    }
    (steps, secrets)
}

impl<'a> Converter<'a> {
    fn steps(&mut self, requests: &[Hops<'a>], captures: bool) -> Vec<RequestStep> {
        let mut steps = Vec::with_capacity(requests.len());
        for (number, request) in requests.iter().enumerate() {
            self.secrets.add_cookies(request.first);
            steps.push(self.step(request));
            if let Some(response) = request.response.filter(|_| captures) {
                self.responses.add(number, response);
            }
        }
        for (number, (step, request)) in steps.iter_mut().zip(requests).enumerate() {
            step.captures = self.responses.captures(number);
            step.decompress = step.captures.iter().any(|capture| !matches!(capture.1, Location::Header(_)))
                && request.response.is_some_and(is_compressed);
        }
        steps
    }

    fn step(&mut self, request: &Hops<'_>) -> RequestStep {
        let exchange = request.first;
        let target = self.target(&request.url.target);
        let body = self.body(exchange);
        let headers = headers::kept(exchange).into_iter();
        let is_implied =
            |name: &str, value: &str| name.eq_ignore_ascii_case("content-type") && is_implied(&body, value);
        let headers: Vec<(String, String)> =
            headers.filter(|(name, value)| !is_implied(name, value)).collect();
        let status = request.response.map(|response| response.status);
        RequestStep {
            pause: None,
            name: naming::request_name(&exchange.method, &target),
            headers: headers.into_iter().map(|(name, value)| self.header(name, &value)).collect(),
            method: exchange.method.clone(),
            target,
            body,
            captures: Vec::new(),
            status: status.filter(|status| !(200..400).contains(status)),
            redirects: request.redirects,
            decompress: false,
            fill_in: false,
        }
    }

    /// Path and query. Only parts with variables are encoded again.
    fn target(&mut self, target: &str) -> RequestTemplate {
        let (path, query) =
            target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query)));
        let mut out = RequestTemplate::default();
        for (number, segment) in path.split('/').enumerate() {
            if number > 0 {
                out.push(TemplatePart::Plain("/".to_owned()));
            }
            out.append(self.part(segment, &decoded(segment), None));
        }
        let Some(query) = query else { return out };
        for (number, field) in query.split('&').enumerate() {
            out.push(TemplatePart::Plain(if number > 0 { "&" } else { "?" }.to_owned()));
            let Some((name, value)) = field.split_once('=') else {
                out.append(self.part(field, &decoded(field), None));
                continue;
            };
            out.push(TemplatePart::Plain(format!("{name}=")));
            let name = decoded(name);
            let secret = Some(name.as_str()).filter(|name| is_secret_name(name));
            out.append(self.part(value, &decoded(&value.replace('+', " ")), secret));
        }
        out
    }

    /// Part of a target.
    fn part(&mut self, written: &str, decoded: &str, secret: Option<&str>) -> RequestTemplate {
        let value = self.value(decoded, secret);
        if !value.is_plain() {
            return value.encoded();
        }
        // A colon would look like a variable of SQL.
        RequestTemplate::plain(match written.strip_prefix(':') {
            Some(rest) => format!("%3A{rest}"),
            None => written.to_owned(),
        })
    }

    fn header(&mut self, name: String, value: &str) -> (String, RequestTemplate) {
        let lowercase = name.to_ascii_lowercase();
        if !matches!(lowercase.as_str(), "authorization" | "proxy-authorization") {
            let is_secret = is_secret_header(&name);
            let template = self.value(value, Some(name.as_str()).filter(|_| is_secret));
            return (name, template);
        }
        if let Some(known) = self.captured(value, true) {
            return (name, known);
        }
        let (scheme, credentials) = secrets::scheme(value);
        let mut template = RequestTemplate::plain(scheme);
        template.append(match scheme.trim().to_ascii_lowercase().as_str() {
            "basic" => {
                let pair = STANDARD.decode(credentials).ok().and_then(|bytes| String::from_utf8(bytes).ok());
                if let Some((_, password)) = pair.as_deref().and_then(|pair| pair.split_once(':')) {
                    self.secrets.add(password, "password", SecretKind::Value);
                }
                self.credentials(credentials, "basic_credentials", SecretKind::BasicCredentials)
            }
            "bearer" => self.credentials(credentials, "bearer_token", SecretKind::Value),
            _ => self.credentials(credentials, &name, SecretKind::Value),
        });
        (name, template)
    }

    fn body(&mut self, exchange: &Exchange) -> Body {
        let content_type = exchange.content_type();
        match &exchange.body {
            RequestBody::Empty | RequestBody::Binary => Body::Empty,
            RequestBody::Form(fields) => {
                self.form(fields).unwrap_or_else(|| self.text(&form::encode(fields)))
            }
            RequestBody::Text(text) => {
                let is_form = content_type == "application/x-www-form-urlencoded";
                let fields = form::decode(text).filter(|_| is_form);
                let is_json = content_type.ends_with("json") || text.trim_start().starts_with(['{', '[']);
                let json = Json::parse(text).ok().filter(|json| is_json && !json.is_rounded());
                let form = fields.and_then(|fields| self.form(&fields));
                let json = || json.map(|json| self.json(&json, None).into_body());
                form.or_else(json).unwrap_or_else(|| self.text(text))
            }
        }
    }

    /// Form; `None` if a field is repeated, because names are unique in an experiment.
    fn form(&mut self, fields: &[(String, String)]) -> Option<Body> {
        let is_repeated = |at: usize, name: &str| fields[..at].iter().any(|field| field.0 == name);
        let is_usable =
            |(at, field): (usize, &(String, String))| !is_repeated(at, &field.0) && field.0 != "<<";
        if !fields.iter().enumerate().all(is_usable) {
            return None;
        }
        let field = |(name, value): &(String, String)| {
            let secret = Some(name.as_str()).filter(|name| is_secret_name(name));
            (name.clone(), self.value(value, secret))
        };
        Some(Body::Form(fields.iter().map(field).collect()))
    }

    fn text(&mut self, text: &str) -> Body {
        Body::Text(self.with_fields(text))
    }

    /// JSON value. `secret` is the name of the secret field that contains it.
    fn json(&mut self, json: &Json, secret: Option<&str>) -> JsonBody {
        match json {
            Json::Null | Json::Bool(_) => JsonBody::of(json),
            Json::Text(text) => JsonBody::Text(self.value(text, secret)),
            Json::Number(number) => {
                let value = self.value(number, secret.filter(|name| is_secret_number(name)));
                match value.pieces() {
                    [piece @ (TemplatePart::Variable(_) | TemplatePart::Secret(_))] => {
                        JsonBody::Variable(piece.clone())
                    }
                    _ => JsonBody::Number(number.clone()),
                }
            }
            Json::List(items) => JsonBody::List(items.iter().map(|item| self.json(item, secret)).collect()),
            Json::Object(members) => {
                let member = |(name, value): &(String, Json)| {
                    let secret = Some(name.as_str()).filter(|name| is_secret_name(name)).or(secret);
                    (name.clone(), self.json(value, secret))
                };
                JsonBody::Object(members.iter().map(member).collect())
            }
        }
    }

    /// Value of a field; `secret` is the name of a field whose values are secret.
    fn value(&mut self, text: &str, secret: Option<&str>) -> RequestTemplate {
        self.responses.add_sent(text);
        if text.is_empty() {
            return RequestTemplate::default();
        }
        if let Some(field) = secret {
            return self.credentials(text, field, SecretKind::Value);
        }
        if let Some(known) = self.captured(text, false) {
            return known;
        }
        if let Some(secret) = self.secrets.exact(text) {
            return self.variable(secret);
        }
        match text.contains(['{', '<', '?', '&']) {
            true => self.with_fields(text),
            false => self.with_parts(text),
        }
    }

    /// Text that may contain secret fields.
    fn with_fields(&mut self, text: &str) -> RequestTemplate {
        let mut template = RequestTemplate::default();
        let mut at = 0;
        for (name, range) in secrets::fields(text) {
            template.append(self.with_parts(&text[at..range.start]));
            template.append(self.credentials(&text[range.clone()], name, SecretKind::Value));
            at = range.end;
        }
        template.append(self.with_parts(&text[at..]));
        template
    }

    /// Text in which captured values and secrets are replaced.
    fn with_parts(&mut self, text: &str) -> RequestTemplate {
        let mut template = RequestTemplate::default();
        let (mut at, mut start) = (0, 0);
        while at < text.len() {
            let response = self.responses.prefix(text, at);
            let response = response.and_then(|(number, length)| Some((self.capture(number)?, length)));
            let found = response
                .or_else(|| {
                    self.secrets.prefix(&text[at..]).map(|(secret, length)| (self.variable(secret), length))
                })
                .or_else(|| {
                    let length = json_web_token(&text[at..])?;
                    Some((self.secret(&text[at..at + length], "jwt", SecretKind::Value), length))
                });
            match found {
                Some((variable, length)) => {
                    template.push(TemplatePart::Plain(text[start..at].to_owned()));
                    template.append(variable);
                    at += length;
                    start = at;
                }
                None => at += text[at..].chars().next().map_or(1, char::len_utf8),
            }
        }
        template.push(TemplatePart::Plain(text[start..].to_owned()));
        template
    }

    /// Captured variable, or else an environment variable, for the value of a secret field.
    fn credentials(&mut self, text: &str, field: &str, kind: SecretKind) -> RequestTemplate {
        // A captured secret must not be a part of another expression.
        let secret = self.secrets.add(text, field, kind);
        self.captured(text, true).unwrap_or_else(|| self.variable(secret))
    }

    fn secret(&mut self, text: &str, field: &str, kind: SecretKind) -> RequestTemplate {
        let secret = self.secrets.add(text, field, kind);
        self.variable(secret)
    }

    fn variable(&mut self, secret: usize) -> RequestTemplate {
        let mut template = RequestTemplate::default();
        template.push(TemplatePart::Secret(self.secrets.variable(secret)));
        template
    }

    /// Variable for a text that an earlier response contained.
    fn captured(&mut self, text: &str, is_secret: bool) -> Option<RequestTemplate> {
        let number = self.responses.exact(text, is_secret)?;
        self.capture(number)
    }

    fn capture(&mut self, number: usize) -> Option<RequestTemplate> {
        let secrets = &self.secrets;
        let variable = self.responses.variable(number, |text| !secrets.occur_in(text))?;
        let mut template = RequestTemplate::default();
        template.push(TemplatePart::Variable(variable));
        Some(template)
    }
}

/// True if pgdyno sends this type with the body anyway.
fn is_implied(body: &Body, content_type: &str) -> bool {
    let content_type: String = content_type.to_ascii_lowercase().split_whitespace().collect();
    match body {
        Body::Json(_) | Body::JsonText(_) => {
            matches!(content_type.as_str(), "application/json" | "application/json;charset=utf-8")
        }
        Body::Form(_) => content_type.starts_with("application/x-www-form-urlencoded"),
        Body::Text(_) | Body::Empty => false,
    }
}

fn is_compressed(response: &Response) -> bool {
    header(&response.headers, "content-encoding")
        .is_some_and(|it| !it.trim().eq_ignore_ascii_case("identity"))
}

/// Length of a JSON Web Token at the beginning of a text: three parts in Base64, of which the first is an object.
pub(super) fn json_web_token(text: &str) -> Option<usize> {
    if !text.starts_with("eyJ") {
        return None;
    }
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    let end = text.find(|letter| !is_part(letter)).unwrap_or(text.len());
    let token = text[..end].trim_end_matches('.');
    let parts: Vec<&str> = token.split('.').collect();
    (parts.len() == 3 && parts.iter().all(|part| part.len() >= 4)).then_some(token.len())
}
