// Tests pages in a real browser, under the content security policy of real pages.
//
// Invented Documents cover every block. Reports given as arguments are checked by the same rules:
//
//   npm run browser -- RUN.html…
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";
import type { Browser, BrowserContextOptions, Page as Tab } from "playwright-core";
import { overlaid } from "../src/overlay";
import type { Charts, Doc, Overview, Page } from "../src/page";
import { stackedValues } from "../src/stacking";
import { browser } from "./chromium";
import { HOSTILE } from "./hostile";
import { grownPoint, invented } from "./invented";
import { unreadableText } from "./layout";
import { Server } from "./server";
import { file } from "./shell";
import { runsWords } from "./vocabulary";

const OUT = resolve("test/out");
interface Shown {
    id: string;
    at: number[];
    columns: (number | null)[][];
    range: [number, number];
}

let chromium: Browser;
before(async () => {
    mkdirSync(OUT, { recursive: true });
    chromium = await browser();
});
after(() => chromium?.close());

/** Writes a page with this Document. Returns its URL. */
function written(name: string, doc: Doc): string {
    const path = `${OUT}/${name}.html`;
    writeFileSync(path, file(doc));
    return path;
}

/** Opens a page, calls `then`, and checks that the page logged no error and requested only allowed URLs. */
async function opened(address: string, options: BrowserContextOptions, then: (tab: Tab) => Promise<void>, allowed: (url: string) => boolean = (url) => url === address || url.startsWith("data:"), expected = /^$/): Promise<void> {
    const context = await chromium.newContext(options);
    const problems: string[] = [];
    try {
        const tab = await context.newPage();
        tab.on("console", (it) => ["error", "warning"].includes(it.type()) && problems.push(`${it.type()}: ${it.text()}`));
        tab.on("pageerror", (it) => problems.push(`exception: ${it.message}`));
        tab.on("request", (it) => !allowed(it.url().replace(/#.*/, "")) && problems.push(`request: ${it.url()}`));
        await tab.goto(address);
        await tab.waitForSelector("html[data-drawn]");
        await then(tab);
    } finally {
        await context.close();
    }
    assert.deepEqual(problems.filter((it) => !expected.test(it)), []);
}

const opening = (path: string, options: BrowserContextOptions, then: (tab: Tab) => Promise<void>) => opened(pathToFileURL(path).href, options, then);
const shown = (tab: Tab) => tab.evaluate("pgdyno.charts()") as Promise<Shown[]>;
const range = async (tab: Tab) => (await shown(tab))[0]?.range;
const DESKTOP = { viewport: { width: 1280, height: 900 } };
const WIDTHS = [390, 800, 1280, 1920];
const PHONE = { viewport: { width: 320, height: 640 } };

/** Polls an expression until it is true. The policy forbids polling within the page. */
async function until(tab: Tab, what: string): Promise<void> {
    const end = performance.now() + 20_000;
    while (!(await tab.evaluate(what))) assert.ok(performance.now() < end, `never: ${what}`);
}

/** Reads the Document from a page's file. */
function documentOf(path: string): Doc {
    const packed = /id="document">([^<]+)</.exec(readFileSync(path, "utf8"))?.[1];
    assert.ok(packed, `${path} holds no Document`);
    return JSON.parse(gunzipSync(Buffer.from(packed, "base64")).toString()) as Doc;
}

function chartsOf(page: Page): Charts | undefined {
    return page.sections.flatMap((it) => it.blocks).find((it) => it.kind === "charts");
}

/** Checks the rules that hold for every page. */
async function followsTheRules(path: string): Promise<void> {
    const doc = documentOf(path);
    const page = doc.pages.find((it) => it.lang === doc.lang) as Page;
    const charts = chartsOf(page);
    await opening(path, DESKTOP, async (tab) => {
        assert.equal(await tab.locator("main h2[id]").count(), page.sections.length);
        assert.ok((await tab.locator("#answer").innerText()).length > 0);
        if (charts) await everyTrialIsDrawn(tab, doc, charts);
        for (const other of doc.pages.filter((it) => it !== page)) {
            await tab.click(`#in-${other.lang}`);
            assert.equal(await tab.locator("html").getAttribute("lang"), other.lang);
            const heading = other.sections[0]?.heading ?? "";
            assert.equal(await tab.locator("main section h2").first().innerText(), heading);
        }
        const drawn = await tab.locator("html").getAttribute("data-drawn");
        console.log(`${basename(path)}: ${(readFileSync(path).length / 1024).toFixed(0)} KiB, drawn ${drawn} ms after it was opened`);
    });
    await opening(path, PHONE, async (tab) => {
        assert.equal(await tab.evaluate("document.documentElement.scrollWidth"), 320, "the page scrolls sideways on a phone");
    });
    const found: string[] = [];
    await opening(path, DESKTOP, async (tab) => {
        for (const { lang, overview } of doc.pages) {
            await tab.click(`#in-${lang}`);
            for (const width of WIDTHS) {
                for (const colorScheme of ["light", "dark"] as const) {
                    await tab.emulateMedia({ colorScheme });
                    await resize(tab, width);
                    for (const it of await unreadableText(tab)) found.push(`in ${lang} at ${width} pixels, ${colorScheme}: ${it}`);
                }
                if (overview && width === 1280) await fitsOnFirstScreen(tab, overview, lang);
            }
        }
    });
    assert.deepEqual(found, []);
}

/** Resizes the window to this width and a height of 800 pixels, and waits until everything is drawn anew. */
async function resize(tab: Tab, width: number): Promise<void> {
    await tab.setViewportSize({ width, height: 800 });
    await tab.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

/** Checks that figures, verdict and picture are visible without scrolling. */
async function fitsOnFirstScreen(tab: Tab, overview: Overview, lang: string): Promise<void> {
    assert.ok(overview.picture, "there is a picture");
    assert.ok(overview.figures.length >= 3, "there are figures, among them the verdict");
    for (const part of ["#answer", ".figures", ".overview .picture svg"]) {
        const box = await tab.locator(part).first().boundingBox();
        assert.ok(box && box.height > 0 && box.y >= 0 && box.y + box.height <= 800, `${part} in ${lang}: ${JSON.stringify(box)}`);
    }
    assert.equal(await tab.locator(".overview .figure").count(), overview.figures.length);
}

async function everyTrialIsDrawn(tab: Tab, doc: Doc, charts: Charts): Promise<void> {
    for (const [i, trial] of charts.trials.entries()) {
        if (charts.trials.length > 1) await tab.selectOption("#trial", String(i));
        const collapsed = trial.charts.filter((it) => it.collapsed).length;
        const more = tab.locator(".charts > details.more");
        assert.equal(await more.isVisible(), collapsed > 0, "the block of collapsed charts is shown if there are any");
        if (collapsed > 0 && !(await more.evaluate((it) => (it as HTMLDetailsElement).open))) {
            assert.equal(await tab.locator(".plot canvas").count(), trial.charts.length - collapsed);
            await more.locator("summary").click();
            await tab.waitForFunction((count) => document.querySelectorAll(".plot canvas").length === count, trial.charts.length);
        }
        const drawn = await shown(tab);
        assert.deepEqual(drawn.map((it) => it.id), trial.charts.map((it) => it.id));
        drawn.forEach((chart, c) => {
            const view = trial.charts[c];
            assert.ok(view);
            const columns = doc.data[i]?.charts[c] ?? [];
            assert.deepEqual(chart.at, doc.data[i]?.times_s);
            assert.deepEqual(chart.columns, stackedValues(view, columns, () => true), `${view.id} of trial ${i}`);
        });
        assert.equal(await tab.locator(".plot canvas").count(), trial.charts.length);
    }
}

test("invented pages follow the rules", async () => followsTheRules(written("rules", invented({ points: 200 }))));

for (const path of process.argv.slice(2)) test(`${basename(path)} follows the rules`, () => followsTheRules(resolve(path)));

test("an hour of seconds is drawn", async () => followsTheRules(written("hour", invented({ points: 3600, trials: 2 }))));

test("the first screen holds the answer, its figures, its picture and its doubts", async () => {
    const doc = invented({ points: 60 });
    const { overview } = doc.pages[0] as Page;
    const path = written("first", doc);
    await opening(path, { viewport: { width: 1280, height: 800 } }, async (tab) => {
        for (const part of ["#answer", ".figures", ".overview .picture svg", ".doubts"]) {
            const box = await tab.locator(part).boundingBox();
            assert.ok(box && box.height > 0 && box.y + box.height <= 800, `${part}: ${JSON.stringify(box)}`);
        }
        assert.equal(await tab.locator(".figure").count(), overview?.figures.length);
        assert.equal(await tab.locator(".picture .dot").count(), 3);
        assert.equal(await tab.locator(".picture .range").count(), 4, "three intervals, and the arrow of a lower bound");
        assert.match((await tab.locator(".overview .picture svg").getAttribute("aria-label")) ?? "", /transaction, 10 clients: 4150/);
    });
});

test("percentiles have a scale of nines, and a line and a name per cell", async () => {
    for (const [lang, ticks] of [["en", ["0 %", "50 %", "90 %", "99 %", "99.9 %"]], ["ru", ["0 %", "50 %", "90 %", "99 %", "99,9 %"]]] as const) {
        await opening(written("percentiles", invented({ points: 10 })), DESKTOP, async (tab) => {
            await tab.click(`#in-${lang}`);
            const figure = tab.locator("#distribution .picture");
            const texts = (await figure.locator("svg .tick").allTextContents()).map((it) => it.replace(/\s/g, " "));
            assert.deepEqual(texts.filter((it) => it.endsWith("%")), ticks);
            const places = await figure.locator("svg .tick").evaluateAll((all) => all.filter((it) => it.textContent?.endsWith("%")).map((it) => Number(it.getAttribute("x"))));
            const [zero, , ninety, ninetyNine] = places as [number, number, number, number];
            assert.ok(Math.abs(ninety - zero - (ninetyNine - ninety)) < 1, places.join(" "));
            assert.equal(await figure.locator(".line-series").count(), 2);
            assert.deepEqual(await figure.locator(".picture-legend li").allTextContents(), ["session, 20", "transaction, 20"]);
            const colours = await figure.locator(".line-series").evaluateAll((all) => all.map((it) => getComputedStyle(it).stroke));
            assert.equal(new Set(colours).size, 2);
        });
    }
});

test("dragging zooms all charts in, and double click, Escape and the button zoom out", async () => {
    await opening(written("zoom", invented({ points: 300 })), DESKTOP, async (tab) => {
        const over = tab.locator("#chart-response .u-over");
        await over.scrollIntoViewIfNeeded();
        const drag = async () => {
            const box = await over.boundingBox();
            assert.ok(box);
            await tab.mouse.move(box.x + box.width * 0.25, box.y + 50);
            await tab.mouse.down();
            await tab.mouse.move(box.x + box.width * 0.5, box.y + 60, { steps: 4 });
            await tab.mouse.up();
        };
        const ways: [string, () => Promise<void>][] = [
            ["double click", () => over.dblclick({ position: { x: 30, y: 30 } })],
            ["button", () => tab.click(".zoom-out")],
            ["Escape", () => tab.locator("#chart-rate .plot").press("Escape")],
        ];
        for (const [way, out] of ways) {
            await drag();
            const all = await shown(tab);
            const [from, to] = all[0]?.range ?? [0, 0];
            assert.ok(Math.abs(from - 75) < 3 && Math.abs(to - 150) < 3, `${from}..${to}`);
            assert.ok(all.every((it) => it.range[0] === from && it.range[1] === to));
            await out();
            assert.deepEqual(await range(tab), [0, 300], way);
        }
    });
});

test("a chart can be read and zoomed with the keyboard", async () => {
    const doc = invented({ points: 300 });
    await opening(written("keys", doc), DESKTOP, async (tab) => {
        const plot = tab.locator("#chart-rate .plot");
        await plot.focus();
        for (const key of ["Home", "ArrowRight", "Shift+ArrowRight", "ArrowLeft"]) await plot.press(key);
        const value = doc.data[1]?.charts[0]?.[1]?.[10] as number;
        const read = await tab.locator("#chart-rate .legend-value").nth(1).innerText();
        assert.equal(read.replace(/\s/g, ""), String(Math.round(value)));
        assert.equal(await tab.locator("#chart-rate .legend-time").innerText(), "0:10");
        assert.equal(await tab.locator("#chart-send_lag .legend-time").innerText(), "0:10", "the other cursors follow");
        assert.match((await tab.locator("#chart-rate [aria-live]").textContent()) ?? "", /^0:10; offered 4200; delivered /);
        await plot.press("+");
        const [from, to] = (await range(tab)) ?? [0, 0];
        assert.ok(to - from < 151 && from <= 10 && to >= 10, `${from}..${to}`);
        await plot.press("-");
        assert.deepEqual(await range(tab), [0, 300]);
    });
});

test("Tab reaches every control, the skip link first", async () => {
    await opening(written("tab", invented({ points: 50 })), DESKTOP, async (tab) => {
        const reached: string[] = [];
        for (let i = 0; i < 120; i++) {
            await tab.keyboard.press("Tab");
            const here = (await tab.evaluate("(e => e === document.body ? '' : (e.id || e.closest('[id]')?.id || '') + '|' + e.className)(document.activeElement)")) as string;
            if (here === "") break;
            reached.push(here);
        }
        assert.match(reached[0] ?? "", /skip/);
        for (const it of ["in-ru", "theme", "trial", "chart-rate|plot", "chart-waits|legend-row", "overlay", "|mark", "|copy"]) assert.ok(reached.some((one) => one.includes(it)), `${it} among ${reached.join(" ")}`);
    });
});

test("a change of language keeps position, zoom, hidden series and the chosen trial", async () => {
    await opening(written("languages", invented({ points: 300 })), DESKTOP, async (tab) => {
        await tab.selectOption("#trial", "2");
        await tab.locator("#chart-pooler .legend-row").nth(1).click();
        await tab.locator("#chart-disk").evaluate((it) => it.scrollIntoView());
        await tab.locator("#chart-disk .plot").press("+");
        const before = await tab.locator("#chart-disk").evaluate((it) => it.getBoundingClientRect().top);
        const zoomed = await range(tab);
        // The click is by position, because a click by name would scroll first, even to a sticky element.
        const button = await tab.locator("#in-ru").boundingBox();
        assert.ok(button);
        await tab.mouse.click(button.x + 9, button.y + 9);
        const top = await tab.locator("#chart-disk").evaluate((it) => it.getBoundingClientRect().top);
        assert.ok(Math.abs(top - before) < 2, `${before} became ${top}`);
        assert.deepEqual(await range(tab), zoomed);
        assert.equal(await tab.locator("#trial").inputValue(), "2");
        assert.equal(await tab.locator("#chart-pooler .legend-row").nth(1).getAttribute("aria-pressed"), "false");
        assert.equal(await tab.locator("#chart-disk h3").innerText(), "Диск");
        assert.equal(await tab.locator("html").getAttribute("lang"), "ru");
        await tab.locator("#chart-response .plot").press("Home");
        assert.match((await tab.locator("#chart-response .legend-value").allInnerTexts()).join(" "), /\d,\d+\sмс/);
    });
});

test("replicas are drawn next to their primary, and below it on narrow screens", async () => {
    const boxes = async (tab: Tab) => {
        const all = await tab.locator("#stack .drawing").last().locator("rect.node").all();
        return Promise.all(all.map(async (it) => (await it.boundingBox()) ?? assert.fail("it is not drawn")));
    };
    const path = written("replicas", invented({ points: 10 }));
    for (const [options, beside] of [[DESKTOP, true], [PHONE, false]] as const) {
        await opening(path, options, async (tab) => {
            const [, primary, second, third, manager] = await boxes(tab);
            assert.ok(primary && second && third && manager);
            if (beside) assert.ok(second.x > primary.x + primary.width && third.x === second.x);
            else assert.ok(second.y > primary.y + primary.height && second.x > primary.x);
            assert.ok(third.y > second.y + second.height && manager.y > third.y + third.height, "nothing overlaps");
            const width = (await tab.evaluate("document.documentElement.clientWidth")) as number;
            for (const it of [primary, second, third, manager]) assert.ok(it.x >= 0 && it.x + it.width <= width);
        });
    }
});

test("folded blocks open on request", async () => {
    await opening(written("folded", invented({ points: 10 })), DESKTOP, async (tab) => {
        const lines = () => tab.locator("#failover li:visible").count();
        assert.equal(await lines(), 3);
        await tab.click("#failover details.more > summary");
        assert.equal(await lines(), 20);
        await tab.click("#in-ru");
        assert.equal(await lines(), 20, "a change of language keeps opened blocks open");
    });
});

test("evidence links and fragments select their trial and chart", async () => {
    const path = written("evidence", invented({ points: 100 }));
    await opening(path, { ...DESKTOP, reducedMotion: "reduce" }, async (tab) => {
        await tab.locator(".evidence a").first().click();
        assert.equal(await tab.locator("#trial").inputValue(), "2");
        assert.equal(await tab.evaluate("location.hash"), "#chart-processors;3");
        const top = await tab.locator("#chart-processors").evaluate((it) => it.getBoundingClientRect().top);
        assert.ok(top >= 0 && top < 300, `it is at ${top}`);
        assert.equal(await tab.evaluate("document.activeElement.id"), "chart-processors");
        assert.ok(await tab.locator("#chart-processors.lit").count());
    });
    const address = pathToFileURL(path).href;
    await opened(`${address}#chart-disk;1`, DESKTOP, async (tab) => {
        assert.equal(await tab.locator("#trial").inputValue(), "0");
        assert.equal(await tab.evaluate("document.activeElement.id"), "chart-disk");
        await tab.evaluate("location.hash = '#chart-memory'");
        await tab.waitForSelector("#chart-memory canvas");
        assert.equal(await tab.evaluate("document.activeElement.id"), "chart-memory", "a collapsed chart is opened");
    }, (url) => url === address);
});

test("several trials are laid over each other on one time axis", async () => {
    const doc = invented({ points: 60 });
    const trials = chartsOf(doc.pages[0] as Page)?.trials ?? [];
    await opening(written("overlay", doc), DESKTOP, async (tab) => {
        const ids = async () => (await shown(tab)).map((it) => it.id);
        const whole = await ids();
        await tab.click("#overlay");
        assert.equal(await tab.locator("#overlay-1").isDisabled(), true, "the shown trial is part of every overlay");
        await tab.click("#overlay-0");
        await tab.click("#overlay-2");
        const both = overlaid([1, 0, 2].map((index, colour) => ({ view: trials[index] as Charts["trials"][number], data: doc.data[index] as Doc["data"][number], colour })));
        const drawn = await shown(tab);
        assert.deepEqual(drawn.map((it) => [it.id, it.columns.length]), [["rate", 3], ["response", 6]]);
        assert.deepEqual(drawn.map((it) => it.columns), both.data.charts);
        const labels = await tab.locator("#chart-response .legend-label").allTextContents();
        assert.deepEqual(labels.slice(0, 3), ["transaction, 20 · 2: p50", "transaction, 20 · 2: p99", "transaction, 20 · 1: p50"]);
        const colours = await tab.locator("#chart-response .swatch").evaluateAll((all) => all.map((it) => getComputedStyle(it).color));
        assert.equal(new Set(colours).size, 3, "each trial has one colour");
        assert.equal(await tab.locator(".mark").count(), 0, "marks do not name their trial");
        assert.equal(await tab.locator("#overlay").innerText(), "Overlay trials (3)");
        // The reader's choices survive a change of language.
        await tab.locator("#chart-response .legend-row").nth(1).click();
        await tab.click("#in-ru");
        assert.deepEqual(await ids(), ["rate", "response"]);
        await tab.click("#in-en");
        assert.equal(await tab.locator("#chart-response .legend-row").nth(1).getAttribute("aria-pressed"), "false");
        for (const width of WIDTHS) {
            await resize(tab, width);
            assert.deepEqual(await unreadableText(tab), [], `at ${width} pixels`);
        }
        await tab.locator(".evidence a").first().click();
        assert.deepEqual(await ids(), whole, "a link shows its trial alone");
        assert.equal(await tab.locator("#trial").inputValue(), "2");
    });
});

test("a hidden series is taken out of its stack", async () => {
    const doc = invented({ points: 60 });
    await opening(written("toggle", doc), DESKTOP, async (tab) => {
        const view = chartsOf(doc.pages[0] as Page)?.trials[1]?.charts.find((it) => it.id === "waits");
        const columns = doc.data[1]?.charts[8];
        assert.ok(view && columns);
        await tab.locator("#chart-waits .legend-row").filter({ hasText: "running" }).click();
        const drawn = (await shown(tab)).find((it) => it.id === "waits");
        assert.deepEqual(drawn?.columns, stackedValues(view, columns, (track) => track !== 0));
    });
});

test("a chart's values are available as a table", async () => {
    const doc = invented({ points: 300 });
    await opening(written("values", doc), DESKTOP, async (tab) => {
        const chart = tab.locator("#chart-response");
        await chart.getByRole("button", { name: "Show table" }).click();
        assert.equal(await chart.locator("tbody tr").count(), 120);
        await chart.getByRole("button", { name: "More rows" }).click();
        await chart.getByRole("button", { name: "More rows" }).click();
        assert.equal(await chart.locator("tbody tr").count(), 300);
        const cell = await chart.locator("tbody tr").nth(7).locator("td").nth(1).innerText();
        const expected = (doc.data[1]?.charts[1]?.[1]?.[7] as number) * 1000;
        assert.ok(Math.abs(Number.parseFloat(cell) / expected - 1) < 0.005, `${cell} is not ${expected} ms`);
    });
});

test("marks are listed, and move the cursors to their time", async () => {
    await opening(written("marks", invented({ points: 300 })), DESKTOP, async (tab) => {
        assert.equal(await tab.locator(".mark").count(), 3);
        await tab.locator(".mark").nth(1).click();
        assert.equal(await tab.locator("#chart-rate .legend-time").innerText(), "3:06");
        const plot = tab.locator("#chart-rate .plot");
        await plot.scrollIntoViewIfNeeded();
        await plot.focus();
        for (const key of ["ArrowLeft", "ArrowRight"]) await plot.press(key);
        assert.match(await tab.locator("#chart-rate .tip").innerText(), /no more connections allowed/);
    });
});

test("hostile text is rendered as text everywhere", async () => {
    assert.equal(HOSTILE.length, 200);
    const doc = invented({ points: 30, foreign: HOSTILE.join(" ") });
    for (const options of [DESKTOP, PHONE]) {
        await opening(written("hostile", doc), options, async (tab) => {
            for (const lang of ["ru", "en"]) {
                await tab.click(`#in-${lang}`);
                const closed = tab.locator("details:not([open], .overlay) > summary");
                while ((await closed.count()) > 0) await closed.first().click();
                for (const chart of await tab.locator(".chart figcaption button").all()) await chart.click();
                while ((await closed.count()) > 0) await closed.first().click();
                await tab.locator(".mark").first().hover();
            }
            assert.equal(await tab.evaluate("window.hurt"), undefined);
            const elements = "#app script, #app img, #app iframe, #app object, #app form, #app base, #app meta, #app link, #app style, #app a[href^=javascript]";
            assert.equal(await tab.locator(`${elements}, [onload], [onerror], [onfocus], [ontoggle]`).count(), 0);
            const text = (await tab.locator("#app").textContent()) ?? "";
            assert.ok(text.includes("</script><script>window.hurt=1</script>"));
            assert.ok(text.includes("⟨U+001B⟩[31m") && text.includes("⟨U+202E⟩gnp.evil"));
            assert.doesNotMatch(text, /[\u001b\u0080-\u009f\u200f\u202a-\u202e\u2066-\u2069]/);
            assert.equal(await tab.evaluate("document.documentElement.scrollWidth"), options.viewport.width);
        });
    }
});

/** Contrast of every text with its nearest background, as WCAG 2 defines it. */
const LOWEST_CONTRAST = `(() => {
    const channels = (colour) => { const c = document.createElement('canvas').getContext('2d', { willReadFrequently: true }); c.fillStyle = colour; c.fillRect(0, 0, 1, 1); return [...c.getImageData(0, 0, 1, 1).data]; };
    const light = (rgb) => { const [r, g, b] = rgb.map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
    const found = [];
    const walk = document.createTreeWalker(document.querySelector('#app'), NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
        const it = walk.currentNode.parentElement;
        if (!walk.currentNode.data.trim() || it.closest('svg, .unseen, .skip, :disabled, option') || !it.getClientRects().length) continue;
        let below = it, ground;
        for (; below; below = below.parentElement) { ground = channels(getComputedStyle(below).backgroundColor); if (ground[3] > 250) break; }
        const [a, b] = [light(channels(getComputedStyle(it).color).slice(0, 3)), light((below ? ground : [255, 255, 255]).slice(0, 3))].sort((x, y) => y - x);
        found.push([(a + 0.05) / (b + 0.05), walk.currentNode.data.slice(0, 40)]);
    }
    return found.sort((x, y) => x[0] - y[0])[0];
})()`;

test("text has enough contrast in both themes", async () => {
    const path = written("contrast", invented({ points: 30 }));
    for (const colorScheme of ["light", "dark"] as const) {
        await opening(path, { ...DESKTOP, colorScheme }, async (tab) => {
            assert.equal(await tab.locator("html").getAttribute("data-theme"), colorScheme);
            const [lowest, text] = (await tab.evaluate(LOWEST_CONTRAST)) as [number, string];
            console.log(`${colorScheme}: the lowest contrast is ${lowest.toFixed(2)}, of "${text}"`);
            assert.ok(lowest >= 4.5, `${text}: ${lowest}`);
        });
    }
});

test("the theme can be chosen, and is kept without storage until the page is closed", async () => {
    await opening(written("theme", invented({ points: 30 })), { ...DESKTOP, colorScheme: "light" }, async (tab) => {
        await tab.selectOption("#theme", "dark");
        assert.equal(await tab.locator("html").getAttribute("data-theme"), "dark");
        await tab.selectOption("#theme", "auto");
        assert.equal(await tab.locator("html").getAttribute("data-theme"), "light");
    });
});

test("elements have names and roles for screen readers", async () => {
    await opening(written("names", invented({ points: 30 })), DESKTOP, async (tab) => {
        const nameless = await tab.evaluate(`[...document.querySelectorAll('button, select, a, input, [role="img"], [role="region"], [role="group"]')]
            .filter((it) => !(it.getAttribute('aria-label') || it.textContent.trim() || it.closest('label')?.textContent.trim())).map((it) => it.outerHTML.slice(0, 80))`);
        assert.deepEqual(nameless, []);
        const ids = (await tab.evaluate("[...document.querySelectorAll('[id]')].map((it) => it.id)")) as string[];
        assert.equal(new Set(ids).size, ids.length, "an id is there twice");
        assert.equal(await tab.locator("main h1").count(), 1);
        assert.equal(await tab.locator("table:not(:has(caption))").count(), 0);
        const [bad] = await tab.locator(".finding.bad .line").allTextContents();
        assert.match(bad ?? "", /^bad: /, "a tone is expressed without colour");
    });
});

test("the page prints in the light theme, without controls", async () => {
    await opening(written("paper", invented({ points: 100 })), { ...DESKTOP, colorScheme: "dark" }, async (tab) => {
        await tab.evaluate("addEventListener('beforeprint', () => window.printed = [document.documentElement.dataset.theme, document.querySelectorAll('details.more[open]').length, document.querySelectorAll('#chart-memory canvas').length])");
        const paper = await tab.pdf({ path: `${OUT}/paper.pdf`, preferCSSPageSize: true });
        assert.equal(paper.subarray(0, 5).toString(), "%PDF-");
        assert.deepEqual(await tab.evaluate("window.printed"), ["light", 2, 1], "light theme, with folded blocks open and their charts drawn");
        assert.equal(await tab.locator("details.more[open]").count(), 0, "folded again after printing");
        const pages = paper.toString("latin1").match(/\/Type\s*\/Page\b/g)?.length ?? 0;
        console.log(`on paper: ${pages} pages`);
        assert.ok(pages >= 3 && pages <= 12, `${pages} pages`);
        assert.equal(await tab.locator("html").getAttribute("data-theme"), "dark", "the screen is as before");
        await tab.emulateMedia({ media: "print" });
        for (const it of [".bar", ".zoom-out", ".copy", "details.folded", ".quiet"]) assert.equal(await tab.locator(it).first().isVisible(), false, it);
    });
});

test("an unreadable Document shows an error and keeps the previous contents", async () => {
    const path = `${OUT}/broken.html`;
    writeFileSync(path, file(invented({ points: 5 })).replace(/id="document">[^<]+</, 'id="document">AAAA<'));
    const context = await chromium.newContext(DESKTOP);
    const tab = await context.newPage();
    await tab.goto(pathToFileURL(path).href);
    await tab.waitForSelector("#app .failed");
    await context.close();
});

test("a live page appends points, keeps the zoom, reconnects and ends", async () => {
    const doc = invented({ points: 50, trials: 2, live: true });
    const server = await Server.start(doc);
    try {
        await opened(server.address("/runs/invented"), DESKTOP, async (tab) => {
            const points = async () => (await shown(tab))[0]?.at.length ?? 0;
            const wait = (what: string) => until(tab, what);
            await wait("document.querySelector('.live-state').dataset.state === 'live'");
            assert.equal(await tab.locator("#trial").inputValue(), "1");
            server.say("points", grownPoint(doc, 0, 0, 50));
            await until(tab, "pgdyno.charts()[0].at.length === 51");
            assert.equal(await tab.locator("#trial").inputValue(), "0", "the running trial is shown");
            await tab.locator("#chart-rate .plot").press("+");
            const zoomed = await range(tab);
            for (let i = 1; i < 5; i++) server.say("points", grownPoint(doc, 0, i, 50 + i));
            await wait("pgdyno.charts()[0].at.length === 55");
            assert.deepEqual(await range(tab), zoomed, "the zoom stays");
            await tab.locator("#chart-rate .plot").press("Escape");
            assert.deepEqual(await range(tab), [0, 55]);
            server.say("points", grownPoint(doc, 0, 4, 54));
            server.say("state", { text: { en: "trial 2 of 3", ru: "измерение 2 из 3" } });
            await wait("document.querySelector('.live-state').textContent === 'trial 2 of 3'");
            assert.equal(await points(), 55, "repeated points are appended once");

            const figure = (label: string, value: string) => ({ label, value, detail: "", tone: "plain" as const });
            const now = { en: [figure("Rate", "293/s"), figure("p99", "412 ms")], ru: [figure("Темп", "293/с"), figure("p99", "412 мс")] };
            assert.equal(await tab.locator(".strip").getAttribute("data-state"), "stale", "no value is known yet");
            server.say("state", { text: { en: "trial 2 of 3", ru: "измерение 2 из 3" }, now });
            await wait("document.querySelector('.strip').dataset.state === 'current'");
            const values = async () => (await tab.locator(".strip .value").allTextContents()).join(" ");
            assert.equal(await values(), "293/s 412 ms");
            await tab.click("#in-ru");
            assert.equal(await values(), "293/с 412 мс");
            await tab.click("#in-en");
            // A message that does not arrive, and a lost connection: old values are not shown as current ones.
            await tab.evaluate("(() => { const now = performance.now.bind(performance); performance.now = () => now() + 6000; })()");
            await wait("document.querySelector('.strip').dataset.state === 'stale'");
            assert.equal(await values(), "– –");
            assert.equal(await tab.locator(".strip-note").textContent(), "waiting for current values");
            server.say("state", { text: { en: "trial 2 of 3", ru: "измерение 2 из 3" }, now });
            await wait("document.querySelector('.strip').dataset.state === 'current'");
            for (const width of WIDTHS) {
                await resize(tab, width);
                assert.deepEqual(await unreadableText(tab), [], `at ${width} pixels`);
            }
            server.hangUp();
            await wait("document.querySelector('.strip').dataset.state === 'stale'");
            assert.equal(await values(), "– –");
            await wait("document.querySelector('.live-state').dataset.state === 'live'");
            assert.equal(await values(), "– –", "a new connection alone makes no value current");
            server.say("state", { text: { en: "trial 2 of 3", ru: "измерение 2 из 3" }, now });
            await wait("document.querySelector('.strip').dataset.state === 'current'");

            const mark = (text: string) => [{ at_s: 54.5, text, tone: "bad" as const }];
            server.say("points", { ...grownPoint(doc, 0, 4, 54), marks: { en: mark("a new deadlock"), ru: mark("новая взаимная блокировка") } });
            await tab.getByText("a new deadlock").first().waitFor({ state: "attached" });
            await tab.click("#in-ru");
            assert.equal(await tab.locator(".live-state").textContent(), "измерение 2 из 3", "the progress is in the selected language");
            await tab.getByText("новая взаимная блокировка").first().waitFor({ state: "attached" });
            assert.equal(await tab.getByText("a new deadlock").count(), 0);
            assert.equal(await tab.locator(".bar .home").getAttribute("href"), "/");
            assert.equal(await tab.locator(".bar .file").textContent(), "Сохранить в файл");
            await tab.click("#in-en");

            server.grow(20);
            server.say("document", {});
            await wait("pgdyno.charts()[0].at.length === 70");

            server.hangUp();
            server.grow(10);
            await wait("pgdyno.charts()[0].at.length === 80");

            await tab.selectOption("#trial", "1");
            server.say("points", grownPoint(doc, 0, 9, 80));
            server.say("state", { text: { en: "heard", ru: "услышано" } });
            await wait("document.querySelector('.live-state').textContent === 'heard'");
            assert.equal(await tab.locator("#trial").inputValue(), "1", "a chosen trial stays selected");

            await tab.click("#stop");
            assert.equal(server.stops.length, 0, "it asks once more");
            await tab.getByRole("button", { name: "Let it run" }).click();
            await tab.click("#stop");
            await tab.locator(".danger").click();
            await wait("document.querySelector('.live-control').textContent === 'stopping…'");
            assert.deepEqual(server.stops, ["let-me"]);

            server.say("end", {});
            await wait("document.querySelector('.live-state').dataset.state === 'ended'");
            assert.equal(await tab.locator("#stop").count(), 0);
            assert.equal(await tab.locator(".strip").isVisible(), false, "an ended run has no current values");
        }, (url) => url.startsWith(server.address("/")), /^error: Failed to load resource: net::ERR_(INCOMPLETE_CHUNKED_ENCODING|CONNECTION)/);
    } finally {
        await server.close();
    }
});

test("runs can be searched, opened and compared", async () => {
    const server = await Server.start(invented({ points: 5 }));
    server.runs = { lang: "en", languages: [["en", "English"], ["ru", "Русский"]], words: runsWords("en"), runs: ["one", `two ${HOSTILE}`, "three"].map((name, i) => ({
        name, experiment: i === 1 ? "book" : "pool-modes", started_ms: 1_000 * i, started: `2026-11-2${i} 10:00`, state: i === 2 ? "running" : "complete",
        state_text: i === 2 ? "running" : "complete", cells: 4, trials: 12, size_text: "1.2 MiB", headline: `Holds ${i}000 transactions per second`, tone: i === 0 ? "good" : "plain",
    })), partial: false };
    // Headlines that take long to read arrive later.
    const whole = server.runs as { runs: { headline: string }[] };
    server.first = { ...whole, runs: whole.runs.map((it) => ({ ...it, headline: "" })), partial: true };
    try {
        await opened(server.address("/"), DESKTOP, async (tab) => {
            assert.equal(await tab.locator("tbody tr").count(), 3);
            assert.equal(await tab.evaluate("window.hurt"), undefined);
            assert.equal(await tab.locator("#compare").isDisabled(), true);
            await tab.fill("#filter", "holds 1000");
            assert.equal(await tab.locator("tbody tr").count(), 1);
            await tab.fill("#filter", "");
            await tab.locator("tr[data-name=three] input").check();
            await tab.locator("tr[data-name=one] input").check();
            await tab.screenshot({ path: `${OUT}/runs.png` });
            for (const width of WIDTHS) {
                await resize(tab, width);
                assert.deepEqual(await unreadableText(tab), [], `at ${width} pixels`);
            }
            await Promise.all([tab.waitForURL("**/compare?*"), tab.click("#compare")]);
            assert.equal(new URL(tab.url()).search, "?base=one&run=three", "the older run is the baseline");
        }, (url) => url.startsWith(server.address("/")));
    } finally {
        await server.close();
    }
});
