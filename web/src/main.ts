// Entry point: renders the page that the attributes of `#app` select.
//
// `data-runs` is the URL of the list of runs, and selects the list. `data-document` is the URL of a report's Document;
// without it, the Document is embedded in the page. `data-token` is the form token that the server requires to stop a run.
// `data-home` is the URL of the list page, and `data-file` the URL of this page as one file.
import "uplot/dist/uPlot.min.css";
import "./style/page.css";
import { shownCharts } from "./charts";
import { embedded, fetched } from "./document";
import { List } from "./list";
import { Live } from "./live";
import { printing } from "./print";
import { type PageLinks, Report } from "./report";
import type { Runs } from "./runs";

/** Contents of the charts, in their order, for tests. */
export function charts(): { id: string; at: readonly number[]; columns: unknown; range: [number, number] }[] {
    return (shownCharts?.plots ?? []).map((plot) => ({ id: plot.view.id, ...plot.content }));
}

async function main(root: HTMLElement): Promise<void> {
    const { runs, document: address, token, home, file } = root.dataset;
    if (runs !== undefined) await list(root, runs);
    else await report(root, address, token ?? null, { home, file });
    document.documentElement.dataset["drawn"] = String(Math.round(performance.now()));
}

async function list(root: HTMLElement, address: string): Promise<void> {
    const ask = async (): Promise<Runs> => {
        const answer = await fetch(address, { cache: "no-store" });
        if (!answer.ok) throw new Error(`${address}: ${answer.status} ${answer.statusText}`);
        return (await answer.json()) as Runs;
    };
    new List(root, await ask(), ask).draw();
}

async function report(root: HTMLElement, address: string | undefined, token: string | null, links: PageLinks): Promise<void> {
    const text = document.getElementById("document")?.textContent;
    const doc = address === undefined || text ? await embedded(text ?? "") : await fetched(address);
    const events = doc.live?.events;
    const live = events === undefined ? null : new Live(events, address ?? events.replace(/events$/, "document"), token);
    const it = new Report(root, doc, links, live);
    it.start();
    printing();
    if (!live) return;
    live.report = it;
    live.listen();
}

/** Root element. Its previous contents are replaced only when the new page is ready. */
const root = document.getElementById("app");
if (root) {
    main(root).catch((error: unknown) => {
        const message = document.createElement("p");
        message.className = "failed";
        message.setAttribute("role", "alert");
        message.textContent = String(error);
        root.append(message);
    });
}
