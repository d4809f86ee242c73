// Colours of series, in the light and the dark theme.
//
// Kinds have eight hues that differ for the common kinds of colour-blindness. They follow Okabe and Ito, darkened or lightened
// until they contrast with their background. Quantiles have one ramp that is also ordered by lightness.
import type { ChartView } from "./page";
import { dark } from "./theme";

const KINDS = {
    light: ["#0b69a8", "#cc5500", "#00835f", "#b0508a", "#8a6d00", "#3a9bd1", "#6a4fb3", "#6b7280"],
    dark: ["#58aee8", "#f2904e", "#35c79b", "#e59ac6", "#dcb844", "#9bd4f7", "#b09bf2", "#a3abb8"],
};
const RAMP = {
    light: ["#6db1d8", "#2e7fc0", "#5653b5", "#a02f8c", "#c22e4b"],
    dark: ["#3f7fc4", "#5aa9ec", "#a99bf5", "#ee8fc6", "#ffb08a"],
};

/** Colours of axes, grid, background and marks. */
export interface Ground {
    ink: string;
    grid: string;
    paper: string;
    marks: Record<"plain" | "good" | "doubt" | "bad" | "faint", string>;
}

const GROUND: Record<"light" | "dark", Ground> = {
    light: { ink: "#5b6470", grid: "#e7e9ec", paper: "#ffffff", marks: { plain: "#5b6470", good: "#1a7f4e", doubt: "#9a6200", bad: "#b3261e", faint: "#a4abb5" } },
    dark: { ink: "#a3abb8", grid: "#2a3038", paper: "#15191f", marks: { plain: "#a3abb8", good: "#4cc38a", doubt: "#e0b040", bad: "#ff8f84", faint: "#5f6874" } },
};

const shade = () => (dark() ? "dark" : "light");

export const ground = (): Ground => GROUND[shade()];

/** True if the series are quantiles of one figure. */
export const ranked = (it: ChartView) => (it.id === "response" || it.id === "send_lag") && !it.series.some((track) => track.look);

/** Number of trials with different colours. */
export const HUES = KINDS.light.length;

/** Colour of one kind. */
export const hue = (kind: number): string => KINDS[shade()][kind % HUES] as string;

/** Colour of each series. */
export function colours(it: ChartView): string[] {
    if (!ranked(it)) {
        return it.series.map((track, i) => hue(track.look?.colour ?? i));
    }
    const ramp = RAMP[shade()];
    const last = Math.max(1, it.series.length - 1);
    return it.series.map((_, i) => ramp[Math.round((i / last) * (ramp.length - 1))] as string);
}

/** Dash pattern of a series. Series beyond the number of hues have different patterns, so that no two look alike. */
export function dash(it: ChartView, track: number): number[] | undefined {
    if (it.series[track]?.dashed) return [6, 4];
    const { look } = it.series[track] ?? {};
    if (look) return [undefined, [2, 3], [10, 3, 2, 3], [14, 4]][look.rhythm % 4];
    const round = ranked(it) ? 0 : Math.floor(track / KINDS.light.length);
    return [undefined, [10, 3, 2, 3], [2, 2], [14, 4]][round % 4];
}
