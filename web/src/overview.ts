// Renders the first screen: a sentence, large figures, a picture and doubts.
import type { Context } from "./blocks";
import { el } from "./dom";
import type { Overview } from "./page";
import { picture } from "./picture";
import { definitions } from "./terms";
import { line, toneSign } from "./tone";

/** Length of a value from which it is set in smaller letters, in characters. */
const LONG_VALUE = 14;

export function overview(it: Overview, context: Context): HTMLElement {
    const { words } = context;
    const definitionOf = definitions(context.page);
    const figures = it.figures.map((figure) =>
        el(
            "div",
            { class: `figure ${figure.tone}` },
            el("dt", { title: definitionOf(figure.label) }, figure.label),
            el("dd", { class: figure.value.length > LONG_VALUE ? "value long" : "value" }, ...toneSign(figure.tone, words), figure.value),
            figure.detail !== "" && el("dd", { class: "detail" }, figure.detail),
        ),
    );
    const doubts = [
        ...it.doubts.map((doubt) => line("li", doubt, words)),
        it.more_doubts !== "" && el("li", {}, el("a", { href: `#${it.doubts_section}` }, it.more_doubts)),
    ];
    return el(
        "div",
        { class: "overview" },
        el("p", { id: "answer", class: `answer ${it.summary.tone}`, tabindex: -1 }, ...toneSign(it.summary.tone, words), it.summary.text),
        el("div", { class: "glance" }, el("dl", { class: "figures" }, ...figures), it.picture ? picture(it.picture, context) : null),
        it.doubts.length > 0 && el("ul", { class: "lines doubts" }, ...doubts),
    );
}
