// Definitions of the terms that headings contain.
import type { Page } from "./page";

/** Returns the definitions of the terms that a heading contains; null if there are none. They come from the section `terms`. */
export function definitions(page: Page): (heading: string) => string | null {
    const blocks = page.sections.find((it) => it.id === "terms")?.blocks ?? [];
    const terms = blocks.flatMap((it) => (it.kind === "facts" ? it.facts : []));
    return (heading) => {
        const found = terms.filter(([term]) => containsTerm(heading.toLowerCase(), term.toLowerCase())).map(([, text]) => text);
        return found.length > 0 ? found.join("\n") : null;
    };
}

/** True if the text contains the term, and not only as part of a longer word or number: `p99.9` does not contain `p99`. */
function containsTerm(text: string, term: string): boolean {
    for (let at = text.indexOf(term); at >= 0; at = text.indexOf(term, at + 1)) {
        const [before, after] = [text.slice(0, at), text.slice(at + term.length)];
        if (!/[\p{L}\p{N}]$/u.test(before) && !/^(?:[\p{L}\p{N}]|\.\p{N})/u.test(after)) return true;
    }
    return false;
}
