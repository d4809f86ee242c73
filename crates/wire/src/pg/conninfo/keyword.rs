//! Which settings does libpq know?

/// One setting.
#[derive(Debug)]
pub(super) struct Keyword {
    pub name: &'static str,
    /// The environment variable that gives it; none when empty.
    pub env: &'static str,
    /// The value is never shown.
    pub secret: bool,
    pub effect: Effect,
}

#[derive(Debug)]
pub(super) enum Effect {
    Used,
    /// Taken and without effect here.
    Ignored,
    /// Cannot be obeyed; only these values are what happens anyway.
    Only(&'static [&'static str], &'static str),
}

const fn used(name: &'static str, env: &'static str) -> Keyword {
    Keyword { name, env, secret: false, effect: Effect::Used }
}

const fn secret(name: &'static str, env: &'static str) -> Keyword {
    Keyword { name, env, secret: true, effect: Effect::Used }
}

const fn ignored(name: &'static str, env: &'static str) -> Keyword {
    Keyword { name, env, secret: false, effect: Effect::Ignored }
}

const fn only(
    name: &'static str,
    env: &'static str,
    values: &'static [&'static str],
    why: &'static str,
) -> Keyword {
    Keyword { name, env, secret: false, effect: Effect::Only(values, why) }
}

/// Source: PostgreSQL 15, `fe-connect.c`, and the manual of 18 for the later ones.
pub(super) static ALL: &[Keyword] = &[
    used("service", "PGSERVICE"),
    used("user", "PGUSER"),
    secret("password", "PGPASSWORD"),
    used("passfile", "PGPASSFILE"),
    used("channel_binding", "PGCHANNELBINDING"),
    used("connect_timeout", "PGCONNECT_TIMEOUT"),
    used("dbname", "PGDATABASE"),
    used("host", "PGHOST"),
    used("hostaddr", "PGHOSTADDR"),
    used("port", "PGPORT"),
    used("client_encoding", "PGCLIENTENCODING"),
    used("options", "PGOPTIONS"),
    used("application_name", "PGAPPNAME"),
    used("fallback_application_name", ""),
    used("keepalives", ""),
    used("keepalives_idle", ""),
    used("keepalives_interval", ""),
    used("keepalives_count", ""),
    used("tcp_user_timeout", ""),
    used("sslmode", "PGSSLMODE"),
    only(
        "sslnegotiation",
        "PGSSLNEGOTIATION",
        &["postgres"],
        "TLS is asked for by SSLRequest: write postgres",
    ),
    only("sslcompression", "PGSSLCOMPRESSION", &["0"], "TLS is never compressed: write 0"),
    used("sslcert", "PGSSLCERT"),
    used("sslkey", "PGSSLKEY"),
    used("sslcertmode", "PGSSLCERTMODE"),
    Keyword {
        name: "sslpassword",
        env: "",
        secret: true,
        effect: Effect::Only(
            &[],
            "encrypted keys cannot be read: decrypt it with `openssl pkey` and leave this out",
        ),
    },
    used("sslrootcert", "PGSSLROOTCERT"),
    only("sslcrl", "PGSSLCRL", &[], "revocation lists are not read: leave this out"),
    only("sslcrldir", "PGSSLCRLDIR", &[], "revocation lists are not read: leave this out"),
    only("sslsni", "PGSSLSNI", &["1"], "the server's name is always announced: write 1"),
    only("requirepeer", "PGREQUIREPEER", &[], "who owns the server's socket is not checked: leave this out"),
    used("require_auth", "PGREQUIREAUTH"),
    used("ssl_min_protocol_version", "PGSSLMINPROTOCOLVERSION"),
    used("ssl_max_protocol_version", "PGSSLMAXPROTOCOLVERSION"),
    only("gssencmode", "PGGSSENCMODE", &["disable", "prefer"], "GSSAPI is not spoken: write disable"),
    ignored("gssdelegation", "PGGSSDELEGATION"),
    ignored("krbsrvname", "PGKRBSRVNAME"),
    ignored("gsslib", "PGGSSLIB"),
    only("replication", "", &["0", "off", "false", "no"], "replication is not spoken: leave this out"),
    used("target_session_attrs", "PGTARGETSESSIONATTRS"),
    used("load_balance_hosts", "PGLOADBALANCEHOSTS"),
];

/// The setting of this name.
pub(super) fn find(name: &str) -> Option<&'static Keyword> {
    ALL.iter().find(|it| it.name == name)
}

/// The known name that `name` is most likely meant to be: one that differs in at most two letters.
pub(super) fn similar(name: &str) -> Option<&'static str> {
    ALL.iter().map(|it| (distance(name, it.name), it.name)).filter(|it| it.0 <= 2).min().map(|it| it.1)
}

/// Levenshtein's distance, in bytes.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().take(64).enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.bytes().enumerate() {
            let best = (diagonal + usize::from(x != y)).min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = std::mem::replace(&mut row[j + 1], best);
        }
    }
    row[b.len()]
}
