//! Russian: what a page says.

use super::{Ru, plural};
use crate::lang::number::with_comma;
use crate::lang::page::{Answer, Goals, Held, PageWords, Question, Room, Term, Trials, Word};
use crate::page::number::{binary, span, three, time, utc};
use model::account::RunState;
use model::chart::{ChartKind, ChartUnit, TrackKind};
use model::matrix::{Against, Verdict};
use model::plan::{Cache, Content, Dataset, Entrance, Limits, Load, LoadModel, PoolMode, Stage, Think};
use model::summary::QueryMode;
use model::{EventKind, Nanos, Spacing};

impl PageWords for Ru {
    fn word(&self, it: Word) -> &'static str {
        match it {
            Word::Skip => "К содержанию",
            Word::Contents => "Содержание",
            Word::Language => "Язык",
            Word::Theme => "Оформление",
            Word::ThemeAuto => "Как в системе",
            Word::ThemeLight => "Светлое",
            Word::ThemeDark => "Тёмное",
            Word::Print => "Печать",
            Word::Good => "хорошо",
            Word::Doubt => "под сомнением",
            Word::Bad => "плохо",
            Word::Baseline => "база сравнения",
            Word::Trial => "Измерение",
            Word::ZoomOut => "Показать всё время",
            Word::ChartHelp => {
                "Потяните, чтобы увеличить; двойной щелчок возвращает весь график; стрелки двигают курсор"
            }
            Word::Time => "Время",
            Word::ShowTable => "Показать числа",
            Word::HideTable => "Скрыть числа",
            Word::MoreRows => "Ещё строки",
            Word::Marks => "События",
            Word::Evidence => "Основание",
            Word::Lower => "ниже",
            Word::Same => "столько же",
            Word::Higher => "выше",
            Word::Copy => "Копировать",
            Word::Copied => "Скопировано",
            Word::Seconds => "с",
            Word::Milliseconds => "мс",
            Word::Microseconds => "мкс",
            Word::Bytes => "Б",
            Word::Kibibytes => "КиБ",
            Word::Mebibytes => "МиБ",
            Word::Gibibytes => "ГиБ",
            Word::Tebibytes => "ТиБ",
            Word::PerSecond => "/с",
            Word::Thousand => "тыс.",
            Word::Million => "млн",
            Word::Live => "Идёт сейчас",
            Word::Connecting => "Подключение…",
            Word::Lost => "Связь потеряна, пробуем снова",
            Word::Ended => "Прогон окончен",
            Word::Stop => "Остановить прогон",
            Word::StopSure => "Остановить прогон? Всё измеренное сохранится.",
            Word::StopNo => "Пусть идёт",
            Word::Stopping => "Останавливаем…",
            Word::StopFailed => "Остановить прогон не удалось",
            Word::NoScript => {
                "Эту страницу рисует её собственный скрипт, а в этом браузере скрипты выключены. То же самое текстом выдаёт команда `pgdyno report RUN --format md`."
            }
            Word::CannotUnpack => {
                "Этот браузер не умеет распаковать страницу; подойдёт любой, выпущенный с 2023 года."
            }
            Word::LeftOut => "Остальное здесь не поместилось; оно есть в отчёте HTML.",
        }
    }

    fn term(&self, it: Term) -> &'static str {
        match it {
            Term::Goals => "Цели и нагрузка",
            Term::Stack => "Система: где время и где очередь",
            Term::Results => "Результаты по операциям",
            Term::Matrix => "Все ячейки",
            Term::Charts => "Ход измерения",
            Term::Statements => "Самые дорогие запросы",
            Term::Findings => "Выводы",
            Term::Doubts => "Причины для сомнений",
            Term::Stand => "Испытательный стенд",
            Term::Repeat => "Как повторить",
            Term::Load => "нагрузка",
            Term::Window => "измерялось",
            Term::Operations => "операции",
            Term::Dataset => "данные",
            Term::StopRules => "правила останова",
            Term::Operation => "операция",
            Term::Total => "все",
            Term::Offered => "предложено, 1/с",
            Term::Delivered => "выполнено, 1/с",
            Term::Goodput => "полезно, 1/с",
            Term::Failed => "отказов",
            Term::Dropped => "отброшено",
            Term::Code => "отказ",
            Term::Count => "число",
            Term::Effect => "последствия",
            Term::Statement => "запрос",
            Term::Calls => "вызовов",
            Term::TotalSeconds => "всего, с",
            Term::MeanMillis => "в среднем, мс",
            Term::SharePercent => "доля, %",
            Term::RowsOfStatement => "строк",
            Term::Hit => "блоков из кэша",
            Term::Read => "блоков прочитано",
            Term::Node => "узел",
            Term::Version => "версия",
            Term::Program => "программа",
            Term::Entrance => "вход",
            Term::LimitsOfNode => "ограничения",
            Term::CellsOfNode => "ячейки",
            Term::Command => "команда",
            Term::File => "файл эксперимента",
            Term::Generator => "генератор",
            Term::Running => "работают",
            Term::OnlyCell => "единственная ячейка",
            Term::Objectives => "цели",
            Term::Trials => "измерения",
        }
    }

    fn time(&self, it: Nanos) -> String {
        let (number, unit) = time(it);
        format!("{} {}", with_comma(&number), ["мкс", "мс", "с"][unit])
    }

    fn span(&self, it: Nanos) -> String {
        let parts = span(it);
        if parts.is_empty() {
            return self.time(it);
        }
        let unit = |it| match it {
            'h' => "ч",
            'm' => "мин",
            _ => "с",
        };
        parts.iter().map(|(n, it)| format!("{n} {}", unit(*it))).collect::<Vec<_>>().join(" ")
    }

    fn bytes(&self, it: f64) -> String {
        let (number, power) = binary(it);
        format!("{} {}", with_comma(&number), ["Б", "КиБ", "МиБ", "ГиБ", "ТиБ"][power])
    }

    fn moment(&self, unix_ms: u64) -> String {
        let (year, month, day, hour, minute) = utc(unix_ms);
        format!("{day:02}.{month:02}.{year} {hour:02}:{minute:02} UTC")
    }

    fn state(&self, it: RunState, reason: Option<&str>) -> Option<String> {
        let what = match it {
            RunState::Complete => return None,
            RunState::Running => "ещё идёт",
            RunState::Interrupted => "прерван",
            RunState::Stopped => "остановлен правилом",
            RunState::Failed => "сорвался",
            RunState::Skipped => "пропущен",
            RunState::Lost => "процесс завершили раньше времени",
        };
        Some(reason.map_or(what.to_owned(), |it| format!("{what}: {it}")))
    }

    fn extent(&self, trials: usize, cells: usize) -> String {
        let of = if cells % 10 == 1 && cells % 100 != 11 { "ячейки" } else { "ячеек" };
        format!("{} {} {of}", counted(trials, "измерение", "измерения", "измерений"), cells)
    }

    fn seed(&self, it: u64) -> String {
        format!("начальное число {it}")
    }

    fn question(&self, it: &Question<'_>) -> String {
        match it {
            Question::One { way, load } => match &load.model {
                LoadModel::Closed { clients, .. } => {
                    let clients = counted(*clients as usize, "клиенте", "клиентах", "клиентах");
                    format!("Сколько выдерживает {way} при {clients}?")
                }
                users @ LoadModel::Users { .. } => {
                    let users = users.clients() as usize;
                    let users = counted(users, "пользователе", "пользователях", "пользователях");
                    format!("Сколько выдерживает {way} при {users}?")
                }
                LoadModel::Open { schedule, .. } => format!("Выдерживает ли {way} нагрузку {schedule}?"),
            },
            Question::Matrix { axes, baseline } => {
                let beside = baseline.map_or(String::new(), |it| format!(" по сравнению с {it}"));
                format!("Как меняется пропускная способность{beside}, если менять {}?", list(axes))
            }
        }
    }

    fn answer(&self, it: &Answer<'_>) -> String {
        match it {
            Answer::NotYet => "Ответа пока нет: ни одно измерение не закончено.".to_owned(),
            Answer::Nothing { why, of: 1 } => {
                format!("Ответа нет: единственное измерение не учитывается: {why}.")
            }
            Answer::Nothing { why, of } => {
                format!("Ответа нет: ни одно измерение из {of} не учитывается: {why}.")
            }
            Answer::One { held, trials, goals } => {
                let verb =
                    if held.offered.is_some() { "Выполняется" } else { "Выдерживает" };
                format!("{verb} {}{}; {}.", rate(held), self::goals(goals), valid(*trials))
            }
            Answer::Many { baseline, best, worst, trials, goals } => {
                let mut parts = Vec::new();
                parts.extend(baseline.map(|it| {
                    let idle = if it.idle {
                        ", но свою работу сделали не все клиенты"
                    } else {
                        ""
                    };
                    format!("{} (база сравнения): {}{idle}", it.name, rate(it))
                }));
                // The only other one is neither best nor worst.
                let how = match (worst, baseline) {
                    (None, _) => "",
                    (Some(_), Some(_)) => "лучшая из остальных — ",
                    (Some(_), None) => "лучшая — ",
                };
                parts.extend(best.map(|it| format!("{how}{}: {}", it.name, beside(it))));
                parts.extend(worst.map(|it| format!("худшая — {}: {}", it.name, beside(it))));
                let valid = match trials.valid == trials.of {
                    true => "все измерения достоверны".to_owned(),
                    false => valid(*trials),
                };
                format!("{}{}; {valid}.", parts.join("; "), self::goals(goals))
            }
        }
    }

    fn load(&self, it: &Load, at_once: &[u32]) -> String {
        let numbers: Vec<String> = at_once.iter().map(|it| with_comma(&it.to_string())).collect();
        let last = at_once.last().copied().unwrap_or_default();
        let numbers = alternatives(&numbers);
        let mut parts = match &it.model {
            LoadModel::Closed { think, .. } => {
                let clients = plural(last.into(), "клиент", "клиента", "клиентов");
                let mut parts = vec!["закрытая модель".to_owned(), format!("{numbers} {clients}")];
                if *think > Nanos::ZERO {
                    parts.push(format!("пауза {}", self.time(*think)));
                }
                parts
            }
            LoadModel::Users { stages, think, pacing, rate_max } => {
                let mut parts = vec!["закрытая модель".to_owned(), users(self, stages, &numbers, last)];
                parts.extend(match *think {
                    Think::Constant(it) => (it > Nanos::ZERO).then(|| format!("пауза {}", self.time(it))),
                    Think::Exponential { mean } => {
                        Some(format!("экспоненциальная пауза, в среднем {}", self.time(mean)))
                    }
                    Think::LogNormal { median, sigma } => {
                        let sigma = with_comma(&sigma.to_string());
                        Some(format!("логнормальная пауза, медиана {}, σ {sigma}", self.time(median)))
                    }
                });
                let pacing = pacing.map(|it| format!("от начала до начала не меньше {}", self.time(it)));
                parts.extend(pacing);
                let most = rate_max.map(|it| with_comma(&it.to_string()));
                parts.extend(most.map(|it| format!("не больше {it} в секунду")));
                parts
            }
            LoadModel::Open { schedule, arrivals, .. } => {
                let arrivals = match arrivals {
                    Spacing::Even => "равномерные заявки",
                    Spacing::Poisson => "пуассоновский поток заявок",
                };
                let most = format!("в работе не больше {numbers}");
                vec!["открытая модель".to_owned(), schedule.clone(), arrivals.to_owned(), most]
            }
        };
        parts.push(match it.query_mode {
            QueryMode::Simple => "простой протокол".to_owned(),
            QueryMode::Extended => "расширенный протокол".to_owned(),
            QueryMode::Prepared => "подготовленные запросы".to_owned(),
        });
        if it.connect_each {
            parts.push("новое соединение на каждую транзакцию".to_owned());
        }
        parts.extend(it.timeout.map(|it| format!("ожидание не дольше {}", self.time(it))));
        if it.max_tries > 1 {
            let tries = plural(it.max_tries.into(), "попытки", "попыток", "попыток");
            parts.push(format!("до {} {tries}", it.max_tries));
        }
        parts.join(", ")
    }

    fn window(&self, it: &Load, repeat: u32) -> String {
        let each = it
            .duration
            .map_or("до конца расписания".to_owned(), |it| format!("по {}", self.span(it)));
        let warmup = match it.warmup {
            Nanos::ZERO => String::new(),
            it => format!(" после прогрева в {}", self.span(it)),
        };
        match repeat {
            1 => format!("один раз, {}{warmup}", each.trim_start_matches("по ")),
            n => format!("{n} {}, {each}{warmup}", plural(n.into(), "раз", "раза", "раз")),
        }
    }

    fn dataset(&self, it: &Dataset) -> String {
        let rows = |it: u64| {
            let rows = plural(it, "строка", "строки", "строк");
            format!("{} {rows}", with_comma(&it.to_string()))
        };
        let content = match &it.content {
            Content::Tickets { rows: n } => format!("book.tickets, {}", rows(*n)),
            Content::Profiles { users, per_user } => {
                let of = plural(*users, "пользователь", "пользователя", "пользователей");
                let number = |it: u64| with_comma(&it.to_string());
                format!("профили, {} {of}, по {} у каждого", number(*users), number(*per_user))
            }
            Content::Pgbench { scale } => {
                format!("таблицы pgbench, масштаб {}", with_comma(&scale.to_string()))
            }
            Content::Books { rows: n } => format!("book.bookv2, {}", rows(*n)),
            Content::Declared(tables) => tables
                .iter()
                .map(|it| format!("{}, {}", it.name, rows(it.rows)))
                .collect::<Vec<_>>()
                .join("; "),
        };
        let cache = match it.cache {
            Cache::Warm => "кэш прогрет",
            Cache::Cold => "кэш холодный",
            Cache::AsIs => "кэш такой, каким его оставила загрузка",
        };
        format!("{content}; {cache}; начальное число {}", it.seed)
    }

    fn limits(&self, it: &Limits) -> String {
        let mut parts = Vec::new();
        parts.extend(it.cpu.map(|it| format!("{} ЦП", with_comma(&it.to_string()))));
        if !it.cpus.is_empty() {
            let cpus: Vec<String> = it.cpus.iter().map(u32::to_string).collect();
            parts.push(format!("на ЦП {}", cpus.join(",")));
        }
        parts.extend(it.memory.map(|it| format!("память {}", self.bytes(it as f64))));
        let number = |it: u64| with_comma(&it.to_string());
        parts.extend(it.read_iops.map(|it| format!("{} чтений/с", number(it))));
        parts.extend(it.write_iops.map(|it| format!("{} записей/с", number(it))));
        parts.extend(it.read_bps.map(|it| format!("чтение {}/с", self.bytes(it as f64))));
        parts.extend(it.write_bps.map(|it| format!("запись {}/с", self.bytes(it as f64))));
        parts.join(", ")
    }

    fn no_limit(&self, limit: &str, why: &str) -> String {
        let why = if why.is_empty() { String::new() } else { format!(": {why}") };
        format!("ограничение {limit} не действует{why}")
    }

    fn times(&self, service: bool, which: &str) -> String {
        format!("{}, {which}, мс", if service { "обслуживание" } else { "ответ" })
    }

    fn way(&self, it: Option<Entrance>) -> &'static str {
        match it {
            Some(Entrance::Unix) => "Unix-сокет",
            Some(Entrance::Tcp) => "TCP",
            Some(Entrance::Tls) => "TLS",
            None => "как указано в адресе",
        }
    }

    fn room(&self, it: &Room) -> String {
        match it {
            Room::Pool(mode, size) => {
                let mode = match mode {
                    PoolMode::Session => "режим сеансов",
                    PoolMode::Transaction => "режим транзакций",
                    PoolMode::Statement => "режим операторов",
                };
                format!("{mode}, пул {size}")
            }
            Room::MaxConn(bound) => format!("maxconn {bound}"),
            Room::Slots(slots) => {
                format!("{slots} {}", plural((*slots).into(), "слот", "слота", "слотов"))
            }
        }
    }

    fn processors(&self, used: f64, of: Option<f64>) -> String {
        let of = of.map_or(String::new(), |it| format!(" из {}", with_comma(&it.to_string())));
        format!("{}{of} ЦП", with_comma(&format!("{used:.2}")))
    }

    fn held_back(&self, share: f64) -> String {
        format!("придержан в {} % периодов", with_comma(&format!("{:.0}", 100.0 * share)))
    }

    fn occupied(&self, busy: Option<f64>, queue: Option<f64>) -> Option<String> {
        let busy = busy.map(|it| format!("в работе {}", with_comma(&three(it))));
        let queue = queue.map(|it| format!("в очереди {}", with_comma(&three(it))));
        let parts: Vec<String> = [busy, queue].into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    fn spent(&self, it: Nanos) -> String {
        format!("{} на транзакцию", self.time(it))
    }

    fn drawn(&self, way: &str, longest: Option<(&str, Nanos)>) -> String {
        let longest = longest.map_or(String::new(), |(node, time)| {
            format!("; дольше всего транзакция находится в узле {node}: {}", self.time(time))
        });
        format!("{way}{longest}")
    }

    fn shaded(&self, figure: &str, baseline: Option<&str>) -> String {
        let beside = baseline.map_or(String::new(), |it| format!(", оттенок относительно {it}"));
        format!("{figure}{beside}")
    }

    fn chart(&self, it: ChartKind) -> &'static str {
        match it {
            ChartKind::Rate => "Предложено и выполнено",
            ChartKind::Response => "Время ответа",
            ChartKind::ResponseByOperation => "Время ответа по операциям",
            ChartKind::Failures => "Отказы по кодам",
            ChartKind::InFlight => "В работе и в ожидании клиента",
            ChartKind::Pooler => "Пулеры и балансировщики",
            ChartKind::Connections => "Сеансы PostgreSQL",
            ChartKind::Processors => "Процессоры",
            ChartKind::Disk => "Диск",
            ChartKind::Waits => "Чего ждут активные сеансы",
            ChartKind::ReplicationLag => "Отставание реплик",
            ChartKind::SendLag => "Опоздание отправки у генератора",
        }
    }

    fn axis(&self, it: ChartUnit) -> &'static str {
        match it {
            ChartUnit::PerSecond => "в секунду",
            ChartUnit::Seconds => "секунды",
            ChartUnit::Count => "число",
            ChartUnit::Processors => "процессоры",
            ChartUnit::Bytes => "байты",
            ChartUnit::BytesPerSecond => "байты в секунду",
        }
    }

    fn track(&self, it: TrackKind) -> String {
        let word = match it {
            TrackKind::Offered => "предложено",
            TrackKind::Delivered => "выполнено",
            TrackKind::Quantile(q) | TrackKind::SendLag(q) => {
                return format!("p{}", with_comma(&((q * 1000.0).round() / 10.0).to_string()));
            }
            TrackKind::Max => "максимум",
            TrackKind::Failed => "отказ",
            TrackKind::Unknown => "исход неизвестен",
            TrackKind::Refused => "не подключились",
            TrackKind::Dropped => "отброшено",
            TrackKind::InFlight => "в работе",
            TrackKind::Waited => "ждали клиента",
            TrackKind::ClientsActive => "клиенты активные",
            TrackKind::ClientsWaiting => "клиенты ждущие",
            TrackKind::ServersActive => "серверы занятые",
            TrackKind::ServersIdle => "серверы свободные",
            TrackKind::Queue => "очередь",
            TrackKind::Sessions => "сеансы",
            TrackKind::Limit => "предел",
            TrackKind::Processors => "занято",
            TrackKind::Host => "вся машина",
            TrackKind::Read => "чтение",
            TrackKind::Written => "запись",
            TrackKind::Waiting => "ожидание",
            TrackKind::ReplicationLag => "отставание",
        };
        word.to_owned()
    }

    fn event(&self, it: EventKind) -> &'static str {
        match it {
            EventKind::Deadlock => "взаимная блокировка",
            EventKind::TooManyConnections => "нет свободного слота",
            EventKind::SlowStatement => "медленный запрос",
            EventKind::Fatal => "фатальная ошибка",
            EventKind::Error => "ошибка",
            EventKind::Lifecycle => "состояние",
            EventKind::Other => "журнал",
        }
    }

    fn trial(&self, name: &str, repetition: u32) -> String {
        match name {
            "" => format!("измерение {repetition}"),
            name => format!("{name}, измерение {repetition}"),
        }
    }

    fn mean_in(&self, baseline: &str) -> String {
        format!("в среднем в {baseline}, мс")
    }

    fn in_trials(&self, trials: usize, of: usize, what: &str) -> String {
        if of == 1 { what.to_owned() } else { format!("в {trials} из {of} измерений: {what}") }
    }

    fn machine(&self, key: &str) -> Option<&'static str> {
        Some(match key {
            "system" => "система",
            "kernel" => "ядро",
            "processor" | "cpu_model" => "процессор",
            "processors" | "cpus" => "процессоров",
            "memory" => "память",
            "files" => "открытых файлов: разрешено и возможно",
            "ports" => "локальные порты",
            "clock_source" => "источник времени",
            "governor" => "управление частотой",
            "cgroups" => "контрольные группы",
            _ => return None,
        })
    }

    fn cells(&self, names: &[&str], of: usize) -> String {
        if names.len() == of { "все ячейки".to_owned() } else { names.join(", ") }
    }
}

/// `21 570 транзакций в секунду (95 %: от 21 400 до 21 700, 5 прогонов), p99 12,3 мс`.
/// `пользователи по ступеням: 1000 (по 50 в секунду) на 90 с, 500 на 60 с`; `numbers` are those of a single stage.
fn users(lang: &Ru, stages: &[Stage], numbers: &str, last: u32) -> String {
    let rate = |it: &Stage| {
        let rate = it.spawn_rate.map(|it| with_comma(&it.to_string()));
        rate.map_or(String::new(), |it| format!(" (по {it} в секунду)"))
    };
    match stages {
        [only] => {
            let users = plural(last.into(), "пользователь", "пользователя", "пользователей");
            format!("{numbers} {users}{}", rate(only))
        }
        all => {
            let stage = |it: &Stage| {
                let users = with_comma(&it.users.to_string());
                format!("{users}{} на {}", rate(it), lang.time(it.lasting))
            };
            format!("пользователи по ступеням: {}", all.iter().map(stage).collect::<Vec<_>>().join(", "))
        }
    }
}

fn rate(it: &Held<'_>) -> String {
    let number = three(it.tps);
    // A broken number takes the genitive singular: 1,5 транзакции.
    let what = match number.contains('.') {
        true => "транзакции",
        false => plural(it.tps.round() as u64, "транзакция", "транзакции", "транзакций"),
    };
    let offered =
        it.offered.map_or(String::new(), |it| format!(" при предложенных {}", with_comma(&three(it))));
    format!("{} {what} в секунду{offered}{}{}", with_comma(&number), sure(it), tail(it))
}

/// The same beside the baseline, without the unit.
fn beside(it: &Held<'_>) -> String {
    let against = it.against.map_or(String::new(), |it| against(&it));
    format!("{}{}{}{against}", with_comma(&three(it.tps)), sure(it), tail(it))
}

fn sure(it: &Held<'_>) -> String {
    let runs = counted(it.runs as usize, "измерение", "измерения", "измерений");
    match it.interval {
        Some((low, high)) => {
            let [low, high] = [low, high].map(|it| with_comma(&three(it)));
            format!(" (95 %: от {low} до {high}, {runs})")
        }
        None => format!(" ({runs})"),
    }
}

fn tail(it: &Held<'_>) -> String {
    it.p99.map_or(String::new(), |it| format!(", p99 {}", Ru.time(it)))
}

fn against(it: &Against) -> String {
    let Some(ratio) = it.ratio else { return String::new() };
    let ratio = with_comma(&format!("{ratio:.3}"));
    match it.verdict {
        Verdict::NoEvidence => format!(", {ratio} от базы: различие не доказано"),
        Verdict::Lower => format!(", {ratio} от базы: ниже"),
        Verdict::Higher => format!(", {ratio} от базы: выше"),
        Verdict::TooFewRuns => format!(", {ratio} от базы: измерений слишком мало для вывода"),
    }
}

fn goals(it: &Goals) -> String {
    let of = it.kept + it.broken + it.unknown;
    match (of, it.broken, it.unknown) {
        (0, ..) => String::new(),
        (1, 0, 0) => "; цель достигнута".to_owned(),
        (1, 1, _) => "; цель НАРУШЕНА".to_owned(),
        (_, 0, 0) => format!("; достигнуты все цели ({of})"),
        (_, 0, unknown) => format!("; о целях судить нельзя: {unknown} из {of}"),
        (_, broken, _) => format!("; НАРУШЕНО целей: {broken} из {of}"),
    }
}

fn valid(it: Trials) -> String {
    match (it.valid, it.of) {
        (valid, of) if valid == of => "достоверно".to_owned(),
        (valid, of) => format!("достоверных измерений: {valid} из {of}"),
    }
}

fn counted(n: usize, one: &'static str, few: &'static str, many: &'static str) -> String {
    format!("{} {}", with_comma(&n.to_string()), plural(n as u64, one, few, many))
}

/// `a`, `a и b`, `a, b и c`.
fn list(all: &[&str]) -> String {
    match all {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} и {last}", first.join(", ")),
    }
}

/// The same with `или`.
fn alternatives(all: &[String]) -> String {
    match all {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} или {last}", first.join(", ")),
    }
}
