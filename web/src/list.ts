// List of runs: search, filters and selection for a comparison.
import { button, choice, el } from "./dom";
import { themes } from "./report";
import { compared, comparisonUrl, matchingRuns, type Run, type Runs, type Filters } from "./runs";
import { rememberLanguage } from "./language";
import { scrollBox } from "./table";
import { toneSign } from "./tone";
import { type Words, words } from "./words";

/** Interval at which the list is requested while a run is in progress, in milliseconds. */
const REFRESH_MS = 5000;

export class List {
    private say: Words;
    private readonly filters: Filters = { text: "", experiment: "", state: "" };
    /** Names of the selected runs. */
    private selected: string[] = [];
    private readonly body = el("tbody");
    private readonly count = el("span", { class: "count", role: "status" });
    private emptyMessage: HTMLElement;
    private compare: HTMLButtonElement;
    private refreshTimer = 0;

    constructor(
        private readonly root: HTMLElement,
        private list: Runs,
        private readonly fetchRuns: () => Promise<Runs>,
    ) {
        this.say = words(Object.entries(list.words));
        this.emptyMessage = el("p");
        this.compare = el("button");
    }

    draw(): void {
        this.say = words(Object.entries(this.list.words));
        const { say } = this;
        this.emptyMessage = el("p", { class: "none", hidden: true }, say("none"));
        const open = () => location.assign(comparisonUrl(compared(this.list.runs, this.selected)));
        this.compare = button(say("compare"), open, { id: "compare", disabled: true });
        document.documentElement.lang = this.list.lang;
        document.title = say("title");
        const text = el("input", { type: "search", id: "filter", autocomplete: "off", spellcheck: "false" });
        text.addEventListener("input", () => this.setFilter({ text: text.value }));
        const of = (values: [string, string][]): [string, string][] => [["", say("all")], ...new Map(values.sort((a, b) => a[1].localeCompare(b[1])))];
        const experiments = choice(say("experiment"), of(this.list.runs.map((run) => [run.experiment, run.experiment])), "", (experiment) => this.setFilter({ experiment }));
        const states = choice(say("state"), of(this.list.runs.map((run) => [run.state, run.state_text])), "", (state) => this.setFilter({ state }));
        const heads: [string, boolean][] = [
            [say("run"), false], [say("headline"), false], [say("state"), false], [say("begun"), false],
            [say("cells"), true], [say("trials"), true], [say("size"), true],
        ];
        const table = el(
            "table",
            { class: "runs" },
            el("caption", { class: "unseen" }, say("title")),
            el("thead", {}, el("tr", {}, el("td", {}, el("span", { class: "unseen" }, say("select"))), ...heads.map(([name, numeric]) => el("th", { scope: "col", class: numeric ? "numeric" : null }, name)))),
            this.body,
        );
        this.root.replaceChildren(
            el("a", { class: "skip", href: "#filter" }, say("skip")),
            el("div", { class: "bar" }, el("span", { class: "bar-title" }, "pgdyno"), el("span", { class: "gap" }), this.languages(), button(say("reload"), () => void this.reload(), { id: "reload" }), themes(say)),
            el(
                "main",
                { class: "list" },
                el("h1", {}, say("title")),
                el("div", { class: "filters" }, el("label", { class: "choice" }, el("span", {}, say("filter")), text), experiments, states, this.count),
                scrollBox(table, say("title")),
                this.emptyMessage,
                el("div", { class: "comparing" }, this.compare, el("span", {}, say("compare_help"))),
            ),
        );
        this.fill();
        this.fetchAgain();
    }

    /** Requests the list again while headlines are missing that the server is still reading, and while a run is in progress. */
    private fetchAgain(): void {
        clearTimeout(this.refreshTimer);
        if (this.list.partial) void this.reload();
        else if (this.list.runs.some((run) => run.state === "running")) this.refreshTimer = window.setTimeout(() => void this.reload(), REFRESH_MS);
    }

    private languages(): HTMLElement | false {
        const { lang, languages } = this.list;
        const choose = async (code: string) => {
            rememberLanguage(code);
            await this.reload();
            this.draw();
            document.getElementById(`in-${code}`)?.focus();
        };
        const buttons = languages.map(([code, name]) => button(name, () => void choose(code), { id: `in-${code}`, lang: code, "aria-pressed": String(code === lang) }));
        return buttons.length > 1 && el("div", { class: "languages", role: "group", "aria-label": this.say("language") }, ...buttons);
    }

    private setFilter(part: Partial<Filters>): void {
        Object.assign(this.filters, part);
        this.fill();
    }

    private async reload(): Promise<void> {
        try {
            this.list = await this.fetchRuns();
        } catch {
            // The server may have ended. Progress that is no longer known is not shown.
            for (const run of this.list.runs.filter((it) => it.state === "running")) run.headline = "–";
        }
        this.selected = this.selected.filter((name) => this.list.runs.some((run) => run.name === name));
        this.fill();
        this.fetchAgain();
    }

    private fill(): void {
        const runs = matchingRuns(this.list.runs, this.filters);
        const focused = document.activeElement?.closest<HTMLElement>(".runs tr")?.dataset["name"];
        const tag = document.activeElement?.tagName ?? "";
        this.body.replaceChildren(...runs.map((run) => this.row(run)));
        const row = [...this.body.children].find((it) => focused !== undefined && (it as HTMLElement).dataset["name"] === focused);
        row?.querySelector<HTMLElement>(tag)?.focus();
        this.count.textContent = `${runs.length} / ${this.list.runs.length}`;
        this.emptyMessage.hidden = runs.length > 0;
        this.numberSelection();
    }

    private row(run: Run): HTMLElement {
        const { say } = this;
        const tick = el("input", { type: "checkbox", "aria-label": `${say("select")}: ${run.name}` });
        tick.checked = this.selected.includes(run.name);
        tick.addEventListener("change", () => {
            this.selected = this.selected.filter((name) => name !== run.name);
            if (tick.checked) this.selected.push(run.name);
            this.numberSelection();
        });
        return el(
            "tr",
            { "data-name": run.name },
            el("td", { class: "tick" }, tick, el("span", { class: "order" })),
            el("th", { scope: "row" }, el("a", { href: `/runs/${encodeURIComponent(run.name)}` }, run.name), el("span", { class: "of" }, run.experiment)),
            el("td", { class: "headline" }, el("div", { title: run.headline }, ...toneSign(run.tone, say), run.headline)),
            el("td", { class: `state ${run.state}` }, run.state_text),
            el("td", { class: "nowrap" }, run.started),
            el("td", { class: "numeric", "data-label": say("cells") }, String(run.cells ?? "–")),
            el("td", { class: "numeric", "data-label": say("trials") }, String(run.trials ?? "–")),
            el("td", { class: "numeric" }, run.size_text),
        );
    }

    /** Numbers the selected runs. The oldest one is the baseline. */
    private numberSelection(): void {
        const names = compared(this.list.runs, this.selected);
        for (const row of this.body.querySelectorAll<HTMLElement>("tr")) {
            const order = names.indexOf(row.dataset["name"] ?? "");
            const at = row.querySelector(".order");
            if (at) at.textContent = order < 0 || this.selected.length < 2 ? "" : order === 0 ? this.say("base") : String(order);
        }
        this.compare.disabled = this.selected.length < 2;
    }
}
