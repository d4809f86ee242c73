// Renders each kind of block.
import { el } from "./dom";
import { charts } from "./charts";
import { code } from "./code";
import { drawing } from "./drawing";
import { findings } from "./findings";
import { folded } from "./fold";
import { heat } from "./heat";
import type { Block, Page } from "./page";
import { picture } from "./picture";
import type { Numbers } from "./format";
import type { ReaderState } from "./reader";
import { table } from "./table";
import { definitions } from "./terms";
import { line } from "./tone";
import type { Words } from "./words";

/** Context in which blocks are rendered. */
export interface Context {
    page: Page;
    words: Words;
    numbers: Numbers;
    /** The reader's choices, which survive a redraw. */
    reader: ReaderState;
    /** Callbacks to run once the page is in the DOM and has its layout widths. */
    afterLayout: (() => void)[];
    /** Number of `details` blocks rendered so far. */
    folds: number;
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
            return table(it, context.words, definitions(context.page));
        case "heat_map":
            return heat(it, context.words, context.reader);
        case "drawing":
            return drawing(it, context);
        case "picture":
            return picture(it, context);
        case "details":
            return folded(it.name, it.blocks.map((one) => block(one, context)), context);
        case "charts":
            return charts(it, context);
        case "findings":
            return findings(it.findings, context);
        case "code":
            return code(it, context.words);
    }
}
