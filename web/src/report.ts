// Renders a Document as a page, in one of its languages.
import { block } from "./blocks";
import { button, choice, el, unbroken } from "./dom";
import { Numbers } from "./format";
import type { Doc, Page } from "./page";
import { redrawInPlace, ReaderState } from "./reader";
import { overview } from "./overview";
import { rememberLanguage } from "./language";
import { choose, chosen, type Choice } from "./theme";
import { toneSign } from "./tone";
import { type Words, words } from "./words";

/** URLs of related pages on the server; undefined in a file on disk. */
export interface PageLinks {
    /** URL of the list of runs. */
    home?: string | undefined;
    /** URL of this page as one file. */
    file?: string | undefined;
}

/** Elements of a live page. */
export interface LiveElements {
    barElement(words: Words): HTMLElement;
    stripElement(words: Words, lang: string): HTMLElement;
}

export class Report {
    readonly reader = new ReaderState();
    private lang: string;
    private sectionObserver: IntersectionObserver | null = null;

    constructor(
        private readonly root: HTMLElement,
        private doc: Doc,
        private readonly links: PageLinks,
        /** Connection of a live page, with elements for the bar and for the top of the page. */
        private readonly live: LiveElements | null = null,
    ) {
        this.lang = doc.lang;
        this.reader.data = doc.data;
        addEventListener("hashchange", () => this.reader.followFragment());
    }

    get page(): Page {
        return this.doc.pages.find((it) => it.lang === this.lang) ?? (this.doc.pages[0] as Page);
    }

    /** Pages, one per language. */
    get pages(): Page[] {
        return this.doc.pages;
    }

    /** Draws the page for the first time. */
    start(): void {
        this.draw();
        this.reader.followFragment();
    }

    /** Shows another Document of the same run. The reader's choices are kept. */
    replace(doc: Doc): void {
        this.doc = doc;
        this.reader.data = doc.data;
        redrawInPlace(() => this.draw());
    }

    private draw(): void {
        const { page } = this;
        const say = words(page.words);
        const context = { page, words: say, numbers: new Numbers(page.lang, say), reader: this.reader, afterLayout: [] as (() => void)[], folds: 0 };
        document.documentElement.lang = page.lang;
        document.title = page.title;
        const sections = page.sections.map((it) =>
            el(
                "section",
                { id: it.id, tabindex: -1, "aria-labelledby": `${it.id}-heading` },
                el("h2", { id: `${it.id}-heading` }, it.heading),
                ...it.blocks.map((one) => block(one, context)),
            ),
        );
        const contents = page.sections.map((it) => el("li", {}, el("a", { href: `#${it.id}` }, it.heading)));
        this.root.replaceChildren(...[
            el("a", { class: "skip", href: "#answer" }, say("skip")),
            this.bar(page, say),
            this.live && this.live.stripElement(say, page.lang),
            el(
                "main",
                {},
                el(
                    "header",
                    { class: "head" },
                    el("p", { class: "title" }, page.title),
                    el("h1", { id: "question" }, page.question || page.title),
                    page.overview ? overview(page.overview, context) : el("p", { id: "answer", class: `answer ${page.answer.tone}`, tabindex: -1 }, ...toneSign(page.answer.tone, say), page.answer.text),
                    page.overview && el("p", { class: "details-of-answer" }, unbroken(page.overview.details)),
                    el("ul", { class: "facts-line" }, ...page.facts.map((it) => el("li", {}, it))),
                ),
                el("nav", { class: "contents", "aria-label": say("contents") }, el("h2", {}, say("contents")), el("ol", {}, ...contents)),
                el("div", { class: "sections" }, ...sections),
            ),
        ].filter((it) => it !== null));
        context.afterLayout.forEach((it) => it());
        this.markVisibleSection(sections, contents);
    }

    /** Marks the visible section in the table of contents. */
    private markVisibleSection(sections: HTMLElement[], contents: HTMLElement[]): void {
        this.sectionObserver?.disconnect();
        const seen = new Set<Element>();
        this.sectionObserver = new IntersectionObserver(
            (changes) => {
                for (const it of changes) {
                    if (it.isIntersecting) seen.add(it.target);
                    else seen.delete(it.target);
                }
                const first = sections.findIndex((it) => seen.has(it));
                contents.forEach((it, i) => it.firstElementChild?.toggleAttribute("aria-current", i === first));
            },
            { rootMargin: "-80px 0px -55% 0px" },
        );
        sections.forEach((it) => this.sectionObserver?.observe(it));
    }

    private bar(page: Page, say: Words): HTMLElement {
        const { home, file } = this.links;
        const languages = this.doc.pages.map((it) => {
            const other = button(it.language, () => this.setLanguage(it.lang), { id: `in-${it.lang}`, lang: it.lang, "aria-pressed": String(it === page) });
            return other;
        });
        return el(
            "div",
            { class: "bar" },
            home !== undefined && el("a", { class: "home", href: home }, say("all_runs")),
            el("span", { class: "bar-title" }, page.title),
            this.live && this.live.barElement(say),
            el("span", { class: "gap" }),
            languages.length > 1 && el("div", { class: "languages", role: "group", "aria-label": say("language") }, ...languages),
            themes(say),
            file !== undefined && el("a", { class: "file", href: file }, say("one_file")),
            button(say("print"), () => print(), { class: "print", id: "print" }),
        );
    }

    private setLanguage(lang: string): void {
        this.lang = lang;
        rememberLanguage(lang);
        redrawInPlace(() => this.draw());
    }
}

/** Select element for the theme. */
export function themes(say: Words): HTMLElement {
    const options: [Choice, string][] = [["auto", say("theme_auto")], ["light", say("theme_light")], ["dark", say("theme_dark")]];
    const it = choice(say("theme"), options, chosen(), (value) => choose(value as Choice));
    it.querySelector("select")?.setAttribute("id", "theme");
    return it;
}
