// Renders findings with links to their evidence.
import type { Context } from "./blocks";
import { el } from "./dom";
import type { Told } from "./page";
import { address } from "./place";
import { table } from "./table";
import { line } from "./tone";

export function findings(all: Told[], context: Context): HTMLElement {
    const items = all.map((it) => {
        const links = it.evidence.map((link) => {
            const to = el("a", { href: address(link) }, link.text);
            to.addEventListener("click", (event) => {
                if (event.ctrlKey || event.metaKey || event.shiftKey) return;
                event.preventDefault();
                context.place.go(link);
            });
            return el("li", {}, to);
        });
        return el(
            "li",
            { class: `finding ${it.line.tone}` },
            line("p", it.line, context.words),
            it.table && table(it.table, context.words),
            links.length > 0 && el("div", { class: "evidence" }, el("span", {}, context.words("evidence")), el("ul", {}, ...links)),
        );
    });
    return el("ol", { class: "findings" }, ...items);
}
