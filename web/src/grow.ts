// What becomes of a trial's numbers when more of them come?
import type { Mark, TrialData } from "./page";

/** What `points` carries. */
export interface Points {
    trial: number;
    times_s: number[];
    /** By chart, by track, by new point. */
    charts: (number | null)[][][];
    /** By language. */
    marks: Record<string, Mark[]>;
}

/** Appends; `false` where the page knows no such trial or other tracks, so that all of it is to be fetched. */
export function append(data: TrialData[], it: Points): boolean {
    const to = data[it.trial];
    const alike = to && to.charts.length === it.charts.length && to.charts.every((chart, c) => chart.length === it.charts[c]?.length);
    if (!alike) return false;
    const last = to.times_s[to.times_s.length - 1] ?? -Infinity;
    it.times_s.forEach((at, i) => {
        if (at <= last) return;
        to.times_s.push(at);
        to.charts.forEach((chart, c) => chart.forEach((column, t) => column.push(it.charts[c]?.[t]?.[i] ?? null)));
    });
    return true;
}

/** Leaves the newest. */
export function bounded(it: TrialData, most: number): void {
    const over = it.times_s.length - most;
    if (over <= 0) return;
    it.times_s.splice(0, over);
    it.charts.forEach((chart) => chart.forEach((column) => column.splice(0, over)));
}
