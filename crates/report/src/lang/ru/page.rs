//! Russian: what a page says.

use super::{NUMBERS as RU, Ru, answer, counted, oblique, plural};
use crate::lang::number::quantile;
use crate::lang::page::{
    BottleneckRole, ConcurrencyLimit, PageAnswer, PageQuestion, PageTerm, PageWord, PageWords, ServerSeat,
};
use crate::page::number::utc;
use model::chart::{ChartKind, ChartSeriesKind, ChartUnit};
use model::plan::{
    CacheState, Content, Dataset, FailoverManager, Limits, Load, LoadModel, PromotionPolicy, SyncMode,
    ThinkTime, UserStage,
};
use model::run_result::RunState;
use model::summary::QueryMode;
use model::{EventKind, Nanos, Spacing};

impl PageWords for Ru {
    fn word(&self, it: PageWord) -> &'static str {
        match it {
            PageWord::Skip => "К содержанию",
            PageWord::Contents => "Содержание",
            PageWord::Language => "Язык",
            PageWord::Theme => "Оформление",
            PageWord::ThemeAuto => "Как в системе",
            PageWord::ThemeLight => "Светлое",
            PageWord::ThemeDark => "Тёмное",
            PageWord::Print => "Печать",
            PageWord::Good => "хорошо",
            PageWord::Doubt => "под сомнением",
            PageWord::Bad => "плохо",
            PageWord::Baseline => "база сравнения",
            PageWord::Trial => "Измерение",
            PageWord::ZoomOut => "Показать всё время",
            PageWord::ChartHelp => {
                "Выделите отрезок мышью, чтобы увеличить его; двойной щелчок возвращает всё время; стрелки двигают курсор"
            }
            PageWord::Time => "Время",
            PageWord::ShowTable => "Показать числа",
            PageWord::HideTable => "Скрыть числа",
            PageWord::MoreRows => "Ещё строки",
            PageWord::Marks => "События",
            PageWord::Evidence => "Основание",
            PageWord::Figure => "Показатель",
            PageWord::Worse => "хуже",
            PageWord::Same => "столько же",
            PageWord::Better => "лучше",
            PageWord::AllColumns => "Все столбцы",
            PageWord::FewColumns => "Меньше столбцов",
            PageWord::Copy => "Копировать",
            PageWord::Copied => "Скопировано",
            PageWord::Seconds => "с",
            PageWord::Milliseconds => "мс",
            PageWord::Microseconds => "мкс",
            PageWord::Bytes => "Б",
            PageWord::Kibibytes => "КиБ",
            PageWord::Mebibytes => "МиБ",
            PageWord::Gibibytes => "ГиБ",
            PageWord::Tebibytes => "ТиБ",
            PageWord::PerSecond => "/с",
            PageWord::Thousand => "тыс.",
            PageWord::Million => "млн",
            PageWord::Live => "Идёт сейчас",
            PageWord::Connecting => "Подключение…",
            PageWord::Lost => "Связь потеряна, подключаемся снова",
            PageWord::Ended => "Прогон окончен",
            PageWord::Stop => "Остановить прогон",
            PageWord::StopSure => "Остановить прогон? Всё измеренное сохранится.",
            PageWord::StopNo => "Пусть идёт",
            PageWord::Stopping => "Останавливаем…",
            PageWord::StopFailed => "Остановить прогон не удалось",
            PageWord::NoScript => {
                "Эту страницу рисует её собственный скрипт, а в этом браузере скрипты выключены. То же самое текстом напечатает `pgdyno report RUN --format md`."
            }
            PageWord::CannotUnpack => {
                "Этот браузер не умеет распаковать страницу; подойдёт любой, выпущенный с 2023 года."
            }
            PageWord::LeftOut => "Остальное здесь не поместилось; оно есть в отчёте HTML.",
        }
    }

    fn term(&self, it: PageTerm) -> &'static str {
        match it {
            PageTerm::Goals => "Цели и нагрузка",
            PageTerm::Stack => "Система: где уходит время и где стоит очередь",
            PageTerm::Results => "Результаты по операциям",
            PageTerm::Matrix => "Все ячейки",
            PageTerm::Charts => "Ход измерения",
            PageTerm::Statements => "Самые дорогие запросы",
            PageTerm::Advice => "Индексы",
            PageTerm::Findings => "Выводы",
            PageTerm::Doubts => "Причины для сомнений",
            PageTerm::Stand => "Испытательный стенд",
            PageTerm::Repeat => "Как повторить",
            PageTerm::Load => "нагрузка",
            PageTerm::Window => "измерялось",
            PageTerm::Operations => "операции",
            PageTerm::Dataset => "данные",
            PageTerm::StopRules => "правила останова",
            PageTerm::Operation => "операция",
            PageTerm::Total => "все",
            PageTerm::Offered => "предложено, 1/с",
            PageTerm::Delivered => "выполнено, 1/с",
            PageTerm::Goodput => "полезно, 1/с",
            PageTerm::Failed => "ошибок",
            PageTerm::Dropped => "отброшено",
            PageTerm::Code => "ошибка",
            PageTerm::Count => "число",
            PageTerm::Effect => "изменения в базе",
            PageTerm::Statement => "запрос",
            PageTerm::Calls => "вызовов",
            PageTerm::TotalSeconds => "всего, с",
            PageTerm::MeanMillis => "в среднем, мс",
            PageTerm::SharePercent => "доля,\u{a0}%",
            PageTerm::RowsOfStatement => "строк",
            PageTerm::Hit => "блоков найдено в кэше",
            PageTerm::Read => "блоков прочитано",
            PageTerm::Node => "узел",
            PageTerm::Version => "версия",
            PageTerm::Program => "программа",
            PageTerm::Entrance => "вход",
            PageTerm::LimitsOfNode => "ограничения",
            PageTerm::CellsOfNode => "ячейки",
            PageTerm::Command => "команда",
            PageTerm::File => "файл эксперимента",
            PageTerm::Generator => "генератор",
            PageTerm::Running => "работают",
            PageTerm::OnlyCell => "единственная ячейка",
            PageTerm::Objectives => "цели",
            PageTerm::Trials => "измерения",
        }
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
            RunState::Stopped => "остановлен по правилу",
            RunState::Failed => "не удался",
            RunState::Skipped => "пропущен",
            RunState::Lost => "потерян: его процесс был убит",
        };
        Some(reason.map_or(what.to_owned(), |it| format!("{what}: {it}")))
    }

    fn extent(&self, trials: usize, cells: usize) -> String {
        let trials = counted(trials as u64, "измерение", "измерения", "измерений");
        let cells = cells as u64;
        format!("{trials} в {} {}", RU.count(cells), oblique(cells, "ячейке", "ячейках"))
    }

    fn seed(&self, it: u64) -> String {
        format!("начальное число {it}")
    }

    fn question(&self, it: &PageQuestion<'_>) -> String {
        match it {
            PageQuestion::One { way, load } => match &load.model {
                LoadModel::Closed { clients, .. } => {
                    let clients = u64::from(*clients);
                    let of = oblique(clients, "клиенте", "клиентах");
                    format!("Сколько выдерживает {way} при {} {of}?", RU.count(clients))
                }
                users @ LoadModel::Users { .. } => {
                    let users = u64::from(users.clients());
                    let of = oblique(users, "пользователе", "пользователях");
                    format!("Сколько выдерживает {way} при {} {of}?", RU.count(users))
                }
                LoadModel::Open { schedule, .. } => format!("Выдерживает ли {way} нагрузку {schedule}?"),
            },
            PageQuestion::Matrix { axes, baseline } => {
                let beside = baseline.map_or(String::new(), |it| format!(" по сравнению с {it}"));
                format!("Как меняется пропускная способность{beside}, если менять {}?", list(axes))
            }
        }
    }

    fn answer(&self, it: &PageAnswer<'_>) -> String {
        answer::answer(it)
    }

    fn not_passed(&self, nodes: &[&str]) -> String {
        format!("Нагрузка не прошла через {}: о нём здесь ничего не измерено.", nodes.join(", "))
    }

    fn load(&self, it: &Load, sql: bool, at_once: &[u32]) -> String {
        let numbers: Vec<String> = at_once.iter().map(|it| RU.count((*it).into())).collect();
        let last = at_once.last().copied().unwrap_or_default();
        let numbers = alternatives(&numbers);
        let mut parts = match &it.model {
            LoadModel::Closed { think, .. } => {
                let clients = plural(last.into(), "клиент", "клиента", "клиентов");
                let mut parts = vec!["закрытая модель".to_owned()];
                parts.extend((!at_once.is_empty()).then(|| format!("{numbers} {clients}")));
                if *think > Nanos::ZERO {
                    parts.push(format!("пауза {}", RU.chosen(*think)));
                }
                parts
            }
            LoadModel::Users { stages, think, pacing, rate_max } => {
                let mut parts = vec!["закрытая модель".to_owned(), users(stages, &numbers, last)];
                parts.extend(match *think {
                    ThinkTime::Constant(it) => (it > Nanos::ZERO).then(|| format!("пауза {}", RU.chosen(it))),
                    ThinkTime::Exponential { mean } => {
                        Some(format!("экспоненциальная пауза, в среднем {}", RU.chosen(mean)))
                    }
                    ThinkTime::LogNormal { median, sigma } => {
                        let (median, sigma) = (RU.chosen(median), RU.plain(sigma));
                        Some(format!("логнормальная пауза, медиана {median}, σ {sigma}"))
                    }
                });
                let pacing = pacing.map(|it| format!("от начала до начала не меньше {}", RU.chosen(it)));
                parts.extend(pacing);
                let most = rate_max.map(|it| RU.plain(it));
                parts.extend(most.map(|it| format!("не больше {it} в секунду")));
                parts
            }
            LoadModel::Open { schedule, arrivals, .. } => {
                let arrivals = match arrivals {
                    Spacing::Even => "равномерный поток заявок",
                    Spacing::Poisson => "пуассоновский поток заявок",
                };
                let most = format!("в работе не больше {numbers}");
                let schedule = Some(schedule).filter(|it| !it.is_empty()).cloned();
                [Some("открытая модель".to_owned()), schedule, Some(arrivals.to_owned()), Some(most)]
                    .into_iter()
                    .flatten()
                    .collect()
            }
        };
        let protocol = match it.query_mode {
            QueryMode::Simple => "простой протокол",
            QueryMode::Extended => "расширенный протокол",
            QueryMode::Prepared => "подготовленные запросы",
        };
        parts.extend(sql.then(|| protocol.to_owned()));
        if it.reconnect {
            parts.push("новое соединение на каждую транзакцию".to_owned());
        }
        parts.extend(it.timeout.map(|it| format!("ожидание ответа не дольше {}", RU.chosen(it))));
        if it.max_tries > 1 {
            let tries = plural(it.max_tries.into(), "попытки", "попыток", "попыток");
            parts.push(format!("до {} {tries}", it.max_tries));
        }
        parts.join(", ")
    }

    fn window(&self, it: &Load, repeat: u32) -> String {
        let each = match it.duration {
            None => "до конца расписания".to_owned(),
            Some(it) if repeat == 1 => RU.span(it),
            Some(it) => format!("по {}", RU.span(it)),
        };
        let warmup = match it.warmup {
            Nanos::ZERO => String::new(),
            it => format!(" после прогрева в {}", RU.span(it)),
        };
        match repeat {
            1 => format!("один раз, {each}{warmup}"),
            n => format!("{}, {each}{warmup}", counted(n.into(), "раз", "раза", "раз")),
        }
    }

    fn dataset(&self, it: &Dataset) -> String {
        let rows = |it: u64| counted(it, "строка", "строки", "строк");
        let content = match &it.content {
            Content::Tickets { rows: n } => format!("book.tickets, {}", rows(*n)),
            Content::Profiles { users, per_user } => format!(
                "профили, {}, по {} у каждого",
                counted(*users, "пользователь", "пользователя", "пользователей"),
                RU.count(*per_user)
            ),
            Content::Pgbench { scale } => {
                format!("таблицы pgbench, масштаб {}", RU.count((*scale).into()))
            }
            Content::Delivery { scale } => {
                format!("delivery.send и delivery.receive, масштаб {}", RU.plain(*scale))
            }
            Content::Users { users } => {
                let of = counted(*users, "пользователь", "пользователя", "пользователей");
                format!("social.users, {of}")
            }
            Content::Books { rows: n } => format!("book.bookv2, {}", rows(*n)),
            Content::Declared(tables) => tables
                .iter()
                .map(|it| format!("{}, {}", it.name, rows(it.rows)))
                .collect::<Vec<_>>()
                .join("; "),
        };
        let cache = match it.cache {
            CacheState::Warm => "кэш прогрет",
            CacheState::Cold => "кэш холодный",
            CacheState::AsIs => "кэш такой, каким его оставила загрузка",
        };
        format!("{content}; {cache}; начальное число {}", it.seed)
    }

    fn limits(&self, it: &Limits) -> String {
        let mut parts = Vec::new();
        let unit = |number: String, unit: &str| format!("{number}\u{a0}{unit}");
        parts.extend(it.cpu.map(|it| unit(RU.plain(it), "ЦП")));
        if !it.cpus.is_empty() {
            let cpus: Vec<String> = it.cpus.iter().map(u32::to_string).collect();
            let cores = if cpus.len() == 1 { "на ядре" } else { "на ядрах" };
            parts.push(format!("{cores} {}", cpus.join(", ")));
        }
        parts.extend(it.memory.map(|it| format!("память {}", RU.bytes(it as f64))));
        parts.extend(it.read_iops.map(|it| unit(RU.count(it), "чтений/с")));
        parts.extend(it.write_iops.map(|it| unit(RU.count(it), "записей/с")));
        parts.extend(it.read_bps.map(|it| format!("чтение {}/с", RU.bytes(it as f64))));
        parts.extend(it.write_bps.map(|it| format!("запись {}/с", RU.bytes(it as f64))));
        parts.join(", ")
    }

    fn no_limit(&self, limit: &str, why: &str) -> String {
        let why = if why.is_empty() { String::new() } else { format!(": {why}") };
        format!("ограничение {limit} не действует{why}")
    }

    fn times(&self, service: bool, which: &str) -> String {
        format!("{}, {which}, мс", if service { "обслуживание" } else { "ответ" })
    }

    fn size(&self, which: &str) -> String {
        if which.is_empty() {
            "размер ответа".to_owned()
        } else {
            format!("размер, {which}")
        }
    }

    fn room(&self, it: &ConcurrencyLimit) -> String {
        match it {
            ConcurrencyLimit::Pool(mode, size) => format!("{}, пул {size}", self.pool_mode(*mode)),
            ConcurrencyLimit::MaxConn(bound) => format!("maxconn {bound}"),
            ConcurrencyLimit::Slots(slots) => counted((*slots).into(), "слот", "слота", "слотов"),
        }
    }

    fn processors(&self, used: f64, of: Option<f64>) -> String {
        let of = of.map_or(String::new(), |it| format!(" из {}", RU.plain(it)));
        format!("занято {}{of}\u{a0}ЦП", RU.fixed(used, 2))
    }

    fn held_back(&self, share: f64) -> String {
        format!("придержан квотой в {} периодов", RU.percent(share, 0))
    }

    fn standing(&self, it: BottleneckRole) -> &'static str {
        match it {
            BottleneckRole::Processor => "предел здесь: процессор",
            BottleneckRole::Pool => "предел здесь: размер пула",
            BottleneckRole::Queue => "очередь стоит здесь",
        }
    }

    fn occupied(&self, busy: Option<f64>, queue: Option<f64>) -> Option<String> {
        let busy = busy.map(|it| format!("в работе {}", RU.three(it)));
        let queue = queue.map(|it| format!("в очереди {}", RU.three(it)));
        let parts: Vec<String> = [busy, queue].into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    fn spent(&self, it: Nanos) -> String {
        format!("{} на транзакцию", RU.time(it))
    }

    fn seat(&self, name: &str, it: ServerSeat, at_first: bool) -> String {
        let seat = match it {
            ServerSeat::Primary => "основной",
            ServerSeat::Replica => "реплика",
        };
        format!("{name}, {}{seat}", if at_first { "сначала " } else { "" })
    }

    fn followed(&self, it: SyncMode) -> String {
        match it {
            SyncMode::Async => "журнал, фиксация не ждёт".to_owned(),
            SyncMode::First(1) => "журнал, фиксация ждёт первую".to_owned(),
            SyncMode::First(k) => format!("журнал, фиксация ждёт первые {k}"),
            SyncMode::Any(1) => "журнал, фиксация ждёт любую".to_owned(),
            SyncMode::Any(k) => format!("журнал, фиксация ждёт любые {k}"),
        }
    }

    fn manages(&self, it: &FailoverManager) -> Vec<String> {
        match it {
            FailoverManager::Builtin(it) => {
                let which = match it.policy {
                    PromotionPolicy::Advanced => "повышает самую полную реплику",
                    PromotionPolicy::Laggard => "повышает самую отставшую реплику",
                };
                let mut lines =
                    vec![format!("{which}, когда основной сервер молчит {}", RU.chosen(it.timeout))];
                lines.extend((!it.fence).then(|| "прежний основной сервер сначала не убивает".to_owned()));
                lines
            }
            FailoverManager::Patroni(it) => vec![
                format!("повышает реплику, когда ключ лидера не обновлялся {}", RU.chosen(it.ttl)),
                format!("etcd: {}", counted(it.etcd.into(), "сервер", "сервера", "серверов")),
            ],
        }
    }

    fn with_replicas(&self, n: usize, followed: &str, manager: &str) -> String {
        let replicas = counted(n as u64, "реплика", "реплики", "реплик");
        format!(", {replicas} ({followed}), повышает {manager}")
    }

    fn drawn(&self, way: &str, longest: Option<(&str, Nanos)>) -> String {
        let longest = longest.map_or(String::new(), |(node, time)| {
            format!("; больше всего времени транзакция проводит в узле «{node}»: {}", RU.time(time))
        });
        format!("{way}{longest}")
    }

    fn shaded(&self, figure: &str, baseline: Option<&str>) -> String {
        let beside = baseline.map_or(String::new(), |it| format!(", лучше или хуже, чем в {it}"));
        format!("{figure}{beside}")
    }

    fn chart(&self, it: ChartKind) -> &'static str {
        match it {
            ChartKind::Rate => "Предложено и выполнено",
            ChartKind::Response => "Время ответа",
            ChartKind::ResponseByOperation => "Время ответа по операциям",
            ChartKind::Failures => "Ошибки по кодам",
            ChartKind::InFlight => "В работе и в очереди ожидания",
            ChartKind::Pooler => "Пулеры и балансировщики",
            ChartKind::Connections => "Сеансы PostgreSQL",
            ChartKind::Processors => "Процессоры",
            ChartKind::Disk => "Диск",
            ChartKind::Waits => "Чего ждут активные сеансы",
            ChartKind::ReplicationLag => "Отставание реплик",
            ChartKind::Freshness => "Через сколько подтверждённое видно на репликах",
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

    fn track(&self, it: ChartSeriesKind) -> String {
        let word = match it {
            ChartSeriesKind::Offered => "предложено",
            ChartSeriesKind::Delivered => "выполнено",
            ChartSeriesKind::Quantile(q) | ChartSeriesKind::SendLag(q) => return quantile(q),
            ChartSeriesKind::Max => "максимум",
            ChartSeriesKind::Failed => "ошибки",
            ChartSeriesKind::Unknown => "исход неизвестен",
            ChartSeriesKind::Refused => "отказано в соединении",
            ChartSeriesKind::Dropped => "отброшено",
            ChartSeriesKind::InFlight => "в работе",
            ChartSeriesKind::Waited => "ждали клиента",
            ChartSeriesKind::ClientsActive => "активные клиенты",
            ChartSeriesKind::ClientsWaiting => "ждущие клиенты",
            ChartSeriesKind::ServersActive => "занятые серверы",
            ChartSeriesKind::ServersIdle => "свободные серверы",
            ChartSeriesKind::Queue => "очередь",
            ChartSeriesKind::Sessions => "сеансы",
            ChartSeriesKind::Limit => "предел",
            ChartSeriesKind::Processors => "занято",
            ChartSeriesKind::Host => "вся машина",
            ChartSeriesKind::Read => "чтение",
            ChartSeriesKind::Written => "запись",
            ChartSeriesKind::Waiting => "ожидание",
            ChartSeriesKind::ReplicationLag => "отставание",
            ChartSeriesKind::Visible => "видно",
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
            EventKind::Fault => "сбой",
            EventKind::Reverted => "сбой устранён",
            EventKind::Promoted => "повышен до основного",
            EventKind::Rejoined => "вернулся репликой",
            EventKind::Other => "журнал",
        }
    }

    fn trial(&self, name: &str, repetition: u32) -> String {
        match name {
            "" => format!("измерение {repetition}"),
            name => format!("{name}, измерение {repetition}"),
        }
    }

    fn more_trials(&self, n: usize) -> String {
        format!("ещё {}", counted(n as u64, "измерение", "измерения", "измерений"))
    }

    fn all_steps(&self, n: usize) -> String {
        counted(n as u64, "шаг", "шага", "шагов")
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
            "processors" | "cpus" => "число процессоров",
            "memory" => "память",
            "files" => "открытые файлы (разрешено, возможно)",
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

/// `пользователи по ступеням: 1000 (по 50 в секунду) на 90 с, 500 на 60 с`; `numbers` are those of a single stage.
fn users(stages: &[UserStage], numbers: &str, last: u32) -> String {
    let rate = |it: &UserStage| {
        let rate = it.spawn_rate.map(|it| RU.plain(it));
        rate.map_or(String::new(), |it| format!(" (по {it} в секунду)"))
    };
    match stages {
        [only] => {
            let users = plural(last.into(), "пользователь", "пользователя", "пользователей");
            format!("{numbers} {users}{}", rate(only))
        }
        all => {
            let stage = |it: &UserStage| {
                let users = RU.count(it.users.into());
                format!("{users}{} на {}", rate(it), RU.span(it.duration))
            };
            format!("пользователи по ступеням: {}", all.iter().map(stage).collect::<Vec<_>>().join(", "))
        }
    }
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
