// Draws the picture of the first screen as SVG: dots with intervals, or points over two axes.
import type { Context } from "./blocks";
import { el, svg } from "./dom";
import type { Numbers } from "./format";
import type { IntervalRow, Picture, Plot, PlotAxis, PointSeries } from "./page";
import { drawToWidth } from "./sized";
import { logarithmicBounds } from "./stacking";

/** Dimensions in pixels. */
const ROW = 30;
const AXIS = 40;
const PLOT_HEIGHT = 250;
const RIGHT = 18;
/** Room for a label of a reference line. */
const TOP = 20;
/** Room for the title of a vertical axis, and below it a label of a reference line. */
const TITLED_TOP = 34;
/** Mean width of a character of 12 px, in pixels. */
const CHARACTER = 6.7;
/** Length of the arrow from a lower bound to higher values. */
const ARROW = 34;
/** Maximum number of rows that are drawn. */
const ROWS_MAX = 12;
/** Number of looks of lines in the style sheet. */
const KINDS = 6;

/** Position of a value on an axis, and the ticks. */
interface Scale {
    position: (value: number) => number;
    ticks: { value: number; text: string }[];
}

export function picture(it: Picture, { numbers, afterLayout }: Context): HTMLElement {
    const box = el("div", { class: "plot-box" });
    drawToWidth(box, afterLayout, (width) => plot(it, width, numbers));
    return el("figure", { class: "picture" }, el("figcaption", {}, it.caption), box, hasLegend(it.plot) && legend(it.plot));
}

/** True if the lines belong to different cells. The lines of other pictures are repetitions, and look alike. */
function hasLegend(it: Plot): it is Plot & { kind: "points" } {
    return it.kind === "points" && it.x.unit === "quantile" && it.series.length > 1;
}

function legend({ series }: Plot & { kind: "points" }): HTMLElement {
    return el("ul", { class: "picture-legend" }, ...series.map((one, i) => el("li", {}, el("i", { class: `swatch ${kind(i)}` }), one.label)));
}

const kind = (series: number) => `kind-${series % KINDS}`;

function plot(it: Picture, width: number, numbers: Numbers): SVGSVGElement {
    const [height, parts] = it.plot.kind === "intervals" ? intervals(it.plot, width, numbers) : points(it.plot, width, numbers);
    return svg("svg", { class: "drawn", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${it.caption}. ${values(it.plot)}` }, ...parts);
}

/** Values of a picture as text, for screen readers. */
function values(it: Plot): string {
    if (it.kind === "intervals") return it.rows.map((row) => `${row.label}: ${row.text}`).join("; ");
    return `${it.x.title}, ${it.y.title}`;
}

function intervals(it: Plot & { kind: "intervals" }, width: number, numbers: Numbers): [number, SVGElement[]] {
    const rows = it.rows.slice(0, ROWS_MAX);
    const longest = Math.max(...rows.map((row) => row.label.length)) * CHARACTER + 14;
    // Long labels stand above their dots.
    const above = longest > width * 0.38;
    const left = above ? 8 : longest;
    const step = above ? ROW + 14 : ROW;
    const right = Math.max(...rows.map((row) => row.text.length)) * CHARACTER + 14;
    const bottom = TOP + rows.length * step;
    const all = rows.flatMap((row) => [row.value, ...(row.interval ?? [])]);
    const x = scale(it.axis, all, left, width - right, numbers);
    const parts: SVGElement[] = [...verticalGrid(x, TOP, bottom), title(it.axis.title, width, bottom + AXIS - 6)];
    parts.push(...it.axis.references.map((line) => vertical(line, x, TOP, bottom)));
    rows.forEach((row, i) => parts.push(...interval(row, x, TOP + i * step, step, { above, left, edge: width - right + 10, width })));
    return [bottom + AXIS, parts];
}

function interval(row: IntervalRow, x: Scale, top: number, step: number, { above, left, edge, width }: { above: boolean; left: number; edge: number; width: number }): SVGElement[] {
    const y = top + (above ? step - 14 : step / 2);
    const at = x.position(row.value);
    const label = above
        ? svg("text", { class: "label", x: left, y: y - 14 }, row.label)
        : svg("text", { class: "label", x: left - 10, y: y + 4, "text-anchor": "end" }, row.label);
    const parts: SVGElement[] = [label];
    if (row.interval) {
        const [low, high] = row.interval.map(x.position) as [number, number];
        parts.push(svg("path", { class: `range ${row.tone}`, d: `M${low} ${y}H${high}M${low} ${y - 5}v10M${high} ${y - 5}v10` }));
    }
    if (row.is_lower_bound) {
        const tip = Math.min(at + ARROW, edge);
        parts.push(svg("path", { class: `range ${row.tone}`, d: `M${at} ${y}H${tip}M${tip - 6} ${y - 5}L${tip} ${y}L${tip - 6} ${y + 5}` }));
    }
    parts.push(row.baseline
        ? svg("rect", { class: `dot ${row.tone}`, x: at - 5, y: y - 5, width: 10, height: 10 })
        : svg("circle", { class: `dot ${row.tone}`, cx: at, cy: y, r: 5.5 }));
    parts.push(svg("text", { class: "label", x: width, y: y + 4, "text-anchor": "end" }, row.text));
    return parts;
}

function points(it: Plot & { kind: "points" }, width: number, numbers: Numbers): [number, SVGElement[]] {
    const all = it.series.flatMap((series) => series.points);
    const y = scale(it.y, all.flatMap((point) => point.y ?? []), TITLED_TOP + PLOT_HEIGHT, TITLED_TOP, numbers);
    const left = Math.max(...y.ticks.map((tick) => tick.text.length)) * CHARACTER + 14;
    const x = scale(it.x, all.map((point) => point.x), left, width - RIGHT, numbers);
    const bottom = TITLED_TOP + PLOT_HEIGHT;
    const parts: SVGElement[] = verticalGrid(x, TITLED_TOP, bottom);
    for (const tick of y.ticks) {
        parts.push(svg("path", { class: "grid", d: `M${left} ${y.position(tick.value)}H${width - RIGHT}` }));
        parts.push(svg("text", { class: "tick", x: left - 8, y: y.position(tick.value) + 4, "text-anchor": "end" }, tick.text));
    }
    parts.push(title(it.x.title, width, bottom + AXIS - 6), svg("text", { class: "tick", x: 0, y: 10 }, it.y.title));
    for (const line of it.y.references) {
        const at = y.position(line.value);
        parts.push(svg("path", { class: `reference ${line.tone}`, d: `M${left} ${at}H${width - RIGHT}` }));
        parts.push(svg("text", { class: `reference-text ${line.tone}`, x: width - RIGHT, y: at - 5, "text-anchor": "end" }, line.text));
    }
    parts.push(...it.x.references.map((line) => vertical(line, x, TITLED_TOP, bottom)));
    const isColoured = hasLegend(it);
    it.series.forEach((series, i) => parts.push(...drawnSeries(series, x, y, isColoured ? ` ${kind(i)}` : "")));
    return [bottom + AXIS, parts];
}

function drawnSeries(it: PointSeries, x: Scale, y: Scale, look: string): SVGElement[] {
    if (it.connected) {
        return [svg("path", { class: `line-series${look}`, d: linePath(it.points, x.position, y.position) }, it.label !== "" && svg("title", {}, it.label))];
    }
    return it.points.flatMap((point) => {
        if (point.y === null) return [];
        const [px, py] = [x.position(point.x), y.position(point.y)];
        // A violated step differs by its shape, too.
        return point.tone === "bad"
            ? svg("path", { class: "cross", d: `M${px - 4.5} ${py - 4.5}l9 9m0 -9l-9 9` })
            : svg("circle", { class: `dot ${point.tone}`, cx: px, cy: py, r: 4.5 });
    });
}

/** Path through points, interrupted where a value is missing. A value between two missing ones is a dot. */
export function linePath(points: PointSeries["points"], x: (value: number) => number, y: (value: number) => number): string {
    let command = "M";
    return points
        .map((point, i) => {
            if (point.y === null) {
                command = "M";
                return "";
            }
            const alone = command === "M" && (points[i + 1]?.y ?? null) === null;
            const part = `${command}${x(point.x).toFixed(1)} ${y(point.y).toFixed(1)}${alone ? "h0" : ""}`;
            command = "L";
            return part;
        })
        .join("");
}

/** Vertical reference line with its text on top. */
function vertical(line: PlotAxis["references"][number], x: Scale, top: number, bottom: number): SVGElement {
    const at = x.position(line.value);
    return svg(
        "g",
        {},
        svg("path", { class: `reference ${line.tone}`, d: `M${at} ${top}V${bottom}` }),
        svg("text", { class: `reference-text ${line.tone}`, x: at, y: top - 6, "text-anchor": "middle" }, line.text),
    );
}

function verticalGrid(x: Scale, top: number, bottom: number): SVGElement[] {
    return x.ticks.flatMap((tick) => [
        svg("path", { class: "grid", d: `M${x.position(tick.value)} ${top}V${bottom}` }),
        svg("text", { class: "tick", x: x.position(tick.value), y: bottom + 16, "text-anchor": "middle" }, tick.text),
    ]);
}

const title = (text: string, width: number, y: number) => svg("text", { class: "tick", x: width, y, "text-anchor": "end" }, text);

/** Scale from `start` to `end`, in pixels, that contains all values and reference lines. A linear axis begins at 0. */
function scale(axis: PlotAxis, values: number[], start: number, end: number, numbers: Numbers): Scale {
    const all = [...values, ...axis.references.map((line) => line.value)];
    const [least, most] = [Math.min(...all), Math.max(...all)];
    if (axis.unit === "quantile") return quantileScale(most, start, end, numbers);
    if (axis.logarithmic && least > 0) {
        const [low, high] = logarithmicBounds(least, most);
        const ticks = decadeTicks(low, high, Math.abs(end - start));
        const position = (value: number) => start + ((end - start) * Math.log(value / low)) / Math.log(high / low);
        return { position, ticks: named(axis, ticks, 0, numbers) };
    }
    const step = roundStep((most - Math.min(0, least)) / Math.max(2, Math.min(6, Math.abs(end - start) / 90)));
    const low = Math.floor(Math.min(0, least) / step) * step;
    const high = Math.max(low + step, Math.ceil(most / step - 1e-9) * step);
    const ticks = Array.from({ length: Math.round((high - low) / step) + 1 }, (_, i) => low + i * step);
    return { position: (value) => start + ((end - start) * (value - low)) / (high - low), ticks: named(axis, ticks, step, numbers) };
}

/** Scale on which 0, 90, 99 and 99.9 % have equal distances, up to the quantile `most`. */
function quantileScale(most: number, start: number, end: number, numbers: Numbers): Scale {
    const decades = (quantile: number) => -Math.log10(1 - quantile);
    const last = Math.max(1, decades(most));
    const position = (quantile: number) => start + ((end - start) * decades(quantile)) / last;
    const ticks = [0, ...Array.from({ length: Math.floor(last + 1e-6) }, (_, i) => i + 1)].map((decade) => {
        const value = 1 - 10 ** -decade;
        return { value, text: numbers.percent(value, Math.max(0, decade - 2)) };
    });
    // The median has room only on wide axes.
    if ((end - start) / last > 150) ticks.splice(1, 0, { value: 0.5, text: numbers.percent(0.5, 0) });
    return { position, ticks };
}

function named(axis: PlotAxis, ticks: number[], step: number, numbers: Numbers): Scale["ticks"] {
    const texts = numbers.ticks(axis.unit, ticks, step, axis.logarithmic && step === 0);
    return ticks.map((value, i) => ({ value, text: texts[i] ?? "" }));
}

/** Ticks at 1, 2 and 5 times powers of ten, or at powers of ten if space is scarce. */
function decadeTicks(low: number, high: number, pixels: number): number[] {
    const ticks: number[] = [];
    const roomy = pixels / Math.log10(high / low) > 170;
    for (let power = Math.floor(Math.log10(low) + 1e-9); power <= Math.log10(high) + 1e-9; power++) {
        for (const factor of roomy ? [1, 2, 5] : [1]) {
            const value = factor * 10 ** power;
            if (value >= low * 0.999 && value <= high * 1.001) ticks.push(value);
        }
    }
    return ticks;
}

/** Smallest of 1, 2 and 5 times a power of ten that is not below `least`. */
function roundStep(least: number): number {
    const power = 10 ** Math.floor(Math.log10(Math.max(least, Number.MIN_VALUE)));
    return ([1, 2, 5, 10].find((factor) => factor * power >= least * 0.999) ?? 10) * power || 1;
}
