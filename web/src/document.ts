// Reads the Document, from the page itself or from the server.
import type { Doc } from "./page";

/** Reads the Document that is embedded in the page, compressed with gzip and encoded in base64. */
export async function embedded(text: string): Promise<Doc> {
    const packed = atob(text.replace(/\s+/g, ""));
    // This loop is ten times as fast as Uint8Array.from with a function.
    const bytes = new Uint8Array(packed.length);
    for (let i = 0; i < bytes.length; i++) bytes[i] = packed.charCodeAt(i);
    const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return checked(JSON.parse(await new Response(plain).text()));
}

/** Fetches the Document from the running program. */
export async function fetched(address: string): Promise<Doc> {
    const answer = await fetch(address, { cache: "no-store" });
    if (!answer.ok) throw new Error(`${address}: ${answer.status} ${answer.statusText}`);
    return checked(await answer.json());
}

/** Returns the Document, or throws if its format or version is unknown. */
export function checked(it: Doc): Doc {
    if (it?.format !== "pgdyno.page" || it.version !== 1 || !it.pages?.length) throw new Error(`format ${it?.format} ${it?.version}`);
    return it;
}
