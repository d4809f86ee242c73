// Formats a chart's numbers in the page's language.
import type { Unit } from "./page";
import type { Word, Words } from "./words";

type Scale = [factor: number, word: Word | null];

const SCALES: Record<Unit, Scale[]> = {
    seconds: [[1, "s"], [1e-3, "ms"], [1e-6, "us"]],
    bytes: [[2 ** 40, "tib"], [2 ** 30, "gib"], [2 ** 20, "mib"], [2 ** 10, "kib"], [1, "b"]],
    bytes_per_second: [[2 ** 40, "tib"], [2 ** 30, "gib"], [2 ** 20, "mib"], [2 ** 10, "kib"], [1, "b"]],
    per_second: [[1, null]],
    count: [[1, null]],
    processors: [[1, null]],
    quantile: [[1, null]],
};
/** Scales of large plain numbers on axes, where all digits do not fit. */
const SHORTENED: Scale[] = [[1e6, "million"], [1e3, "thousand"], [1, null]];

const BINARY = [0, 10, 20, 30, 40].flatMap((power) => [1, 2, 4, 8, 16, 32, 64, 128, 256, 512].map((it) => it * 2 ** power));
const CLOCK = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400];

export class Numbers {
    private readonly formats = new Map<string, Intl.NumberFormat>();

    constructor(
        private readonly lang: string,
        private readonly words: Words,
    ) {}

    /** Formats a value with three significant digits. Values from 1000 on have all their integer digits. */
    value(unit: Unit, value: number): string {
        const scale = pick(SCALES[unit], Math.abs(value));
        return this.unit(this.significant(value / scale[0]), scale, unit);
    }

    /** Formats the tick labels of an axis. Linear ticks share one scale; each logarithmic tick has its own. */
    ticks(unit: Unit, values: (number | null)[], step: number, logarithmic: boolean): (string | null)[] {
        const highest = Math.max(...values.map((it) => Math.abs(it ?? 0)));
        const scales = unit in SCALES && SCALES[unit].length === 1 && highest >= 1e5 ? SHORTENED : SCALES[unit];
        return values.map((value) => {
            if (value === null) return null;
            const scale = pick(scales, logarithmic ? Math.abs(value) : highest);
            if (logarithmic) return this.unit(this.significant(value / scale[0]), scale, unit);
            if (value === 0) return "0";
            return this.unit(this.fixed(value / scale[0], decimals(step / scale[0])), scale, unit);
        });
    }

    /** Formats a share, 0..1, as a percentage. */
    percent(share: number, digits: number): string {
        return `${this.fixed(100 * share, digits)}\u00a0%`;
    }

    /** Formats a time of a trial: `12.5 s`, or `2:05` or `1:02:05` if `longest` is at least two minutes. */
    moment(seconds: number, longest: number): string {
        if (longest < 120) return `${this.significant(seconds)}\u202f${this.words("s")}`;
        const whole = Math.round(Math.abs(seconds));
        const two = (it: number) => String(it).padStart(2, "0");
        const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
        return (seconds < 0 ? "−" : "") + (h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`);
    }

    private unit(number: string, [, word]: Scale, unit: Unit): string {
        const per = unit === "bytes_per_second" ? this.words("per_second") : "";
        return word === null ? number : `${number}\u202f${this.words(word)}${per}`;
    }

    private significant(value: number): string {
        if (Math.abs(value) >= 1000) return this.fixed(value, 0);
        return this.format("significant", { maximumSignificantDigits: 3 }, value);
    }

    private fixed(value: number, digits: number): string {
        return this.format(`fixed${digits}`, { minimumFractionDigits: digits, maximumFractionDigits: digits }, value);
    }

    private format(name: string, options: Intl.NumberFormatOptions, value: number): string {
        let it = this.formats.get(name);
        // Thousands are separated as in the page's texts.
        const useGrouping = this.words("decimal") === "," ? "min2" : false;
        if (!it) this.formats.set(name, (it = new Intl.NumberFormat(this.lang, { ...options, useGrouping })));
        const parts = it.formatToParts(value);
        return parts.map((part) => (part.type === "group" ? "\u202f" : part.type === "minusSign" ? "−" : part.value)).join("");
    }
}

function pick(scales: Scale[], value: number): Scale {
    const last = scales[scales.length - 1] as Scale;
    if (value === 0) return last;
    return scales.find(([factor]) => value >= factor * 0.9995) ?? last;
}

/** Number of decimals with which multiples of `step` differ. */
function decimals(step: number): number {
    for (let digits = 0; digits < 9; digits++) {
        const scaled = step * 10 ** digits;
        if (Math.abs(scaled - Math.round(scaled)) < 1e-6 * scaled) return digits;
    }
    return 9;
}

/** Allowed distances between the ticks of a value axis; `null` for 1, 2 and 5 times powers of ten. */
export function steps(unit: Unit): number[] | null {
    if (unit === "bytes" || unit === "bytes_per_second") return BINARY;
    if (unit === "count") return [1, 2, 5].flatMap((it) => [0, 1, 2, 3, 4, 5, 6, 7, 8].map((power) => it * 10 ** power)).sort((a, b) => a - b);
    return null;
}

/** Allowed distances between the ticks of the time axis, in seconds. */
export const moments = () => [0.1, 0.2, 0.5, ...CLOCK];
