// Which runs are there, and which of them does the reader want?
import type { Tone } from "./page";

/** What `/runs.json` holds. */
export interface Runs {
    words: Record<string, string>;
    runs: Run[];
    /** Whether answers are missing that would come if it were asked for again. */
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

/** What is looked for; empty is anything. */
export interface Sought {
    text: string;
    experiment: string;
    state: string;
}

/** The newest first. */
export function found(runs: Run[], sought: Sought): Run[] {
    const text = sought.text.trim().toLowerCase();
    return runs
        .filter((it) => sought.experiment === "" || it.experiment === sought.experiment)
        .filter((it) => sought.state === "" || it.state === sought.state)
        .filter((it) => text === "" || [it.name, it.experiment, it.headline, it.state_text].some((part) => (part ?? "").toLowerCase().includes(text)))
        .sort((a, b) => b.started_ms - a.started_ms);
}

/** Where the first is compared with the others. */
export const comparison = (ticked: string[]) =>
    `/compare?${ticked.map((name, i) => `${i === 0 ? "base" : "run"}=${encodeURIComponent(name)}`).join("&")}`;
