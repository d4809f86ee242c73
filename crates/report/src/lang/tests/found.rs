//! How do findings read, word by word?

use super::*;

/// In both languages; no-break spaces are plain ones here.
#[track_caller]
fn check(it: &Finding, english: &str, russian: &str) {
    let names = CELLS.map(str::to_owned);
    for (lang, expected) in ALL.into_iter().zip([english, russian]) {
        let said = lang.findings(&[it], &names).replace(['\u{202f}', '\u{a0}'], " ");
        assert_eq!(said, expected);
    }
}

#[test]
fn open_and_closed() {
    // The figures of experiments/004-book.
    let of = |delivered, p99| Answered { delivered, p99: Some(p99), runs: 1 };
    let it = Finding::OpenAndClosed {
        cell: 2,
        with: 3,
        offered: 68.0,
        open: of(44.9, 9.672),
        closed: of(47.7, 0.171),
    };
    check(
        &it,
        "the closed test does not know how long those wait who keep coming: №4 says p99 171 ms at 47.7/s; №3, where \
         68.0/s are offered, says p99 9.67 s at 44.9/s",
        "закрытый тест не знает, сколько ждут те, чьи заявки приходят и без ответов на прежние: №4 — p99 171 мс при 47,7/с; \
         №3, где предложено 68,0/с, — p99 9,67 с при 44,9/с",
    );
}

#[test]
fn feeds() {
    let it = Finding::FeedsDiffer {
        cell: 2,
        with: 0,
        feed: "requests".into(),
        mine: Answered { delivered: 196.0, p99: Some(2.171), runs: 1 },
        other: Answered { delivered: 197.0, p99: Some(0.0073), runs: 1 },
        read: ReadBack { blocks: Some(12.5), disk: Some(102_400.0) },
        with_read: ReadBack { blocks: Some(0.25), disk: None },
    };
    check(
        &it,
        "the feed requests decides what is measured: №3 p99 2.17 s at 196/s (12.5 blocks past shared buffers and 100 KiB \
         from disk by a transaction) beside №1 p99 7.30 ms at 197/s (0.250 blocks past shared buffers by a transaction)",
        "от ленты requests зависит, что измерено: №3 — p99 2,17 с при 196/с (на транзакцию блоков мимо буферов PostgreSQL \
         12,5 и 100 КиБ с диска); №1 — p99 7,30 мс при 197/с (на транзакцию блоков мимо буферов PostgreSQL 0,250)",
    );
    let it = Circumstance::FeedFits {
        feed: "books".into(),
        rows: 20_000,
        distinct: 2_000,
        share: 0.0002,
        touched: 15 << 20,
        bytes: 1300 << 20,
        memory: 400 << 20,
        read: ReadBack { blocks: Some(0.01), disk: Some(0.0) },
    };
    check(
        &Finding::Circumstance { cell: 0, it },
        "the feed books measures a cache: what its 2000 different values lead to, 15 MiB of 1.27 GiB, fits into the \
         server's 400 MiB: №1 (0.010 blocks past shared buffers and 0 B from disk by a transaction)",
        "лента books измеряет кэш: её разные значения (2000) ведут к 15 МиБ из 1,27 ГиБ, а столько помещается в память \
         сервера (400 МиБ): №1 (на транзакцию блоков мимо буферов PostgreSQL 0,010 и 0 Б с диска)",
    );
}
