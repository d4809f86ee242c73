// Types and filters of the list of runs.
import type { Tone } from "./page";

/** Contents of `/runs.json`. */
export interface Runs {
    /** Language of the texts, and all languages of the server with their names. */
    lang: string;
    languages: [lang: string, name: string][];
    words: Record<string, string>;
    runs: Run[];
    /** True if headlines are missing that a repeated request would return. */
    partial: boolean;
}

export interface Run {
    name: string;
    experiment: string;
    started_ms: number;
    started: string;
    state: string;
    state_text: string;
    cells: number;
    trials: number;
    size_text: string;
    headline: string;
    tone: Tone;
}

/** Filters of the list; an empty text matches every run. */
export interface Filters {
    text: string;
    experiment: string;
    state: string;
}

/** Runs that match the filters, newest first. */
export function matchingRuns(runs: Run[], filters: Filters): Run[] {
    const text = filters.text.trim().toLowerCase();
    return runs
        .filter((it) => filters.experiment === "" || it.experiment === filters.experiment)
        .filter((it) => filters.state === "" || it.state === filters.state)
        .filter((it) => text === "" || [it.name, it.experiment, it.headline, it.state_text].some((part) => (part ?? "").toLowerCase().includes(text)))
        .sort((a, b) => b.started_ms - a.started_ms);
}

/** Selected runs in the order of a comparison: the oldest one is the baseline. */
export const compared = (runs: Run[], selected: string[]) =>
    runs.filter((it) => selected.includes(it.name)).sort((a, b) => a.started_ms - b.started_ms).map((it) => it.name);

/** URL of the comparison of the first run with the others. */
export const comparisonUrl = (names: string[]) =>
    `/compare?${names.map((name, i) => `${i === 0 ? "base" : "run"}=${encodeURIComponent(name)}`).join("&")}`;
