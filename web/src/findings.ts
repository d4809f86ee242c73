// Renders findings with links to their evidence.
import type { Context } from "./blocks";
import { el } from "./dom";
import type { FindingView } from "./page";
import { fragment } from "./reader";
import { table } from "./table";
import { definitions } from "./terms";
import { line } from "./tone";

export function findings(all: FindingView[], context: Context): HTMLElement {
    const items = all.map((it) => {
        const links = it.evidence.map((link) => {
            const to = el("a", { href: fragment(link) }, link.text);
            to.addEventListener("click", (event) => {
                if (event.ctrlKey || event.metaKey || event.shiftKey) return;
                event.preventDefault();
                context.reader.follow(link);
            });
            return el("li", {}, to);
        });
        return el(
            "li",
            { class: `finding ${it.line.tone}` },
            line("p", it.line, context.words),
            it.table && table(it.table, context.words, definitions(context.page)),
            links.length > 0 && el("div", { class: "evidence" }, el("span", {}, context.words("evidence")), el("ul", {}, ...links)),
        );
    });
    return el("ol", { class: "findings" }, ...items);
}
