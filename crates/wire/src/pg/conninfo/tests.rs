use super::*;
use std::collections::BTreeMap;

/// Resolves the settings with this environment and these files.
fn resolve_with(
    dsn: Option<&str>,
    flags: &[(&str, &str)],
    env: &[(&str, &str)],
    files: &[(&str, &str)],
) -> Result<Settings, Vec<Diagnostic>> {
    let env: BTreeMap<&str, &str> = env.iter().copied().collect();
    let files: BTreeMap<&str, &str> = files.iter().copied().collect();
    let environment = Environment {
        env: &|name| env.get(name).map(|it| (*it).to_owned()),
        read: &|_, path| files.get(path.to_str()?).map(|it| (*it).to_owned()),
        os_user: "me",
    };
    resolve(dsn, flags, environment)
}

/// Each diagnostic as `place: error; correction`, with message identifiers that lack the prefix `conninfo-`.
fn describe(diagnostics: &[Diagnostic]) -> Vec<String> {
    let lines = diagnostics.iter().map(|Diagnostic { place, found, suggestion }| {
        format!("{}: {}; {}", place.describe(), found.describe(), suggestion.describe())
    });
    lines.map(|line| line.replace("conninfo-", "")).collect()
}

/// Settings of a connection string in the format of libpq's own test program, or the error.
fn parsed(dsn: &str) -> Result<String, String> {
    let (mut values, mut diagnostics) = (Values::default(), Vec::new());
    connection_string(dsn, &mut values, &mut diagnostics);
    if !diagnostics.is_empty() {
        return Err(describe(&diagnostics).join("\n"));
    }
    let mut shown = String::new();
    for name in ["user", "password", "dbname", "host", "hostaddr", "port"] {
        if let Some(text) = values.get(name) {
            shown.push_str(&format!("{name}='{text}' "));
        }
    }
    let by_name = values.get("host").is_some_and(|it| !it.starts_with('/'));
    let inet = values.get("hostaddr").is_some() || by_name;
    Ok(shown + if inet { "(inet)" } else { "(local)" })
}

/// Cases of PostgreSQL 15's `src/interfaces/libpq/t/001_uri.pl`.
#[test]
fn accepts_uris_that_libpq_accepts() {
    let check = |uri: &str, expected: &str| assert_eq!(parsed(uri).as_deref(), Ok(expected), "{uri}");
    check(
        "postgresql://uri-user:secret@host:12345/db",
        "user='uri-user' password='secret' dbname='db' host='host' port='12345' (inet)",
    );
    check(
        "postgresql://uri-user@host:12345/db",
        "user='uri-user' dbname='db' host='host' port='12345' (inet)",
    );
    check("postgresql://uri-user@host/db", "user='uri-user' dbname='db' host='host' (inet)");
    check("postgresql://host:12345/db", "dbname='db' host='host' port='12345' (inet)");
    check("postgresql://host/db", "dbname='db' host='host' (inet)");
    check("postgresql://uri-user@host:12345/", "user='uri-user' host='host' port='12345' (inet)");
    check("postgresql://uri-user@host/", "user='uri-user' host='host' (inet)");
    check("postgresql://uri-user@", "user='uri-user' (local)");
    check("postgresql://host:12345/", "host='host' port='12345' (inet)");
    check("postgresql://host:12345", "host='host' port='12345' (inet)");
    check("postgresql://host/", "host='host' (inet)");
    check("postgresql://host", "host='host' (inet)");
    check("postgresql://", "(local)");
    check("postgresql://?hostaddr=127.0.0.1", "hostaddr='127.0.0.1' (inet)");
    check("postgresql://example.com?hostaddr=63.1.2.4", "host='example.com' hostaddr='63.1.2.4' (inet)");
    check("postgresql://%68ost/", "host='host' (inet)");
    check("postgresql://host/db?user=uri-user", "user='uri-user' dbname='db' host='host' (inet)");
    check(
        "postgresql://host/db?user=uri-user&port=12345",
        "user='uri-user' dbname='db' host='host' port='12345' (inet)",
    );
    check(
        "postgresql://host/db?u%73er=someotheruser&port=12345",
        "user='someotheruser' dbname='db' host='host' port='12345' (inet)",
    );
    check("postgresql://host:12345?user=uri-user", "user='uri-user' host='host' port='12345' (inet)");
    check("postgresql://host?user=uri-user", "user='uri-user' host='host' (inet)");
    check("postgresql://host?", "host='host' (inet)");
    check("postgresql://[::1]:12345/db", "dbname='db' host='::1' port='12345' (inet)");
    check("postgresql://[::1]/db", "dbname='db' host='::1' (inet)");
    check("postgresql://[2001:db8::1234]/", "host='2001:db8::1234' (inet)");
    check("postgresql://[200z:db8::1234]/", "host='200z:db8::1234' (inet)");
    check("postgresql://[::1]", "host='::1' (inet)");
    check("postgres://", "(local)");
    check("postgres:///", "(local)");
    check("postgres:///db", "dbname='db' (local)");
    check("postgres://uri-user@/db", "user='uri-user' dbname='db' (local)");
    check("postgres://?host=/path/to/socket/dir", "host='/path/to/socket/dir' (local)");
    check("postgres://@host", "host='host' (inet)");
    check("postgres://host:/", "host='host' (inet)");
    check("postgres://:12345/", "port='12345' (local)");
    check(
        "postgres://otheruser@?host=/no/such/directory",
        "user='otheruser' host='/no/such/directory' (local)",
    );
    check(
        "postgres://otheruser@/?host=/no/such/directory",
        "user='otheruser' host='/no/such/directory' (local)",
    );
    check(
        "postgres://otheruser@:12345?host=/no/such/socket/path",
        "user='otheruser' host='/no/such/socket/path' port='12345' (local)",
    );
    check(
        "postgres://otheruser@:12345/db?host=/path/to/socket",
        "user='otheruser' dbname='db' host='/path/to/socket' port='12345' (local)",
    );
    check(
        "postgres://:12345/db?host=/path/to/socket",
        "dbname='db' host='/path/to/socket' port='12345' (local)",
    );
    check("postgres://:12345?host=/path/to/socket", "host='/path/to/socket' port='12345' (local)");
    check(
        "postgres://%2Fvar%2Flib%2Fpostgresql/dbname",
        "dbname='dbname' host='/var/lib/postgresql' (local)",
    );
    // This case is not in libpq's list.
    check("postgres://a,[::1]:1,b:2,:3/db", "dbname='db' host='a,::1,b,' port=',1,2,3' (inet)");
    check("postgres://u:p%40%3A%2f%25@h", "user='u' password='p@:/%' host='h' (inet)");
    check("postgres://u:p?w:x@h", "user='u' password='p?w:x' host='h' (inet)");
    check("postgres://h?ssl=true&sslmode=disable", "host='h' (inet)");
}

#[test]
fn rejects_uris_that_libpq_rejects() {
    let check = |uri: &str, expected: &str| {
        assert_eq!(parsed(uri).as_ref().map_err(String::as_str), Err(expected), "{uri}");
    };
    check(
        "postgresql://host/db?u%7aer=someotheruser&port=12345",
        "character(22): unknown-option(uzer); similar-option(user)",
    );
    check("postgresql://host?uzer=", "character(19): unknown-option(uzer); similar-option(user)");
    check("postgre://", "character(1): unknown-scheme; write-scheme");
    check("postgres://[::1", "character(12): missing-bracket; close-bracket");
    check("postgres://[]", "character(12): empty-address; write-brackets");
    check("postgres://[::1]z", "character(17): unexpected-character('z'); write-port-database");
    let missing = "missing-separator; write-keyword-value";
    check("postgresql://host?zzz", &format!("character(19): {missing}"));
    check("postgresql://host?value1&value2", &format!("character(19): {missing}\ncharacter(26): {missing}"));
    check("postgresql://host?key=key=value", "character(19): extra-separator; encode-equals");
    check("postgres://host?dbname=%XXfoo", "character(24): invalid-token(\"%XXfoo\"); encode-percent");
    check("postgresql://a%00b", "character(14): encoded-nul; leave-out");
    for uri in ["postgresql://%zz", "postgresql://%1", "postgresql://%"] {
        let token = &uri[13..];
        check(uri, &format!("character(14): invalid-token(\"{token}\"); encode-percent"));
    }
    // These cases are not in libpq's list.
    check("postgres://h?%ff=1", "character(14): encoded-not-utf8; encode-utf8");
    check("postgres://h/ä?x=1", "character(16): unknown-option(x); option-list");
}

#[test]
fn parses_keyword_strings() {
    let check = |text: &str, expected: Result<&str, &str>| {
        assert_eq!(parsed(text).as_ref().map(String::as_str).map_err(String::as_str), expected, "{text}");
    };
    check("host=h port=1 user=u dbname=d", Ok("user='u' dbname='d' host='h' port='1' (inet)"));
    check(" host = h\n\tport\t=\n1 ", Ok("host='h' port='1' (inet)"));
    check(r"password='a\'b \\c' host=''", Ok(r"password='a'b \c' (local)"));
    check(r"user=a\ b\'c host=x\", Ok(r"user='a b'c' host='x' (inet)"));
    check("user=a'b host=x", Ok("user='a'b' host='x' (inet)"));
    check("user='a'host=x", Ok("user='a' host='x' (inet)"));
    check("host=a host=b", Ok("host='b' (inet)"));
    check("host= port=1", Ok("host='port=1' (inet)"));
    check("db", Ok("dbname='db' (local)"));
    check("host=x port", Err("character(8): missing-equals(port); write-quoted"));
    check("host='x port=1", Err("character(1): unterminated; close-quote"));
    check(
        "hots=x prot=1",
        Err(
            "character(1): unknown-option(hots); similar-option(host)\ncharacter(8): unknown-option(prot); similar-option(port)",
        ),
    );
    check("user=\0", Err("character(1): nul(user); leave-out"));
}

/// No part of `hunter2` is ever shown, whatever the error.
#[test]
fn password_is_never_shown() {
    let check = |dsn: &str, expected: &str| {
        let diagnostics = resolve_with(Some(dsn), &[], &[], &[]).expect_err(dsn);
        assert_eq!(describe(&diagnostics).join("\n"), expected, "{dsn}");
        assert!(!format!("{diagnostics:?}").contains("ter2"), "{diagnostics:?}");
    };
    let blank = "text-after-password; quote-password";
    check("password=h unter2 host=x", &format!("character(12): {blank}"));
    check("password=h unter2=3", &format!("character(12): {blank}"));
    check("host=x password='hunter2", "character(8): unterminated; close-quote");
    check("postgres://u:hunter%2@h", "character(14): invalid-token(none); encode-percent");
    check("postgres://u:h/unter2@h/db", "character(12): at-after-slash; encode-slash");
    let twice = "second-at; encode-at";
    check("postgres://u:h@unter2@h/db", &format!("character(16): {twice}"));
    check("postgres://u:h@un:ter2@h/db", &format!("character(16): {twice}"));
    check("postgres://h?password=h&unter2=1", "character(25): text-after-password; encode-ampersand");
    check("postgres://h?password=h=unter2", "character(14): extra-separator; encode-equals");
    check("postgre://u:hunter2@h/db?x=1", "character(1): unknown-scheme; write-scheme");
    check("mysql://u:hunter2@h/db", "character(1): unknown-scheme; write-scheme");
    check(
        "host=x sslpassword=hunter2",
        "character(8): unsupported(sslpassword, ***); write-fixed(sslpassword)",
    );
    let settings = resolve_with(Some("password=hunter2"), &[], &[], &[]).unwrap();
    assert_eq!(settings.hosts[0].password.as_ref().map(crate::pg::Secret::reveal), Some("hunter2"));
    assert!(!format!("{settings:?}").contains("hunter2"));
}

fn shown(settings: &Settings) -> String {
    let hosts = settings.hosts.iter().map(|entry| {
        let address = entry.address.map_or(String::new(), |it| format!("={it}"));
        let password = entry.password.as_ref().map_or(String::new(), |it| format!(":{}", it.reveal()));
        format!("{}{address}:{}{password}", entry.host, entry.port)
    });
    let hosts: Vec<String> = hosts.collect();
    format!("{}@{}/{}", settings.user, hosts.join(","), settings.database)
}

#[test]
fn connection_string_overrides_service_and_environment() {
    let check = |dsn: Option<&str>, flags: &[(&str, &str)], env: &[(&str, &str)], expected: &str| {
        let files = [
            (
                "/home/me/.pg_service.conf",
                "[other]\nport=9\n# here\n[book]\nhost=svc\nport=7\nport=8\n\n[book]\nuser=no\n",
            ),
            (
                "/home/me/.pgpass",
                "svc:*:*:*:forsvc\nlocalhost:*:*:me:local\n10.0.0.1:*:*:*:byaddress\n*:6:*:*:six\n",
            ),
        ];
        let env = [env, &[("HOME", "/home/me")]].concat();
        match resolve_with(dsn, flags, &env, &files) {
            Ok(settings) => assert_eq!(shown(&settings), expected),
            Err(diagnostics) => panic!("{diagnostics:?}"),
        }
    };
    check(None, &[], &[], "me@/var/run/postgresql:5432:local,/tmp:5432:local/me");
    check(Some(""), &[("host", "")], &[], "me@/var/run/postgresql:5432:local,/tmp:5432:local/me");
    check(Some("db"), &[("user", "u")], &[], "u@/var/run/postgresql:5432,/tmp:5432/db");
    check(None, &[("user", "u")], &[("PGUSER", "v"), ("PGDATABASE", "d"), ("PGHOST", "e")], "u@e:5432/d");
    check(Some("host=dsn"), &[("host", "flag"), ("port", "6")], &[], "me@dsn:6:six/me");
    check(Some("host=dsn"), &[], &[("PGPASSWORD", "env"), ("PGPORT", "6")], "me@dsn:6:env/me");
    check(Some("host=dsn password=''"), &[], &[("PGPASSWORD", "env")], "me@dsn:5432/me");
    check(Some("service=book user=u"), &[], &[("PGPORT", "1"), ("PGUSER", "v")], "u@svc:7:forsvc/u");
    check(None, &[("port", "6")], &[("PGSERVICE", "book")], "me@svc:6:forsvc/me");
    check(Some("host=''"), &[], &[("PGHOST", "env")], "me@/var/run/postgresql:5432:local,/tmp:5432:local/me");
    check(Some("hostaddr=10.0.0.1"), &[], &[], "me@=10.0.0.1:5432:byaddress/me");
    check(Some("host=a hostaddr=10.0.0.1"), &[], &[], "me@a=10.0.0.1:5432/me");
    check(Some("host=a,svc port=1,6"), &[], &[], "me@a:1,svc:6:forsvc/me");
    check(
        Some("host=a,,/x port=6"),
        &[],
        &[],
        "me@a:6:six,/var/run/postgresql:6:local,/tmp:6:local,/x:6:six/me",
    );
}

#[test]
fn collects_all_diagnostics() {
    let check = |dsn: &str, env: &[(&str, &str)], files: &[(&str, &str)], expected: &[&str]| {
        let found = resolve_with(Some(dsn), &[], env, files).map(|it| shown(&it));
        assert_eq!(describe(&found.expect_err(dsn)), expected, "{dsn}");
    };
    check(
        "port=x sslmode=on channel_binding=maybe target_session_attrs=best connect_timeout=1s",
        &[],
        &[],
        &[
            "character(1): invalid-port(x); write-port",
            "character(8): invalid-value(sslmode, on); write-one-of(disable, allow, prefer, require, verify-ca, verify-full)",
            "character(67): invalid-integer(connect_timeout, 1s); write-integer",
            "character(19): invalid-value(channel_binding, maybe); write-one-of(disable, prefer, require)",
            "character(41): invalid-value(target_session_attrs, best); write-one-of(any, read-write, read-only, primary, standby, prefer-standby)",
        ],
    );
    check("host=h", &[("PGPORT", "0")], &[], &["variable(PGPORT): invalid-port(0); write-port"]);
    check("host=a,b,c port=x", &[], &[], &["character(12): invalid-port(x); write-port"]);
    check("host=h port=65536", &[], &[], &["character(8): invalid-port(65536); write-port"]);
    check("host=a,b port=1,2,3", &[], &[], &["character(10): port-count(3, 2); write-ports"]);
    check("host=a,b hostaddr=1.1.1.1", &[], &[], &["character(1): host-count(2, 1); write-equal-counts"]);
    check("hostaddr=1.1.1", &[], &[], &["character(1): invalid-address(1.1.1); write-address"]);
    check("host=h sslmode=verify-ca", &[], &[], &["character(8): tls-missing-roots; write-sslrootcert"]);
    check("host=h sslrootcert=/no", &[], &[], &["character(8): unusable-file(/no); readable-file"]);
    check(
        "host=h sslrootcert=/r",
        &[],
        &[("/r", "x")],
        &["character(8): error-of(sslrootcert, no items found); pem-file"],
    );
    check(
        "host=h sslrootcert=system sslmode=require",
        &[],
        &[],
        &["character(27): weak-sslmode; write-verify-full"],
    );
    check(
        "host=h gssencmode=require",
        &[],
        &[],
        &["character(8): unsupported(gssencmode, require); write-fixed(gssencmode)"],
    );
    check(
        "require_auth=md5,!none,ldap,md5",
        &[],
        &[],
        &[
            "character(1): mixed-methods; negate-all",
            "character(1): invalid-value(require_auth, ldap); write-some-of(password, md5, scram-sha-256, none)",
            "character(1): method-twice(md5); write-once",
        ],
    );
    check(
        "ssl_min_protocol_version=TLSv1.3 ssl_max_protocol_version=TLSv1.2 host=h",
        &[],
        &[],
        &["character(1): tls-version-range; write-tls-version"],
    );
    check(
        "ssl_max_protocol_version=TLSv1.1 host=h",
        &[],
        &[],
        &["character(1): invalid-value(ssl_max_protocol_version, TLSv1.1); write-tls-version"],
    );
}

#[test]
fn reads_service_files() {
    let check = |env: &[(&str, &str)], text: &str, expected: &str| {
        let found = resolve_with(Some("service=book"), &[], env, &[("/s", text)]);
        let shown = match found {
            Ok(settings) => shown(&settings),
            Err(diagnostics) => describe(&diagnostics).join("\n"),
        };
        assert_eq!(shown, expected, "{text:?}");
    };
    let chosen = [("PGSERVICEFILE", "/s")];
    check(&chosen, "[book]\nhost=h\n", "me@h:5432/me");
    check(&chosen, "host=x\n[books]\nhost=y\n  [book] \r\n\t# c\n host=a b=c \r\n", "me@a b=c:5432/me");
    check(
        &chosen,
        "[book]\nhost\nport = 1\nservice=x\nldap://x\nhots=1\n",
        "service-line(/s, 2): service-syntax; write-keyword-value\nservice-line(/s, 3): blank-before-equals; write-without-blanks\nservice-line(/s, 4): nested-service; write-settings\nservice-line(/s, 5): ldap; no-ldap\nservice-line(/s, 6): unknown-option(hots); similar-option(host)",
    );
    check(
        &chosen,
        "[other]\nhost=h\n",
        "character(1): no-service(book); write-section(book, /s, /etc/postgresql-common/pg_service.conf, /etc/pg_service.conf, /usr/local/pgsql/etc/pg_service.conf)",
    );
    check(&[("PGSERVICEFILE", "/t")], "", "variable(PGSERVICEFILE): no-service-file(/t); readable-file");
    check(
        &[("PGSYSCONFDIR", "/d")],
        "",
        "character(1): no-service(book); write-section(book, /d/pg_service.conf)",
    );
}

#[test]
fn settings_have_their_libpq_meaning() {
    let settings = |dsn: &str, env: &[(&str, &str)]| {
        resolve_with(Some(dsn), &[("fallback_application_name", "pgdyno")], env, &[]).unwrap()
    };
    let parameters = |dsn: &str, env: &[(&str, &str)]| {
        let pairs: Vec<String> =
            settings(dsn, env).parameters.iter().map(|it| format!("{}={}", it.0, it.1)).collect();
        pairs.join(" ")
    };
    assert_eq!(parameters("db", &[]), "application_name=pgdyno");
    assert_eq!(
        parameters(
            "application_name=x options='-c a=b' client_encoding=auto",
            &[("PGTZ", "UTC"), ("PGGEQO", "Default")]
        ),
        "options=-c a=b application_name=x client_encoding=UTF8 timezone=UTC"
    );
    assert_eq!(
        parameters("db", &[("PGAPPNAME", "env"), ("PGOPTIONS", "-c c=d")]),
        "options=-c c=d application_name=env"
    );

    let timeout = |text: &str| settings(&format!("connect_timeout={text}"), &[]).connect_timeout;
    assert_eq!(
        ["0", "-1", "1", "2", " 30 "].map(|it| timeout(&format!("'{it}'"))),
        [None, None, Some(2), Some(2), Some(30)]
    );

    let methods = |text: &str| {
        let methods = settings(&format!("require_auth={text}"), &[]).methods;
        [
            ("none", methods.none),
            ("clear", methods.clear_text),
            ("md5", methods.md5),
            ("scram", methods.scram),
        ]
        .iter()
        .filter(|it| it.1)
        .map(|it| it.0)
        .collect::<Vec<_>>()
        .join(" ")
    };
    assert_eq!(methods("''"), "none md5 scram");
    assert_eq!(methods("scram-sha-256,password"), "clear scram");
    assert_eq!(methods("!md5,!none"), "scram");
    assert_eq!(methods("!gss"), "none md5 scram");

    let usual = settings("host=h", &[]);
    assert_eq!(
        (usual.ssl, usual.tls.is_some(), usual.target_session_attrs),
        (crate::pg::SslMode::Prefer, true, TargetSessionAttrs::Any)
    );
    assert_eq!(settings("host=h", &[("PGREQUIRESSL", "1")]).ssl, crate::pg::SslMode::Require);
    assert_eq!(settings("host=h requiressl=1", &[("PGSSLMODE", "disable")]).ssl, crate::pg::SslMode::Require);
    assert!(settings("host=/tmp", &[]).tls.is_none(), "no TLS on Unix sockets");
    assert!(settings("host=h sslmode=disable", &[]).tls.is_none());
    let tcp = settings("keepalives=0 keepalives_idle=5 tcp_user_timeout=100", &[]).tcp;
    assert_eq!(
        tcp,
        TcpSettings {
            keepalives: false,
            keepalives_idle: Some(5),
            keepalives_interval: None,
            keepalives_count: None,
            user_timeout_ms: Some(100)
        }
    );

    let several = settings("postgres://u@a,%2Ftmp:6,@x/d", &[]);
    let sockets: Vec<_> =
        several.hosts.iter().map(|host| host.socket().map(|it| it.display().to_string())).collect();
    assert_eq!(sockets, [None, Some("/tmp/.s.PGSQL.6".to_owned()), Some("@x/.s.PGSQL.5432".to_owned())]);
    let login = several.login(&several.hosts[0]);
    assert_eq!((&*login.user, &*login.database, &*login.host), ("u", "d", "a"));
    let by_address = settings("hostaddr=::1", &[]);
    assert_eq!(by_address.login(&by_address.hosts[0]).host, "::1");
}
