//! Routes of the server
//!
//! A run name is only compared with the names of existing runs. It never becomes part of a path.

use wire::percent_decode;

/// A route of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    /// Page with the list of runs.
    Index,
    /// Data of the list of runs.
    List,
    /// Page of a run.
    Page(String),
    /// Data of a run's page.
    Document(String),
    /// Event stream of a run.
    Events(String),
    /// Download of a run as one self-contained file.
    Report(String),
    Stop(String),
    /// Comparison of a base run with other runs, by name.
    Compare {
        base: String,
        runs: Vec<String>,
    },
    Login,
}

impl Route {
    /// Parses a route; `None` if it does not exist. `path` and `query` are still encoded.
    pub fn parse(path: &str, query: Option<&str>) -> Option<Route> {
        let fields = || fields(query.unwrap_or_default());
        let field = |name: &str| fields().find(|(key, _)| key == name).map(|(_, value)| value);
        let steps: Vec<&str> = path.strip_prefix('/')?.split('/').collect();
        match steps.as_slice() {
            [""] => Some(Route::Index),
            ["runs.json"] => Some(Route::List),
            ["login"] => Some(Route::Login),
            ["compare"] => {
                let runs = fields().filter(|(key, _)| key == "run").map(|(_, value)| value);
                Some(Route::Compare { base: field("base")?, runs: runs.collect() })
            }
            ["runs", name] => Some(Route::Page(decode(name)?)),
            ["runs", name, resource] => {
                let name = decode(name)?;
                match *resource {
                    "document" => Some(Route::Document(name)),
                    "events" => Some(Route::Events(name)),
                    "report.html" => Some(Route::Report(name)),
                    "stop" => Some(Route::Stop(name)),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// Names and values of a query or a form. Malformed fields are omitted. Source: URL Standard,
/// "application/x-www-form-urlencoded parsing".
pub fn fields(text: &str) -> impl Iterator<Item = (String, String)> {
    text.split('&').filter_map(|pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        Some((decode(&key.replace('+', " "))?, decode(&value.replace('+', " "))?))
    })
}

/// Decodes percent escapes, such as `a%20b`; `None` if the result is not UTF-8.
fn decode(text: &str) -> Option<String> {
    String::from_utf8(percent_decode(text)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::percent_encode;

    #[test]
    fn parses_every_route() {
        let name = |it: &str| it.to_owned();
        for (path, query, expected) in [
            ("/", None, Some(Route::Index)),
            ("/", Some("a+b%21&x"), Some(Route::Index)),
            ("/runs.json", None, Some(Route::List)),
            ("/runs/a", None, Some(Route::Page(name("a")))),
            ("/runs/%D0%B6%20x", None, Some(Route::Page(name("ж x")))),
            ("/runs/a/document", None, Some(Route::Document(name("a")))),
            ("/runs/a/events", None, Some(Route::Events(name("a")))),
            ("/runs/a/events", Some("since=1-2"), Some(Route::Events(name("a")))),
            ("/runs/a/stop", None, Some(Route::Stop(name("a")))),
            ("/runs/a/report.html", None, Some(Route::Report(name("a")))),
            (
                "/compare",
                Some("base=a&run=b+%21&x&run=c"),
                Some(Route::Compare { base: name("a"), runs: vec![name("b !"), name("c")] }),
            ),
            ("/compare", Some("run=b"), None),
            // A name may contain any character, but no run has this name.
            ("/runs/..%2f..%2fetc%2fpasswd", None, Some(Route::Page(name("../../etc/passwd")))),
            ("/runs/%2e%2e", None, Some(Route::Page(name("..")))),
            ("/runs/../../etc/passwd", None, None),
            ("/runs/%", None, None),
            ("/runs/%f", None, None),
            ("/runs/%zz", None, None),
            ("/runs/%ff%fe", None, None),
            ("/runs", None, None),
            ("/runs/a/b", None, None),
            ("/runs/a/document/", None, None),
            ("//", None, None),
            ("", None, None),
            ("*", None, None),
            ("etc/passwd", None, None),
        ] {
            assert_eq!(Route::parse(path, query), expected, "{path} {query:?}");
        }
    }

    #[test]
    fn decodes_encoded_names() {
        for text in ["a", "a b", "ж", "%2e%2e", "a/b?c#d&e=f+g", "..", "\0"] {
            assert_eq!(decode(&percent_encode(text)).as_deref(), Some(text));
        }
    }
}
