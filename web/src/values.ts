// Table of a chart's exact values, also for screen readers.
import { button, el } from "./dom";
import type { Numbers } from "./format";
import type { ChartView, Column } from "./page";
import { scrollBox } from "./table";
import type { Words } from "./words";

const ROWS_PER_STEP = 120;

/** Table of the points within `[from, to]`, in seconds. Further rows are added on demand, so that a long trial does not stall the page. */
export function valuesTable(view: ChartView, columns: Column[], at: number[], [from, to]: [number, number], words: Words, numbers: Numbers): HTMLElement {
    const points = at.flatMap((moment, i) => (moment >= from && moment <= to ? [i] : []));
    const body = el("tbody");
    const longest = at[at.length - 1] ?? 0;
    const more = button(words("more_rows"), () => add(), { class: "quiet" });
    let done = 0;
    const add = () => {
        for (const i of points.slice(done, done + ROWS_PER_STEP)) {
            const cells = columns.map((column) => {
                const value = column[i];
                return el("td", { class: "numeric" }, value === null || value === undefined ? "–" : numbers.value(view.unit, value));
            });
            body.append(el("tr", {}, el("th", { scope: "row", class: "numeric" }, numbers.moment(at[i] as number, longest)), ...cells));
        }
        done += ROWS_PER_STEP;
        more.hidden = done >= points.length;
    };
    add();
    const table = el(
        "table",
        {},
        el("caption", {}, `${view.title}, ${view.axis}`),
        el("thead", {}, el("tr", {}, el("th", { scope: "col" }, words("time")), ...view.series.map((it) => el("th", { scope: "col", class: "numeric" }, it.label)))),
        body,
    );
    return el("div", { class: "table" }, scrollBox(table, view.title), more);
}
