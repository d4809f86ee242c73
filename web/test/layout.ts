// Finds text that is cut off, outside the viewport, or covered by other text, and words that are broken.
import type { Page as Tab } from "playwright-core";

/** Pixels by which boxes of text may overlap or be cut, because glyphs do not fill their boxes. */
const SLACK = 2;

/** Returns a description of each piece of text that cannot be read; empty if all can. */
export async function unreadableText(tab: Tab): Promise<string[]> {
    return await tab.evaluate((slack) => {
        interface Piece {
            text: string;
            parent: Element;
            box: DOMRect;
        }
        const scrolls = (overflow: string) => overflow === "auto" || overflow === "scroll";
        const hides = (overflow: string) => overflow === "hidden" || overflow === "clip";
        const found: string[] = [];
        const pieces: Piece[] = [];
        const name = (piece: Piece) => `${piece.parent.closest("[class]")?.getAttribute("class") ?? piece.parent.tagName}: "${piece.text}"`;
        const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        while (walk.nextNode()) {
            const node = walk.currentNode as Text;
            const parent = node.parentElement;
            const text = node.data.trim();
            if (!parent || text === "" || ["SCRIPT", "STYLE", "TITLE", "OPTION"].includes(parent.tagName) || !parent.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
            const range = document.createRange();
            range.selectNodeContents(node);
            // Only tokens of other systems may be so long that they are broken.
            for (const word of node.data.matchAll(/(?<![^\s])\p{L}{2,18}[.,;:]?(?![^\s])/gu)) {
                const place = document.createRange();
                place.setStart(node, word.index);
                place.setEnd(node, word.index + word[0].length);
                const [first, ...rest] = place.getClientRects();
                if (first && rest.some((box) => box.top > first.bottom - slack)) found.push(`broken: "${word[0]}" of "${text.slice(0, 60)}"`);
            }
            for (const box of range.getClientRects()) pieces.push({ text: text.slice(0, 60), parent, box });
        }
        const inFlow = pieces.filter((piece) => {
            for (let it: Element | null = piece.parent; it; it = it.parentElement) {
                const style = getComputedStyle(it);
                // Text for screen readers only, and bars above the page.
                if (style.clipPath !== "none" || (style.position === "absolute" && it.clientWidth <= 1) || style.position === "fixed" || style.position === "sticky") return false;
            }
            return piece.box.width > 0 && piece.box.height > 0;
        });
        for (const piece of inFlow) {
            let [left, right] = [0, document.documentElement.clientWidth];
            for (let it: Element | null = piece.parent; it; it = it.parentElement) {
                const { overflowX } = getComputedStyle(it);
                const box = it.getBoundingClientRect();
                if (scrolls(overflowX)) {
                    // The reader can scroll to what such a box hides.
                    [left, right] = [-Infinity, Infinity];
                    const start = Math.max(piece.box.left, box.left);
                    piece.box = new DOMRect(start, piece.box.top, Math.max(0, Math.min(piece.box.right, box.right) - start), piece.box.height);
                    break;
                }
                if (!(it instanceof SVGElement) && hides(overflowX)) [left, right] = [Math.max(left, box.left), Math.min(right, box.right)];
            }
            if (piece.box.left < left - slack || piece.box.right > right + slack) found.push(`cut: ${name(piece)}`);
        }
        inFlow.sort((a, b) => a.box.top - b.box.top);
        inFlow.forEach((one, i) => {
            for (const other of inFlow.slice(i + 1)) {
                if (other.box.top > one.box.bottom - slack) break;
                const [width, height] = [Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left), Math.min(one.box.bottom, other.box.bottom) - other.box.top];
                // Boxes of lines are higher than their glyphs.
                if (one.parent !== other.parent && width > slack && height > Math.min(one.box.height, other.box.height) / 3) found.push(`overlapping: ${name(one)} and ${name(other)}`);
            }
        });
        return found;
    }, SLACK);
}
