// Strip of the current values of a running run, above the page.
//
// A value is shown only while it is current. Without a recent message of pgdyno, the values are replaced by dashes.
import { el } from "./dom";
import type { Overview } from "./page";
import { toneSign } from "./tone";
import type { Words } from "./words";

/** One figure with its name. */
export type LargeFigure = Overview["figures"][number];

/** Longest age of shown values, in milliseconds. pgdyno sends them once per second. */
const AGE_MAX_MS = 5000;

/** State of the connection to pgdyno. */
export type ConnectionState = "connecting" | "live" | "lost" | "ended";

export class Strip {
    private figures: Record<string, LargeFigure[]> = {};
    private receivedAt = -Infinity;
    private state: ConnectionState = "connecting";
    private words: Words = (key) => key;
    private lang = "";
    private readonly list = el("dl", { class: "figures" });
    private readonly note = el("p", { class: "strip-note", role: "status" });
    readonly element = el("div", { class: "strip" }, this.list, this.note);

    constructor() {
        setInterval(() => this.draw(), 1000);
    }

    /** Sets the language of the strip. */
    translate(words: Words, lang: string): void {
        this.words = words;
        this.lang = lang;
        this.element.setAttribute("aria-label", words("now"));
        this.draw();
    }

    /** Shows new values, by language. */
    receive(figures: Record<string, LargeFigure[]>): void {
        this.figures = figures;
        this.receivedAt = performance.now();
        this.draw();
    }

    /** Changes the state of the connection. After a lost connection, only new values are current. */
    connection(state: ConnectionState): void {
        this.state = state;
        if (state === "lost") this.receivedAt = -Infinity;
        this.draw();
    }

    private draw(): void {
        this.element.hidden = this.state === "ended";
        const current = this.state === "live" && performance.now() - this.receivedAt <= AGE_MAX_MS;
        this.element.dataset["state"] = current ? "current" : "stale";
        const note = current ? "" : this.words(this.state === "lost" ? "lost" : "waiting");
        if (this.note.textContent !== note) this.note.textContent = note;
        const figures = this.figures[this.lang] ?? [];
        this.list.replaceChildren(...figures.map((it) => this.figure(current ? it : { ...it, value: "–", detail: "", tone: "plain" })));
    }

    private figure(it: LargeFigure): HTMLElement {
        return el(
            "div",
            { class: `figure ${it.tone}` },
            el("dt", {}, it.label),
            el("dd", { class: "value" }, ...toneSign(it.tone, this.words), it.value),
            it.detail !== "" && el("dd", { class: "detail" }, it.detail),
        );
    }
}
