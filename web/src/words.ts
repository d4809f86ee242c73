// Keys of the words that the page's own elements need.
//
// The words come with the page (`Page.words`) or with the list of runs. A missing word is shown as its key, so that its
// absence is visible.

/** Keys of a report's words. */
export const PAGE_WORDS = [
    // Page frame.
    "skip", "contents", "language", "theme", "theme_auto", "theme_light", "theme_dark", "print",
    // Tones and the baseline.
    "good", "doubt", "bad", "baseline",
    // Charts.
    "trial", "zoom_out", "overlay", "overlay_help", "chart_help", "time", "show_table", "hide_table", "more_rows", "more_charts", "marks", "evidence",
    // Layers and shades of a heat map.
    "figure", "worse", "same", "better",
    // Tables with hidden columns.
    "all_columns", "few_columns",
    // Code.
    "copy", "copied",
    // Units; `per_second` is appended to byte units.
    "s", "ms", "us", "b", "kib", "mib", "gib", "tib", "per_second", "thousand", "million",
    // Decimal separator of the texts.
    "decimal",
] as const;

/** Further keys of a live page. */
export const LIVE_WORDS = ["now", "waiting", "live", "connecting", "lost", "ended", "stop", "stop_sure", "stop_no", "stopping", "stop_failed"] as const;

/** Further keys of a page from a server. */
export const SERVED_WORDS = ["all_runs", "one_file"] as const;

/** Keys of the list of runs. */
export const RUNS_WORDS = [
    "title", "skip", "language", "theme", "theme_auto", "theme_light", "theme_dark", "good", "doubt", "bad",
    "filter", "experiment", "state", "all", "run", "begun", "cells", "trials", "size", "headline",
    "compare", "compare_help", "select", "base", "none", "reload",
] as const;

export type Word = (typeof PAGE_WORDS)[number] | (typeof LIVE_WORDS)[number] | (typeof SERVED_WORDS)[number] | (typeof RUNS_WORDS)[number];
export type Words = (key: Word) => string;

/** Lookup of the words of a page or a list. */
export function words(entries: Iterable<[string, string]>): Words {
    const all = new Map(entries);
    return (key) => all.get(key) ?? key;
}
