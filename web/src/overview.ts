// Renders the first screen: a sentence, large figures, a picture and doubts.
import type { Context } from "./blocks";
import { el, unbroken } from "./dom";
import type { Overview } from "./page";
import { picture } from "./picture";
import { definitions } from "./terms";
import { line, toneSign } from "./tone";

/** Values that are set in smaller letters: long ones, and those with a long word, which would not fit into half a phone. */
const LONG_VALUE = /^.{15,}|\p{L}{8,}/u;

export function overview(it: Overview, context: Context): HTMLElement {
    const { words } = context;
    const definitionOf = definitions(context.page);
    const figures = it.figures.map((figure) =>
        el(
            "div",
            { class: `figure ${figure.tone}` },
            el("dt", { title: definitionOf(figure.label) }, figure.label),
            el("dd", { class: LONG_VALUE.test(figure.value) ? "value long" : "value" }, ...toneSign(figure.tone, words), unbroken(figure.value)),
            figure.detail !== "" && el("dd", { class: "detail" }, unbroken(figure.detail)),
        ),
    );
    const doubts = [
        ...it.doubts.map((doubt) => line("li", doubt, words)),
        it.more_doubts !== "" && el("li", {}, el("a", { href: `#${it.doubts_section}` }, it.more_doubts)),
    ];
    return el(
        "div",
        { class: "overview" },
        el("p", { id: "answer", class: `answer ${it.summary.tone}`, tabindex: -1 }, ...toneSign(it.summary.tone, words), unbroken(it.summary.text)),
        el("div", { class: "glance" }, el("dl", { class: "figures" }, ...figures), it.picture ? picture(it.picture, context) : null),
        it.doubts.length > 0 && el("ul", { class: "lines doubts" }, ...doubts),
    );
}
