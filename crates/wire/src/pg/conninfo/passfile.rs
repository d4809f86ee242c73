//! Parser of password files.
//!
//! Lines are `host:port:database:user:password`. `*` matches any value; `\` escapes the next character.

use super::super::Secret;

/// Returns the password of the first matching line. `fields` are host, port, database and user.
pub(super) fn find_password(text: &str, fields: [&str; 4]) -> Option<Secret> {
    let lines = text.split('\n').filter(|it| !it.starts_with('#'));
    lines.map(|it| it.trim_end_matches('\r')).find_map(|line| {
        let mut rest = line;
        for expected in fields {
            rest = match rest.strip_prefix("*:") {
                Some(after) => after,
                None => {
                    let (field, after) = split_field(rest);
                    after.filter(|_| field == expected)?
                }
            };
        }
        Some(Secret::new(split_field(rest).0))
    })
}

/// Splits a line at the first unescaped colon. Returns the text before it and the text after it.
fn split_field(text: &str) -> (String, Option<&str>) {
    let mut value = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            ':' => return (value, Some(letters.as_str())),
            '\\' => value.push(letters.next().unwrap_or('\\')),
            it => value.push(it),
        }
    }
    (value, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_first_matching_line() {
        let check = |text: &str, expected: Option<&str>| {
            let found = find_password(text, ["db.test", "5432", "book", "a:b"]);
            assert_eq!(found.as_ref().map(Secret::reveal), expected, "{text:?}");
        };
        check("db.test:5432:book:a\\:b:secret", Some("secret"));
        check("db.test:5432:book:a\\:b:se\\:cr\\\\et\r\n", Some("se:cr\\et"));
        check("db.test:5432:book:a\\:b:secret:more", Some("secret"));
        check("*:*:*:*:any", Some("any"));
        check("# *:*:*:*:comment\nother:*:*:*:1\n\n*:5432:*:a\\:b:2\n*:*:*:*:3", Some("2"));
        check("*:*:*:*:", Some(""));
        check("*:*:*:*", None);
        check("*:*:*:\\*:1", None);
        check("db.tes:*:*:*:1\ndb.testt:*:*:*:2\n*:543:*:*:3\n", None);
        check("*:*:*:a:b:secret", None);
        check("", None);
    }
}
