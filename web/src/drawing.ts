// Draws the stack as SVG.
//
// Nodes form a row if the width suffices, and a column otherwise. SVG does not wrap text, so this module measures it.
import type { Context } from "./blocks";
import { el, svg } from "./dom";
import type { Drawing, DrawnNode, Tone } from "./page";
import { drawToWidth } from "./sized";
import { sign } from "./tone";

const PAD = 14;
const LINE = 19;
const NARROW = 132;
const WIDE = 230;
/** Minimum width of a picture with nodes in a row. On phones, a column wraps fewer lines. */
const ROW_MIN = 460;
const BAR = 7;
/** Width of the arrows from the primary to its replicas in a row, and their indent in a column, in pixels. */
const REPLICA_GAP = 118;
const INDENT = 34;
const BETWEEN = 12;

interface PlacedNode {
    node: DrawnNode;
    heading: string[];
    lines: { text: string; tone: Tone; first: boolean }[];
    width: number;
    height: number;
}

interface PlacedReplicas {
    replication: string;
    placed: PlacedNode[];
    manager: PlacedNode;
}

export function drawing(it: Drawing, { afterLayout }: Context): HTMLElement {
    const box = el("figure", { class: "stack" });
    drawToWidth(box, afterLayout, (width) => picture(it, width));
    return box;
}

function picture(it: Drawing, width: number): SVGSVGElement {
    const pen = measurer();
    const hopsWidest = Math.min(150, Math.max(56, ...it.hops.map((hop) => pen.width(longest(hop, pen.small), pen.small) + 26)));
    const columns = it.nodes.length + (it.replicas ? 1 : 0);
    const room = (width - hopsWidest * it.hops.length - (it.replicas ? REPLICA_GAP : 0)) / columns;
    const horizontal = room >= NARROW && width >= ROW_MIN;
    const widest = horizontal ? Math.min(WIDE, room) : Math.min(420, width - 2);
    const placed = it.nodes.map((node) => place(node, widest, horizontal ? NARROW : widest, pen));
    const inner = horizontal ? widest : widest - INDENT;
    const replicas = it.replicas && {
        replication: it.replicas.replication,
        placed: it.replicas.nodes.map((node) => place(node, inner, horizontal ? NARROW : inner, pen)),
        manager: place(it.replicas.manager, inner, horizontal ? NARROW : inner, pen),
    };
    return horizontal ? row(it, placed, replicas, width, hopsWidest, pen) : column(it, placed, replicas, width, pen);
}

/** Longest part of a hop's text between commas. */
const longest = (text: string, _: string) => text.split(/,\s*/).reduce((a, b) => (b.length > a.length ? b : a), "");

function row(it: Drawing, placed: PlacedNode[], replicas: PlacedReplicas | undefined, width: number, gap: number, pen: Measurer): SVGSVGElement {
    const height = Math.max(...placed.map((one) => one.height));
    const stacked = replicas ? stack(replicas.placed) : 0;
    // The row is vertically centred on the replicas.
    const middle = 1 + Math.max(height, stacked) / 2;
    const used = placed.reduce((sum, one) => sum + one.width, 0) + gap * it.hops.length;
    let x = Math.max(1, Math.min((width - used) / 2, 1));
    const parts: SVGElement[] = [];
    placed.forEach((one, i) => {
        parts.push(node(one, x, middle - height / 2, one.width, height));
        x += one.width;
        const hop = it.hops[i];
        if (hop === undefined || i + 1 === placed.length) return;
        const words = pen.wrap(hop, gap - 14, pen.small);
        parts.push(arrow(x + 5, middle, x + gap - 5, middle));
        parts.push(...textAbove(words, x + gap / 2, middle));
        x += gap;
    });
    if (!replicas) return frame(it, used + 2, height + 2, parts);
    const words = pen.wrap(replicas.replication, REPLICA_GAP - 34, pen.small);
    parts.push(...textAbove(words, x + (REPLICA_GAP - 20) / 2, middle));
    const all = [...replicas.placed, replicas.manager];
    const widest = Math.max(...all.map((one) => one.width));
    const trunk = x + REPLICA_GAP - 20;
    parts.push(svg("path", { class: "arrow", d: `M${x + 5} ${middle}H${trunk}` }));
    let y = middle - stacked / 2;
    for (const one of replicas.placed) {
        const to = y + one.height / 2;
        parts.push(elbow(`M${trunk} ${middle}V${to}H${x + REPLICA_GAP - 5}`, x + REPLICA_GAP - 5, to));
        parts.push(node(one, x + REPLICA_GAP, y, widest, one.height));
        y += one.height + BETWEEN;
    }
    const bottom = managed(replicas.manager, x + REPLICA_GAP, y, widest, parts);
    return frame(it, x + REPLICA_GAP + widest + 1, Math.max(middle + height / 2, bottom) + 1, parts);
}

function column(it: Drawing, placed: PlacedNode[], replicas: PlacedReplicas | undefined, width: number, pen: Measurer): SVGSVGElement {
    let y = 1;
    const parts: SVGElement[] = [];
    placed.forEach((one, i) => {
        parts.push(node(one, 1, y, one.width, one.height));
        y += one.height;
        const hop = it.hops[i];
        if (hop === undefined || i + 1 === placed.length) return;
        const words = pen.wrap(hop, width - 70, pen.small);
        const gap = Math.max(38, words.length * 15 + 14);
        parts.push(arrow(40, y + 5, 40, y + gap - 5));
        parts.push(...textRight(words, 54, y + gap / 2));
        y += gap;
    });
    if (!replicas) return frame(it, width, y + 1, parts);
    let from = y + 5;
    const words = pen.wrap(replicas.replication, width - 40, pen.small);
    const gap = words.length * 15 + 14;
    parts.push(...textRight(words, INDENT, y + gap / 2));
    y += gap;
    for (const one of replicas.placed) {
        const to = y + one.height / 2;
        parts.push(elbow(`M${INDENT / 2} ${from}V${to}H${INDENT - 4}`, INDENT - 4, to));
        from = to;
        parts.push(node(one, 1 + INDENT, y, one.width, one.height));
        y += one.height + BETWEEN;
    }
    const bottom = managed(replicas.manager, 1 + INDENT, y, replicas.manager.width, parts);
    return frame(it, width, bottom + 1, parts);
}

/** Height of nodes in a column, in pixels. */
const stack = (all: PlacedNode[]) => all.reduce((sum, one) => sum + one.height, 0) + BETWEEN * (all.length - 1);

/** Draws the manager below the last replica, where `y` is the position of a further replica. Returns the lower edge. */
function managed(it: PlacedNode, x: number, y: number, width: number, parts: SVGElement[]): number {
    const top = y + BETWEEN;
    parts.push(svg("path", { class: "arrow loose", d: `M${x + 26} ${y - BETWEEN + 3}V${top - 3}` }));
    parts.push(node(it, x, top, width, it.height));
    return top + it.height;
}

/** Text lines of a hop above its arrow (`over`), or to the right of it (`along`). */
const textAbove = (words: string[], x: number, y: number) =>
    words.map((text, n) => svg("text", { class: "hop", x, y: y - 9 - (words.length - 1 - n) * 15, "text-anchor": "middle" }, text));
const textRight = (words: string[], x: number, y: number) =>
    words.map((text, n) => svg("text", { class: "hop", x, y: y + 4 + (n - (words.length - 1) / 2) * 15 }, text));

function frame(it: Drawing, width: number, height: number, parts: SVGElement[]): SVGSVGElement {
    return svg(
        "svg",
        { class: "drawing", role: "img", "aria-label": it.alternative, width, height, viewBox: `0 0 ${width} ${height}` },
        svg("title", {}, it.alternative),
        ...parts,
    );
}

function place(node: DrawnNode, widest: number, narrowest: number, pen: Measurer): PlacedNode {
    const inner = widest - 2 * PAD;
    const shape = node.tone === "plain" || node.tone === "faint" ? 0 : 20;
    const heading = pen.wrap(node.heading, inner - shape, pen.bold);
    const lines = node.lines.flatMap((line) => {
        const indent = sign(line.tone) ? 17 : 0;
        return pen.wrap(line.text, inner - indent, pen.plain).map((text, i) => ({ text, tone: line.tone, first: i === 0 }));
    });
    const needs = Math.max(
        ...heading.map((text) => pen.width(text, pen.bold) + shape),
        ...lines.map((line) => pen.width(line.text, pen.plain) + (sign(line.tone) ? 17 : 0)),
        0,
    );
    const width = Math.min(widest, Math.max(narrowest, Math.ceil(needs) + 2 * PAD));
    const bar = node.load === null ? 0 : BAR + 8 + LINE;
    return { node, heading, lines, width, height: 2 * PAD + heading.length * (LINE + 1) + lines.length * LINE + bar - 4 };
}

function node(it: PlacedNode, x: number, y: number, width: number, height: number): SVGElement {
    const parts: SVGElement[] = [svg("rect", { class: `node ${it.node.tone}`, x, y, width, height, rx: 7 })];
    let at = y + PAD + 12;
    const shape = sign(it.node.tone, 15);
    if (shape) {
        shape.setAttribute("x", String(x + width - PAD - 14));
        shape.setAttribute("y", String(y + PAD - 1));
        parts.push(shape);
    }
    for (const text of it.heading) {
        parts.push(svg("text", { class: "heading", x: x + PAD, y: at }, text));
        at += LINE + 1;
    }
    if (it.node.load !== null) {
        const { share, text } = it.node.load;
        const inner = width - 2 * PAD;
        parts.push(
            svg("rect", { class: "load-track", x: x + PAD, y: at - 9, width: inner, height: BAR, rx: 3.5 }),
            svg("rect", { class: `load ${share >= 0.9 ? "full" : ""}`, x: x + PAD, y: at - 9, width: Math.max(3, inner * share), height: BAR, rx: 3.5 }),
            svg("text", { class: "share", x: x + PAD, y: at + BAR + 5 }, text),
        );
        at += BAR + 8 + LINE;
    }
    for (const line of it.lines) {
        const shape = sign(line.tone, 12);
        if (shape && line.first) {
            shape.setAttribute("x", String(x + PAD));
            shape.setAttribute("y", String(at - 11));
            parts.push(shape);
        }
        parts.push(svg("text", { class: `of ${line.tone}`, x: x + PAD + (shape ? 17 : 0), y: at }, line.text));
        at += LINE;
    }
    return svg("g", {}, ...parts);
}

function arrow(x1: number, y1: number, x2: number, y2: number): SVGElement {
    const down = x1 === x2;
    const head = down ? `M${x2 - 5} ${y2 - 8}L${x2} ${y2}L${x2 + 5} ${y2 - 8}` : `M${x2 - 8} ${y2 - 5}L${x2} ${y2}L${x2 - 8} ${y2 + 5}`;
    return svg("path", { class: "arrow", d: `M${x1} ${y1}L${x2} ${y2}${head}` });
}

/** Path with bends, and an arrow head at its end (`x`, `y`). */
function elbow(way: string, x: number, y: number): SVGElement {
    return svg("path", { class: "arrow", d: `${way}M${x - 8} ${y - 5}L${x} ${y}L${x - 8} ${y + 5}` });
}

interface Measurer {
    bold: string;
    plain: string;
    small: string;
    width(text: string, font: string): number;
    wrap(text: string, width: number, font: string): string[];
}

function measurer(): Measurer {
    const family = getComputedStyle(document.body).fontFamily;
    const context = document.createElement("canvas").getContext("2d");
    const width = (text: string, font: string) => {
        if (!context) return text.length * 8;
        context.font = font;
        return context.measureText(text).width;
    };
    const wrap = (text: string, room: number, font: string) => {
        const lines: string[] = [];
        let line = "";
        for (const word of text.split(/(?<=[ /;=])/)) {
            if (line !== "" && width((line + word).trimEnd(), font) > room) {
                lines.push(line.trimEnd());
                line = "";
            }
            line += word;
            while (width(line.trimEnd(), font) > room && line.length > 1) {
                let fits = line.length - 1;
                while (fits > 1 && width(line.slice(0, fits), font) > room) fits--;
                lines.push(line.slice(0, fits));
                line = line.slice(fits);
            }
        }
        if (line.trim() !== "" || lines.length === 0) lines.push(line.trimEnd());
        return lines;
    };
    return { bold: `600 14.5px ${family}`, plain: `13px ${family}`, small: `12px ${family}`, width, wrap };
}
