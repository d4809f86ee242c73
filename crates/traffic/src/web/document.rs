//! Experiment file

use super::operation::{Body, ImportedOperation, InlineFeed, JsonBody, RequestStep};
use super::responses::Location;
use super::template::{RequestTemplate, TemplatePart};
use super::url::Url;
use crate::yaml::quoted;
use model::Nanos;

/// Contents of an experiment file.
#[derive(Clone, Debug)]
pub(super) struct Document {
    pub name: String,
    pub origin: String,
    /// True if the user must check the origin, because the source contains none.
    pub is_origin_assumed: bool,
    /// Path that returns 200; `None` if none is known.
    pub ready: Option<String>,
    pub operations: Vec<ImportedOperation>,
    pub cookies: bool,
    pub think: Option<Nanos>,
}

/// Longest flow mapping.
const FLOW_MAX: usize = 100;
/// Comment at values that the user must replace.
const FILL_IN: &str = "fill in";

/// Text of the file. `notes` are the lines at its beginning.
pub(super) fn write(document: &Document, notes: &[String]) -> String {
    let mut out = String::new();
    for line in notes.iter().flat_map(|note| note.lines()) {
        out += &format!("# {}\n", line.replace(char::is_control, " "));
    }
    out += &format!("name: {}\n\n", plain(&document.name));
    if document.is_origin_assumed {
        out += "# The source does not contain the address of the service.\n";
    }
    out += &format!("stack:\n  service:\n    url: {}\n", quoted(&document.origin));
    // Services on other machines must be allowed.
    if !Url::is_local(&document.origin) {
        let address = quoted(&Url::address(&document.origin));
        out += &format!("    allow: {address}  # keep this only if the service is yours and may be loaded\n");
    }
    match &document.ready {
        Some(path) => out += &format!("    ready: {}  # must return 200 before a run\n", plain(path)),
        None => out.push_str("    # ready: /health  # must return 200 before a run\n"),
    }
    out.push('\n');
    write_feeds(&document.operations, &mut out);
    out += "operations:\n";
    document.operations.iter().for_each(|operation| write_operation(operation, &mut out));
    out += "\nload:\n  model: closed\n  clients: 1\n  duration: 30s\n";
    match document.think {
        Some(think) => {
            out += &format!("  think: {}  # median pause between the recorded pages\n", think.notation());
        }
        None => out.push_str("  # think: 1s  # pause of a client between two executions of an operation\n"),
    }
    if document.cookies {
        out += "  cookies: true\n";
    }
    out
}

fn write_feeds(operations: &[ImportedOperation], out: &mut String) {
    let feeds: Vec<(&str, &InlineFeed)> =
        operations.iter().filter_map(|it| Some((it.name.as_str(), it.feed.as_ref()?))).collect();
    if feeds.is_empty() {
        return;
    }
    *out += "feeds:\n";
    for (name, feed) in feeds {
        let comment = if feed.fill_in { format!("  # {FILL_IN}") } else { String::new() };
        *out += &format!("  {}:\n    rows:{comment}\n", plain(name));
        for row in &feed.rows {
            let fields: Vec<String> = feed
                .columns
                .iter()
                .zip(row)
                .map(|(column, value)| format!("{}: {}", plain(column), plain(value)))
                .collect();
            *out += &format!("      - {{ {} }}\n", fields.join(", "));
        }
    }
    out.push('\n');
}

fn write_operation(operation: &ImportedOperation, out: &mut String) {
    *out += &format!("  {}:\n", plain(&operation.name));
    if let Some(weight) = operation.weight {
        *out += &format!("    weight: {weight}\n");
    }
    if operation.feed.is_some() {
        *out += &format!("    feed: {}\n", plain(&operation.name));
    }
    if !operation.set.is_empty() {
        *out += "    set:\n";
        for (name, expression) in &operation.set {
            *out += &format!("      {name}: {}\n", plain(expression));
        }
    }
    match operation.steps.as_slice() {
        [step] => write_request(step, 4, out),
        steps => {
            *out += "    steps:\n";
            for step in steps {
                *out += &format!("      - name: {}\n", plain(&step.name));
                if let Some(pause) = step.pause {
                    *out += &format!("        pause: {}\n", pause.notation());
                }
                write_request(step, 8, out);
            }
        }
    }
}

/// Appends the keys of a request, indented by `indent` blanks.
fn write_request(step: &RequestStep, indent: usize, out: &mut String) {
    let blanks = " ".repeat(indent);
    let key = step.method.to_ascii_lowercase();
    *out += &format!("{blanks}{key}: {}\n", plain(&step.target.text()));
    if !step.headers.is_empty() {
        *out += &format!("{blanks}headers:");
        write_texts(&step.headers, indent, out);
    }
    let fill_in = if step.fill_in { format!("  # {FILL_IN}") } else { String::new() };
    match &step.body {
        Body::Empty => {}
        Body::Json(json) => {
            *out += &format!("{blanks}json:");
            write_json(json, indent, &fill_in, out);
        }
        Body::JsonText(text) => *out += &format!("{blanks}json: {}{fill_in}\n", quoted(&text.text())),
        Body::Form(fields) => {
            *out += &format!("{blanks}form:");
            write_texts(fields, indent, out);
        }
        Body::Text(text) => *out += &format!("{blanks}body: {}{fill_in}\n", quoted(&text.text())),
    }
    if !step.captures.is_empty() {
        *out += &format!("{blanks}capture:\n");
        for (name, location) in &step.captures {
            let (kind, expression) = match location {
                Location::Json(pointer) => ("json", pointer),
                Location::Header(name) => ("header", name),
                Location::Regex(pattern) => ("regex", pattern),
            };
            let expression = match location {
                Location::Regex(pattern) => single_quoted(pattern),
                _ => plain(expression),
            };
            *out += &format!("{blanks}  {name}: {{ {kind}: {expression} }}\n");
        }
    }
    if let Some(status) = step.status {
        *out += &format!("{blanks}expect: {{ status: {status} }}\n");
    }
    if step.redirects > 0 {
        *out += &format!("{blanks}redirects: {}\n", step.redirects);
    }
    if step.decompress {
        *out += &format!("{blanks}decompress: true\n");
    }
}

/// Appends a mapping of texts behind its key.
fn write_texts(fields: &[(String, RequestTemplate)], indent: usize, out: &mut String) {
    let fields: Vec<String> =
        fields.iter().map(|(name, value)| format!("{}: {}", plain(name), plain(&value.text()))).collect();
    write_mapping(&fields, indent, out);
}

/// Appends a mapping in one line if it is short.
fn write_mapping(fields: &[String], indent: usize, out: &mut String) {
    let flow = fields.join(", ");
    if fields.is_empty() {
        *out += " {}\n";
    } else if flow.len() + indent <= FLOW_MAX {
        *out += &format!(" {{ {flow} }}\n");
    } else {
        out.push('\n');
        for field in fields {
            *out += &format!("{}{field}\n", " ".repeat(indent + 2));
        }
    }
}

/// Appends a JSON value behind its key, whose line is indented by `indent` blanks.
fn write_json(json: &JsonBody, indent: usize, comment: &str, out: &mut String) {
    if let Some(flow) = flow(json).filter(|flow| flow.len() + indent <= FLOW_MAX) {
        *out += &format!(" {flow}{comment}\n");
        return;
    }
    let blanks = " ".repeat(indent + 2);
    match json {
        JsonBody::List(items) => {
            *out += &format!("{comment}\n");
            for item in items {
                *out += &format!("{blanks}-");
                write_json(item, indent + 2, "", out);
            }
        }
        JsonBody::Object(members) => {
            *out += &format!("{comment}\n");
            for (name, value) in members {
                *out += &format!("{blanks}{}:", json_name(name));
                write_json(value, indent + 2, "", out);
            }
        }
        scalar => *out += &format!(" {}\n", self::scalar(scalar)),
    }
}

/// The value in one line; `None` if it contains a variable without quotes, whose braces would end a flow mapping.
fn flow(json: &JsonBody) -> Option<String> {
    match json {
        JsonBody::Variable(_) => None,
        JsonBody::List(items) => {
            let items: Option<Vec<String>> = items.iter().map(flow).collect();
            Some(format!("[{}]", items?.join(", ")))
        }
        JsonBody::Object(members) if members.is_empty() => Some("{}".to_owned()),
        JsonBody::Object(members) => {
            let member =
                |(name, value): &(String, JsonBody)| Some(format!("{}: {}", json_name(name), flow(value)?));
            let members: Option<Vec<String>> = members.iter().map(member).collect();
            Some(format!("{{ {} }}", members?.join(", ")))
        }
        value => Some(scalar(value)),
    }
}

fn scalar(json: &JsonBody) -> String {
    match json {
        JsonBody::Bool(value) => value.to_string(),
        JsonBody::Number(number) => number.clone(),
        JsonBody::Variable(
            TemplatePart::Variable(name) | TemplatePart::Secret(name) | TemplatePart::Plain(name),
        ) => {
            format!("${{{name}}}")
        }
        JsonBody::Text(text) => quoted(&text.text()),
        JsonBody::Null | JsonBody::List(_) | JsonBody::Object(_) => "null".to_owned(),
    }
}

/// Name of a member. pgdyno does not interpret it.
fn json_name(name: &str) -> String {
    plain(name)
}

/// A text as a scalar, with quotes unless it begins with a letter or a slash and has no other meaning.
fn plain(text: &str) -> String {
    const MEANINGS: [&str; 9] = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"];
    let is_plain = text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '/')
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-./?=&%+~".contains(letter))
        && !MEANINGS.iter().any(|meaning| meaning.eq_ignore_ascii_case(text));
    if is_plain { text.to_owned() } else { quoted(text) }
}

/// A regular expression in single quotes, in which backslashes need no escape.
fn single_quoted(text: &str) -> String {
    match text.contains(|letter: char| letter.is_control() || !letter.is_ascii()) {
        true => quoted(text),
        false => format!("'{}'", text.replace('\'', "''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_texts_if_necessary() {
        for (text, expected) in [
            ("/a?b=c&d=%20", "/a?b=c&d=%20"),
            ("Accept", "Accept"),
            ("No", "\"No\""),
            ("/a${b}", "\"/a${b}\""),
            ("7", "\"7\""),
            ("a: b", "\"a: b\""),
            ("a,b", "\"a,b\""),
            ("", "\"\""),
        ] {
            assert_eq!(plain(text), expected);
        }
        assert_eq!(single_quoted("a'\\s"), "'a''\\s'");
        assert_eq!(single_quoted("a\n"), "\"a\\n\"");
    }

    #[test]
    fn writes_json() {
        let check = |json: &JsonBody, expected: &str| {
            let mut out = String::new();
            write_json(json, 0, "", &mut out);
            assert_eq!(out, expected);
        };
        let text = |text: &str| JsonBody::Text(RequestTemplate::plain(text));
        let member = |name: &str, value: JsonBody| (name.to_owned(), value);
        let short =
            JsonBody::Object(vec![member("a", text("$")), member("b", JsonBody::List(vec![JsonBody::Null]))]);
        check(&short, " { a: \"$$\", b: [null] }\n");
        let variable = JsonBody::Variable(TemplatePart::Variable("x".to_owned()));
        let inner = JsonBody::Object(vec![member("c", variable)]);
        let nested = JsonBody::Object(vec![member("a", JsonBody::List(vec![inner])), member("b", short)]);
        check(&nested, "\n  a:\n    -\n      c: ${x}\n  b: { a: \"$$\", b: [null] }\n");
        check(&JsonBody::Object(Vec::new()), " {}\n");
    }
}
