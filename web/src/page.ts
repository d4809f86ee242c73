// Types of the Document, the JSON from which a page is rendered.
//
// They mirror the serialised types of `crates/report/src/page.rs`. That crate computes all numbers and words; this program
// only lays them out.

/** Data of a page. */
export interface Doc {
    format: "pgdyno.page";
    version: 1;
    /** Language (`Page.lang`) of the page that is shown first. */
    lang: string;
    /** Pages, one per language, with the same structure. */
    pages: Page[];
    /** Data of the trials of the charts block, in the same order. */
    data: TrialData[];
    live: Live | null;
}

export interface Live {
    /** URL of the event stream. */
    events: string;
}

/** Values of one trial's charts. */
export interface TrialData {
    /** Seconds that one point covers. */
    bin_s: number;
    /** Start of each point, in seconds since the window began; ascending. */
    times_s: number[];
    /** Values, by chart, series and point; null where nothing was measured. */
    charts: Column[][];
}

export type Column = (number | null)[];

export interface Page {
    lang: string;
    language: string;
    title: string;
    question: string;
    answer: Line;
    /** First screen; absent in histories, and if nothing was measured. */
    overview?: Overview;
    facts: string[];
    sections: Section[];
    words: [string, string][];
}

/** Short sentence, large figures, a picture and doubts. */
export interface Overview {
    summary: Line;
    figures: { label: string; value: string; detail: string; tone: Tone }[];
    picture?: Picture;
    doubts: Line[];
    more_doubts: string;
    /** Id of the section with all doubts. */
    doubts_section: string;
    /** The answer with all its figures, but without the doubts. */
    details: string;
}

export interface Picture {
    caption: string;
    plot: Plot;
}

export type Plot =
    | { kind: "intervals"; axis: PlotAxis; rows: IntervalRow[] }
    | { kind: "points"; x: PlotAxis; y: PlotAxis; series: PointSeries[] };

export interface PlotAxis {
    title: string;
    unit: Unit;
    logarithmic: boolean;
    references: { value: number; text: string; tone: Tone }[];
}

export interface IntervalRow {
    label: string;
    value: number;
    interval: [number, number] | null;
    /** True if only a lower bound of the value is known. */
    is_lower_bound: boolean;
    text: string;
    tone: Tone;
    baseline: boolean;
}

export interface PointSeries {
    label: string;
    connected: boolean;
    /** Points; null where nothing was measured, which interrupts a line. */
    points: { x: number; y: number | null; tone: Tone }[];
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
    | ({ kind: "heat_map" } & HeatMap)
    | ({ kind: "drawing" } & Drawing)
    | ({ kind: "picture" } & Picture)
    /** Collapsed blocks. The name states their contents and number. */
    | { kind: "details"; name: string; blocks: Block[] }
    | ({ kind: "charts" } & Charts)
    | { kind: "findings"; findings: FindingView[] }
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

export interface HeatMap {
    across: [string, string[]];
    down: [string, string[]];
    /** Layers, at least one; the first one is shown initially. */
    layers: HeatLayer[];
}

/** One figure of a heat map. */
export interface HeatLayer {
    name: string;
    caption: string;
    /** Cells, row by row. A shade of -1 is far worse than the baseline, 1 is far better. */
    cells: { text: string; shade: number | null; baseline: boolean }[];
}

export interface Drawing {
    alternative: string;
    nodes: DrawnNode[];
    hops: string[];
    /** Replicas of the last node; absent without replicas. */
    replicas?: { replication: string; nodes: DrawnNode[]; manager: DrawnNode };
}

export interface DrawnNode {
    heading: string;
    lines: Line[];
    /** The fullest resource: its share in use, from 0 to 1, and its text; null if unknown. */
    load: { share: number; text: string } | null;
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

export type Unit = "per_second" | "seconds" | "count" | "processors" | "bytes" | "bytes_per_second" | "quantile";

export interface ChartView {
    id: string;
    title: string;
    unit: Unit;
    axis: string;
    logarithmic: boolean;
    stacked: boolean;
    /** True if the chart is collapsed below the others. */
    collapsed: boolean;
    series: Track[];
}

/** One series of a chart. */
export interface Track {
    label: string;
    dashed: boolean;
    /** True if the series is drawn when several trials are laid over each other. */
    overlaid: boolean;
    /** Number of its trial's colour and of its dash pattern, if several trials are laid over each other. */
    look?: { colour: number; rhythm: number };
}

export interface Mark {
    at_s: number;
    text: string;
    tone: Tone;
}

export interface FindingView {
    line: Line;
    table: Table | null;
    evidence: EvidenceLink[];
}

export interface EvidenceLink {
    text: string;
    section: string;
    trial: number | null;
    chart: string | null;
}
