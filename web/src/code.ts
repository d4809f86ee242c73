// Renders code blocks.
import { button, el } from "./dom";
import type { Words } from "./words";

export function code(it: { name: string; text: string; folded: boolean }, words: Words): HTMLElement {
    const text = el("pre", { tabindex: 0, role: "region", "aria-label": it.name || null }, el("code", {}, it.text));
    const copy = button(words("copy"), async () => {
        try {
            await navigator.clipboard.writeText(it.text);
            copy.textContent = words("copied");
        } catch {
            getSelection()?.selectAllChildren(text);
        }
    }, { class: "copy" });
    copy.addEventListener("blur", () => (copy.textContent = words("copy")));
    const body = el("div", { class: "code" }, text, copy);
    if (it.folded) return el("details", { class: "folded" }, el("summary", {}, it.name), body);
    return el("figure", { class: "named" }, it.name !== "" && el("figcaption", {}, it.name), body);
}
