// Live page: appends new data while a run is in progress, and recovers missed data after a lost connection.
import { shownCharts } from "./charts";
import { checked, fetched } from "./document";
import { button, el } from "./dom";
import { append, dropOldest, type Points } from "./points";
import type { Charts, Doc, Page, TrialData } from "./page";
import type { Report } from "./report";
import { type ConnectionState, type LargeFigure, Strip } from "./strip";
import type { Words } from "./words";

/** Maximum number of points. Above it, the Document is fetched again with wider bins, and the oldest points beyond it are removed. */
const POINTS_MAX = 9000;
const MARKS_MAX = 500;
const RECONNECT_MS = 3000;
/** Minimum interval between two fetches that only widen the bins, in milliseconds. */
const REBIN_MS = 60_000;

export class Live {
    private state: ConnectionState = "connecting";
    /** Sentence of progress, by language. */
    private progress: Record<string, string> = {};
    private source: EventSource | null = null;
    private reconnectTimer = 0;
    private fetching = false;
    private refreshPending = false;
    private fetchedAt = 0;
    private pendingRedraw: "no" | "points" | "marks" = "no";
    private words: Words = (key) => key;
    private readonly stateElement = el("span", { class: "live-state", role: "status" });
    private readonly strip = new Strip();
    private readonly stopControl = el("span", { class: "live-control" });
    report: Report | null = null;

    constructor(
        private readonly events: string,
        private readonly address: string,
        /** Form token, with which the server recognises requests of its own page. Without a token, the page cannot stop the run. */
        private readonly token: string | null,
    ) {}

    /** Elements of the bar: connection state and stop button. */
    barElement(words: Words): HTMLElement {
        this.words = words;
        this.showStopButton();
        this.showState(this.state);
        return el("div", { class: "live" }, this.stateElement, this.stopControl);
    }

    /** Strip of current values. */
    stripElement(words: Words, lang: string): HTMLElement {
        this.strip.translate(words, lang);
        return this.strip.element;
    }

    /** Opens the event stream. `known` is true if no event was missed since the Document was fetched. */
    listen(known = true): void {
        let resumes = known;
        const source = new EventSource(this.events);
        this.source?.close();
        this.source = source;
        const onEvent = (name: string, then: (data: unknown) => void) =>
            source.addEventListener(name, (event) => {
                const { data, lastEventId } = event as MessageEvent<string>;
                // A server that numbers its events repeats the missed ones.
                resumes = lastEventId !== "";
                this.showState("live");
                then(parsed(data));
            });
        source.addEventListener("open", () => {
            // Otherwise, the Document contains the events that were missed.
            if (this.state === "lost" && !resumes) this.refresh();
            this.showState("live");
        });
        source.addEventListener("error", () => {
            if (this.state === "ended") return;
            this.showState("lost");
            if (source.readyState === EventSource.CLOSED) this.reconnect();
        });
        onEvent("document", (data) => this.onDocument(data as Partial<Doc>));
        onEvent("points", (data) => this.onPoints(data as Points));
        onEvent("state", (data) => {
            const { text, now } = (data ?? {}) as { text?: Record<string, string>; now?: Record<string, LargeFigure[]> };
            this.progress = text ?? {};
            if (now) this.strip.receive(now);
            this.showState(this.state);
        });
        onEvent("end", () => {
            this.showEnded();
            this.refresh();
        });
    }

    /** Handles a closed stream, which the browser does not reopen. The run has ended, or the server reported an error. */
    private reconnect(): void {
        fetched(this.address)
            .then((doc) => {
                this.report?.replace(doc);
                if (doc.live === null) this.showEnded();
            })
            .catch(() => undefined)
            .finally(() => {
                clearTimeout(this.reconnectTimer);
                if (this.state !== "ended") this.reconnectTimer = window.setTimeout(() => this.listen(false), RECONNECT_MS);
            });
    }

    private showEnded(): void {
        this.source?.close();
        this.showState("ended");
        this.stopControl.replaceChildren();
    }

    private onDocument(it: Partial<Doc>): void {
        if (it?.format === "pgdyno.page") this.report?.replace(checked(it as Doc));
        else this.refresh();
    }

    private onPoints(it: Points): void {
        const { report } = this;
        if (!report || !it) return;
        const { data } = report.reader;
        if (!append(data, it)) return this.refresh();
        const to = data[it.trial] as TrialData;
        if (to.times_s.length > POINTS_MAX) {
            if (performance.now() - this.fetchedAt > REBIN_MS) this.refresh();
            dropOldest(to, POINTS_MAX);
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
                marks.splice(0, Math.max(0, marks.length - MARKS_MAX));
            }
        }
        report.reader.runningTrial = it.trial;
        if (report.reader.trial === null) shownCharts?.choose(it.trial);
        if (shownCharts?.shows(it.trial)) this.scheduleRedraw(marked);
    }

    /** Redraws at most once per frame, and not while the page is hidden. */
    private scheduleRedraw(marks: boolean): void {
        const waiting = this.pendingRedraw !== "no";
        if (marks || !waiting) this.pendingRedraw = marks ? "marks" : "points";
        if (waiting) return;
        requestAnimationFrame(() => {
            shownCharts?.pointsAppended(this.pendingRedraw === "marks");
            this.pendingRedraw = "no";
        });
    }

    private refresh(): void {
        this.refreshPending = true;
        if (this.fetching) return;
        this.fetching = true;
        this.refreshPending = false;
        this.fetchedAt = performance.now();
        fetched(this.address)
            .then((doc) => this.report?.replace(doc))
            .catch(() => this.state !== "ended" && this.showState("lost"))
            .finally(() => {
                this.fetching = false;
                if (this.refreshPending) this.refresh();
            });
    }

    private showState(state: ConnectionState): void {
        this.state = state;
        this.strip.connection(state);
        const progress = this.progress[this.report?.page.lang ?? ""];
        const text = state === "live" && progress ? progress : this.words(state);
        if (this.stateElement.textContent !== text) this.stateElement.textContent = text;
        this.stateElement.dataset["state"] = state;
    }

    private showStopButton(): void {
        if (this.token === null || this.state === "ended") return this.stopControl.replaceChildren();
        const ask = button(this.words("stop"), () => {
            const sure = button(this.words("stop"), () => void this.stop(), { class: "danger" });
            const no = button(this.words("stop_no"), () => this.showStopButton());
            this.stopControl.replaceChildren(el("span", { role: "alert" }, this.words("stop_sure")), sure, no);
            no.focus();
        }, { id: "stop" });
        this.stopControl.replaceChildren(ask);
    }

    private async stop(): Promise<void> {
        this.stopControl.replaceChildren(this.words("stopping"));
        try {
            const answer = await fetch(this.events.replace(/events$/, "stop"), { method: "POST", headers: { "x-pgdyno-form": this.token ?? "" } });
            if (!answer.ok) throw new Error(`${answer.status}`);
        } catch (error) {
            this.showStopButton();
            this.stopControl.prepend(el("span", { class: "failed", role: "alert" }, `${this.words("stop_failed")} (${(error as Error).message})`));
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
