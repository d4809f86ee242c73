// What does the program hand over to be drawn?
//
// `crates/report/src/page.rs` as it is serialised, and the Document that carries it. Numbers and words are made there;
// here they are only placed.

/** All that a page is drawn from. */
export interface Doc {
    format: "pgdyno.page";
    version: 1;
    /** `Page.lang` of the page that is shown first. */
    lang: string;
    /** One per language, alike in structure. */
    pages: Page[];
    /** One per trial of the charts block, in the same order. */
    data: TrialData[];
    live: Live | null;
}

export interface Live {
    /** Where events come from. */
    events: string;
}

/** The numbers of one trial's charts. */
export interface TrialData {
    /** Seconds that one point stands for. */
    bin_s: number;
    /** Each point's beginning, seconds since the window began; ascending. */
    times_s: number[];
    /** By chart, by series, by point; null where nothing was measured. */
    charts: Column[][];
}

export type Column = (number | null)[];

export interface Page {
    lang: string;
    language: string;
    title: string;
    question: string;
    answer: Line;
    facts: string[];
    sections: Section[];
    words: [string, string][];
}

export interface Section {
    id: string;
    heading: string;
    blocks: Block[];
}

export type Block =
    | ({ kind: "text" } & Line)
    | { kind: "list"; items: Line[] }
    | { kind: "facts"; facts: [string, string][] }
    | ({ kind: "table" } & Table)
    | ({ kind: "heat_map" } & Heat)
    | ({ kind: "drawing" } & Drawing)
    /** Shown when it is asked for; the name says how much of what. */
    | { kind: "details"; name: string; blocks: Block[] }
    | ({ kind: "charts" } & Charts)
    | { kind: "findings"; findings: Told[] }
    | { kind: "code"; name: string; text: string; folded: boolean };

export type Tone = "plain" | "good" | "doubt" | "bad" | "faint";

export interface Line {
    text: string;
    tone: Tone;
}

export interface Table {
    caption: string;
    columns: { heading: string; numeric: boolean; drop_order: number }[];
    rows: { cells: string[]; tone: Tone; baseline: boolean }[];
    notes: [string, Line][];
}

export interface Heat {
    across: [string, string[]];
    down: [string, string[]];
    /** The first is shown first; at least one. */
    layers: HeatLayer[];
}

/** One figure of a heat map. */
export interface HeatLayer {
    name: string;
    caption: string;
    /** Row by row; a shade of -1 is far worse than the baseline, 1 far better. */
    cells: { text: string; shade: number | null; baseline: boolean }[];
}

export interface Drawing {
    alternative: string;
    nodes: DrawnNode[];
    hops: string[];
    /** Servers that follow the last node; absent without any. */
    replicas?: { replication: string; nodes: DrawnNode[]; manager: DrawnNode };
}

export interface DrawnNode {
    heading: string;
    lines: Line[];
    /** 0..=1. */
    load: number | null;
    tone: Tone;
}

export interface Charts {
    selected: number;
    trials: ChartedTrial[];
}

export interface ChartedTrial {
    name: Line;
    charts: ChartView[];
    marks: Mark[];
}

export type Unit = "per_second" | "seconds" | "count" | "processors" | "bytes" | "bytes_per_second";

export interface ChartView {
    id: string;
    title: string;
    unit: Unit;
    axis: string;
    logarithmic: boolean;
    stacked: boolean;
    series: { label: string; dashed: boolean }[];
}

export interface Mark {
    at_s: number;
    text: string;
    tone: Tone;
}

export interface Told {
    line: Line;
    table: Table | null;
    evidence: Link[];
}

export interface Link {
    text: string;
    section: string;
    trial: number | null;
    chart: string | null;
}
