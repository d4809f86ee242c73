// Which words does the drawing itself need?
//
// They come with the page (`Page.words`) or with the list of runs; there is none here. A key that does not come is shown
// as it is, so that its absence is seen.

/** What a report needs. */
export const PAGE_WORDS = [
    // Around the page.
    "skip", "contents", "language", "theme", "theme_auto", "theme_light", "theme_dark", "print",
    // How something is to be taken.
    "good", "doubt", "bad", "baseline",
    // Charts.
    "trial", "zoom_out", "chart_help", "time", "show_table", "hide_table", "more_rows", "marks", "evidence",
    // What a heat map shows, and its shades.
    "figure", "worse", "same", "better",
    // A table without room.
    "all_columns", "few_columns",
    // Code.
    "copy", "copied",
    // Units; `per_second` is appended to those of bytes.
    "s", "ms", "us", "b", "kib", "mib", "gib", "tib", "per_second", "thousand", "million",
] as const;

/** What a page that grows needs besides. */
export const LIVE_WORDS = ["live", "connecting", "lost", "ended", "stop", "stop_sure", "stop_no", "stopping", "stop_failed"] as const;

/** What a page needs that a server shows. */
export const SERVED_WORDS = ["all_runs", "one_file"] as const;

/** What the list of runs needs. */
export const RUNS_WORDS = [
    "title", "skip", "language", "theme", "theme_auto", "theme_light", "theme_dark", "good", "doubt", "bad",
    "filter", "experiment", "state", "all", "run", "begun", "cells", "trials", "size", "headline",
    "compare", "compare_help", "select", "base", "none", "reload",
] as const;

export type Word = (typeof PAGE_WORDS)[number] | (typeof LIVE_WORDS)[number] | (typeof SERVED_WORDS)[number] | (typeof RUNS_WORDS)[number];
export type Words = (key: Word) => string;

/** The words of a page or a list. */
export function words(given: Iterable<[string, string]>): Words {
    const all = new Map(given);
    return (key) => all.get(key) ?? key;
}
