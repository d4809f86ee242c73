// Invented Documents in two languages, with every block and hours of points.
//
// Their values are random numbers from a seed. They cover blocks and values that the stored real runs lack.
import type { Block, ChartView, Column, Doc, Line, Mark, Overview, Page, PlotAxis, TrialData, Unit } from "../src/page";
import { type Lang, pageWords } from "./vocabulary";

export interface Wish {
    seed?: number;
    points?: number;
    trials?: number;
    /** Text that replaces every text of foreign origin. */
    foreign?: string;
    live?: boolean;
}

/** Random generator (mulberry32), uniform in 0..1. Equal seeds yield equal numbers. */
function chance(seed: number): () => number {
    let state = seed >>> 0;
    return () => {
        state = (state + 0x6d2b79f5) >>> 0;
        let it = Math.imul(state ^ (state >>> 15), 1 | state);
        it = (it + Math.imul(it ^ (it >>> 7), 61 | it)) ^ it;
        return ((it ^ (it >>> 14)) >>> 0) / 2 ** 32;
    };
}

/** Rounds to four significant digits, as in real Documents. */
const short = (it: number) => Number(it.toPrecision(4));

const line = (text: string, tone: Line["tone"] = "plain"): Line => ({ text, tone });

interface Sketch {
    id: string;
    unit: Unit;
    title: [string, string];
    axis: [string, string];
    tracks: [label: string, level: number, dashed?: boolean][];
    logarithmic?: boolean;
    stacked?: boolean;
    collapsed?: boolean;
}

const SKETCHES: Sketch[] = [
    { id: "rate", unit: "per_second", title: ["Throughput", "Пропускная способность"], axis: ["transactions per second", "транзакций в секунду"], tracks: [["offered", 4200, true], ["delivered", 4150], ["select_book", 3100], ["set_price", 1050]] },
    { id: "response", unit: "seconds", title: ["Response time", "Время ответа"], axis: ["from the intended start", "от намеченного начала"], logarithmic: true, tracks: [["p50", 0.0009], ["p90", 0.0021], ["p99", 0.0094], ["p99.9", 0.034], ["max", 0.11]] },
    { id: "response_by_operation", unit: "seconds", title: ["Response time by operation", "Время ответа по операциям"], axis: ["median and p99", "медиана и p99"], logarithmic: true, tracks: [["select_book p50", 0.0008], ["select_book p99", 0.006], ["set_price p50", 0.0016], ["set_price p99", 0.019]] },
    { id: "failures", unit: "per_second", title: ["Failures", "Отказы"], axis: ["per second", "в секунду"], stacked: true, tracks: [["40001 serialization_failure", 4], ["40P01 deadlock_detected", 1.2], ["57014 query_canceled", 0.3]] },
    { id: "in_flight", unit: "count", title: ["In flight and backlog", "В работе и в очереди"], axis: ["transactions", "транзакции"], tracks: [["in flight", 61], ["waited for a client", 14]] },
    { id: "pooler", unit: "count", title: ["Pooler", "Пулер"], axis: ["clients and servers", "клиенты и серверы"], tracks: [["clients active", 40], ["clients waiting", 18], ["servers active", 19], ["servers idle", 1]] },
    { id: "processors", unit: "processors", title: ["Processors", "Процессоры"], axis: ["processors", "процессоры"], tracks: [["postgres", 0.93], ["pgbouncer", 0.41], ["quota of postgres", 1, true], ["host", 1.74]] },
    { id: "disk", unit: "bytes_per_second", title: ["Disk", "Диск"], axis: ["read and written", "чтение и запись"], tracks: [["postgres read", 3.1e6], ["postgres written", 2.2e7]] },
    { id: "waits", unit: "count", title: ["What active sessions wait for", "Чего ждут активные сеансы"], axis: ["sessions", "сеансы"], stacked: true, tracks: [["running", 6], ["LWLock:WALWrite", 4], ["IO:WALSync", 3], ["Lock:transactionid", 2], ["Client:ClientRead", 1.4], ["IO:DataFileRead", 0.8]] },
    { id: "replication_lag", unit: "bytes", title: ["Replication lag", "Отставание реплик"], axis: ["bytes not yet replayed", "ещё не применено, байты"], tracks: [["replica 1", 4.1e5], ["replica 2", 1.9e6]] },
    { id: "send_lag", unit: "seconds", title: ["Send lag of the generator", "Опоздание отправки"], axis: ["from the intended start to the send", "от намеченного начала до отправки"], logarithmic: true, tracks: [["p50", 8e-7], ["p99", 2.6e-5], ["max", 4e-4]] },
    { id: "memory", unit: "bytes", title: ["Memory", "Память"], axis: ["bytes", "байты"], collapsed: true, tracks: [["postgres: private memory", 2.1e8], ["postgres: limit", 1e9, true]] },
    { id: "host_load", unit: "count", title: ["Load average", "Средняя загрузка"], axis: ["count", "число"], collapsed: true, tracks: [["load average, 1 min", 3.2], ["runnable tasks", 4]] },
];

export function invented(wish: Wish = {}): Doc {
    const { seed = 7, points = 300, trials = 3, foreign = "", live = false } = wish;
    const random = chance(seed);
    const data: TrialData[] = Array.from({ length: trials }, () => trial(points, random));
    const pages = (["en", "ru"] as const).map((lang) => page(lang, data, foreign));
    return { format: "pgdyno.page", version: 1, lang: "en", pages, data, live: live ? { events: "/runs/invented/events" } : null };
}

/** Event data with one new point of every series. */
export function grownPoint(doc: Doc, trial: number, seed: number, moment: number): { trial: number; times_s: number[]; charts: number[][][]; marks: Record<string, Mark[]> } {
    const random = chance(seed);
    const at = [moment * (doc.data[trial]?.bin_s ?? 1)];
    const charts = SKETCHES.map((sketch) => sketch.tracks.map(([, level]) => [short(level * (0.8 + 0.4 * random()))]));
    return { trial, times_s: at, charts, marks: {} };
}

function trial(points: number, random: () => number): TrialData {
    const at = Array.from({ length: points }, (_, i) => i);
    const charts = SKETCHES.map((sketch) => sketch.tracks.map(([, level, dashed]) => column(points, level, dashed === true, random)));
    return { bin_s: 1, times_s: at, charts };
}

function column(points: number, level: number, steady: boolean, random: () => number): Column {
    const phase = random() * 6;
    const gap = Math.floor(points * (0.2 + 0.5 * random()));
    return Array.from({ length: points }, (_, i) => {
        if (steady) return short(level);
        if (i >= gap && i < gap + 2) return null;
        const fault = i > points * 0.62 && i < points * 0.68 ? 2.4 : 1;
        return short(level * fault * (1 + 0.12 * Math.sin(i / 17 + phase)) * (0.85 + 0.3 * random()));
    });
}

function page(lang: Lang, data: TrialData[], foreign: string): Page {
    const ru = lang === "ru";
    const say = (en: string, russian: string) => (ru ? russian : en);
    const i = ru ? 1 : 0;
    const views = SKETCHES.map((it): ChartView => ({
        id: it.id,
        title: it.title[i],
        unit: it.unit,
        axis: it.axis[i],
        logarithmic: it.logarithmic ?? false,
        stacked: it.stacked ?? false,
        collapsed: it.collapsed ?? false,
        series: it.tracks.map(([label, , dashed]) => ({ label: label + foreign, dashed: dashed ?? false, overlaid: ["rate", "response"].includes(it.id) && ["delivered", "p50", "p99"].includes(label) })),
    }));
    const marks = (points: number): Mark[] => [
        { at_s: Math.floor(points * 0.15), text: `postgres: checkpoint starting: time${foreign}`, tone: "faint" },
        { at_s: Math.floor(points * 0.62), text: `pgbouncer: no more connections allowed (max_client_conn)${foreign}`, tone: "doubt" },
        { at_s: Math.floor(points * 0.64), text: `postgres: FATAL: sorry, too many clients already (×37)${foreign}`, tone: "bad" },
    ];
    const columns = (...all: [string, boolean][]) => all.map(([heading, numeric]) => ({ heading, numeric, drop_order: 0 }));
    const blocks: [string, string, string, Block[]][] = [
        ["stack", "What was measured", "Что измерялось", [
            {
                kind: "drawing",
                alternative: say("The generator reaches PostgreSQL through PgBouncer, where clients wait.", "Нагрузка идёт через PgBouncer, в котором ждут клиенты."),
                nodes: [
                    { heading: "pgdyno", lines: [line(say("open model, 4200/s", "открытая модель, 4200/с")), line(say("100 clients", "100 клиентов"))], load: load(0.21), tone: "plain" },
                    { heading: `PgBouncer 1.18${foreign}`, lines: [line("transaction, 20"), line(say("queue: 18 clients, 4.1 ms", "очередь: 18 клиентов, 4,1 мс"), "doubt"), line(say("1 processor", "1 процессор"))], load: load(0.41), tone: "doubt" },
                    { heading: "PostgreSQL 15.8", lines: [line("shared_buffers 256 MiB"), line(say("0.93 of 1 processor; throttled 31 % of the time", "0,93 из 1 процессора; придержан 31 % времени"), "bad"), line(say("400 MiB of memory", "400 МиБ памяти"))], load: load(0.93), tone: "bad" },
                ],
                hops: ["TCP, TLS 1.3", say("Unix socket", "сокет Unix")],
            },
            {
                kind: "drawing",
                alternative: say("generator → TCP → PostgreSQL with 2 replicas (log, commits wait for any 1); Patroni promotes", "генератор → TCP → PostgreSQL, 2 реплики (журнал, фиксация ждёт любую), повышает Patroni"),
                nodes: [
                    { heading: "pgdyno", lines: [line(say("8 clients", "8 клиентов"))], load: load(0.21), tone: "plain" },
                    { heading: "PostgreSQL 15.8", lines: [line(say("postgres, primary at first", "postgres, сначала основной")), line(say("100 slots", "100 мест"))], load: load(0.4), tone: "plain" },
                ],
                hops: ["TCP"],
                replicas: {
                    replication: say("log, commits wait for any 1", "журнал, фиксация ждёт любую"),
                    nodes: [2, 3].map((n) => ({ heading: `PostgreSQL 15.8${foreign}`, lines: [line(say(`postgres-${n}, replica at first`, `postgres-${n}, сначала реплика`))], load: load(n === 2 ? 0.95 : 0.12), tone: "plain" as const })),
                    manager: { heading: "Patroni", lines: [line(say("promotes a replica when the leader’s key has not been renewed for 20 s", "повышает реплику, когда ключ лидера не обновлялся 20 с")), line(say("3 servers of etcd", "etcd: 3 сервера"))], load: null, tone: "faint" },
                },
            },
        ]],
        ["operations", "By operation", "По операциям", [
            {
                kind: "table",
                caption: say("Response time from the intended start, ms", "Время ответа от намеченного начала, мс"),
                columns: columns([say("operation", "операция"), false], [say("offered", "предложено"), true], [say("delivered", "выполнено"), true], ["p50", true], ["p90", true], ["p99", true], ["p99.9", true], [say("failures", "отказы"), true]),
                rows: [
                    { cells: [`select_book${foreign}`, "31 002", "31 000", "0.81", "1.92", "6.10", "22.4", "2"], tone: "plain", baseline: false },
                    { cells: ["set_price", "10 334", "10 298", "1.62", "4.02", "19.3", "64.1", "36"], tone: "doubt", baseline: false },
                ],
                notes: [["", line(say("A quantile with fewer than ten samples beyond it is not shown.", "Квантиль, за которым меньше десяти измерений, не показан."), "faint")]],
            },
        ]],
        ["distribution", "Distribution", "Распределение", [
            {
                kind: "picture",
                caption: say("Response time by percentile", "Время ответа по процентилям"),
                plot: {
                    kind: "points",
                    x: { title: say("percentile", "процентиль"), unit: "quantile", logarithmic: true, references: [] },
                    y: { title: say("response time", "время ответа"), unit: "seconds", logarithmic: true, references: [] },
                    series: ["session, 20", "transaction, 20"].map((label, n) => ({
                        label: label + foreign,
                        connected: true,
                        points: Array.from({ length: 34 + n }, (_, i) => ({ x: 1 - 10 ** (-i / 10), y: short(0.0004 * (n + 1) * 1.14 ** i), tone: "plain" as const })),
                    })),
                },
            },
        ]],
        ["matrix", "The matrix", "Матрица", [
            {
                kind: "table",
                caption: say("By pool mode", "По режимам пула"),
                columns: columns([say("cell", "ячейка"), false], [say("throughput, 1/s", "пропускная способность, 1/с"), true], ["95 %", true], [say("ratio", "отношение"), true], [say("verdict", "приговор"), false]),
                rows: [
                    { cells: ["session, 20", "2 104", "2 080–2 131", "1", ""], tone: "plain", baseline: true },
                    { cells: ["transaction, 20", "4 150", "4 088–4 204", "1.97", say("faster", "быстрее")], tone: "good", baseline: false },
                    { cells: ["statement, 20", "2 130", "2 010–2 266", "1.01", say("no evidence", "различие не доказано")], tone: "faint", baseline: false },
                    { cells: ["session, 5", "590", "571–604", "0.28", say("slower", "медленнее")], tone: "bad", baseline: false },
                ],
                notes: [],
            },
            {
                kind: "heat_map",
                across: [say("clients", "клиенты"), ["8", "50", "100", "200"]],
                down: [say("pool mode", "режим пула"), ["session", "transaction", "statement"]],
                layers: [
                    {
                        name: say("tps", "транз/с"),
                        caption: say("Throughput, better or worse than the baseline", "Пропускная способность, лучше или хуже базы"),
                        cells: [0, -0.12, -0.5, -1, 0.2, 0.55, 0.9, 1, 0.18, 0.5, null, 0.97].map((shade, n) => ({ text: shade === null ? "" : (2104 * (1 + shade)).toFixed(0), shade, baseline: n === 0 })),
                    },
                    {
                        name: "p99",
                        caption: say("p99, ms, better or worse than the baseline", "p99, мс, лучше или хуже базы"),
                        cells: [0, 0.3, 0.5, -1, 0.2, -0.55, 0.9, 1, 0.18, null, null, -0.97].map((shade, n) => ({ text: shade === null ? "" : (12.3 * (1 - shade / 2)).toFixed(1), shade, baseline: n === 0 })),
                    },
                ],
            },
        ]],
        ["charts", "Over time", "Во времени", [
            {
                kind: "charts",
                selected: Math.min(1, data.length - 1),
                trials: data.map((one, n) => ({
                    name: line(`transaction, 20 · ${n + 1}${foreign}`, n === 2 ? "bad" : "plain"),
                    charts: views,
                    marks: marks(one.times_s.length),
                })),
            },
        ]],
        ["findings", "Findings", "Выводы", [
            {
                kind: "findings",
                findings: [
                    {
                        line: line(say("PostgreSQL was held back by its quota: it was throttled 31 % of the time, and response time rose with it.", "PostgreSQL упёрся в квоту: он был придержан 31 % времени, и время ответа росло вместе с этим."), "bad"),
                        table: null,
                        evidence: [
                            { text: say("processors, trial 3", "процессоры, измерение 3"), section: "charts", trial: Math.min(2, data.length - 1), chart: "processors" },
                            { text: say("the matrix", "матрица"), section: "matrix", trial: null, chart: null },
                        ],
                    },
                    { line: line(`${say("Clients waited in PgBouncer for a server", "Клиенты ждали сервера в PgBouncer")}${foreign}`, "doubt"), table: null, evidence: [{ text: say("pooler, trial 1", "пулер, измерение 1"), section: "charts", trial: 0, chart: "pooler" }] },
                ],
            },
        ]],
        ["failover", "Failover", "Переключение", [
            { kind: "list", items: [1, 2, 3].map((n) => line(say(`trial ${n}: 5.00 s – postgres killed${foreign}`, `измерение ${n}: 5,00 с – postgres убит${foreign}`))) },
            {
                kind: "details",
                name: say("17 more trials", "ещё 17 измерений"),
                blocks: [{ kind: "list", items: Array.from({ length: 17 }, (_, n) => line(say(`trial ${n + 4}: 5.00 s – postgres killed`, `измерение ${n + 4}: 5,00 с – postgres убит`), n === 9 ? "doubt" : "plain")) }],
            },
        ]],
        ["doubts", "Doubts and limits", "Сомнения и границы", [
            { kind: "list", items: [line(say("Memory was not limited: the controller is missing.", "Память не ограничена: нет контроллера."), "doubt"), line(say("Trial 3 is invalid: the generator was late.", "Измерение 3 недостоверно: генератор опаздывал."), "bad")] },
        ]],
        ["stand", "The test stand", "Стенд", [
            { kind: "facts", facts: [[say("host", "хост"), `bench-1${foreign}`], [say("kernel", "ядро"), "Linux 6.1.0"], [say("processors", "процессоры"), "2 × AMD EPYC 7763"], ["PostgreSQL", "15.8 (Debian 15.8-0+deb12u1)"]] },
            { kind: "code", name: `postgresql.conf${foreign}`, text: `shared_buffers = 256MB\nmax_connections = 100\n${foreign}`, folded: true },
        ]],
        ["repeat", "To repeat it", "Как повторить", [
            { kind: "text", ...line(say("The same seed makes the same arrivals.", "То же зерно даёт те же заявки.")) },
            { kind: "code", name: "", text: `pgdyno run experiments/001-pool-modes/experiment.yaml --seed 42 ${foreign}`.trim(), folded: false },
        ]],
    ];
    return {
        lang,
        language: ru ? "Русский" : "English",
        title: `001-pool-modes 2026-11-21${foreign}`,
        question: say("How does the mode of the pool change what the database delivers?", "Как режим пула меняет то, что успевает база?") + foreign,
        answer: line(
            say("Transaction mode delivers 1.97 times as much as session mode: 4 150 transactions per second (95 %: 4 088 to 4 204), valid.", "В режиме транзакций выполняется в 1,97 раза больше, чем в режиме сеансов: 4 150 транзакций в секунду (95 %: от 4 088 до 4 204), достоверно."),
            "good",
        ),
        overview: overview(say, foreign),
        facts: ["2026-11-21 14:07 UTC", say("seed 42", "зерно 42"), say("12 cells, 36 trials", "12 ячеек, 36 измерений"), say("48 min", "48 мин")],
        sections: blocks.map(([id, en, russian, all]) => ({ id, heading: say(en, russian), blocks: all })),
        words: pageWords(lang),
    };
}

const load = (share: number) => ({ share, text: `CPU ${Math.round(100 * share)} %` });

/** First screen: a search if the text is hostile, otherwise a comparison. */
function overview(say: (en: string, ru: string) => string, foreign: string): Overview {
    const tones = ["good", "doubt", "bad", "plain"] as const;
    const figures = tones.map((tone) => ({ label: say("Throughput", "Пропускная способность") + foreign, value: `4150/s${foreign}`, detail: say("of 4200 offered", "из 4200") + foreign, tone }));
    const reference = { value: 0.2, text: `p99 < 200ms${foreign}`, tone: "bad" as const };
    const axis = (title: string, unit: Unit, references: PlotAxis["references"] = []): PlotAxis => ({ title: title + foreign, unit, logarithmic: unit === "seconds", references });
    const row = (label: string, value: number, tone: Line["tone"], baseline = false) => ({ label: label + foreign, value, interval: [value * 0.9, value * 1.05] as [number, number], is_lower_bound: tone === "bad", text: `${value}/s`, tone, baseline });
    const rows = [row("session, 10 clients", 2100, "plain", true), row("transaction, 10 clients", 4150, "good"), row("statement, 100 clients", 980, "bad")];
    const steps = [[100, 0.02, "good"], [200, 0.05, "good"], [400, 1.2, "bad"], [300, 0.19, "faint"]] as const;
    const points = [...steps.map(([x, y, tone]) => ({ x, y, tone })), { x: 350, y: null, tone: "plain" as const }];
    const searched = foreign !== "";
    return {
        summary: line(say("Transaction mode delivers 4150/s: 1.97 times the 2100/s of session mode.", "Режим транзакций: 4150/с, это 1,97 от 2100/с режима сеансов.") + foreign, "good"),
        figures,
        picture: {
            caption: say("Throughput of each cell", "Пропускная способность ячеек") + foreign,
            plot: searched
                ? { kind: "points", x: axis("rate", "per_second", [{ value: 300, text: `300/s${foreign}`, tone: "good" }]), y: axis("p99", "seconds", [reference]), series: [{ label: foreign, connected: false, points }, { label: foreign, connected: true, points }] }
                : { kind: "intervals", axis: axis("throughput", "per_second"), rows },
        },
        doubts: [line(say("in 2 of 6 trials: the generator was starved of CPU", "в 2 измерениях из 6: генератору не хватало ЦП") + foreign, "doubt")],
        more_doubts: say("1 more doubt", "Ещё 1 оговорка"),
        doubts_section: "doubts",
        details: say("Transaction mode delivers 4150 transactions per second (95 % CI 3735 to 4357).", "Режим транзакций: 4150 транзакций в секунду (95 % ДИ от 3735 до 4357).") + foreign,
    };
}
