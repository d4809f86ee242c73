// What changes when the page goes onto paper?
import { shownCharts } from "./charts";
import { onPaper } from "./theme";

/** What a chart has of A4's width between its margins, CSS pixels; the legend stands beside it. */
const CHART = 500;
/** The same, for tables. */
const PAPER = 690;

export function printing(): void {
    const folded = () => document.querySelectorAll<HTMLDetailsElement>("details.more:not([open])");
    let opened: HTMLDetailsElement[] = [];
    addEventListener("beforeprint", () => {
        // Paper cannot be asked for more.
        opened = [...folded()];
        for (const it of opened) it.open = true;
        onPaper(true);
        shownCharts?.paper(CHART);
        narrow();
    });
    addEventListener("afterprint", () => {
        onPaper(false);
        for (const it of opened) it.open = false;
        shownCharts?.paper(null);
        for (const it of document.querySelectorAll<HTMLElement>(".scrolled > table")) it.style.removeProperty("zoom");
    });
}

/** Paper does not scroll: what is too wide becomes smaller, down to half. */
function narrow(): void {
    for (const it of document.querySelectorAll<HTMLElement>(".scrolled > table")) {
        const wide = it.scrollWidth;
        if (wide > PAPER) it.style.setProperty("zoom", String(Math.max(0.5, PAPER / wide)));
    }
}
