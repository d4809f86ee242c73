use super::*;

#[test]
fn reads_formats_as_configurations_contain_them() {
    let check = |text: &str, expected: &str| {
        let format = LogFormat::parse(text).expect("the format is valid");
        let pieces: Vec<String> = format
            .pieces
            .iter()
            .map(|piece| {
                format!(
                    "{}{}",
                    piece.name,
                    String::from_utf8_lossy(if piece.is_separated { &piece.until } else { b"" })
                )
            })
            .collect();
        let text = format!("{}{}", String::from_utf8_lossy(&format.prefix), pieces.concat());
        assert_eq!(text, expected);
    };
    let nginx = "[$time_local] \"$request\"";
    check(nginx, nginx);
    check("'[$time_local] \"$request\"'", nginx);
    check("log_format main '[$time_local] ' '\"$request\"';", nginx);
    check("log_format  main  escape=default\n  \"[$time_local] \"\n  \"\\\"$request\\\"\";\n", nginx);
    check("[${time_local}] \"${request}\"", nginx);
    check("LogFormat \"%t \\\"%r\\\" 100%%\" name", "%t \"%r\" 100%");
    check("%t \\\"%!200,304{Referer}i\\\" %>s %^FB %r", "%t \"%!200,304{Referer}i\" %>s %^FB %r");
    check("log-format \"%ci [%tr] %[src] %{+Q}r\"", "%ci [%tr] % \"%r\"");
    check("%ci\\ [%tr]\\ %r", "%ci [%tr] %r");
}

#[test]
fn knows_the_moment_of_the_time() {
    for (text, moment) in [
        ("combined", LoggedMoment::End),
        ("common", LoggedMoment::Start),
        ("httplog", LoggedMoment::Start),
        ("%{end:%s}t %r", LoggedMoment::End),
        ("%{begin:msec}t %r", LoggedMoment::Start),
        ("%r", LoggedMoment::Start),
    ] {
        let format = LogFormat::parse(text).expect("the format is valid");
        assert_eq!((format.moment, format.has_times()), (moment, text != "%r"), "{text}");
    }
}

#[test]
fn rejects_unusable_formats() {
    for (text, expected) in [
        ("", "feed-log-no-variable"),
        ("time status", "feed-log-no-variable"),
        ("$status", "feed-log-no-method"),
        ("$request_method $status", "feed-log-no-target"),
        ("%m %s", "feed-log-no-target"),
        ("$request$status", "feed-log-adjacent($request, $status)"),
        ("%r%b", "feed-log-adjacent(%r, %b)"),
        ("%{Referer %r", "feed-log-open-brace"),
        ("%{%Y %j}t %r", "feed-log-time-pattern(%j, %{%Y %j}t)"),
        ("LogFormat \"%r", "feed-log-open-quote"),
    ] {
        let found = LogFormat::parse(text).map(drop).map_err(|it| it.describe());
        assert_eq!(found, Err(expected.to_owned()), "{text}");
    }
}
