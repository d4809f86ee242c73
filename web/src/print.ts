// Adapts the page for printing.
import { shownCharts } from "./charts";
import { onPaper } from "./theme";

/** Width of a chart on A4 paper next to its legend, in CSS pixels. */
const CHART = 500;
/** Maximum width of a table on A4 paper, in CSS pixels. */
const PAPER = 690;

export function printing(): void {
    const folded = () => document.querySelectorAll<HTMLDetailsElement>("details.more:not([open])");
    let opened: HTMLDetailsElement[] = [];
    addEventListener("beforeprint", () => {
        // Collapsed blocks cannot be opened on paper.
        opened = [...folded()];
        for (const it of opened) it.open = true;
        onPaper(true);
        shownCharts?.setPrintWidth(CHART);
        narrow();
    });
    addEventListener("afterprint", () => {
        onPaper(false);
        for (const it of opened) it.open = false;
        shownCharts?.setPrintWidth(null);
        for (const it of document.querySelectorAll<HTMLElement>(".scrolled > table")) it.style.removeProperty("zoom");
    });
}

/** Shrinks tables that are too wide for the paper, to at least half their size. */
function narrow(): void {
    for (const it of document.querySelectorAll<HTMLElement>(".scrolled > table")) {
        const wide = it.scrollWidth;
        if (wide > PAPER) it.style.setProperty("zoom", String(Math.max(0.5, PAPER / wide)));
    }
}
