// Light and dark theme.
//
// The attribute `data-theme` of the root element states the current theme for style sheets and canvases.
export type Choice = "auto" | "light" | "dark";

const KEY = "pgdyno-theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();
let choice: Choice = stored();
let paper = false;

export const dark = () => document.documentElement.dataset["theme"] === "dark";
export const chosen = () => choice;

/** Calls `changed` after each change of the theme. Returns a function that ends the calls. */
export function onTheme(changed: () => void): () => void {
    listeners.add(changed);
    return () => listeners.delete(changed);
}

export function choose(next: Choice): void {
    choice = next;
    try {
        localStorage.setItem(KEY, next);
    } catch {
        // Without storage, the choice lasts until the page is closed.
    }
    apply();
}

/** Selects the light theme while the page is printed. */
export function onPaper(now: boolean): void {
    paper = now;
    apply();
}

function apply(): void {
    const next = !paper && (choice === "dark" || (choice === "auto" && system.matches)) ? "dark" : "light";
    if (document.documentElement.dataset["theme"] === next) return;
    document.documentElement.dataset["theme"] = next;
    listeners.forEach((changed) => changed());
}

function stored(): Choice {
    try {
        const it = localStorage.getItem(KEY);
        return it === "light" || it === "dark" ? it : "auto";
    } catch {
        return "auto";
    }
}

system.addEventListener("change", apply);
apply();
