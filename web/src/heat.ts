// How is one figure over two axes shaded, so that every eye can tell?
import { el } from "./dom";
import type { Heat } from "./page";
import { scrolled } from "./table";
import type { Words } from "./words";

/** Blue is lower, orange is higher: apart for every kind of colour-blindness; the text says it again. */
export function heat(it: Heat, words: Words): HTMLElement {
    const [acrossName, across] = it.across;
    const [downName, down] = it.down;
    const rows = down.map((name, y) => {
        const cells = across.map((_, x) => {
            const cell = it.cells[y * across.length + x];
            const td = el("td", { class: cell?.baseline ? "baseline" : null }, cell?.text || "–", cell?.baseline && el("span", { class: "baseline-tag" }, words("baseline")));
            shade(td, cell?.shade ?? null);
            return td;
        });
        return el("tr", {}, el("th", { scope: "row" }, name), ...cells);
    });
    const shades = (...all: number[]) => el("span", { class: "shades", "aria-hidden": "true" }, ...all.map((it) => shade(el("i"), it)));
    const body = el(
        "table",
        { class: "heat" },
        el("caption", {}, it.caption),
        el(
            "thead",
            {},
            el("tr", {}, el("th", { scope: "col" }, downName), el("th", { scope: "colgroup", colspan: across.length }, acrossName)),
            el("tr", {}, el("td"), ...across.map((name) => el("th", { scope: "col" }, name))),
        ),
        el("tbody", {}, ...rows),
    );
    const legend = el("p", { class: "heat-key" }, words("lower"), shades(-1, -0.5), words("same"), shades(0.5, 1), words("higher"));
    return el("figure", { class: "table" }, scrolled(body, it.caption), it.cells.some((cell) => cell.shade !== null) && legend);
}

function shade<T extends HTMLElement>(it: T, shade: number | null): T {
    if (shade === null) return it;
    it.classList.add("shaded", shade < 0 ? "lower" : "higher");
    it.style.setProperty("--shade", `${(Math.min(1, Math.abs(shade)) * 100).toFixed(0)}%`);
    return it;
}
