//! Tests that Russian texts contain only Russian words and Russian number formats

use super::{all, sentences};
use crate::lang::russian;
use fluent_syntax::ast;

/// Lists words of Latin letters and digits in a text: `p99`, `net.ipv4.ip_local_port_range`.
fn latin(text: &str) -> Vec<&str> {
    let word = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '.');
    let words = text.split(|it| !word(it)).map(|it| it.trim_matches('.'));
    words.filter(|word| word.contains(|character: char| character.is_ascii_alphabetic())).collect()
}

/// Describes the first figure of a Russian text with a wrong format; `None` if there is none.
fn ill_written(text: &str) -> Option<String> {
    let chars: Vec<char> = text.chars().collect();
    let digit = |at: usize| chars.get(at).is_some_and(char::is_ascii_digit);
    for (at, letter) in chars.iter().enumerate() {
        if *letter == '.' && at > 0 && digit(at - 1) && digit(at + 1) {
            return Some(format!("a decimal point in {text}"));
        }
        if (at..at + 5).all(digit) {
            return Some(format!("five digits in a row in {text}"));
        }
        if *letter == '%' && at > 0 && chars[at - 1] == ' ' {
            return Some(format!("a line may end before % in {text}"));
        }
        let unit = |unit: &str| {
            let rest: String = chars[at + 1..].iter().take_while(|it| it.is_alphabetic()).collect();
            rest == unit
        };
        if *letter == ' '
            && at > 0
            && digit(at - 1)
            && ["мс", "мкс", "с", "мин", "ч", "КиБ", "МиБ", "ГиБ", "ЦП"].into_iter().any(unit)
        {
            return Some(format!("a line may end before a unit in {text}"));
        }
    }
    None
}

/// Products, protocols, names of settings and options, quantiles.
const NAMES: &[&str] = &[
    "ALTER",
    "ANALYZE",
    "ANY",
    "Apache",
    "B",
    "BY",
    "C",
    "CONCURRENTLY",
    "CONFLICT",
    "CONNECTION",
    "COPY",
    "CPU",
    "CREATE",
    "CSV",
    "Chrome",
    "Chromium",
    "Ctrl",
    "DATABASE",
    "DO",
    "Debian",
    "FIFO",
    "FOR",
    "FULL",
    "GET",
    "GIN",
    "GSSAPI",
    "HAProxy",
    "HAR",
    "HEAD",
    "HOME",
    "HOT",
    "HTML",
    "HTTP",
    "Hat",
    "Homebrew",
    "HypoPG",
    "INDEX",
    "INSERT",
    "IP",
    "IPv6",
    "JAR",
    "JIT",
    "JSON",
    "JavaScript",
    "KEY",
    "LDAP",
    "LIMIT",
    "LOCKED",
    "NATS",
    "NATS_CREDS",
    "NATS_PASSWORD",
    "NATS_TOKEN",
    "NATS_USER",
    "NO",
    "NOTHING",
    "NUL",
    "NULL",
    "OFFSET",
    "ON",
    "OPTIONS",
    "ORDER",
    "OpenAPI",
    "PATH",
    "PDF",
    "PEM",
    "PG",
    "PGDYNO_TOKEN",
    "Pandora",
    "Patroni",
    "PgBouncer",
    "PostgreSQL",
    "Postgres.app",
    "Prometheus",
    "ROLE",
    "Red",
    "SELECT",
    "SET",
    "SHARE",
    "SKIP",
    "SQL",
    "SQLSTATE",
    "SQLite",
    "TCP",
    "TCP_NODELAY",
    "TLS",
    "TMPDIR",
    "TOAST",
    "Tank",
    "UNION",
    "UPDATE",
    "URI",
    "URL",
    "UTC",
    "UTF",
    "Ubuntu",
    "Unix",
    "VACUUM",
    "WAL",
    "WHERE",
    "WebSocket",
    "XDG_RUNTIME_DIR",
    "YAML",
    "Yandex.Tank",
    "a",
    "advise",
    "auto_explain",
    "auto_explain.log_nested_statements",
    "autovacuum_analyze_scale_factor",
    "autovacuum_vacuum_cost_delay",
    "book.tickets",
    "cgroup",
    "cookie",
    "curl",
    "dataset",
    "db",
    "deadlock_timeout",
    "delivery.receive",
    "delivery.send",
    "demo",
    "down",
    "errno",
    "etcd",
    "force_custom_plan",
    "fsync",
    "goodput",
    "gzip",
    "id",
    "idle_in_transaction_session_timeout",
    "j",
    "jit",
    "jit_above_cost",
    "libfaketime",
    "libpq",
    "log_min_duration_statement",
    "lz4",
    "max",
    "max_connections",
    "max_in_flight",
    "max_tries",
    "max_wal_size",
    "maxconn",
    "n",
    "net.ipv4.ip_local_port_range",
    "nginx",
    "off",
    "once",
    "open",
    "p",
    "p50",
    "p90",
    "p95",
    "p99",
    "p99.9",
    "pg_repack",
    "pg_trgm",
    "pgbench",
    "pgdyno",
    "plan_cache_mode",
    "remote_apply",
    "root",
    "run",
    "seed",
    "shared_buffers",
    "stack",
    "startup",
    "stats",
    "status",
    "steal",
    "synchronous_commit",
    "tar",
    "text_pattern_ops",
    "throttling",
    "tsc",
    "ulimit",
    "up",
    "wal_compression",
    "work_mem",
    "www",
    "xdg",
    "xz",
    "z",
];

#[test]
fn russian_is_russian() {
    let mut wrong = Vec::new();
    for (name, text) in all(russian()).into_iter().chain(sentences::sentences(russian())) {
        let foreign =
            latin(&text).into_iter().find(|it| !NAMES.contains(it)).map(|it| format!("{it} in {text}"));
        // Versions keep their dots; ports and SQLSTATEs keep their digits.
        let numbers =
            ["15.18", "TLS 1.3", "p99.9", "42501"].iter().fold(text.clone(), |text, it| text.replace(it, ""));
        wrong
            .extend([foreign, ill_written(&numbers)].into_iter().flatten().map(|it| format!("{name}: {it}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Texts of a file's messages and of their attributes, without arguments.
fn texts_of_file(file: &str) -> Vec<String> {
    fn texts(pattern: &ast::Pattern<&str>, found: &mut Vec<String>) {
        let mut text = String::new();
        for element in &pattern.elements {
            match element {
                ast::PatternElement::TextElement { value } => text += value,
                ast::PatternElement::Placeable { expression: ast::Expression::Select { variants, .. } } => {
                    variants.iter().for_each(|variant| texts(&variant.value, found));
                }
                ast::PatternElement::Placeable { .. } => {}
            }
        }
        found.push(text);
    }
    let mut found = Vec::new();
    for entry in fluent_syntax::parser::parse(file).expect("a catalogue").body {
        if let ast::Entry::Message(message) = entry {
            let attributes = message.attributes.iter().map(|attribute| &attribute.value);
            message.value.iter().chain(attributes).for_each(|pattern| texts(pattern, &mut found));
        }
    }
    found
}

#[test]
fn russian_messages_are_russian() {
    let mut wrong = Vec::new();
    for text in texts_of_file(include_str!("../../../messages/ru.ftl")) {
        // Ignore text that is not translated: settings, options, commands (which follow two spaces), and lines to paste
        // into a file.
        let is_pasted = |line: &&str| {
            line.split_whitespace().next().is_some_and(|word| word.is_ascii() && word.ends_with(':'))
        };
        let native_lines: Vec<&str> = text.lines().filter(|line| !is_pasted(line)).collect();
        let words: String = native_lines.join(" ").split('`').step_by(2).collect();
        let words = words.split("  ").next().unwrap_or_default().split(' ');
        let words: String =
            words.filter(|word| !word.starts_with("--")).map(|word| format!("{word} ")).collect();
        wrong.extend(
            latin(&words).into_iter().filter(|it| !NAMES.contains(it)).map(|it| format!("{it} in {text}")),
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
