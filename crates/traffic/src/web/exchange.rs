//! Requests with their responses

use super::url::Url;
use model::Nanos;

/// Request with its response.
#[derive(Clone, Debug)]
pub(super) struct Exchange {
    /// Method in uppercase.
    pub method: String,
    /// Text of the URL, and its parts; `None` if it is not the URL of an HTTP service.
    pub address: String,
    pub url: Option<Url>,
    /// Headers in their order.
    pub headers: Vec<(String, String)>,
    pub body: RequestBody,
    /// Response; `None` if the source contains no responses.
    pub response: Option<Response>,
    /// Time since the Unix epoch at which the request began.
    pub start: Option<Nanos>,
    /// Time from the start of the request to the end of the response.
    pub elapsed: Nanos,
    /// Purpose of the request in a browser, such as `document` or `xhr`.
    pub resource_type: Option<String>,
    /// True if the response came from a browser's cache.
    pub cached: bool,
    /// Maximum number of redirects to follow.
    pub redirects: u8,
}

/// Body of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum RequestBody {
    #[default]
    Empty,
    Text(String),
    /// Decoded fields of a form.
    Form(Vec<(String, String)>),
    /// Body that is not text.
    Binary,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Response {
    /// Status; 0 if there was no response.
    pub status: u16,
    pub headers: Vec<(String, String)>,
    /// Media type without parameters, in lowercase.
    pub media_type: String,
    pub text: Option<String>,
    /// Target of a redirect.
    pub location: Option<String>,
}

impl Exchange {
    /// Exchange with a request only.
    pub fn of_request(method: &str, address: &str) -> Exchange {
        Exchange {
            method: method.to_ascii_uppercase(),
            address: address.to_owned(),
            url: Url::parse(address),
            headers: Vec::new(),
            body: RequestBody::Empty,
            response: None,
            start: None,
            elapsed: Nanos::ZERO,
            resource_type: None,
            cached: false,
            redirects: 0,
        }
    }

    /// Media type of the request's body, without parameters, in lowercase; empty if there is none.
    pub fn content_type(&self) -> String {
        media_type(header(&self.headers, "content-type").unwrap_or_default())
    }

    /// Time at which the response ended.
    pub fn end(&self) -> Option<Nanos> {
        Some(Nanos(self.start?.0.saturating_add(self.elapsed.0)))
    }

    /// True if a browser showed the response as a page.
    pub fn is_document(&self) -> bool {
        match self.resource_type.as_deref() {
            Some(resource_type) => resource_type == "document",
            None => {
                let is_html = |response: &Response| response.media_type == "text/html";
                self.method == "GET" && self.response.as_ref().is_some_and(is_html)
            }
        }
    }
}

/// First header of a name.
pub(super) fn header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|header| header.0.eq_ignore_ascii_case(name)).map(|header| header.1.as_str())
}

/// Media type without parameters, in lowercase.
pub(super) fn media_type(text: &str) -> String {
    text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}
