// Live page: appends new data while a run is in progress, and recovers missed data after a lost connection.
import { shownCharts } from "./charts";
import { checked, fetched } from "./document";
import { button, el } from "./dom";
import { append, bounded, type Points } from "./grow";
import type { Charts, Doc, Page, TrialData } from "./page";
import type { Report } from "./report";
import type { Words } from "./words";

/** Maximum number of points. Above it, the Document is fetched again with wider bins, and the oldest points beyond it are removed. */
const MOST_POINTS = 9000;
const MOST_MARKS = 500;
const AGAIN_MS = 3000;
/** Minimum interval between two fetches that only widen the bins, in milliseconds. */
const REBIN_MS = 60_000;

type State = "connecting" | "live" | "lost" | "ended";

export class Live {
    private state: State = "connecting";
/** Sentence of progress, by language. */
    private said: Record<string, string> = {};
    private source: EventSource | null = null;
    private again = 0;
    private fetching = false;
    private stale = false;
    private fetchedAt = 0;
    private grown: "no" | "points" | "marks" = "no";
    private words: Words = (key) => key;
    private readonly shown = el("span", { class: "live-state", role: "status" });
    private readonly control = el("span", { class: "live-control" });
    report: Report | null = null;

    constructor(
        private readonly events: string,
        private readonly address: string,
        /** Form token, with which the server recognises requests of its own page. Without a token, the page cannot stop the run. */
        private readonly token: string | null,
    ) {}

    /** Elements of the bar: connection state and stop button. */
    beside(words: Words): HTMLElement {
        this.words = words;
        this.offerStop();
        this.tell(this.state);
        return el("div", { class: "live" }, this.shown, this.control);
    }

    /** Opens the event stream. `known` is true if no event was missed since the Document was fetched. */
    listen(known = true): void {
        let resumes = known;
        const source = new EventSource(this.events);
        this.source?.close();
        this.source = source;
        const heard = (name: string, then: (data: unknown) => void) =>
            source.addEventListener(name, (event) => {
                const { data, lastEventId } = event as MessageEvent<string>;
                // A server that numbers its events repeats the missed ones.
                resumes = lastEventId !== "";
                this.tell("live");
                then(parsed(data));
            });
        source.addEventListener("open", () => {
            // Otherwise, the Document contains the events that were missed.
            if (this.state === "lost" && !resumes) this.refresh();
            this.tell("live");
        });
        source.addEventListener("error", () => {
            if (this.state === "ended") return;
            this.tell("lost");
            if (source.readyState === EventSource.CLOSED) this.turnedAway();
        });
        heard("document", (data) => this.whole(data as Partial<Doc>));
        heard("points", (data) => this.points(data as Points));
        heard("state", (data) => {
            this.said = (data as { text?: Record<string, string> } | null)?.text ?? {};
            this.tell(this.state);
        });
        heard("end", () => {
            this.ended();
            this.refresh();
        });
    }

    /** Handles a closed stream, which the browser does not reopen. The run has ended, or the server reported an error. */
    private turnedAway(): void {
        fetched(this.address)
            .then((doc) => {
                this.report?.replace(doc);
                if (doc.live === null) this.ended();
            })
            .catch(() => undefined)
            .finally(() => {
                clearTimeout(this.again);
                if (this.state !== "ended") this.again = window.setTimeout(() => this.listen(false), AGAIN_MS);
            });
    }

    private ended(): void {
        this.source?.close();
        this.tell("ended");
        this.control.replaceChildren();
    }

    private whole(it: Partial<Doc>): void {
        if (it?.format === "pgdyno.page") this.report?.replace(checked(it as Doc));
        else this.refresh();
    }

    private points(it: Points): void {
        const { report } = this;
        if (!report || !it) return;
        const { data } = report.place;
        if (!append(data, it)) return this.refresh();
        const to = data[it.trial] as TrialData;
        if (to.times_s.length > MOST_POINTS) {
            if (performance.now() - this.fetchedAt > REBIN_MS) this.refresh();
            bounded(to, MOST_POINTS);
        }
        let marked = false;
        for (const page of report.pages) {
            const more = it.marks?.[page.lang] ?? [];
            marked ||= more.length > 0;
            for (const charts of chartBlocks(page)) {
                const marks = charts.trials[it.trial]?.marks;
                if (!marks || more.length === 0) continue;
                const latest = marks.slice(-more.length).map((mark) => `${mark.at_s} ${mark.text}`);
                marks.push(...more.filter((mark) => !latest.includes(`${mark.at_s} ${mark.text}`)));
                marks.splice(0, Math.max(0, marks.length - MOST_MARKS));
            }
        }
        report.place.running = it.trial;
        if (report.place.trial === null) shownCharts?.trial(it.trial);
        if (shownCharts?.shownTrial === it.trial) this.grow(marked);
    }

    /** Redraws at most once per frame, and not while the page is hidden. */
    private grow(marks: boolean): void {
        const waiting = this.grown !== "no";
        if (marks || !waiting) this.grown = marks ? "marks" : "points";
        if (waiting) return;
        requestAnimationFrame(() => {
            shownCharts?.grown(this.grown === "marks");
            this.grown = "no";
        });
    }

    private refresh(): void {
        this.stale = true;
        if (this.fetching) return;
        this.fetching = true;
        this.stale = false;
        this.fetchedAt = performance.now();
        fetched(this.address)
            .then((doc) => this.report?.replace(doc))
            .catch(() => this.state !== "ended" && this.tell("lost"))
            .finally(() => {
                this.fetching = false;
                if (this.stale) this.refresh();
            });
    }

    private tell(state: State): void {
        this.state = state;
        const said = this.said[this.report?.page.lang ?? ""];
        const text = state === "live" && said ? said : this.words(state);
        if (this.shown.textContent !== text) this.shown.textContent = text;
        this.shown.dataset["state"] = state;
    }

    private offerStop(): void {
        if (this.token === null || this.state === "ended") return this.control.replaceChildren();
        const ask = button(this.words("stop"), () => {
            const sure = button(this.words("stop"), () => void this.stop(), { class: "danger" });
            const no = button(this.words("stop_no"), () => this.offerStop());
            this.control.replaceChildren(el("span", { role: "alert" }, this.words("stop_sure")), sure, no);
            no.focus();
        }, { id: "stop" });
        this.control.replaceChildren(ask);
    }

    private async stop(): Promise<void> {
        this.control.replaceChildren(this.words("stopping"));
        try {
            const answer = await fetch(this.events.replace(/events$/, "stop"), { method: "POST", headers: { "x-pgdyno-form": this.token ?? "" } });
            if (!answer.ok) throw new Error(`${answer.status}`);
        } catch (error) {
            this.offerStop();
            this.control.prepend(el("span", { class: "failed", role: "alert" }, `${this.words("stop_failed")} (${(error as Error).message})`));
        }
    }
}

function chartBlocks(page: Page): Charts[] {
    return page.sections.flatMap((it) => it.blocks).filter((it) => it.kind === "charts");
}

function parsed(text: string): unknown {
    try {
        return JSON.parse(text);
    } catch {
        return null;
    }
}
