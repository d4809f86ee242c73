// The reader's position and choices, which survive a redraw.
//
// They identify trials, charts and series by index or id, so they hold in every language.
import { still } from "./dom";
import type { EvidenceLink, TrialData } from "./page";

/** Functions of the charts that links use. */
export interface ChartLinks {
    /** Shows this trial alone. */
    trial(index: number): void;
    chart(id: string): HTMLElement | null;
}

export class ReaderState {
    /** Index of the trial that the reader chose; `null` without a choice. */
    trial: number | null = null;
    /** Indexes of the trials that are laid over the shown one, with the numbers of their colours. */
    readonly overlaid = new Map<number, number>();
    /** Index of the running trial, which is shown unless the reader has chosen one. */
    runningTrial: number | null = null;
    /** Shown time range, in seconds; `null` for the whole trial. */
    zoom: [number, number] | null = null;
    /** Hidden series, as `chart/index`, or as `chart/label` of several trials. */
    readonly hidden = new Set<string>();
    /** Ids of the charts whose table is open. */
    readonly openTables = new Set<string>();
    /** Numbers of the `details` blocks that the reader has opened. */
    readonly openDetails = new Set<number>();
    /** Index of the layer that heat maps show. */
    heatLayer = 0;
    /** Chart data, by trial. The live page appends to it. */
    data: TrialData[] = [];
    chartLinks: ChartLinks | null = null;

    /** Follows a link to its trial, chart or section. `remember` adds the address to the browser's history. */
    follow(link: Pick<EvidenceLink, "section" | "trial" | "chart">, remember = true): void {
        if (remember) history.pushState(null, "", fragment(link));
        if (link.trial !== null) {
            this.trial = link.trial;
            this.chartLinks?.trial(link.trial);
        }
        const target = (link.chart && this.chartLinks?.chart(link.chart)) || document.getElementById(link.section);
        if (!target) return;
        target.scrollIntoView({ behavior: still() ? "auto" : "smooth", block: "start" });
        target.focus({ preventScroll: true });
        target.classList.remove("lit");
        void target.offsetWidth;
        target.classList.add("lit");
    }

    /** Follows the fragment of the page's address, if it is one of ours. */
    followFragment(): void {
        const link = parseFragment(location.hash);
        if (link) this.follow(link, false);
    }
}

/** Fragment of a link: `#section`, `#chart-rate`, or with a trial `#chart-rate;2`. */
export function fragment(link: Pick<EvidenceLink, "section" | "trial" | "chart">): string {
    const where = link.chart ? `chart-${link.chart}` : link.section;
    return `#${where}${link.trial === null ? "" : `;${link.trial + 1}`}`;
}

/** Link of a fragment, the inverse of `address`; `null` for any other text. */
export function parseFragment(hash: string): Pick<EvidenceLink, "section" | "trial" | "chart"> | null {
    const found = /^#(chart-)?([a-z_-]+)(?:;([1-9][0-9]{0,5}))?$/.exec(hash);
    if (!found) return null;
    const trial = found[3] ? Number(found[3]) - 1 : null;
    const name = found[2] ?? "";
    return found[1] ? { section: "", trial, chart: name } : { section: name, trial, chart: null };
}

/** Redraws, and restores the scroll position, the open blocks and the focus. */
export function redrawInPlace(draw: () => void): void {
    // Sticky elements are excluded, because they are always visible.
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
