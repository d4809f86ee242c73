// One chart: drawing, cursor values, legend and keyboard control.
import uPlot from "uplot";
import { button, el } from "./dom";
import { moments, type Numbers, steps } from "./format";
import type { ChartView, Column, Mark, Track, Unit } from "./page";
import { colours, dash, ground, ranked } from "./palette";
import type { ReaderState } from "./reader";
import { logarithmicBounds, stackedValues } from "./stacking";
import { character } from "./tone";
import { valuesTable } from "./values";
import type { Words } from "./words";

/** State and functions that all charts of a trial share. */
export interface Group {
    reader: ReaderState;
    words: Words;
    numbers: Numbers;
    times: () => number[];
    /** Whole range of the time axis, in seconds. */
    span: () => [number, number];
    marks: () => Mark[];
    /** Called when the cursor of one chart moves to a point, or leaves the chart (`null`). */
    cursorMoved: (from: Plot, point: number | null) => void;
    /** Shows a time range, in seconds; `null` shows the whole range. */
    zoom: (range: [number, number] | null) => void;
}

/** Maximum distance between the cursor and a mark that it selects, in pixels. */
const MARK_DISTANCE = 6;
/** Width of the value axis, in pixels. All charts have the same, so that their times are aligned. It fits the widest label, `512 МиБ/с`. */
const AXIS_WIDTH = 74;
/** Units of which every tick has its own, such as `100 ms`. */
const UNIT_ON_TICKS: Unit[] = ["seconds", "bytes", "bytes_per_second"];
/** Maximum number of marks that are drawn over the full height of a chart. */
const FULL_MARKS_MAX = 16;

export class Plot {
    readonly element: HTMLElement;
    private plot: uPlot | null = null;
    private drawnColumns: Column[] = [];
    private point: number | null = null;
    private following = false;
    private readonly box = el("div", { class: "plot" });
    private readonly tip = el("div", { class: "tip", hidden: true });
    private readonly time = el("span", { class: "legend-time" });
    private readonly announcement = el("p", { class: "unseen", "aria-live": "polite" });
    private readonly rows: HTMLButtonElement[];
    private readonly values: HTMLElement[];
    private readonly tableBox = el("div", { class: "chart-table" });
    private readonly tableButton: HTMLButtonElement;

    constructor(
        readonly view: ChartView,
        /** Values, by series. */
        public columns: Column[],
        private readonly group: Group,
    ) {
        const { words, reader: place } = group;
        this.values = view.series.map(() => el("span", { class: "legend-value" }));
        this.rows = view.series.map((track, i) => {
            const row = button("", () => this.toggle(i), { class: "legend-row", "aria-pressed": String(this.isShown(i)) });
            row.append(el("i", { class: "swatch" }), el("span", { class: "legend-label" }, track.label), this.values[i] as HTMLElement);
            row.addEventListener("mouseenter", () => this.plot?.setSeries(this.series(i), { focus: true }));
            row.addEventListener("mouseleave", () => this.plot?.setSeries(null, { focus: true }));
            return row;
        });
        const order = view.stacked ? [...this.rows].reverse() : this.rows;
        const legend = el("div", { class: "legend" }, el("div", { class: "legend-head" }, this.time), ...order);
        this.tableButton = button("", () => this.toggleTable(), { class: "quiet", "aria-expanded": "false" });
        const name = `chart-${view.id}`;
        this.box.tabIndex = 0;
        this.box.setAttribute("role", "group");
        this.box.setAttribute("aria-label", `${view.title}, ${view.axis}. ${words("chart_help")}`);
        this.box.addEventListener("keydown", (event) => this.onKey(event));
        this.box.append(this.tip);
        this.element = el(
            "figure",
            { class: "chart", id: name, tabindex: -1, "aria-labelledby": `${name}-title` },
            el("figcaption", {}, el("h3", { id: `${name}-title` }, view.title), !UNIT_ON_TICKS.includes(view.unit) && el("span", { class: "axis" }, view.axis), this.tableButton),
            el("div", { class: "chart-body" }, this.box, legend),
            this.announcement,
            this.tableBox,
        );
        this.tableButton.textContent = words("show_table");
        if (place.openTables.has(view.id)) this.toggleTable();
    }

    /** Draws the chart with this size and the colours of the current theme. */
    draw(width: number, height: number): void {
        this.plot?.destroy();
        this.colourLegend();
        this.reserve(height);
        this.plot = new uPlot(this.options(width, height), this.data(), this.box);
        if (this.point !== null) this.follow(this.point);
    }

    resize(width: number, height: number): void {
        if (!this.plot || (this.plot.width === width && this.plot.height === height)) return;
        this.reserve(height);
        this.plot.setSize({ width, height });
    }

    /** Redraws after the values, the shown series or the time range have changed. */
    refresh(): void {
        this.redrawData();
        if (this.group.reader.openTables.has(this.view.id)) this.fillTable();
    }

    /** Redraws after points were appended. The table is unchanged, because the reader may be using it. */
    redrawData(): void {
        const [min, max] = this.range();
        this.plot?.batch(() => {
            this.plot?.setData(this.data(), false);
            this.plot?.setScale("x", { min, max });
        });
    }

    destroy(): void {
        this.plot?.destroy();
        this.plot = null;
    }

    /** Drawn contents, for tests: times, values by series, and the shown range in seconds. */
    get content(): { at: readonly number[]; columns: Column[]; range: [number, number] } {
        return { at: this.group.times(), columns: this.drawnColumns, range: this.range() };
    }

    /** Moves the cursor to the point of another chart's cursor; `null` removes it. */
    follow(point: number | null): void {
        this.following = true;
        this.point = point;
        const at = point === null ? undefined : this.group.times()[point];
        if (this.plot) this.plot.setCursor(at === undefined ? { left: -10, top: -10 } : { left: this.plot.valToPos(at, "x"), top: -10 });
        this.following = false;
        this.showValues();
    }

    /** Reserves the height in advance, because uPlot sets it only after the scroll position is restored. */
    private reserve(height: number): void {
        this.box.style.height = `${height}px`;
    }

    private isShown(track: number): boolean {
        return !this.group.reader.hidden.has(this.key(track));
    }

    /** Name of a series among the hidden ones. A series of several trials has another index as soon as the selection changes. */
    private key(track: number): string {
        const { look, label } = this.view.series[track] as Track;
        return `${this.view.id}/${look ? label : track}`;
    }

    private toggle(track: number): void {
        const key = this.key(track);
        if (!this.group.reader.hidden.delete(key)) this.group.reader.hidden.add(key);
        this.rows[track]?.setAttribute("aria-pressed", String(this.isShown(track)));
        this.plot?.batch(() => {
            this.plot?.setSeries(this.series(track), { show: this.isShown(track) });
            this.refresh();
        });
    }

    /** Index of a series in uPlot. Stacked areas are painted from the highest to the lowest, so that each covers the ones above it. */
    private series(track: number): number {
        return this.view.stacked ? this.view.series.length - track : track + 1;
    }

    private data(): uPlot.AlignedData {
        this.drawnColumns = stackedValues(this.view, this.columns, (track) => this.isShown(track));
        const columns = this.view.stacked ? [...this.drawnColumns].reverse() : this.drawnColumns;
        return [this.group.times(), ...columns] as uPlot.AlignedData;
    }

    private range(): [number, number] {
        return this.group.reader.zoom ?? this.group.span();
    }

    private options(width: number, height: number): uPlot.Options {
        const { numbers } = this.group;
        const { view } = this;
        const { ink, grid } = ground();
        const hues = colours(view);
        const font = `11.5px ${getComputedStyle(document.body).fontFamily}`;
        const lines = { stroke: grid, width: 1 };
        const series = view.series.map((track, i): uPlot.Series => {
            const hue = hues[i] as string;
            const area = view.stacked && !track.dashed;
            const rhythm = dash(view, i);
            return {
                scale: "y",
                show: this.isShown(i),
                stroke: hue,
                width: area ? 0.5 : track.dashed ? 1.25 : 1.5,
                ...(area ? { fill: hue } : {}),
                ...(rhythm && !area ? { dash: rhythm } : {}),
                points: { show: (u, s, from, to) => to - from < 2 || hasIsolatedPoints(u.data[s], from, to), size: 4, width: 0, fill: hue },
            };
        });
        if (view.stacked) series.reverse();
        const bands = ranked(view)
            ? view.series.slice(1).map((_, i): uPlot.Band => ({ series: [i + 2, i + 1], fill: `${hues[i + 1]}1f` }))
            : [];
        const space = steps(view.unit);
        return {
            width,
            height,
            padding: [12, 20, 0, 0],
            legend: { show: false },
            focus: { alpha: 0.25 },
            bands,
            scales: {
                x: { time: false, auto: false, range: () => this.range() },
                y: {
                    distr: view.logarithmic ? 3 : 1,
                    range: (_, min, max) => (view.logarithmic ? (min > 0 ? logarithmicBounds(min, max) : [1e-3, 1]) : [0, max > 0 ? max * 1.08 : 1]),
                },
            },
            axes: [
                {
                    font, stroke: ink, grid: { show: false }, ticks: { stroke: grid, width: 1, size: 4 }, size: 26, gap: 4,
                    space: 64, incrs: moments(),
                    values: (_, splits) => splits.map((it) => numbers.moment(it, this.group.span()[1])),
                },
                {
                    scale: "y", font, stroke: ink, grid: { ...lines, filter: (_, splits) => (view.logarithmic ? splits.map(gridTick) : splits) }, ticks: { show: false }, size: AXIS_WIDTH, gap: 6, space: 34,
                    ...(space ? { incrs: space } : {}),
                    values: (_, splits, __, ___, step) => numbers.ticks(view.unit, splits, step, view.logarithmic),
                },
            ],
            series: [{}, ...series],
            cursor: {
                y: false,
                drag: { x: true, y: false, setScale: false, dist: 4 },
                points: { size: 7, width: 1.5, stroke: ground().paper, fill: (_, s) => hues[view.stacked ? view.series.length - s : s - 1] as string },
                bind: {
                    dblclick: () => (() => {
                        this.group.zoom(null);
                        return null;
                    }) as uPlot.Cursor.MouseListener,
                },
            },
            hooks: {
                drawAxes: [(u) => this.drawMarks(u)],
                setCursor: [(u) => this.cursor(u)],
                setSelect: [(u) => this.selected(u)],
            },
        };
    }

    private cursor(u: uPlot): void {
        if (this.following) return;
        const left = u.cursor.left ?? -1;
        const point = left < 0 ? null : (u.cursor.idx ?? null);
        this.showMarkTip(u, left);
        if (point === this.point) return;
        this.point = point;
        this.showValues();
        this.group.cursorMoved(this, point);
    }

    private selected(u: uPlot): void {
        const { left, width } = u.select;
        if (width < 4) return;
        const range: [number, number] = [u.posToVal(left, "x"), u.posToVal(left + width, "x")];
        u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        this.group.zoom(range);
    }

    /** Writes the values under the cursor into the legend. */
    private showValues(aloud = false): void {
        const { numbers } = this.group;
        const at = this.point === null ? undefined : this.group.times()[this.point];
        const texts = this.columns.map((column) => {
            const value = this.point === null ? null : column[this.point];
            return value === null || value === undefined ? (at === undefined ? "" : "–") : numbers.value(this.view.unit, value);
        });
        texts.forEach((text, i) => ((this.values[i] as HTMLElement).textContent = text));
        const moment = at === undefined ? "" : numbers.moment(at, this.group.span()[1]);
        this.time.textContent = moment;
        if (aloud) this.announcement.textContent = [moment, ...this.view.series.map((track, i) => `${track.label} ${texts[i]}`)].join("; ");
    }

    /** Shows the texts of the marks close to the cursor, at `left` pixels. */
    private showMarkTip(u: uPlot, left: number): void {
        const near = left < 0 ? [] : this.group.marks().filter((it) => Math.abs(u.valToPos(it.at_s, "x") - left) <= MARK_DISTANCE);
        this.tip.hidden = near.length === 0;
        if (near.length === 0) return;
        const lines = near.slice(0, 4).map((it) => el("p", {}, `${character(it.tone)}${it.text}`));
        if (near.length > 4) lines.push(el("p", {}, `+${near.length - 4}`));
        this.tip.replaceChildren(...lines);
        const middle = u.over.offsetLeft + left;
        const rightward = left < u.over.offsetWidth / 2;
        this.tip.style.left = rightward ? `${middle + 10}px` : "auto";
        this.tip.style.right = rightward ? "auto" : `${this.box.clientWidth - middle + 10}px`;
    }

    private drawMarks(u: uPlot): void {
        const { ctx, bbox } = u;
        const scale = devicePixelRatio;
        const tones = ground().marks;
        const [from, to] = this.range();
        // Many full-height marks would hide the series, so they are drawn only at the upper edge.
        const crowd = this.group.marks().filter((it) => it.at_s >= from && it.at_s <= to).length > FULL_MARKS_MAX;
        let free = -Infinity;
        ctx.save();
        ctx.font = `${10.5 * scale}px ${getComputedStyle(document.body).fontFamily}`;
        ctx.textAlign = "center";
        this.group.marks().forEach((mark, i) => {
            const x = Math.round(u.valToPos(mark.at_s, "x", true));
            if (x < bbox.left - 1 || x > bbox.left + bbox.width + 1) return;
            ctx.strokeStyle = ctx.fillStyle = tones[mark.tone];
            ctx.lineWidth = scale;
            ctx.globalAlpha = 0.75;
            ctx.setLineDash(crowd ? [] : [2 * scale, 3 * scale]);
            ctx.beginPath();
            ctx.moveTo(x, bbox.top);
            ctx.lineTo(x, bbox.top + (crowd ? 9 * scale : bbox.height));
            ctx.stroke();
            ctx.globalAlpha = 1;
            if (x - free < 17 * scale) return;
            free = x;
            ctx.fillText(String(i + 1), x, bbox.top - 2 * scale);
        });
        ctx.restore();
    }

    private onKey(event: KeyboardEvent): void {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const at = this.group.times();
        const [from, to] = this.range();
        const first = Math.max(0, at.findIndex((it) => it >= from));
        let last = at.length - 1;
        while (last > first && (at[last] as number) > to) last--;
        const far = event.shiftKey ? 10 : 1;
        const here = this.point ?? first;
        const go: Record<string, number> = { ArrowLeft: here - far, ArrowRight: this.point === null ? first : here + far, Home: first, End: last };
        const next = go[event.key];
        if (next !== undefined) {
            const point = Math.max(first, Math.min(last, next));
            this.follow(point);
            this.showValues(true);
            this.group.cursorMoved(this, point);
            if (this.plot) this.showMarkTip(this.plot, this.plot.cursor.left ?? -1);
        } else if (event.key === "+" || event.key === "=" || event.key === "-" || event.key === "−") {
            const closer = event.key === "+" || event.key === "=";
            const around = this.point === null ? (from + to) / 2 : (at[this.point] ?? from);
            const share = (around - from) / (to - from || 1);
            const width = (to - from) * (closer ? 0.5 : 2);
            this.group.zoom([around - width * share, around + width * (1 - share)]);
        } else if (event.key === "Escape" || event.key === "0") {
            this.group.zoom(null);
        } else {
            return;
        }
        event.preventDefault();
    }

    private colourLegend(): void {
        const hues = colours(this.view);
        this.rows.forEach((row, i) => {
            const swatch = row.firstElementChild as HTMLElement;
            const area = this.view.stacked && !this.view.series[i]?.dashed;
            const rhythm = dash(this.view, i);
            swatch.className = `swatch ${area ? "area" : rhythm ? "dashed" : ""}`;
            swatch.style.color = hues[i] as string;
        });
    }

    private toggleTable(): void {
        const { openTables: tables } = this.group.reader;
        const open = this.tableButton.getAttribute("aria-expanded") === "true";
        if (open) tables.delete(this.view.id);
        else tables.add(this.view.id);
        this.tableButton.setAttribute("aria-expanded", String(!open));
        this.tableButton.textContent = this.group.words(open ? "show_table" : "hide_table");
        if (open) this.tableBox.replaceChildren();
        else this.fillTable();
    }

    private fillTable(): void {
        const [from, to] = this.range();
        this.tableBox.replaceChildren(valuesTable(this.view, this.columns, this.group.times(), [from, to], this.group.words, this.group.numbers));
    }
}

/** Returns the tick if it gets a grid line on a logarithmic axis, which are 1, 2 and 5 times powers of ten. */
function gridTick(it: number): number | null {
    const first = Math.round(it / 10 ** Math.floor(Math.log10(it) + 1e-9));
    return first === 1 || first === 2 || first === 5 ? it : null;
}

/** True if the range has points without neighbours, which a line would not show. */
function hasIsolatedPoints(column: ArrayLike<number | null | undefined> | undefined, from: number, to: number): boolean {
    if (!column || to - from > 400) return false;
    for (let i = from; i <= to; i++) {
        if (column[i] != null && column[i - 1] == null && column[i + 1] == null) return true;
    }
    return false;
}
