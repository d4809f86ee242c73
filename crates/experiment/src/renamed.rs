//! Table of the names that keys and values of the experiment file had in earlier versions.

/// Old and new name. A row applies where the schema has the new name but not the old name.
const NAMES: [(&str, &str); 15] = [
    ("connect_each", "reconnect"),
    ("cut_off", "isolate"),
    ("entrance", "transport"),
    ("for", "duration"),
    ("form", "format"),
    ("most", "limit"),
    ("of", "lookup_column"),
    ("of", "maximum"),
    ("others", "other_sessions"),
    ("ours", "pgdyno"),
    ("patience", "timeout"),
    ("ready_within", "ready_timeout"),
    ("to", "target"),
    ("unpack", "decompress"),
    ("withhold", "block_replication"),
];

/// New name of a key or value at a place where `known` names are allowed.
pub fn new_name(old: &str, known: &[&str]) -> Option<&'static str> {
    NAMES.iter().find(|row| row.0 == old && known.contains(&row.1)).map(|row| row.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::quote;
    use crate::path;
    use model::message;

    #[test]
    fn reports_the_new_name_of_each_renamed_key() {
        let mut rows = Vec::new();
        for (old, new) in [
            ("load.connect_each", "load.reconnect"),
            ("pooler.entrance", "pooler.transport"),
            ("stack.postgres.entrance", "stack.postgres.transport"),
            ("find.soak.for", "find.soak.duration"),
            ("feeds.books.form", "feeds.books.format"),
            ("feeds.books.of", "feeds.books.lookup_column"),
            ("find.max.most", "find.max.limit"),
            ("find.confirm.max.most", "find.confirm.max.limit"),
            ("find.confirm.of", "find.confirm.maximum"),
            ("pooler.caps.others", "pooler.caps.other_sessions"),
            ("replicas.patience", "replicas.timeout"),
            ("service.ready_within", "service.ready_timeout"),
            ("operations.read.to", "operations.read.target"),
            ("operations.read.unpack", "operations.read.decompress"),
        ] {
            let renamed = message!("experiment-renamed", old = quote(old), new = quote(new));
            assert_eq!(path::resolve(&crate::SHAPE, old), Err(renamed));
            assert!(path::resolve(&crate::SHAPE, new).is_ok(), "{new}");
            rows.extend([old, new].map(|it| it.rsplit('.').next().unwrap_or_default()));
        }
        // Faults are items of a list, and no path leads to them; `ours` is a value.
        rows.extend(["cut_off", "withhold", "ours"]);
        let missing: Vec<_> = NAMES.iter().filter(|row| !rows.contains(&row.0)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn old_names_apply_only_where_the_new_one_is_allowed() {
        for (old, known, new) in [
            ("of", &["level", "maximum"][..], Some("maximum")),
            ("of", &["lookup_column"], Some("lookup_column")),
            ("of", &["level"], None),
            ("form", &["json", "body"], None),
            ("transport", &["transport"], None),
        ] {
            assert_eq!(new_name(old, known), new, "{old} in {known:?}");
        }
    }
}
