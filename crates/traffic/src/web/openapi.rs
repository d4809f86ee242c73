//! Skeleton of an experiment from an OpenAPI description
//!
//! OpenAPI 3.0 and 3.1. One operation for each path and method; variables for the parameters in paths and for required
//! parameters in queries. Source: <https://spec.openapis.org/oas/v3.1.0>.

mod variables;

use super::document::Document;
use super::error::WebError;
use super::json::Json;
use super::omitted::{self, OmissionReason};
use super::operation::{Body, ImportedOperation, JsonBody, RequestStep};
use super::schema;
use super::secrets::{SecretKind, SecretVariable, is_secret_name, variable_name};
use super::session::{self, LOCAL};
use super::template::{RequestTemplate, TemplatePart};
use super::url::Url;
use super::{WebExperiment, WebOptions, naming};
use model::percent_encode;
use std::collections::HashSet;
use variables::ParameterVariables;

/// Methods in the order of the file, with the keys of a path that describe them.
const METHODS: [&str; 8] = ["get", "head", "post", "put", "patch", "delete", "options", "trace"];
/// Maximum number of operations.
const OPERATIONS_MAX: usize = 200;

/// Checks that the description has a version that can be read.
pub(super) fn check_version(description: &Json) -> Result<(), WebError> {
    let version = description.get("openapi").or_else(|| description.get("swagger"));
    let version = match version {
        Some(Json::Text(version) | Json::Number(version)) => version.clone(),
        _ => return Err(WebError::UnknownFormat),
    };
    if !version.starts_with("3.0") && !version.starts_with("3.1") {
        return Err(WebError::OpenApiVersion { version });
    }
    match description.get("paths") {
        Some(Json::Object(_)) => Ok(()),
        _ => Err(WebError::Value { place: "paths".to_owned(), expected: "object" }),
    }
}

pub(super) fn experiment(description: &Json, options: &WebOptions) -> WebExperiment {
    // A path of the server precedes the paths of operations.
    let (server, prefix) = server(description);
    let chosen = options.origin.as_deref().and_then(Url::parse);
    let is_origin_assumed = chosen.is_none() && server.is_none();
    let origin = chosen.map(|url| url.origin).or(server).unwrap_or_else(|| LOCAL.to_owned());
    let mut builder = Builder { description, prefix, secrets: Vec::new(), taken: HashSet::new() };
    let mut left_out = Vec::new();
    let mut operations = Vec::new();
    let mut requests = 0;
    for (path, item) in description.get("paths").map(Json::members).unwrap_or_default() {
        let item = schema::resolve(description, item);
        for method in METHODS {
            let Some(operation) = item.get(method) else { continue };
            requests += 1;
            if let Some(reason) = reason_to_leave_out(method, path, operations.len()) {
                omitted::add(&mut left_out, reason);
                continue;
            }
            match builder.operation(path, method, item, operation) {
                Ok(operation) => operations.push(operation),
                Err(reason) => omitted::add(&mut left_out, reason),
            }
        }
    }
    let secrets = builder.secrets;
    let document = Document {
        name: options.name.clone(),
        origin,
        is_origin_assumed,
        ready: session::ready(&operations, |_| true),
        operations,
        cookies: false,
        think: None,
    };
    WebExperiment { requests, secrets, ..session::of_document(document, left_out) }
}

fn reason_to_leave_out(method: &str, path: &str, operations: usize) -> Option<OmissionReason> {
    match method {
        "options" | "trace" => Some(OmissionReason::Method { method: method.to_ascii_uppercase() }),
        _ if !path.starts_with('/') => Some(OmissionReason::Scheme),
        _ if operations >= OPERATIONS_MAX => Some(OmissionReason::TooMany),
        _ => None,
    }
}

/// Origin and path of the first server. Its variables have their default values. A URL without a host has no origin.
fn server(description: &Json) -> (Option<String>, String) {
    let Some(server) = description.get("servers").map(Json::items).unwrap_or_default().first() else {
        return (None, String::new());
    };
    let mut url = server.text_of("url").unwrap_or_default().to_owned();
    for (name, variable) in server.get("variables").map(Json::members).unwrap_or_default() {
        url = url.replace(&format!("{{{name}}}"), variable.text_of("default").unwrap_or_default());
    }
    let path = |path: &str| path.trim_end_matches('/').to_owned();
    match Url::parse(&url) {
        Some(url) => (Some(url.origin.clone()), path(url.path())),
        None if url.starts_with('/') => (None, path(url.split(['?', '#']).next().unwrap_or_default())),
        None => (None, String::new()),
    }
}

struct Builder<'a> {
    description: &'a Json,
    /// Path that precedes all paths.
    prefix: String,
    secrets: Vec<SecretVariable>,
    /// Names of operations.
    taken: HashSet<String>,
}

impl Builder<'_> {
    fn operation(
        &mut self,
        path: &str,
        method: &str,
        item: &Json,
        operation: &Json,
    ) -> Result<ImportedOperation, OmissionReason> {
        let mut variables = ParameterVariables::default();
        let parameters = self.parameters(item, operation);
        let mut target = self.path(path, &parameters, &mut variables);
        let mut headers: Vec<(String, RequestTemplate)> = Vec::new();
        let mut query: Vec<(String, RequestTemplate)> = Vec::new();
        self.security(operation, &mut headers, &mut query);
        let (secret_headers, secret_query) = (headers.len(), query.len());
        for parameter in &parameters {
            let name = parameter.text_of("name").unwrap_or_default();
            let is_required = parameter.get("required") == Some(&Json::Bool(true));
            match parameter.text_of("in") {
                // The description may list credentials among the parameters too.
                Some("query") if query[..secret_query].iter().any(|it| it.0 == name) => {}
                Some("header")
                    if headers[..secret_headers].iter().any(|it| it.0.eq_ignore_ascii_case(name)) => {}
                Some("query") if is_required => {
                    let variable = variables.add(self.description, name, parameter);
                    query.push((name.to_owned(), variable));
                }
                Some("header") if is_required && is_header(name) => {
                    let variable = variables.add(self.description, name, parameter);
                    headers.push((name.to_owned(), variable));
                }
                _ => {}
            }
        }
        for (number, (name, value)) in query.into_iter().enumerate() {
            let separator = if number == 0 { '?' } else { '&' };
            target.push(TemplatePart::Plain(format!("{separator}{}=", percent_encode(&name))));
            target.append(value);
        }
        let (body, fill_in) = match method {
            "get" | "head" => (Body::Empty, false),
            _ => self.body(operation, &mut headers)?,
        };
        let name = operation.text_of("operationId").map(naming::plain).filter(|name| !name.is_empty());
        let name = name.unwrap_or_else(|| {
            naming::request_name(method, &RequestTemplate::plain(path.replace(['{', '}'], ":")))
        });
        let name = naming::unique(&name, &mut self.taken);
        let step = RequestStep {
            pause: None,
            name: name.clone(),
            method: method.to_ascii_uppercase(),
            target,
            headers,
            body,
            captures: Vec::new(),
            status: status(operation),
            redirects: 0,
            decompress: false,
            fill_in,
        };
        let feed = variables.feed();
        Ok(ImportedOperation { name, weight: None, set: variables.set, feed, steps: vec![step] })
    }

    /// Parameters of the operation and, unless it has parameters of the same name and place, those of the path.
    fn parameters(&self, item: &Json, operation: &Json) -> Vec<Json> {
        let mut all: Vec<Json> = Vec::new();
        let lists = [operation.get("parameters"), item.get("parameters")];
        for parameter in lists.into_iter().flatten().flat_map(Json::items) {
            let parameter = schema::resolve(self.description, parameter);
            let is_same =
                |other: &Json| ["name", "in"].iter().all(|key| other.get(key) == parameter.get(key));
            if !all.iter().any(is_same) {
                all.push(parameter.clone());
            }
        }
        all
    }

    /// Path with variables in place of `{name}`.
    fn path(&self, path: &str, parameters: &[Json], variables: &mut ParameterVariables) -> RequestTemplate {
        let mut target = RequestTemplate::plain(plain_path(&self.prefix));
        let mut rest = path;
        while let Some((before, after)) = rest.split_once('{') {
            let Some((name, after)) = after.split_once('}') else { break };
            target.push(TemplatePart::Plain(plain_path(before)));
            let is_this = |it: &&Json| it.text_of("in") == Some("path") && it.text_of("name") == Some(name);
            let parameter = parameters.iter().find(is_this);
            target.append(variables.add(self.description, name, parameter.unwrap_or(&Json::Null)));
            rest = after;
        }
        target.push(TemplatePart::Plain(plain_path(rest)));
        target
    }

    /// Body from the examples or the schema, and whether the user must fill it in.
    fn body(
        &mut self,
        operation: &Json,
        headers: &mut Vec<(String, RequestTemplate)>,
    ) -> Result<(Body, bool), OmissionReason> {
        let Some(body) = operation.get("requestBody") else { return Ok((Body::Empty, false)) };
        let body = schema::resolve(self.description, body);
        let content = body.get("content").map(Json::members).unwrap_or_default();
        let find = |is: fn(&str) -> bool| content.iter().find(|(name, _)| is(name));
        let is_required = body.get("required") == Some(&Json::Bool(true));
        if let Some((media_type, content)) = find(|name| name.contains("json")) {
            let sample = schema::sample(self.description, content);
            if !media_type.starts_with("application/json") && !media_type.contains('*') {
                headers.push(("Content-Type".to_owned(), RequestTemplate::plain(media_type)));
            }
            return Ok((self.json(&sample.value).into_body(), sample.is_invented));
        }
        if let Some((_, content)) = find(|name| name.starts_with("application/x-www-form-urlencoded")) {
            let sample = schema::sample(self.description, content);
            let text = |value: &Json| match value {
                Json::Text(text) | Json::Number(text) => text.clone(),
                Json::Bool(value) => value.to_string(),
                _ => String::new(),
            };
            let mut fields: Vec<(String, RequestTemplate)> = Vec::new();
            for (name, value) in sample.value.members() {
                if fields.iter().all(|field| field.0 != *name) {
                    let secret = is_secret_name(name).then(|| self.secret("", name, SecretKind::Value));
                    fields
                        .push((name.clone(), secret.unwrap_or_else(|| RequestTemplate::plain(text(value)))));
                }
            }
            return Ok((Body::Form(fields), sample.is_invented));
        }
        if let Some((media_type, content)) = find(|name| name.starts_with("text/") || name.contains("xml")) {
            let sample = schema::sample(self.description, content);
            headers.push(("Content-Type".to_owned(), RequestTemplate::plain(media_type)));
            let text = sample.value.text().unwrap_or_default();
            return Ok((
                Body::Text(RequestTemplate::plain(text)),
                sample.is_invented || sample.value.text().is_none(),
            ));
        }
        match is_required && !content.is_empty() {
            true => Err(OmissionReason::BinaryBody),
            false => Ok((Body::Empty, false)),
        }
    }

    /// JSON value with environment variables in place of the texts of secret members.
    fn json(&mut self, json: &Json) -> JsonBody {
        match json {
            Json::List(items) => JsonBody::List(items.iter().map(|item| self.json(item)).collect()),
            Json::Object(members) => {
                let member = |(name, value): &(String, Json)| match value {
                    Json::Text(_) if is_secret_name(name) => {
                        (name.clone(), JsonBody::Text(self.secret("", name, SecretKind::Value)))
                    }
                    value => (name.clone(), self.json(value)),
                };
                JsonBody::Object(members.iter().map(member).collect())
            }
            json => JsonBody::of(json),
        }
    }

    /// Adds the credentials that the first alternative requires.
    fn security(
        &mut self,
        operation: &Json,
        headers: &mut Vec<(String, RequestTemplate)>,
        query: &mut Vec<(String, RequestTemplate)>,
    ) {
        let required = operation.get("security").or_else(|| self.description.get("security"));
        let Some(first) = required.map(Json::items).unwrap_or_default().first() else { return };
        let schemes = self.description.get("components").and_then(|it| it.get("securitySchemes"));
        for (name, _) in first.members() {
            let Some(scheme) = schemes.and_then(|schemes| schemes.get(name)) else { continue };
            let scheme = schema::resolve(self.description, scheme).clone();
            let scheme_name = scheme.text_of("scheme").unwrap_or_default().to_ascii_lowercase();
            let parameter = scheme.text_of("name").unwrap_or_default().to_owned();
            match (scheme.text_of("type"), scheme_name.as_str(), scheme.text_of("in")) {
                (Some("http"), "basic", _) => {
                    let value = self.secret("Basic ", "basic_credentials", SecretKind::BasicCredentials);
                    headers.push(("Authorization".to_owned(), value));
                }
                (Some("http"), "bearer", _) | (Some("oauth2" | "openIdConnect"), ..) => {
                    let value = self.secret("Bearer ", "bearer_token", SecretKind::Required);
                    headers.push(("Authorization".to_owned(), value));
                }
                (Some("apiKey"), _, Some("header")) if is_header(&parameter) => {
                    let value = self.secret("", &parameter, SecretKind::Required);
                    headers.push((parameter, value));
                }
                (Some("apiKey"), _, Some("query")) => {
                    let value = self.secret("", &parameter, SecretKind::Required);
                    query.push((parameter, value));
                }
                _ => {}
            }
        }
        // Two schemes may use the same header.
        let mut names = HashSet::new();
        headers.retain(|header| names.insert(header.0.to_ascii_lowercase()));
    }

    fn secret(&mut self, before: &str, field: &str, kind: SecretKind) -> RequestTemplate {
        let name = variable_name(field);
        if !self.secrets.iter().any(|secret| secret.name == name) {
            self.secrets.push(SecretVariable { name: name.clone(), field: field.to_owned(), kind });
        }
        let mut template = RequestTemplate::plain(before);
        template.push(TemplatePart::Secret(name));
        template
    }
}

/// True if an experiment may contain a header with this name.
fn is_header(name: &str) -> bool {
    let reserved = ["host", "content-length", "transfer-encoding", "connection", "cookie"];
    let is_token = |letter: char| letter.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(letter);
    !name.is_empty() && name.chars().all(is_token) && !reserved.contains(&name.to_ascii_lowercase().as_str())
}

/// Part of a path with only the characters that an experiment allows.
fn plain_path(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        match character {
            '#' | '?' | ':' => out += &percent_encode(character.encode_utf8(&mut [0; 4])),
            character if character.is_ascii_graphic() => out.push(character),
            character => out += &percent_encode(character.encode_utf8(&mut [0; 4])),
        }
    }
    out
}

/// Expected status: the lowest documented one that means success, if pgdyno would not expect it by default.
fn status(operation: &Json) -> Option<u16> {
    let codes = operation.get("responses").map(Json::members).unwrap_or_default();
    let codes = codes.iter().filter_map(|(code, _)| code.parse::<u16>().ok());
    codes.filter(|code| (200..400).contains(code)).min()
}
