// Charts of a trial, or of several ones laid over each other. They share one time axis, one cursor and one zoom range.
import type { Context } from "./blocks";
import { button, choice, el, shown } from "./dom";
import { folded } from "./fold";
import { overlaid } from "./overlay";
import type { ChartedTrial, Charts, ChartView, Mark, TrialData } from "./page";
import { hue, HUES } from "./palette";
import { type Group, Plot } from "./plot";
import { onTheme } from "./theme";
import { character, line } from "./tone";

const EMPTY: TrialData = { bin_s: 1, times_s: [], charts: [] };

/** Board that is shown now; `null` before the first one. Used by the live page, printing and tests. */
export let shownCharts: Board | null = null;

export function charts(it: Charts, context: Context): HTMLElement {
    shownCharts?.destroy();
    shownCharts = new Board(it, context);
    return shownCharts.element;
}

export class Board {
    readonly element = el("div", { class: "charts" });
    plots: Plot[] = [];
    private index: number;
    private width = 0;
    private printWidth: number | null = null;
    private readonly list = el("div", { class: "plots" });
    /** Charts that are drawn when the reader opens the block. */
    private readonly moreList = el("div", { class: "plots" });
    private readonly more: HTMLDetailsElement;
    private readonly events = el("div", { class: "marks" });
    private readonly select: HTMLSelectElement | null;
    private readonly zoomOutButton: HTMLButtonElement;
    /** Menu of the trials that are laid over the shown one; null with a single trial. */
    private readonly overlayMenu: HTMLDetailsElement | null;
    private charts: ChartView[] = [];
    private data: TrialData = EMPTY;
    /** Name of the trial on paper, where the list cannot be opened. */
    private readonly printedName = el("span", { class: "printed" });
    private readonly resizeObserver = new ResizeObserver(() => this.fitWidth());
    private readonly removeThemeListener: () => void;

    constructor(
        private readonly view: Charts,
        private readonly context: Context,
    ) {
        const { words, reader: place } = context;
        this.index = Math.min(place.trial ?? place.runningTrial ?? view.selected, Math.max(0, view.trials.length - 1));
        this.zoomOutButton = button(words("zoom_out"), () => this.zoom(null), { class: "zoom-out" });
        const names = view.trials.map((trial, i): [string, string] => [String(i), character(trial.name.tone) + trial.name.text]);
        const chooser = names.length > 1 ? choice(words("trial"), names, String(this.index), (value) => this.choose((place.trial = Number(value)))) : null;
        this.select = chooser?.querySelector("select") ?? null;
        this.select?.setAttribute("id", "trial");
        this.overlayMenu = chooser ? this.createOverlayMenu() : null;
        const only = !chooser && view.trials[0] ? line("span", view.trials[0].name, words) : null;
        this.more = folded(words("more_charts"), [this.moreList], context);
        this.more.addEventListener("toggle", () => this.more.open && this.redraw());
        this.element.append(el("div", { class: "board" }, chooser, only, this.overlayMenu, this.printedName, this.zoomOutButton), this.list, this.more, this.events);
        this.removeThemeListener = onTheme(() => this.redraw());
        place.chartLinks = { trial: (index) => this.showAlone(index), chart: (id) => this.findChart(id) };
        this.fill();
        context.afterLayout.push(() => this.fitWidth());
        this.resizeObserver.observe(this.list);
    }

    destroy(): void {
        this.resizeObserver.disconnect();
        this.removeThemeListener();
        this.plots.forEach((plot) => plot.destroy());
    }

    /** True if the charts contain this trial. */
    shows(index: number): boolean {
        return index === this.index || this.context.reader.overlaid.has(index);
    }

    /** Shows another trial. The trials that are laid over it stay selected. */
    choose(index: number): void {
        if (index === this.index || !this.view.trials[index]) return;
        this.index = index;
        this.context.reader.overlaid.delete(index);
        this.context.reader.zoom = null;
        if (this.select) this.select.value = String(index);
        this.fill();
        this.redraw();
    }

    /** Element of a chart. If it is collapsed, opens its block. */
    private findChart(id: string): HTMLElement | null {
        const found = this.element.querySelector<HTMLElement>(`#chart-${CSS.escape(id)}`);
        if (found && this.moreList.contains(found)) {
            this.more.open = true;
            this.redraw();
        }
        return found;
    }

    private visiblePlots(): Plot[] {
        return this.plots.filter((plot) => this.more.open || !this.moreList.contains(plot.element));
    }

    /** Redraws after points were appended to a shown trial. `marks` is true if marks were appended too. */
    pointsAppended(marks: boolean): void {
        this.readData();
        const { charts } = this.data;
        this.plots.forEach((plot, i) => {
            plot.columns = charts[i] ?? [];
            plot.redrawData();
        });
        if (marks) this.fillMarks();
    }

    /** Shows one trial without any other. */
    private showAlone(index: number): void {
        const wasOverlaid = this.context.reader.overlaid.size > 0;
        this.context.reader.overlaid.clear();
        if (index !== this.index) this.choose(index);
        else if (wasOverlaid) this.refill();
    }

    /** Lays a trial over the shown one, or removes it. */
    private toggleOverlaid(index: number, on: boolean): void {
        const { overlaid: others } = this.context.reader;
        const used = new Set(others.values());
        // The shown trial has colour 0.
        const free = Array.from({ length: HUES }, (_, i) => i).find((colour) => colour > 0 && !used.has(colour));
        if (!on) others.delete(index);
        else if (free !== undefined) others.set(index, free);
        // A live page would otherwise go on to the next trial.
        this.context.reader.trial = this.index;
        this.context.reader.zoom = null;
        this.refill();
    }

    private refill(): void {
        this.fill();
        this.redraw();
    }

    private createOverlayMenu(): HTMLDetailsElement {
        const { words } = this.context;
        const boxes = this.view.trials.map((trial, i) => {
            const box = el("input", { type: "checkbox", value: i, id: `overlay-${i}` });
            box.addEventListener("change", () => this.toggleOverlaid(i, box.checked));
            return el("label", {}, box, el("i", { class: "swatch" }), el("span", {}, character(trial.name.tone) + trial.name.text));
        });
        const menu = el("details", { class: "overlay" }, el("summary", { id: "overlay" }), el("div", { class: "overlay-list", role: "group", "aria-label": words("overlay") }, el("p", {}, words("overlay_help")), ...boxes));
        menu.addEventListener("keydown", (event) => {
            if (event.key !== "Escape") return;
            menu.open = false;
            menu.querySelector("summary")?.focus();
        });
        return menu;
    }

    /** Shows in the menu which trials are drawn, in which colour. */
    private fillOverlayMenu(): void {
        const { reader, words } = this.context;
        const { size } = reader.overlaid;
        const summary = this.overlayMenu?.querySelector("summary");
        if (summary) summary.textContent = words("overlay") + (size > 0 ? ` (${size + 1})` : "");
        this.overlayMenu?.querySelectorAll("input").forEach((box, i) => {
            const colour = i === this.index ? 0 : reader.overlaid.get(i);
            box.checked = colour !== undefined;
            box.disabled = i === this.index || (!box.checked && size >= HUES - 1);
            const swatch = box.nextElementSibling as HTMLElement;
            swatch.style.visibility = size > 0 && colour !== undefined ? "visible" : "hidden";
            swatch.style.color = hue(colour ?? 0);
        });
    }

    /** Charts and values of the shown trial, or of all selected ones. */
    private readData(): void {
        const { reader } = this.context;
        const trial = (index: number, colour: number) => ({ view: this.view.trials[index] as ChartedTrial, data: reader.data[index] ?? EMPTY, colour });
        const others = [...reader.overlaid].filter(([index]) => index !== this.index && this.view.trials[index]);
        if (others.length === 0) {
            [this.charts, this.data] = [this.trialView.charts, reader.data[this.index] ?? EMPTY];
        } else {
            const both = overlaid([trial(this.index, 0), ...others.map(([index, colour]) => trial(index, colour))]);
            [this.charts, this.data] = [both.charts, both.data];
        }
    }

    /** Marks of the shown trial; none if several are shown, because a mark does not name its trial. */
    private get marks(): Mark[] {
        return this.context.reader.overlaid.size > 0 ? [] : this.trialView.marks;
    }

    redraw(): void {
        this.fillOverlayMenu();
        const width = this.printWidth ?? this.width;
        if (width > 0) this.visiblePlots().forEach((plot) => plot.draw(...this.size(width)));
    }

    /** Gives all charts a fixed width in CSS pixels for printing; `null` restores the window's width. */
    setPrintWidth(width: number | null): void {
        this.printWidth = width;
        this.redraw();
    }

    private get trialView(): ChartedTrial {
        return this.view.trials[this.index] ?? { name: { text: "", tone: "plain" }, charts: [], marks: [] };
    }

    private span(): [number, number] {
        const { times_s: at, bin_s: bin } = this.data;
        return at.length === 0 ? [0, 1] : [at[0] as number, (at[at.length - 1] as number) + bin];
    }

    private fill(): void {
        const { words, numbers, reader: place } = this.context;
        this.plots.forEach((plot) => plot.destroy());
        this.readData();
        const names = [this.index, ...place.overlaid.keys()].map((index) => shown(this.view.trials[index]?.name.text ?? ""));
        this.printedName.textContent = this.view.trials.length > 1 ? names.join("; ") : "";
        const group: Group = {
            reader: place,
            words,
            numbers,
            times: () => this.data.times_s,
            span: () => this.span(),
            marks: () => this.marks,
            cursorMoved: (from, point) => this.plots.forEach((plot) => plot !== from && plot.follow(point)),
            zoom: (range) => this.zoom(range),
        };
        this.plots = this.charts.map((chart, i) => new Plot(chart, this.data.charts[i] ?? [], group));
        const elements = (collapsed: boolean) => this.plots.filter((_, i) => this.charts[i]?.collapsed === collapsed).map((plot) => plot.element);
        this.list.replaceChildren(...elements(false));
        this.moreList.replaceChildren(...elements(true));
        this.more.hidden = this.moreList.childElementCount === 0;
        this.fillMarks();
        this.fillOverlayMenu();
        this.updateZoomButton();
    }

    private fillMarks(): void {
        const { words, numbers } = this.context;
        const { marks } = this;
        const longest = this.span()[1];
        const items = marks.map((mark, i) => this.mark(mark, i, numbers.moment(mark.at_s, longest)));
        const list = el("ol", {}, ...items);
        const name = `${words("marks")} (${marks.length})`;
        if (marks.length === 0) this.events.replaceChildren();
        else this.events.replaceChildren(el("details", { open: marks.length <= 12 }, el("summary", {}, name), list));
    }

    private mark(mark: Mark, i: number, moment: string): HTMLElement {
        const to = button("", () => this.moveCursors(mark.at_s), { class: "mark" });
        to.append(el("span", { class: "mark-number" }, String(i + 1)), el("span", { class: "mark-at" }, moment), line("span", mark, this.context.words));
        for (const event of ["focus", "mouseenter"]) to.addEventListener(event, () => this.moveCursors(mark.at_s));
        return el("li", {}, to);
    }

    /** Moves every cursor to this time, in seconds. */
    private moveCursors(moment: number): void {
        const { times_s: at } = this.data;
        let point = at.findIndex((it) => it > moment) - 1;
        if (point < 0) point = at.length > 0 && moment >= (at[0] as number) ? at.length - 1 : 0;
        this.plots.forEach((plot) => plot.follow(point));
    }

    private zoom(range: [number, number] | null): void {
        const [first, last] = this.span();
        const least = 3 * this.data.bin_s;
        if (range) {
            let [from, to] = range;
            if (to - from < least) [from, to] = [(from + to - least) / 2, (from + to + least) / 2];
            [from, to] = [Math.max(first, from), Math.min(last, to)];
            range = from <= first && to >= last ? null : [from, to];
        }
        this.context.reader.zoom = range;
        this.updateZoomButton();
        this.plots.forEach((plot) => plot.refresh());
    }

    private updateZoomButton(): void {
        this.zoomOutButton.disabled = this.context.reader.zoom === null;
    }

    private fitWidth(): void {
        const width = this.plotWidth();
        if (width === this.width || this.printWidth !== null) return;
        const first = this.width === 0;
        this.width = width;
        if (first || this.visiblePlots().some((plot) => !plot.element.querySelector("canvas"))) this.redraw();
        else this.plots.forEach((plot) => plot.resize(...this.size(width)));
    }

    private plotWidth(): number {
        const box = this.list.querySelector(".plot");
        return box ? Math.floor(box.clientWidth) : 0;
    }

    private size(width: number): [number, number] {
        return [width, width < 480 ? 190 : 230];
    }
}
