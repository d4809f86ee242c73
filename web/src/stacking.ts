// Stacks series on top of each other.
import type { ChartView, Column } from "./page";

/** Values as they are drawn. In a stacked chart, the values of each series are added to those of the shown series before it.
 *  Dashed series, and those of other charts, are unchanged. A logarithmic axis omits values of zero and below. */
export function stackedValues(it: ChartView, columns: Column[], shown: (track: number) => boolean): Column[] {
    if (it.logarithmic) return columns.map((column) => column.map((value) => (value !== null && value > 0 ? value : null)));
    if (!it.stacked) return columns;
    const floor: Column = new Array<number | null>(columns[0]?.length ?? 0).fill(null);
    return columns.map((column, track) => {
        if (it.series[track]?.dashed) return column;
        if (!shown(track)) return column.map(() => null);
        return column.map((value, i) => {
            const below = floor[i] ?? null;
            return (floor[i] = value === null ? below : (below ?? 0) + value);
        });
    });
}

/** Bounds of a logarithmic axis: the nearest 1, 2 or 5 times a power of ten on either side, at least a decade apart. */
export function logarithmicBounds(min: number, max: number): [number, number] {
    const down = (value: number) => step(value, [5, 2, 1], (it) => it <= value * 1.000001);
    const up = (value: number) => step(value, [1, 2, 5, 10], (it) => it >= value * 0.999999);
    let [low, high] = [down(min), up(max)];
    if (high / low < 9.99) {
        const middle = Math.sqrt(low * high);
        low = down(middle / 3.1);
        high = Math.max(up(middle * 3.1), high);
    }
    return [low, high];
}

function step(value: number, factors: number[], fits: (it: number) => boolean): number {
    const power = 10 ** Math.floor(Math.log10(value) + 1e-9);
    const found = factors.find((it) => fits(it * power)) ?? 1;
    return found * power;
}
