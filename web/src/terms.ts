// Definitions of the terms that headings contain.
import type { Page } from "./page";

/** Returns the definitions of the terms that a heading contains; null if there are none. They come from the section `terms`. */
export function definitions(page: Page): (heading: string) => string | null {
    const blocks = page.sections.find((it) => it.id === "terms")?.blocks ?? [];
    const terms = blocks.flatMap((it) => (it.kind === "facts" ? it.facts : []));
    return (heading) => {
        const lower = heading.toLowerCase();
        const found = terms.filter(([term]) => lower.includes(term.toLowerCase())).map(([, text]) => text);
        return found.length > 0 ? found.join("\n") : null;
    };
}
