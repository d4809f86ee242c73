// Renders heat maps: one figure over two axes, with shades that colour-blind readers can distinguish.
import { choice, el } from "./dom";
import type { HeatMap, HeatLayer } from "./page";
import type { ReaderState } from "./reader";
import { scrollBox } from "./table";
import type { Words } from "./words";

/** Renders a heat map. If it has several figures, a list selects one of them. */
export function heat(it: HeatMap, words: Words, place: ReaderState): HTMLElement {
    const chosen = Math.min(place.heatLayer, it.layers.length - 1);
    const box = el("figure", { class: "table" });
    const shown = el("div");
    const show = (figure: number) => {
        const layer = it.layers[figure];
        if (layer) shown.replaceChildren(map(it, layer, words), key(layer, words));
    };
    if (it.layers.length > 1) {
        const options = it.layers.map((layer, n): [string, string] => [String(n), layer.name]);
        const list = choice(words("figure"), options, String(chosen), (value) => show((place.heatLayer = Number(value))));
        list.classList.add("heat-choice");
        list.querySelector("select")?.setAttribute("id", "heat");
        box.append(list);
    }
    box.append(shown);
    show(chosen);
    return box;
}

function map(it: HeatMap, layer: HeatLayer, words: Words): HTMLElement {
    const [acrossName, across] = it.across;
    const [downName, down] = it.down;
    const rows = down.map((name, y) => {
        const cells = across.map((_, x) => {
            const cell = layer.cells[y * across.length + x];
            const td = el("td", { class: cell?.baseline ? "baseline" : null }, cell?.text || "–", cell?.baseline && el("span", { class: "baseline-tag" }, words("baseline")));
            shade(td, cell?.shade ?? null);
            return td;
        });
        return el("tr", {}, el("th", { scope: "row" }, name), ...cells);
    });
    const body = el(
        "table",
        { class: "heat" },
        el("caption", {}, layer.caption),
        el(
            "thead",
            {},
            el("tr", {}, el("th", { scope: "col" }, downName), el("th", { scope: "colgroup", colspan: across.length }, acrossName)),
            el("tr", {}, el("td"), ...across.map((name) => el("th", { scope: "col" }, name))),
        ),
        el("tbody", {}, ...rows),
    );
    return scrollBox(body, layer.caption);
}

/** Legend of the shades; empty if no cell is shaded. */
function key(layer: HeatLayer, words: Words): HTMLElement | string {
    const shades = (...all: number[]) => el("span", { class: "shades", "aria-hidden": "true" }, ...all.map((it) => shade(el("i"), it)));
    if (layer.cells.every((cell) => cell.shade === null)) return "";
    return el("p", { class: "heat-key" }, words("worse"), shades(-1, -0.5), words("same"), shades(0.5, 1), words("better"));
}

/** Shades an element: orange is worse, blue is better. Both differ for every kind of colour-blindness, and the number repeats the information. */
function shade<T extends HTMLElement>(it: T, shade: number | null): T {
    if (shade === null) return it;
    it.classList.add("shaded", shade < 0 ? "worse" : "better");
    it.style.setProperty("--shade", `${(Math.min(1, Math.abs(shade)) * 100).toFixed(0)}%`);
    return it;
}
