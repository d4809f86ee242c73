// HTML shell around the script, for invented Documents.
//
// It has the content security policy of real pages, so that tests fail where the policy would block something.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import type { Doc } from "../src/page";

const hash = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** Reads the built script and style sheet. */
export const bundle = () => ({ script: readFileSync("dist/page.js", "utf8"), style: readFileSync("dist/page.css", "utf8") });

/** HTML page. `attributes` are those of its root element, and `below` is the HTML after it. */
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

/** HTML page with an embedded Document. */
export function file(doc: Doc): string {
    const packed = gzipSync(Buffer.from(JSON.stringify(doc))).toString("base64");
    return shell("", `<script type="text/plain" id="document">${packed}</script>`);
}
