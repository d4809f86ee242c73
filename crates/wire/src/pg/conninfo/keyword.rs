//! Table of the settings that libpq knows.

/// Connection setting of libpq.
#[derive(Debug)]
pub(super) struct Keyword {
    pub name: &'static str,
    /// Environment variable of the setting; empty if there is none.
    pub env: &'static str,
    /// True if the value is never displayed.
    pub secret: bool,
    pub effect: Effect,
}

#[derive(Debug)]
pub(super) enum Effect {
    Applied,
    /// The setting is accepted, but has no effect in pgdyno.
    Ignored,
    /// The setting is supported only with these values, which describe what pgdyno does in any case. The message
    /// `conninfo-write-fixed` explains each setting.
    FixedValues(&'static [&'static str]),
}

const fn applied(name: &'static str, env: &'static str) -> Keyword {
    Keyword { name, env, secret: false, effect: Effect::Applied }
}

const fn secret(name: &'static str, env: &'static str) -> Keyword {
    Keyword { name, env, secret: true, effect: Effect::Applied }
}

const fn ignored(name: &'static str, env: &'static str) -> Keyword {
    Keyword { name, env, secret: false, effect: Effect::Ignored }
}

const fn fixed_values(name: &'static str, env: &'static str, values: &'static [&'static str]) -> Keyword {
    Keyword { name, env, secret: false, effect: Effect::FixedValues(values) }
}

/// libpq settings. Source: PostgreSQL 15, `fe-connect.c`; for later settings the manual of PostgreSQL 18.
pub(super) static ALL: &[Keyword] = &[
    applied("service", "PGSERVICE"),
    applied("user", "PGUSER"),
    secret("password", "PGPASSWORD"),
    applied("passfile", "PGPASSFILE"),
    applied("channel_binding", "PGCHANNELBINDING"),
    applied("connect_timeout", "PGCONNECT_TIMEOUT"),
    applied("dbname", "PGDATABASE"),
    applied("host", "PGHOST"),
    applied("hostaddr", "PGHOSTADDR"),
    applied("port", "PGPORT"),
    applied("client_encoding", "PGCLIENTENCODING"),
    applied("options", "PGOPTIONS"),
    applied("application_name", "PGAPPNAME"),
    applied("fallback_application_name", ""),
    applied("keepalives", ""),
    applied("keepalives_idle", ""),
    applied("keepalives_interval", ""),
    applied("keepalives_count", ""),
    applied("tcp_user_timeout", ""),
    applied("sslmode", "PGSSLMODE"),
    fixed_values("sslnegotiation", "PGSSLNEGOTIATION", &["postgres"]),
    fixed_values("sslcompression", "PGSSLCOMPRESSION", &["0"]),
    applied("sslcert", "PGSSLCERT"),
    applied("sslkey", "PGSSLKEY"),
    applied("sslcertmode", "PGSSLCERTMODE"),
    Keyword { name: "sslpassword", env: "", secret: true, effect: Effect::FixedValues(&[]) },
    applied("sslrootcert", "PGSSLROOTCERT"),
    fixed_values("sslcrl", "PGSSLCRL", &[]),
    fixed_values("sslcrldir", "PGSSLCRLDIR", &[]),
    fixed_values("sslsni", "PGSSLSNI", &["1"]),
    fixed_values("requirepeer", "PGREQUIREPEER", &[]),
    applied("require_auth", "PGREQUIREAUTH"),
    applied("ssl_min_protocol_version", "PGSSLMINPROTOCOLVERSION"),
    applied("ssl_max_protocol_version", "PGSSLMAXPROTOCOLVERSION"),
    fixed_values("gssencmode", "PGGSSENCMODE", &["disable", "prefer"]),
    ignored("gssdelegation", "PGGSSDELEGATION"),
    ignored("krbsrvname", "PGKRBSRVNAME"),
    ignored("gsslib", "PGGSSLIB"),
    fixed_values("replication", "", &["0", "off", "false", "no"]),
    applied("target_session_attrs", "PGTARGETSESSIONATTRS"),
    applied("load_balance_hosts", "PGLOADBALANCEHOSTS"),
];

/// Setting with this name; `None` if libpq has no such setting.
pub(super) fn find(name: &str) -> Option<&'static Keyword> {
    ALL.iter().find(|it| it.name == name)
}

/// Name of a setting that differs from `name` in at most two letters, because the user probably meant that setting.
pub(super) fn similar(name: &str) -> Option<&'static str> {
    ALL.iter().map(|it| (distance(name, it.name), it.name)).filter(|it| it.0 <= 2).min().map(|it| it.1)
}

/// Levenshtein distance of two texts, in bytes.
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
