// Renders tones with signs, so that they do not depend on colour.
import { el, svg, unbroken } from "./dom";
import type { Line, Tone } from "./page";
import type { Words } from "./words";

const SHAPES: Partial<Record<Tone, [outline: string, sign: string]>> = {
    good: ["M6 .5a5.5 5.5 0 1 1 0 11a5.5 5.5 0 0 1 0-11z", "M3.4 6.2l1.9 1.9l3.4-3.9"],
    doubt: ["M6 .6L11.7 11.2H.3z", "M6 4.2v3.4M6 9v.9"],
    bad: ["M3.6.5h4.8L11.5 3.6v4.8L8.4 11.5H3.6L.5 8.4V3.6z", "M4 4l4 4M8 4l-4 4"],
};

/** Sign of a good, doubtful or bad tone; `null` for other tones. `size` is in pixels. */
export function sign(tone: Tone, size = 14): SVGSVGElement | null {
    const shape = SHAPES[tone];
    if (!shape) return null;
    return svg(
        "svg",
        { class: `sign ${tone}`, viewBox: "0 0 12 12", width: size, height: size, "aria-hidden": "true" },
        svg("path", { d: shape[0], class: "outline" }),
        svg("path", { d: shape[1], class: "stroke" }),
    );
}

/** Sign of a tone as a character with a blank, for places that allow only text. */
export const character = (tone: Tone) => ({ plain: "", faint: "", good: "✓ ", doubt: "! ", bad: "✕ " })[tone];

/** Sign of a tone, and its word for screen readers. */
export function toneSign(tone: Tone, words: Words): (Element | null)[] {
    const it = sign(tone);
    return it ? [it, el("span", { class: "unseen" }, `${words(tone as "good" | "doubt" | "bad")}: `)] : [];
}

/** Renders a line of text with the sign of its tone. */
export function line<K extends "p" | "li" | "span" | "div">(name: K, it: Line, words: Words, extra = ""): HTMLElementTagNameMap[K] {
    return el(name, { class: `line ${it.tone} ${extra}`.trim() }, ...toneSign(it.tone, words), el("span", {}, unbroken(it.text)));
}
