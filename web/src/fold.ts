// Blocks that the reader opens. They stay open when the page is drawn again.
import type { Context } from "./blocks";
import { el } from "./dom";

/** Creates a `details` block, open if the reader has opened it before. */
export function folded(name: string, blocks: HTMLElement[], context: Context): HTMLDetailsElement {
    const { openDetails: open } = context.reader;
    const number = context.folds++;
    const box = el("details", { class: "folded more", open: open.has(number) }, el("summary", {}, name), ...blocks);
    box.addEventListener("toggle", () => (box.open ? open.add(number) : open.delete(number)));
    return box;
}
