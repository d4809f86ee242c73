// What does a page look like, for people?
//
//   npm run shots                     invented pages, into test/out/
//   npm run shots -- RUN.html [NAME]  a real one, into ../docs/img/
import { mkdirSync, writeFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { browser } from "./chromium";
import { invented } from "./invented";
import { file } from "./shell";

const given = process.argv[2];
const folder = resolve(given ? "../docs/img" : "test/out");
const page = resolve(given ?? "test/out/invented.html");
const name = process.argv[3] ?? basename(page, ".html");
mkdirSync(folder, { recursive: true });
if (!given) writeFileSync(page, file(invented({ points: 600 })));

const LOOKS = [
    { look: "desktop", width: 1360, height: 900, scheme: "light" },
    { look: "dark", width: 1360, height: 900, scheme: "dark" },
    { look: "phone", width: 390, height: 844, scheme: "light" },
] as const;

const chromium = await browser();
try {
    for (const { look, width, height, scheme } of LOOKS) {
        const context = await chromium.newContext({ viewport: { width, height }, colorScheme: scheme, deviceScaleFactor: look === "phone" ? 2 : 1 });
        const tab = await context.newPage();
        await tab.goto(pathToFileURL(page).href);
        await tab.waitForSelector("html[data-drawn] .answer");
        await tab.screenshot({ path: `${folder}/${name}-${look}.png`, fullPage: !given });
        await context.close();
    }
    if (!given) {
        const tab = await chromium.newPage();
        await tab.goto(pathToFileURL(page).href);
        await tab.waitForSelector("html[data-drawn] .answer");
        await tab.pdf({ path: `${folder}/${name}.pdf`, preferCSSPageSize: true, printBackground: true });
    }
} finally {
    await chromium.close();
}
