// Words of invented pages, in both languages.
//
// Real pages contain their own words, with the same keys.
import { LIVE_WORDS, PAGE_WORDS, RUNS_WORDS, SERVED_WORDS } from "../src/words";

type Spoken = [key: string, en: string, ru: string];

const SPOKEN: Spoken[] = [
    ["skip", "Skip to the answer", "К ответу"],
    ["contents", "Contents", "Содержание"],
    ["language", "Language", "Язык"],
    ["theme", "Theme", "Тема"],
    ["theme_auto", "as the system", "как в системе"],
    ["theme_light", "light", "светлая"],
    ["theme_dark", "dark", "тёмная"],
    ["print", "Print", "Печать"],
    ["good", "good", "хорошо"],
    ["doubt", "doubtful", "сомнительно"],
    ["bad", "bad", "плохо"],
    ["baseline", "baseline", "база сравнения"],
    ["trial", "Trial", "Измерение"],
    ["zoom_out", "Zoom out", "Показать всё"],
    ["overlay", "Overlay trials", "Наложить измерения"],
    ["overlay_help", "The charts then show the delivered rate, the median and p99 of the selected trials.", "На графиках будут темп, медиана и p99 выбранных измерений."],
    [
        "chart_help",
        "Drag to zoom, double click or Escape to zoom out; arrow keys move the cursor, + and − zoom",
        "Выделите мышью, чтобы приблизить; двойной щелчок или Escape – показать всё; стрелки двигают курсор, + и − меняют масштаб",
    ],
    ["time", "Time", "Время"],
    ["show_table", "Show table", "Показать таблицу"],
    ["hide_table", "Hide table", "Скрыть таблицу"],
    ["more_rows", "More rows", "Ещё строки"],
    ["more_charts", "More charts", "Другие графики"],
    ["marks", "Events", "События"],
    ["evidence", "Evidence", "Основание"],
    ["figure", "Figure", "Показатель"],
    ["worse", "worse", "хуже"],
    ["same", "the same", "так же"],
    ["better", "better", "лучше"],
    ["all_columns", "All columns", "Все столбцы"],
    ["few_columns", "Fewer columns", "Меньше столбцов"],
    ["copy", "Copy", "Копировать"],
    ["copied", "Copied", "Скопировано"],
    ["s", "s", "с"],
    ["ms", "ms", "мс"],
    ["us", "µs", "мкс"],
    ["b", "B", "Б"],
    ["kib", "KiB", "КиБ"],
    ["mib", "MiB", "МиБ"],
    ["gib", "GiB", "ГиБ"],
    ["tib", "TiB", "ТиБ"],
    ["per_second", "/s", "/с"],
    ["thousand", "k", "тыс."],
    ["decimal", ".", ","],
    ["million", "M", "млн"],
    ["now", "Current values", "Текущие значения"],
    ["waiting", "waiting for current values", "ожидание текущих значений"],
    ["live", "running", "идёт"],
    ["connecting", "connecting…", "подключение…"],
    ["lost", "connection lost, trying again", "связь потеряна, пробуем снова"],
    ["ended", "ended", "завершён"],
    ["stop", "Stop the run", "Остановить прогон"],
    ["stop_sure", "Stop it? What was measured is kept.", "Остановить? Измеренное сохранится."],
    ["stop_no", "Let it run", "Не останавливать"],
    ["stopping", "stopping…", "останавливается…"],
    ["stop_failed", "could not be stopped", "остановить не удалось"],
    ["all_runs", "All runs", "Все прогоны"],
    ["one_file", "Save as a file", "Сохранить в файл"],
    ["title", "Runs", "Прогоны"],
    ["filter", "Filter", "Поиск"],
    ["experiment", "Experiment", "Эксперимент"],
    ["state", "State", "Состояние"],
    ["all", "all", "все"],
    ["run", "Run", "Прогон"],
    ["begun", "Begun", "Начат"],
    ["cells", "Cells", "Ячейки"],
    ["trials", "Trials", "Измерения"],
    ["size", "Size", "Размер"],
    ["headline", "Answer", "Ответ"],
    ["compare", "Compare", "Сравнить"],
    ["compare_help", "Select two or more runs; the oldest one is the baseline.", "Выберите два прогона или больше; базой сравнения будет самый старый."],
    ["select", "Select", "Выбрать"],
    ["base", "baseline", "база сравнения"],
    ["none", "No run is like that.", "Таких прогонов нет."],
    ["reload", "Reload", "Обновить"],
];

export type Lang = "en" | "ru";

/** Words of a page, including a live page. */
export const pageWords = (lang: Lang) => pick(lang, [...PAGE_WORDS, ...LIVE_WORDS, ...SERVED_WORDS]);

/** Words of the list of runs. */
export const runsWords = (lang: Lang) => Object.fromEntries(pick(lang, RUNS_WORDS));

function pick(lang: Lang, keys: readonly string[]): [string, string][] {
    return keys.map((key) => {
        const found = SPOKEN.find(([name]) => name === key);
        if (!found) throw new Error(`${key} has no words`);
        return [key, found[lang === "en" ? 1 : 2]];
    });
}
