//! Values of `${env:NAME}` in requests

use load::script::call::SecretLookup;
use std::collections::BTreeMap;
use wire::pg::Secret;

/// Look-up in the environment of this process.
pub const ENVIRONMENT: SecretLookup<'static> = SecretLookup(&secret);

/// Value of an environment variable; `None` if it does not exist or is no text.
pub fn secret(name: &str) -> Option<Secret> {
    std::env::var(name).ok().map(Secret::new)
}

/// Names of the variables `${env:NAME}` in a text.
pub fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split("${env:").skip(1).filter_map(|it| Some(it.split_once('}')?.0))
}

/// Variables of these texts with their values in the environment of this process. Missing variables are left out,
/// because the compiler of the requests reports them.
pub fn values<'a>(texts: impl IntoIterator<Item = &'a str>) -> BTreeMap<String, String> {
    let all = texts.into_iter().flat_map(names);
    all.filter_map(|name| Some((name.to_owned(), secret(name)?.reveal().to_owned()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_variables_of_a_text() {
        for (text, expected) in [
            ("/a?t=${env:TOKEN}&u=${user}", &["TOKEN"][..]),
            ("${env:A}${env:B}", &["A", "B"]),
            ("${env:A", &[]),
            ("", &[]),
        ] {
            assert_eq!(names(text).collect::<Vec<_>>(), expected, "{text}");
        }
    }
}
