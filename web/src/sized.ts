// Drawings that are redrawn when their width changes.

/** Draws into the box once it has its width, and again whenever the width changes. */
export function drawToWidth(box: HTMLElement, afterLayout: (() => void)[], draw: (width: number) => SVGElement): void {
    let drawn = 0;
    const update = () => {
        const width = Math.floor(box.clientWidth);
        if (width === drawn || width === 0) return;
        drawn = width;
        box.replaceChildren(draw(width));
    };
    afterLayout.push(update);
    new ResizeObserver(update).observe(box);
}
