//! Removes values that may be passwords from what a run file stores

/// Text in place of a value that may be a password.
const HIDDEN: &str = "(not stored)";
/// Substrings of names, in lower case, that indicate that the value may be a password.
const SECRET_NAMES: [&str; 7] = ["passw", "pwd", "secret", "token", "key", "auth", "cookie"];

/// Value that a run file stores. `name` is the name of the value, or a text that contains names. References to
/// environment variables are kept.
pub fn hide(name: &str, value: &str) -> String {
    let name = name.to_lowercase();
    match SECRET_NAMES.iter().any(|it| name.contains(it)) && !value.contains("${env:") {
        true => HIDDEN.to_owned(),
        false => value.to_owned(),
    }
}

/// Path and query of a URL, without the values of parameters that may be passwords.
pub fn hide_query(target: &str) -> String {
    let Some((path, query)) = target.split_once('?') else { return target.to_owned() };
    let parameter = |text: &str| match text.split_once('=') {
        Some((name, value)) => format!("{name}={}", hide(name, value)),
        None => text.to_owned(),
    };
    let parameters: Vec<String> = query.split('&').map(parameter).collect();
    format!("{path}?{}", parameters.join("&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hides_values_with_secret_names() {
        for (name, value, expected) in [
            ("Authorization", "Bearer x", HIDDEN),
            ("X-Api-Key", "x", HIDDEN),
            ("Authorization", "Bearer ${env:TOKEN}", "Bearer ${env:TOKEN}"),
            ("Accept", "text/html", "text/html"),
            ("userPassword", "x", HIDDEN),
        ] {
            assert_eq!(hide(name, value), expected, "{name}");
        }
        assert_eq!(hide_query("/a?page=2&access_token=x&b"), format!("/a?page=2&access_token={HIDDEN}&b"));
        assert_eq!(hide_query("/a"), "/a");
    }
}
