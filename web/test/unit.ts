// Tests of the parts that need no browser. Rows: input and expected output.
import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { checked, embedded } from "../src/document";
import { shown, unbroken } from "../src/dom";
import { Numbers } from "../src/format";
import { append, dropOldest, type Points } from "../src/points";
import type { ChartView, Doc, Page, Section, TrialData, Unit } from "../src/page";
import { fragment, parseFragment } from "../src/reader";
import { comparisonUrl, matchingRuns, type Run } from "../src/runs";
import { onTimes, overlaid } from "../src/overlay";
import { linePath } from "../src/picture";
import { logarithmicBounds, stackedValues } from "../src/stacking";
import { definitions } from "../src/terms";
import { words } from "../src/words";
import { invented } from "./invented";
import { bundle } from "./shell";
import { pageWords, runsWords } from "./vocabulary";

/** Replaces thin spaces by `_`, so that they are visible. */
const visible = (text: string | null) => text?.replace(/\u202f/g, "_") ?? null;
const numbers = (lang: "en" | "ru") => new Numbers(lang, words(pageWords(lang)));

test("values have three digits and a unit in the page's language", () => {
    const rows: [Unit, number, string, string][] = [
        ["seconds", 0.0123456, "12.3_ms", "12,3_мс"],
        ["seconds", 1.5, "1.5_s", "1,5_с"],
        ["seconds", 0.000_000_8, "0.8_µs", "0,8_мкс"],
        ["seconds", 0, "0_µs", "0_мкс"],
        ["seconds", 0.9996, "1_s", "1_с"],
        ["bytes", 1536, "1.5_KiB", "1,5_КиБ"],
        ["bytes", 512, "512_B", "512_Б"],
        ["bytes_per_second", 3.5 * 2 ** 20, "3.5_MiB/s", "3,5_МиБ/с"],
        ["bytes_per_second", 2 ** 41, "2_TiB/s", "2_ТиБ/с"],
        ["per_second", 12345.6, "12346", "12_346"],
        ["per_second", 1234.5, "1235", "1235"],
        ["per_second", 999.4, "999", "999"],
        ["processors", 0.925, "0.925", "0,925"],
        ["count", -3, "−3", "−3"],
    ];
    for (const [unit, value, en, ru] of rows) {
        assert.equal(visible(numbers("en").value(unit, value)), en);
        assert.equal(visible(numbers("ru").value(unit, value)), ru);
    }
});

test("linear ticks share one unit, and each logarithmic tick has its own", () => {
    const rows: [Unit, (number | null)[], number, boolean, (string | null)[]][] = [
        ["seconds", [0, 0.0005, 0.001], 0.0005, false, ["0", "0,5_мс", "1,0_мс"]],
        ["seconds", [1e-6, null, 1e-3, 10], 0, true, ["1_мкс", null, "1_мс", "10_с"]],
        ["per_second", [0, 50_000, 100_000], 50_000, false, ["0", "50_тыс.", "100_тыс."]],
        ["per_second", [0, 2500, 5000], 2500, false, ["0", "2500", "5000"]],
        ["per_second", [0, 20_000, 40_000], 20_000, false, ["0", "20_000", "40_000"]],
        ["bytes", [0, 2 ** 20, 2 ** 21], 2 ** 20, false, ["0", "1_МиБ", "2_МиБ"]],
        ["count", [0, 1, 2], 1, false, ["0", "1", "2"]],
    ];
    for (const [unit, values, step, logarithmic, expected] of rows) {
        assert.deepEqual(numbers("ru").ticks(unit, values, step, logarithmic).map(visible), expected);
    }
});

test("headings show the definitions of their terms", () => {
    const page = invented({ points: 5 }).pages[0] as Page;
    const facts: [string, string][] = [["goodput", "In time."], ["p99", "Of 100, 99 are shorter."], ["service", "Without the wait."], ["p99.9", "Of 1000, 999 are shorter."], ["max", "Largest."], ["строк", "Число строк."]];
    const sections: Section[] = [{ id: "terms", heading: "Terms", blocks: [{ kind: "facts", facts }] }];
    const definitionOf = definitions({ ...page, sections });
    const rows: [string, string | null][] = [
        ["Goodput/s", "In time."],
        ["service p99, ms", "Of 100, 99 are shorter.\nWithout the wait."],
        ["p99.9, ms", "Of 1000, 999 are shorter."],
        ["maximum (95 % CI)", null],
        ["max.", "Largest."],
        ["строки", null],
        ["way", null],
    ];
    for (const [heading, text] of rows) assert.equal(definitionOf(heading), text, heading);
    assert.equal(definitions({ ...page, sections: [] })("goodput"), null);
});

test("trials with other points share one time axis, and a value holds for its point", () => {
    const rows: [number, number[], (number | null)[], (number | null)[]][] = [
        [1, [0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5]],
        [2, [0, 2], [10, 20], [10, 10, 20, 20, null, null]],
        [1, [1, 2, 4], [7, null, 9], [null, 7, null, null, 9, null]],
        [1, [], [], [null, null, null, null, null, null]],
    ];
    for (const [bin_s, times_s, column, expected] of rows) assert.deepEqual(onTimes([0, 1, 2, 3, 4, 5], { bin_s, times_s, charts: [] }, column), expected);
});

test("an overlay has the comparable series of every trial", () => {
    const track = (label: string, comparable: boolean) => ({ label, dashed: false, overlaid: comparable });
    const chart = (id: string, ...series: ReturnType<typeof track>[]): ChartView => ({ ...view(false, false, []), id, series });
    const named = (text: string, ...charts: ChartView[]) => ({ name: { text, tone: "plain" as const }, charts, marks: [] });
    const one = named("a", chart("rate", track("offered", false), track("delivered", true)), chart("waits", track("running", false)));
    const two = named("b", chart("response", track("p50", true), track("p99", true)), chart("rate", track("delivered", true)));
    const both = overlaid([
        { view: one, colour: 0, data: { bin_s: 1, times_s: [0, 1], charts: [[[1, 2], [3, 4]], [[5, 6]]] } },
        { view: two, colour: 2, data: { bin_s: 1, times_s: [0, 1, 2], charts: [[[7, 7, 7], [8, 8, 8]], [[9, 9, 9]]] } },
    ]);
    assert.deepEqual(both.charts.map((it) => [it.id, ...it.series.map(({ label, look }) => [label, look?.colour, look?.rhythm])]), [
        ["rate", ["a: delivered", 0, 0], ["b: delivered", 2, 0]],
        ["response", ["b: p50", 2, 1], ["b: p99", 2, 0]],
    ]);
    assert.deepEqual(both.data, { bin_s: 1, times_s: [0, 1, 2], charts: [[[3, 4, null], [9, 9, 9]], [[7, 7, 7], [8, 8, 8]]] });
});

test("lines are interrupted where nothing was measured", () => {
    const rows: [(number | null)[], string][] = [
        [[1, 2, 3], "M0.0 1.0L1.0 2.0L2.0 3.0"],
        [[1, 2, null, 3, 4], "M0.0 1.0L1.0 2.0M3.0 3.0L4.0 4.0"],
        [[null, 1, null, 2], "M1.0 1.0h0M3.0 2.0h0"],
        [[null], ""],
    ];
    const same = (value: number) => value;
    for (const [values, path] of rows) assert.equal(linePath(values.map((y, x) => ({ x, y, tone: "plain" })), same, same), path);
});

test("times are in seconds in short trials, and clock times in long ones", () => {
    const rows: [number, number, string][] = [
        [5, 60, "5_s"],
        [5, 120, "0:05"],
        [3725, 7200, "1:02:05"],
        [-3, 300, "−0:03"],
    ];
    for (const [at, longest, expected] of rows) assert.equal(visible(numbers("en").moment(at, longest)), expected);
});

test("a missing word is shown as its key", () => {
    assert.equal(words([["print", "Печать"]])("print"), "Печать");
    assert.equal(words([])("zoom_out"), "zoom_out");
});

test("a number stays on the line of its unit", () => {
    const rows: [string, string][] = [
        ["95 % CI 163 to 212 ms", "95_% CI 163 to 212_ms"],
        ["outage of 3.14 s, 1.5 KiB", "outage of 3.14_s, 1.5_KiB"],
        ["< 0.01 %", "<_0.01_%"],
        ["in 2 of 4 trials", "in 2 of 4 trials"],
        ["10 sessions, 3 heads", "10 sessions, 3 heads"],
    ];
    for (const [text, expected] of rows) assert.equal(unbroken(text).replaceAll("\u00a0", "_"), expected);
});

test("control characters become visible", () => {
    const rows: [string, string][] = [
        ["a\u001b[31mred", "a⟨U+001B⟩[31mred"],
        ["\u202egnp.exe", "⟨U+202E⟩gnp.exe"],
        ["a\u0000b\u007f\u0085", "a⟨U+0000⟩b⟨U+007F⟩⟨U+0085⟩"],
        ["zero\u200bwidth", "zero⟨U+200B⟩width"],
        ["line\n\ttab 1\u202f000 é 日本 </script>", "line\n\ttab 1\u202f000 é 日本 </script>"],
    ];
    for (const [text, expected] of rows) assert.equal(shown(text), expected);
});

const view = (logarithmic: boolean, stacked: boolean, dashed: boolean[]): ChartView => ({
    id: "waits", title: "", unit: "count", axis: "", logarithmic, stacked, collapsed: false, series: dashed.map((it) => ({ label: "", dashed: it, overlaid: false })),
});

test("only the shown series of stacked charts are added, and missing values stay missing", () => {
    const columns = [[1, 2, null, null], [10, null, 30, null], [7, 7, 7, 7]];
    const all = () => true;
    assert.deepEqual(stackedValues(view(false, true, [false, false, true]), columns, all), [[1, 2, null, null], [11, 2, 30, null], [7, 7, 7, 7]]);
    assert.deepEqual(stackedValues(view(false, true, [false, false, true]), columns, (track) => track !== 0), [[null, null, null, null], [10, null, 30, null], [7, 7, 7, 7]]);
    assert.deepEqual(stackedValues(view(false, false, [false, false, false]), columns, all), columns);
    assert.deepEqual(stackedValues(view(true, false, [false]), [[0, 1e-3, -1, null]], all), [[null, 1e-3, null, null]]);
});

test("a logarithmic axis ends at round numbers, at least a decade apart", () => {
    const rows: [number, number, number, number][] = [
        [0.0013, 0.23, 0.001, 0.5],
        [0.001, 0.1, 0.001, 0.1],
        [0.0021, 0.0023, 0.001, 0.01],
        [1, 1, 0.2, 5],
    ];
    for (const [min, max, low, high] of rows) {
        const [from, to] = logarithmicBounds(min, max);
        assert.ok(Math.abs(from / low - 1) < 1e-9 && Math.abs(to / high - 1) < 1e-9, `${min}..${max}: ${from}..${to}`);
        assert.ok(from <= min && to >= max && to / from > 9.9);
    }
});

test("fragments select sections, charts and trials only", () => {
    const rows: [string, ReturnType<typeof parseFragment>][] = [
        ["#matrix", { section: "matrix", trial: null, chart: null }],
        ["#chart-response_by_operation;3", { section: "", trial: 2, chart: "response_by_operation" }],
        ["#chart-rate", { section: "", trial: null, chart: "rate" }],
        ["#charts;1", { section: "charts", trial: 0, chart: null }],
        ["#a;0", null],
        ["#<img>", null],
        ["", null],
    ];
    for (const [hash, expected] of rows) {
        assert.deepEqual(parseFragment(hash), expected);
        if (expected) assert.equal(fragment(expected), hash);
    }
});

const trial = (at: number[]): TrialData => ({ bin_s: 1, times_s: [...at], charts: [[at.map((it) => it * 10), at.map(() => null)]] });
const points = (at: number[], tracks = 2): Points => ({ trial: 0, times_s: at, charts: [Array.from({ length: tracks }, (_, t) => at.map((it) => it * 10 + t))], marks: {} });

test("points are appended once, and only to the same series", () => {
    const data = [trial([0, 1])];
    assert.ok(append(data, points([1, 2])));
    assert.deepEqual(data[0], { bin_s: 1, times_s: [0, 1, 2], charts: [[[0, 10, 20], [null, null, 21]]] });
    assert.equal(append(data, points([3], 1)), false);
    assert.equal(append(data, { ...points([3]), trial: 1 }), false);
    assert.equal(data[0]?.times_s.length, 3);
});

test("the oldest points are dropped beyond the maximum", () => {
    const data = [trial([])];
    for (let i = 0; i < 1000; i++) {
        append(data, points([i]));
        dropOldest(data[0] as TrialData, 100);
    }
    assert.equal(data[0]?.times_s.length, 100);
    assert.deepEqual(data[0]?.charts[0]?.map((it) => it.length), [100, 100]);
    assert.equal(data[0]?.times_s[99], 999);
});

const run = (name: string, started_ms: number, state: string, experiment = "pool"): Run => ({
    name, experiment, started_ms, started: "", state, state_text: state, cells: 1, trials: 1, size_text: "", headline: `Answer of ${name}`, tone: "plain",
});

test("runs are filtered by text, experiment and state, newest first", () => {
    const runs = [run("a-1", 1, "complete"), run("b-2", 3, "running"), run("c-3", 2, "complete", "book")];
    const rows: [string, string, string, string[]][] = [
        ["", "", "", ["b-2", "c-3", "a-1"]],
        [" ANSWER of A", "", "", ["a-1"]],
        ["", "book", "", ["c-3"]],
        ["", "", "complete", ["c-3", "a-1"]],
        ["b", "book", "running", []],
    ];
    for (const [text, experiment, state, expected] of rows) assert.deepEqual(matchingRuns(runs, { text, experiment, state }).map((it) => it.name), expected);
});

test("the first selected run is the baseline, whatever its name", () => {
    assert.equal(comparisonUrl(["a b", "c&run=x", "ж"]), "/compare?base=a%20b&run=c%26run%3Dx&run=%D0%B6");
});

test("a Document is decompressed unchanged, and an unknown format is rejected", async () => {
    const doc = invented({ points: 5, foreign: "</script>\u202e" });
    assert.deepEqual(await embedded(`\n${gzipSync(JSON.stringify(doc)).toString("base64")}\n`), doc);
    assert.throws(() => checked({ ...doc, format: 2 } as unknown as Doc), /format 2/);
});

test("the bundle is small, and contains no end tag of its element", () => {
    const { script, style } = bundle();
    const size = Buffer.byteLength(script) + Buffer.byteLength(style);
    console.log(`script and style: ${(size / 1024).toFixed(1)} KiB`);
    assert.ok(size <= 131 * 1024);
    for (const [text, end] of [[script, "</script"], [script, "<!--"], [style, "</style"]] as const) assert.ok(!text.toLowerCase().includes(end), end);
    assert.doesNotMatch(script, /\beval\(|new Function\(|innerHTML|outerHTML|insertAdjacentHTML|document\.write/);
});

test("every declared word is used", () => {
    const { script } = bundle();
    for (const key of [...pageWords("en").map(([key]) => key), ...Object.keys(runsWords("en"))]) assert.match(script, new RegExp(`\\b${key}\\b`), key);
});
