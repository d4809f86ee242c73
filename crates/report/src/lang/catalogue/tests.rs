use super::*;
use model::message;

#[derive(Debug)]
struct Language(Catalogue);

impl Language {
    fn new(separator: &str) -> Language {
        let text = "\
            trials = { $count ->\n    [one] { $count } trial\n   *[other] { $count } trials\n }\n\
            late = late{ $first ->\n    [none] {\"\"}\n   *[other] , first in second { $first }\n }\n\
            experiment-or = { $first } or { $last }\nkey = `{ $name }`\n\
            kind = not { $kinds }\n    .help = write { $kinds }, { $count }\n\
            sent = { $count } transactions\n    .requests = { $count } requests\n\
            web-stop = Stop\nweb-copy = Copy\n";
        Language(Catalogue::parse("en", &format!("number-decimal-separator = {separator}\n{text}")))
    }

    fn catalogue(&self) -> &Catalogue {
        &self.0
    }
}

#[test]
fn renders_arguments() {
    let (dot, comma) = (Language::new("."), Language::new(","));
    for (count, with_dot, with_comma) in [
        (1_u64, "1 trial", "1 trial"),
        (2, "2 trials", "2 trials"),
        (21_570, "21570 trials", "21\u{202f}570 trials"),
    ] {
        assert_eq!(say!(dot, "trials", count), with_dot);
        assert_eq!(say!(comma, "trials", count), with_comma);
    }
    assert_eq!(say!(dot, "late", first = None::<u64>), "late");
    assert_eq!(say!(dot, "late", first = Some(3_u64)), "late, first in second 3");
    // A user's text may equal the marker of an absent argument.
    assert_eq!(say!(dot, "late", first = Some("none")), "late, first in second none");
    assert_eq!(say!(dot, "late", first = "{ $x }"), "late, first in second { $x }");
}

#[test]
fn renders_language_neutral_messages() {
    let language = Language::new(".");
    let keys = |names: &[&str]| names.iter().map(|name| message!("key", name = *name)).collect::<Vec<_>>();
    for (kinds, expected) in [
        (keys(&[]), "write , 2"),
        (keys(&["a"]), "write `a`, 2"),
        (keys(&["a", "b"]), "write `a` or `b`, 2"),
        (keys(&["a", "b", "c"]), "write `a`, `b` or `c`, 2"),
    ] {
        let message = message!("kind", kinds, count = 2_u64);
        assert_eq!(language.0.help(&message).as_deref(), Some(expected));
    }
    let message = message!("kind", kinds = message!("trials", count = 1_u64), count = 1_u64);
    assert_eq!(language.0.message(&message), "not 1 trial");
    assert_eq!(language.0.help(&message!("web-stop")), None);
}

#[test]
fn lists_messages_by_prefix() {
    let words: Vec<(String, String)> = Language::new(".").0.with_prefix("web-").collect();
    assert_eq!(words, [("stop".into(), "Stop".into()), ("copy".into(), "Copy".into())]);
}

#[test]
#[should_panic(expected = "the messages of en are valid")]
fn rejects_invalid_files() {
    Catalogue::parse("en", "trials = { $count");
}

#[test]
fn an_attribute_replaces_the_value_for_requests() {
    let language = Language::new(".");
    let requests = Language(language.catalogue().of_requests());
    assert_eq!(say!(language, "sent", count = 2_u64), "2 transactions");
    assert_eq!(say!(requests, "sent", count = 2_u64), "2 requests");
    assert_eq!(say!(requests, "trials", count = 2_u64), "2 trials", "other messages are the same");
}

#[test]
fn renders_errors_in_connection_strings_in_each_language() {
    let names = "address addresses character file files hosts line method missing name names path port ports \
                 position reason service token value values";
    let arguments: Vec<_> = names.split(' ').map(|name| (name, Argument::from("№"))).collect();
    for lang in crate::lang::all() {
        let is_concerned = |it: &&String| it.starts_with("conninfo-") || it.starts_with("tls-");
        let identifiers = lang.catalogue().identifiers.iter().filter(is_concerned);
        let fails = |identifier: &&String| {
            let arguments = arguments.iter().map(|(name, value)| (*name, value));
            lang.catalogue().find(identifier, arguments).is_none()
        };
        let failed: Vec<&String> = identifiers.filter(fails).collect();
        assert!(failed.is_empty(), "{}: {failed:?}", lang.code());
    }
}
