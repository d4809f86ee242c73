// How does each block of a page stand on the page?
import { el } from "./dom";
import { charts } from "./charts";
import { code } from "./code";
import { drawing } from "./drawing";
import { findings } from "./findings";
import { heat } from "./heat";
import type { Block, Page } from "./page";
import type { Numbers } from "./format";
import type { Place } from "./place";
import { table } from "./table";
import { line } from "./tone";
import type { Words } from "./words";

/** What the drawing of a block may need. */
export interface Context {
    page: Page;
    words: Words;
    numbers: Numbers;
    /** What the reader chose, which outlives a redrawing. */
    place: Place;
    /** What is to be done once the page stands and has its widths. */
    standing: (() => void)[];
    /** How much that is folded stands on the page so far. */
    folds: number;
}

/** Open again where the reader has opened it. */
function folded(it: { name: string; blocks: Block[] }, context: Context): HTMLElement {
    const { open } = context.place;
    const number = context.folds++;
    const box = el("details", { class: "folded more", open: open.has(number) }, el("summary", {}, it.name), ...it.blocks.map((one) => block(one, context)));
    box.addEventListener("toggle", () => (box.open ? open.add(number) : open.delete(number)));
    return box;
}

export function block(it: Block, context: Context): HTMLElement {
    switch (it.kind) {
        case "text":
            return line("p", it, context.words);
        case "list":
            return el("ul", { class: "lines" }, ...it.items.map((item) => line("li", item, context.words)));
        case "facts":
            return el(
                "dl",
                { class: "facts" },
                ...it.facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))),
            );
        case "table":
            return table(it, context.words);
        case "heat_map":
            return heat(it, context.words, context.place);
        case "drawing":
            return drawing(it, context);
        case "details":
            return folded(it, context);
        case "charts":
            return charts(it, context);
        case "findings":
            return findings(it.findings, context);
        case "code":
            return code(it, context.words);
    }
}
