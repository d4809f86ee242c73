//! Statements that must not be recorded, because they contain a password or may contain one

use crate::recording::Unrecorded;
use crate::sql::command::{Command, commands};

/// Reason why a statement is not recorded; `None` if it is.
pub(super) fn reason(text: &str) -> Option<Unrecorded> {
    match commands(text) {
        None => Some(Unrecorded::Unreadable),
        Some(all) if all.contains(&Command::Secret) || is_nested(text) => Some(Unrecorded::Secret),
        Some(_) => None,
    }
}

/// True if a part of the text that is not read, such as the body of a `DO`, may set the password of a role.
fn is_nested(text: &str) -> bool {
    contains_word(text, "password") && (contains_word(text, "alter") || contains_word(text, "create"))
}

/// True if the text contains the word in any case, but not only as a part of a longer word, as in `created_at`. `word` is
/// in lower case.
fn contains_word(text: &str, word: &str) -> bool {
    let (text, word) = (text.as_bytes(), word.as_bytes());
    let is_part = |byte: Option<&u8>| byte.is_some_and(|it| it.is_ascii_alphanumeric() || *it == b'_');
    let mut windows = text.windows(word.len()).enumerate();
    windows.any(|(start, window)| {
        window[0] | 0x20 == word[0]
            && window.eq_ignore_ascii_case(word)
            && !is_part(start.checked_sub(1).and_then(|before| text.get(before)))
            && !is_part(text.get(start + word.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_statements_with_passwords() {
        use Unrecorded::*;
        for (text, expected) in [
            ("select 1", None),
            ("select id from users where password = 'x'", None),
            ("select id, password, created_at from users where name = 'x'", None),
            ("update users set password = 'x', altered = now()", None),
            ("begin", None),
            ("copy t from stdin", None),
            ("", None),
            ("alter role ann password 'x'", Some(Secret)),
            ("select 1; ALTER ROLE ann PASSWORD 'x'", Some(Secret)),
            ("/* a */ create user ann with encrypted password 'x'", Some(Secret)),
            ("create subscription s connection 'password=x' publication p", Some(Secret)),
            ("create user mapping for ann server s options (password 'x')", Some(Secret)),
            ("do $$ begin Alter role ann Password 'x'; end $$", Some(Secret)),
            ("select dblink_exec('c', 'ALTER ROLE ann PASSWORD ''x''')", Some(Secret)),
            ("alter role ann password 'x", Some(Unreadable)),
            ("select 1; select 'x", Some(Unreadable)),
        ] {
            assert_eq!(reason(text), expected, "{text}");
        }
    }
}
