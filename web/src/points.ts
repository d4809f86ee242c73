// Appends new points to a trial's data.
import type { Mark, TrialData } from "./page";

/** Data of a `points` event. */
export interface Points {
    trial: number;
    times_s: number[];
    /** New values, by chart, series and point. */
    charts: (number | null)[][][];
    /** New marks, by language. */
    marks: Record<string, Mark[]>;
}

/** Appends points. Returns false if the page lacks the trial or has other series, so the Document must be fetched again. */
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

/** Removes the oldest points beyond `most`. */
export function dropOldest(it: TrialData, count: number): void {
    const over = it.times_s.length - count;
    if (over <= 0) return;
    it.times_s.splice(0, over);
    it.charts.forEach((chart) => chart.forEach((column) => column.splice(0, over)));
}
