// Renders tables, with fewer columns on narrow screens.
import { button, el } from "./dom";
import type { Table } from "./page";
import { toneSign } from "./tone";
import type { Words } from "./words";

export function table(it: Table, words: Words, definitionOf: (heading: string) => string | null): HTMLElement {
    const heads = it.columns.map((column) => el("th", { scope: "col", class: column.numeric ? "numeric" : null, title: definitionOf(column.heading) }, ...unbrokenWords(column.heading)));
    const rows = it.rows.map((row) => {
        const cells = row.cells.map((text, i) => {
            const numeric = it.columns[i]?.numeric ? "numeric" : null;
            if (i > 0) return el("td", { class: numeric }, text);
            return el("th", { scope: "row", class: numeric }, ...toneSign(row.tone, words), text, row.baseline && el("span", { class: "baseline-tag" }, words("baseline")));
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
    const notes = it.notes.map(([mark, note]) => el("li", { class: `line ${note.tone}` }, mark !== "" && el("sup", {}, mark), ...toneSign(note.tone, words), note.text));
    const box = scrollBox(body, it.caption);
    const more = it.columns.some((column) => column.drop_order > 0) && fitted(it, body, box, words);
    return el("figure", { class: "table" }, box, more, notes.length > 0 && el("ul", { class: "notes" }, ...notes));
}

/** Longest word of a heading that is kept on one line, such as `delivered/s`. */
const WORD_MAX = 16;

/** Words of a heading. Browsers would also break lines after a slash. */
function unbrokenWords(heading: string): (HTMLElement | string)[] {
    return heading.split(/( )/).map((word) => (/[/-]/.test(word) && word.length <= WORD_MAX ? el("span", { class: "unbroken" }, word) : word));
}

/** Hides columns that do not fit, the highest drop order first. Returns the button that shows them again. */
function fitted(it: Table, body: HTMLTableElement, box: HTMLElement, words: Words): HTMLElement {
    const levels = [...new Set(it.columns.map((column) => column.drop_order))].filter((level) => level > 0).sort((a, b) => b - a);
    const keep = (below: number) => {
        for (const row of body.rows) for (const [i, cell] of [...row.cells].entries()) cell.hidden = (it.columns[i]?.drop_order ?? 0) >= below;
    };
    let all = false;
    let width = 0;
    const fit = () => {
        keep(Infinity);
        const tooWide = () => body.scrollWidth > box.clientWidth + 1;
        const narrow = tooWide();
        if (!all) for (const level of levels) if (tooWide()) keep(level);
        toggle.hidden = !narrow;
        toggle.textContent = words(all ? "few_columns" : "all_columns");
    };
    const toggle = button("", () => {
        all = !all;
        fit();
    }, { class: "quiet columns" });
    toggle.hidden = true;
    new ResizeObserver(() => {
        if (box.clientWidth === width || box.clientWidth === 0) return;
        width = box.clientWidth;
        fit();
    }).observe(box);
    return toggle;
}

/** Box that scrolls sideways if its content is wider. It shows that it can be scrolled, by keys too. */
export function scrollBox(it: HTMLElement, name: string): HTMLElement {
    const box = el("div", { class: "scrolled" }, it);
    const update = () => {
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
    new ResizeObserver(update).observe(box);
    box.addEventListener("scroll", update, { passive: true });
    return box;
}
