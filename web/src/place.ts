// Where is the reader, and what did she choose, so that a redrawing loses none of it?
//
// Everything here is free of language: trials, charts and tracks by index or id.
import { still } from "./dom";
import type { Link, TrialData } from "./page";

/** What the charts do when somebody wants to go there. */
export interface Shown {
    trial(index: number): void;
    chart(id: string): HTMLElement | null;
}

export class Place {
    /** The trial that the reader chose; `null` while the page's own choice holds. */
    trial: number | null = null;
    /** The one that goes on, which is shown as long as the reader has chosen none. */
    running: number | null = null;
    /** Seconds from and to; `null` for all. */
    zoom: [number, number] | null = null;
    /** Tracks that are switched off, as `chart/index`. */
    readonly hidden = new Set<string>();
    /** Charts whose table is open. */
    readonly tables = new Set<string>();
    /** What was folded and is open, by its place among all that is. */
    readonly open = new Set<number>();
    /** Which figure heat maps show. */
    figure = 0;
    /** By trial; the live page appends. */
    data: TrialData[] = [];
    shown: Shown | null = null;

    /** Leads to the evidence: its trial, its chart, or its section. */
    go(link: Pick<Link, "section" | "trial" | "chart">, remember = true): void {
        if (remember) history.pushState(null, "", address(link));
        if (link.trial !== null) {
            this.trial = link.trial;
            this.shown?.trial(link.trial);
        }
        const target = (link.chart && this.shown?.chart(link.chart)) || document.getElementById(link.section);
        if (!target) return;
        target.scrollIntoView({ behavior: still() ? "auto" : "smooth", block: "start" });
        target.focus({ preventScroll: true });
        target.classList.remove("lit");
        void target.offsetWidth;
        target.classList.add("lit");
    }

    /** Goes where the address says; does nothing if it says nothing of ours. */
    goToAddress(): void {
        const link = parsed(location.hash);
        if (link) this.go(link, false);
    }
}

/** What a link's address is: `#section`, `#chart-rate`, or with a trial `#chart-rate;2`. */
export function address(link: Pick<Link, "section" | "trial" | "chart">): string {
    const where = link.chart ? `chart-${link.chart}` : link.section;
    return `#${where}${link.trial === null ? "" : `;${link.trial + 1}`}`;
}

/** The reverse of `address`; `null` where there is none. */
export function parsed(hash: string): Pick<Link, "section" | "trial" | "chart"> | null {
    const found = /^#(chart-)?([a-z_-]+)(?:;([1-9][0-9]{0,5}))?$/.exec(hash);
    if (!found) return null;
    const trial = found[3] ? Number(found[3]) - 1 : null;
    const name = found[2] ?? "";
    return found[1] ? { section: "", trial, chart: name } : { section: name, trial, chart: null };
}

/** Redraws, and has what stood at the top of the window stand there again. */
export function keepingPlace(draw: () => void): void {
    // Not what sticks: it is always there.
    const passed = [...document.querySelectorAll<HTMLElement>("main :is(section, figure, h1)[id]")].filter((it) => it.getBoundingClientRect().top <= 120);
    const id = passed[passed.length - 1]?.id;
    const before = id && document.getElementById(id)?.getBoundingClientRect().top;
    const open = [...document.querySelectorAll("main details")].map((it) => (it as HTMLDetailsElement).open);
    const focus = document.activeElement?.id;
    draw();
    document.querySelectorAll<HTMLDetailsElement>("main details").forEach((it, i) => (it.open = open[i] ?? it.open));
    const after = id && document.getElementById(id)?.getBoundingClientRect().top;
    if (typeof before === "number" && typeof after === "number") scrollBy({ top: after - before, behavior: "instant" });
    if (focus) document.getElementById(focus)?.focus({ preventScroll: true });
}
