// What page does the program make around the script?
//
// For invented Documents; with the content security policy of real pages, so that tests fail where it would.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import type { Doc } from "../src/page";

const hash = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** The built script and style. */
export const bundle = () => ({ script: readFileSync("dist/page.js", "utf8"), style: readFileSync("dist/page.css", "utf8") });

/** A page; `attributes` of its root, and what stands below it. */
export function shell(attributes: string, below: string): string {
    const { script, style } = bundle();
    const policy = `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; img-src data:; connect-src 'self'`;
    return [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<link rel="icon" href="data:,">',
        `<title>pgdyno</title><style>${style}</style></head>`,
        `<body><div id="app"${attributes}></div>${below}<script>${script}</script></body></html>`,
    ].join("\n");
}

/** One file that holds its Document. */
export function file(doc: Doc): string {
    const packed = gzipSync(Buffer.from(JSON.stringify(doc))).toString("base64");
    return shell("", `<script type="text/plain" id="document">${packed}</script>`);
}
