// Creates elements. Text never becomes markup.
//
// Only this module creates elements. Text of foreign origin goes through `shown`, and no module uses innerHTML.

type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | null | undefined>;

/** Replaces control characters, and characters that reverse or hide text, by their visible code points. */
export function shown(text: string): string {
    return text.replace(/[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, (it) => {
        return `⟨U+${it.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`;
    });
}

/** Keeps a number, its unit and a sign before it on one line. */
export function unbroken(text: string): string {
    return text
        .replace(/(\d) (?=(?:%|pp|[mµn]?s|min|h|[KMGT]?i?B)(?![\p{L}\p{N}]))/gu, "$1\u00a0")
        .replace(/^([<>]) (?=\d)/u, "$1\u00a0");
}

function fill(it: Element, attributes: Attributes, children: Child[]): void {
    for (const [name, value] of Object.entries(attributes)) {
        if (value === true) it.setAttribute(name, "");
        else if (value !== false && value !== null && value !== undefined) it.setAttribute(name, String(value));
    }
    for (const child of children) {
        if (child) it.append(typeof child === "string" ? shown(child) : child);
    }
}

/** Creates an HTML element. Strings among the children become text nodes. */
export function el<K extends keyof HTMLElementTagNameMap>(name: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
    const it = document.createElement(name);
    fill(it, attributes, children);
    return it;
}

/** Creates an SVG element. Strings among the children become text nodes. */
export function svg<K extends keyof SVGElementTagNameMap>(name: K, attributes: Attributes = {}, ...children: Child[]): SVGElementTagNameMap[K] {
    const it = document.createElementNS("http://www.w3.org/2000/svg", name);
    fill(it, attributes, children);
    return it;
}

export function button(text: string, pressed: () => void, attributes: Attributes = {}): HTMLButtonElement {
    const it = el("button", { type: "button", ...attributes }, text);
    it.addEventListener("click", pressed);
    return it;
}

/** Select element with a label. */
export function choice(name: string, options: [string, string][], chosen: string, changed: (value: string) => void): HTMLLabelElement {
    const list = el("select", {}, ...options.map(([value, text]) => el("option", { value, selected: value === chosen }, text)));
    list.addEventListener("change", () => changed(list.value));
    return el("label", { class: "choice" }, el("span", {}, name), list);
}

/** True if the reader prefers reduced motion. */
export const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
