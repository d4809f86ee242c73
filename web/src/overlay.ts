// Lays the charts of several trials over each other.
import type { ChartedTrial, ChartView, Column, Track, TrialData } from "./page";

/** One of the trials, with the number of its colour. */
export interface OverlaidTrial {
    view: ChartedTrial;
    data: TrialData;
    colour: number;
}

/** Charts with the comparable series of these trials, and their data on one time axis. The first trial decides on the order. */
export function overlaid(trials: OverlaidTrial[]): { charts: ChartView[]; data: TrialData } {
    const bin = Math.min(...trials.map((it) => it.data.bin_s));
    const times = [...new Set(trials.flatMap((it) => it.data.times_s))].sort((a, b) => a - b);
    const [charts, columns]: [ChartView[], Column[][]] = [[], []];
    const ids = new Set(trials.flatMap((it) => it.view.charts.map((chart) => chart.id)));
    for (const id of ids) {
        const parts = trials.flatMap((it) => {
            const place = it.view.charts.findIndex((chart) => chart.id === id);
            const chart = it.view.charts[place];
            return chart ? chart.series.flatMap((track, t) => (track.overlaid ? [{ it, chart, track, column: it.data.charts[place]?.[t] ?? [] }] : [])) : [];
        });
        const [first] = parts;
        if (!first) continue;
        const labels = [...new Set(parts.map((part) => part.track.label))];
        const series = parts.map(({ it, track }): Track => {
            // The last series of a chart has a solid line, in every trial.
            const rhythm = labels.length - 1 - labels.indexOf(track.label);
            return { ...track, label: `${it.view.name.text}: ${track.label}`, look: { colour: it.colour, rhythm } };
        });
        charts.push({ ...first.chart, series });
        columns.push(parts.map((part) => onTimes(times, part.it.data, part.column)));
    }
    return { charts, data: { bin_s: bin, times_s: times, charts: columns } };
}

/** Values at these ascending times. A value holds for its whole point; before, between and after the points, nothing was measured. */
export function onTimes(times: number[], { bin_s: bin, times_s: at }: TrialData, column: Column): Column {
    let point = -1;
    return times.map((time) => {
        while (point + 1 < at.length && (at[point + 1] as number) <= time) point++;
        const start = at[point];
        return start !== undefined && time < start + bin ? (column[point] ?? null) : null;
    });
}
