// Browser of the tests.
import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const PLACES = [process.env["PGDYNO_CHROMIUM"], "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Starts Debian's Chromium without a window. As root, it runs without a sandbox. */
export async function browser(): Promise<Browser> {
    const executablePath = PLACES.find((it) => it && existsSync(it));
    if (!executablePath) throw new Error("there is no Chromium; install Debian's package chromium, or name one in PGDYNO_CHROMIUM");
    return await chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });
}
