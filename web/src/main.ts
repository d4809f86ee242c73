// Which page is this?
import "uplot/dist/uPlot.min.css";
import "./style/page.css";
import { shownCharts } from "./charts";
import { embedded } from "./document";
import { printing } from "./print";
import { Report } from "./report";

/** What the charts show, in order; for tests and for the curious. */
export function charts(): { id: string; at: readonly number[]; columns: unknown; range: [number, number] }[] {
    return (shownCharts?.plots ?? []).map((plot) => ({ id: plot.view.id, ...plot.content }));
}

/** What stood in the page before goes only when there is something in its place. */
async function main(root: HTMLElement): Promise<void> {
    const text = document.getElementById("document")?.textContent ?? "";
    new Report(root, await embedded(text)).start();
    printing();
    document.documentElement.dataset["drawn"] = String(Math.round(performance.now()));
}

const root = document.getElementById("app");
if (root) {
    main(root).catch((error: unknown) => {
        const told = document.createElement("p");
        told.className = "failed";
        told.setAttribute("role", "alert");
        told.textContent = String(error);
        root.append(told);
    });
}
