//! Page as one HTML file
//!
//! The file contains script, style and the document as gzip in base64. Text from other sources is never interpreted as
//! HTML, and the page sends no network requests. The page's policy allows only the script and style with the given
//! hashes.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};
use std::io::Write;

/// Script built from `web/`.
const SCRIPT: &str = include_str!("../../../web/dist/page.js");
const STYLE: &str = include_str!("../../../web/dist/page.css");

/// HTML that surrounds a document.
#[derive(Clone, Copy, Debug)]
pub struct HtmlShell<'a> {
    /// BCP 47 code of the language.
    pub lang: &'a str,
    pub title: &'a str,
    /// Text that is shown if scripts are disabled.
    pub no_script: &'a str,
    /// True if the page may request updates from its own server.
    pub live: bool,
}

/// Renders one self-contained file. `document` comes from [`crate::document::document`].
pub fn to_html(shell: HtmlShell<'_>, document: &str) -> String {
    wrap(shell, &[], &gzip_base64(document))
}

/// Renders a page of the web server. If `document` is `None`, the page's script fetches the content. `data` contains
/// names and values for the script: `document` or `runs` is the URL of the content, `home` the URL of the list of runs,
/// `file` the URL of the page as one file, and `token` the token that authorises changes.
pub fn served(shell: HtmlShell<'_>, data: &[(&str, &str)], document: Option<&str>) -> String {
    wrap(shell, data, &document.map(gzip_base64).unwrap_or_default())
}

fn wrap(shell: HtmlShell<'_>, data: &[(&str, &str)], packed: &str) -> String {
    let mut out = String::with_capacity(packed.len() + SCRIPT.len() + STYLE.len() + 2048);
    let HtmlShell { lang, title, no_script, live } = shell;
    let [lang, title, no_script, policy] =
        [lang, title, no_script, &content_security_policy(live)].map(escape);
    let head = format!(
        "<!doctype html>\n<html lang=\"{lang}\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <link rel=\"icon\" href=\"data:,\">\n\
         <title>{title}</title>\n<style>"
    );
    out += &head;
    out += STYLE;
    out += "</style>\n</head>\n<body>\n<div id=\"app\"";
    for (name, value) in data {
        out += &format!(" data-{name}=\"{}\"", escape(value));
    }
    out += "><noscript><p>";
    out += &no_script;
    out += "</p></noscript></div>\n<script type=\"text/plain\" id=\"document\">";
    out += packed;
    out += "</script>\n<script>";
    out += SCRIPT;
    out += "</script>\n</body>\n</html>\n";
    out
}

/// Value of the page's `Content-Security-Policy`; a server also sends it as a header.
pub fn content_security_policy(live: bool) -> String {
    let connect = if live { "connect-src 'self'; " } else { "" };
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src data:; {connect}base-uri 'none'; \
         form-action 'none'",
        hash(SCRIPT),
        hash(STYLE)
    )
}

fn hash(text: &str) -> String {
    STANDARD.encode(Sha256::digest(text.as_bytes()))
}

/// Compresses a document with gzip and encodes it in base64, which requires no escaping.
fn gzip_base64(document: &str) -> String {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    let bytes = gzip.write_all(document.as_bytes()).and_then(|()| gzip.finish());
    STANDARD.encode(bytes.expect("writing to memory cannot fail"))
}

/// Escapes text for an element or a double-quoted attribute.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            character => out.push(character),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::read::GzDecoder;
    use std::io::Read;

    const SHELL: HtmlShell<'_> =
        HtmlShell { lang: "en", title: "a & <b>", no_script: "no script", live: false };

    /// Returns the text between the last `before` and the next `after`.
    fn extract_between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
        let begin = text.rfind(before).expect(before) + before.len();
        let rest = &text[begin..];
        &rest[..rest.find(after).expect(after)]
    }

    #[test]
    fn document_survives_packing() {
        let hostile = "</script><script>alert(1)</script>\u{202e}\u{1b}[31m<!--";
        let page = to_html(SHELL, hostile);
        let packed = extract_between(&page, "id=\"document\">", "</script>");
        let bytes = STANDARD.decode(packed).expect("base64");
        let mut unpacked = String::new();
        GzDecoder::new(bytes.as_slice()).read_to_string(&mut unpacked).expect("gzip");
        assert_eq!(unpacked, hostile);
        assert!(!page.contains("alert(1)"));
        assert!(page.contains("<title>a &amp; &lt;b&gt;</title>"));
    }

    /// A script or style that contains its own end tag would turn the text after the tag into HTML.
    #[test]
    fn script_and_style_do_not_close_their_elements() {
        for (text, end) in [(SCRIPT, "</script"), (SCRIPT, "<!--"), (STYLE, "</style")] {
            assert!(!text.to_ascii_lowercase().contains(end), "{end}");
        }
    }

    #[test]
    fn policy_allows_only_hashed_scripts() {
        let page = to_html(SHELL, "{}");
        let policy =
            extract_between(&page, "Content-Security-Policy\" content=\"", "\"").replace("&#39;", "'");
        for (text, kind) in [(SCRIPT, "script-src"), (STYLE, "style-src")] {
            let hash = STANDARD.encode(Sha256::digest(text));
            assert!(policy.contains(&format!("{kind} 'sha256-{hash}'")), "{policy}");
        }
        assert!(policy.starts_with("default-src 'none'"));
        assert!(!policy.contains("connect-src"), "{policy}");
        assert!(content_security_policy(true).contains("connect-src 'self'"));
        assert!(!page.contains("http://") || !page.contains("src=\"http"), "loads from the network");
    }
}
