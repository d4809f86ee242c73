// Which page is this?
//
// `#app` says it: a report with its Document beside it; one whose Document is to be fetched from `data-document`; or the
// list of runs, from `data-runs`. `data-token` is what the server wants to see before it stops anything; `data-home` is the list of
// runs, `data-file` all of this page as one file.
import "uplot/dist/uPlot.min.css";
import "./style/page.css";
import { shownCharts } from "./charts";
import { embedded, fetched } from "./document";
import { List } from "./list";
import { Live } from "./live";
import { printing } from "./print";
import { type Around, Report } from "./report";
import type { Runs } from "./runs";

/** What the charts show, in order; for tests and for the curious. */
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

async function report(root: HTMLElement, address: string | undefined, token: string | null, around: Around): Promise<void> {
    const text = document.getElementById("document")?.textContent;
    const doc = address === undefined || text ? await embedded(text ?? "") : await fetched(address);
    const events = doc.live?.events;
    const live = events === undefined ? null : new Live(events, address ?? events.replace(/events$/, "document"), token);
    const it = new Report(root, doc, around, (words) => live?.beside(words) ?? null);
    it.start();
    printing();
    if (!live) return;
    live.report = it;
    live.listen();
}

/** What stood in the page before goes only when there is something in its place. */
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
