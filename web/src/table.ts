// How does a table stand on paper, on a screen and on a phone?
import { el } from "./dom";
import type { Table } from "./page";
import { told } from "./tone";
import type { Words } from "./words";

export function table(it: Table, words: Words): HTMLElement {
    const heads = it.columns.map((column) => el("th", { scope: "col", class: column.numeric ? "numeric" : null }, column.heading));
    const rows = it.rows.map((row) => {
        const cells = row.cells.map((text, i) => {
            const numeric = it.columns[i]?.numeric ? "numeric" : null;
            if (i > 0) return el("td", { class: numeric }, text);
            return el("th", { scope: "row", class: numeric }, ...told(row.tone, words), text, row.baseline && el("span", { class: "baseline-tag" }, words("baseline")));
        });
        return el("tr", { class: `${row.tone}${row.baseline ? " baseline" : ""}` }, ...cells);
    });
    const body = el(
        "table",
        {},
        it.caption !== "" && el("caption", {}, it.caption),
        el("thead", {}, el("tr", {}, ...heads)),
        el("tbody", {}, ...rows),
    );
    const notes = it.notes.map(([mark, note]) => el("li", { class: `line ${note.tone}` }, mark !== "" && el("sup", {}, mark), ...told(note.tone, words), note.text));
    return el("figure", { class: "table" }, scrolled(body, it.caption), notes.length > 0 && el("ul", { class: "notes" }, ...notes));
}

/** A box that scrolls sideways when what it holds is wider; it tells so, and can be scrolled by keys. */
export function scrolled(it: HTMLElement, name: string): HTMLElement {
    const box = el("div", { class: "scrolled" }, it);
    const told = () => {
        const wider = box.scrollWidth > box.clientWidth + 1;
        box.classList.toggle("wider", wider && box.scrollLeft + box.clientWidth < box.scrollWidth - 1);
        box.classList.toggle("moved", wider && box.scrollLeft > 0);
        if (wider) {
            box.tabIndex = 0;
            box.setAttribute("role", "region");
            if (name) box.setAttribute("aria-label", name);
        } else {
            box.removeAttribute("tabindex");
            box.removeAttribute("role");
            box.removeAttribute("aria-label");
        }
    };
    new ResizeObserver(told).observe(box);
    box.addEventListener("scroll", told, { passive: true });
    return box;
}
