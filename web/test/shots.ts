// Takes screenshots of pages.
//
//   npm run shots                                     invented pages, into test/out/
//   npm run shots -- PAGE NAME [LOOK [SECTION]]       a real one, a file or an address, into ../docs/img/
import { mkdirSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { browser } from "./chromium";
import { invented } from "./invented";
import { file } from "./shell";

const [given, name = "invented", only, section] = process.argv.slice(2);
const folder = resolve(given ? "../docs/img" : "test/out");
const page = resolve("test/out/invented.html");
mkdirSync(folder, { recursive: true });
if (!given) writeFileSync(page, file(invented({ points: 600 })));
const address = given?.startsWith("http://") ? given : pathToFileURL(given ? resolve(given) : page).href;

const LOOKS = [
    { look: "desktop", width: 1360, height: 900, scheme: "light" },
    { look: "dark", width: 1360, height: 900, scheme: "dark" },
    { look: "phone", width: 390, height: 844, scheme: "light" },
] as const;

const chromium = await browser();
try {
    for (const { look, width, height, scheme } of LOOKS.filter((it) => only === undefined || it.look === only)) {
        const context = await chromium.newContext({ viewport: { width, height }, colorScheme: scheme });
        const tab = await context.newPage();
        await tab.goto(address);
        await tab.waitForSelector("html[data-drawn]");
        // Scrolling does not follow the link, so no frame highlights the section.
        if (section) await tab.locator(`#${section}`).evaluate((it) => scrollTo(0, it.getBoundingClientRect().top + scrollY - 60));
        await tab.screenshot({ path: `${folder}/${only ? name : `${name}-${look}`}.png`, fullPage: !given });
        await context.close();
    }
    if (!given) {
        const tab = await chromium.newPage();
        await tab.goto(address);
        await tab.waitForSelector("html[data-drawn] .answer");
        await tab.pdf({ path: `${folder}/${name}.pdf`, preferCSSPageSize: true, printBackground: true });
    }
} finally {
    await chromium.close();
}
