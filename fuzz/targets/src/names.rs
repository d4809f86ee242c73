//! Target for short texts of foreign origin: `synchronous_standby_names`, tokens within rows, and URLs.

use model::durability::Token;
use wire::http::Url;

pub fn run(data: &[u8]) {
    if let Some(token) = Token::find(data) {
        let text = token.to_text();
        assert!(
            data.windows(text.len()).any(|it| it.eq_ignore_ascii_case(&text)),
            "the text contains the token"
        );
    }
    let text = crate::text(data);
    if let Err(error) = analysis::durability::replication::parse(text) {
        assert!(!error.to_string().is_empty());
    }
    match Url::parse(text) {
        Ok(url) => {
            assert!(url.target.starts_with('/') && !url.target.contains(['\r', '\n', ' ']));
            assert!(!url.host_header().contains(['\r', '\n', ' ', '@', '/']));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
