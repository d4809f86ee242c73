// List of runs: search, filters and selection for a comparison.
import { button, choice, el } from "./dom";
import { themes } from "./report";
import { comparisonUrl, matchingRuns, type Run, type Runs, type Filters } from "./runs";
import { scrollBox } from "./table";
import { toneSign } from "./tone";
import { type Words, words } from "./words";

export class List {
    private readonly say: Words;
    private readonly filters: Filters = { text: "", experiment: "", state: "" };
    /** Names of the selected runs, in the order of selection. */
    private selected: string[] = [];
    private readonly body = el("tbody");
    private readonly count = el("span", { class: "count", role: "status" });
    private readonly emptyMessage: HTMLElement;
    private readonly compare: HTMLButtonElement;

    constructor(
        private readonly root: HTMLElement,
        private list: Runs,
        private readonly fetchRuns: () => Promise<Runs>,
    ) {
        this.say = words(Object.entries(list.words));
        this.emptyMessage = el("p", { class: "none", hidden: true }, this.say("none"));
        this.compare = button(this.say("compare"), () => location.assign(comparisonUrl(this.selected)), { id: "compare", disabled: true });
    }

    draw(): void {
        const { say } = this;
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
            el("div", { class: "bar" }, el("span", { class: "bar-title" }, "pgdyno"), el("span", { class: "gap" }), button(say("reload"), () => void this.reload(), { id: "reload" }), themes(say)),
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
        this.fetchMissingHeadlines();
    }

    /** Requests the list again while headlines are missing that the server is still reading. */
    private fetchMissingHeadlines(): void {
        if (this.list.partial) void this.reload();
    }

    private setFilter(part: Partial<Filters>): void {
        Object.assign(this.filters, part);
        this.fill();
    }

    private async reload(): Promise<void> {
        this.list = await this.fetchRuns();
        this.selected = this.selected.filter((name) => this.list.runs.some((run) => run.name === name));
        this.fill();
        this.fetchMissingHeadlines();
    }

    private fill(): void {
        const runs = matchingRuns(this.list.runs, this.filters);
        this.body.replaceChildren(...runs.map((run) => this.row(run)));
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
            ...[run.cells, run.trials].map((it) => el("td", { class: "numeric extent" }, String(it ?? "–"))),
            el("td", { class: "numeric" }, run.size_text),
        );
    }

    /** Numbers the selected runs. The first one is the baseline. */
    private numberSelection(): void {
        for (const row of this.body.querySelectorAll<HTMLElement>("tr")) {
            const order = this.selected.indexOf(row.dataset["name"] ?? "");
            const at = row.querySelector(".order");
            if (at) at.textContent = order < 0 || this.selected.length < 2 ? "" : order === 0 ? this.say("base") : String(order);
        }
        this.compare.disabled = this.selected.length < 2;
    }
}
