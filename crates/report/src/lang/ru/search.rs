//! Russian: maxima, what was held for long, and grids.

use super::{NUMBERS as RU, Ru, counted, oblique, plural};
use crate::lang::number::Numbers;
use crate::lang::search::{
    CauseAnswer, MaximumAnswer, PlateauAnswer, SearchQuestion, SearchTerm, SearchWords,
};
use crate::page::number::{exact_digits, small, three_digits};
use model::Nanos;
use model::plan::{LoadScale, MaxSearch};
use model::search::{
    FittedValue, Knob, LevelOutcome, Limit, OverloadReason, Perturbation, ProofVerdict, RequiredConnections,
    Scalability, SearchResult, SearchStopReason, SoakResult, StepPurpose, TrendMetric, TrendVerdict,
};

impl SearchWords for Ru {
    fn sought(&self, it: SearchTerm) -> &'static str {
        match it {
            SearchTerm::Maximum => "Максимум и что его ограничивает",
            SearchTerm::Scalability => "Пропускная способность и число клиентов",
            SearchTerm::Endured => "Длительная нагрузка",
            SearchTerm::Plateau => "Каких настроек достаточно",
            SearchTerm::Steps => "Ход поиска",
            SearchTerm::Proofs => "Что меняли, чтобы найти причину",
            SearchTerm::Stage => "этап",
            SearchTerm::Round => "поиск",
            SearchTerm::Delivered => "выполнено/с",
            SearchTerm::P99 => "p99, мс",
            SearchTerm::Mean => "среднее, мс",
            SearchTerm::Outcome => "итог",
            SearchTerm::Changed => "изменено",
            SearchTerm::BaseMaximum => "максимум как есть",
            SearchTerm::NewMaximum => "с изменением",
            SearchTerm::Ratio => "отношение",
            SearchTerm::Elasticity => "эластичность",
            SearchTerm::Verdict => "вывод",
            SearchTerm::Clients => "клиенты",
            SearchTerm::Measured => "измерено/с",
            SearchTerm::ByLaw => "по закону/с",
            SearchTerm::What => "что",
            SearchTerm::From => "в начале",
            SearchTerm::To => "в конце",
            SearchTerm::PerHour => "в час (95\u{a0}%)",
            SearchTerm::Course => "ход",
            SearchTerm::Cell => "ячейка",
            SearchTerm::MaximumOfCell => "максимум (95\u{a0}%)",
            SearchTerm::P99OfCell => "p99, мс (95\u{a0}%)",
            SearchTerm::OnPlateau => "на плато",
            SearchTerm::Yes => "да",
            SearchTerm::Best => "да, лучшая",
            SearchTerm::Recommended => "да, рекомендуется",
            SearchTerm::NoAnswer => "нет ответа",
        }
    }

    fn scale(&self, it: LoadScale) -> &'static str {
        match it {
            LoadScale::Rate => "заявки/с",
            LoadScale::Clients => "клиенты",
        }
    }

    fn stage(&self, it: StepPurpose) -> &'static str {
        match it {
            StepPurpose::Ramp => "разгон",
            StepPurpose::Rest => "разгрузка",
            StepPurpose::Narrow => "сужение",
            StepPurpose::Hold => "удержание найденного",
            StepPurpose::Confirm => "подтверждение",
            StepPurpose::Soak => "длительная нагрузка",
        }
    }

    fn level(&self, scale: LoadScale, level: f64) -> String {
        match scale {
            LoadScale::Rate => arrivals(level, ["заявка", "заявки", "заявок"]),
            LoadScale::Clients => counted(level.round() as u64, "клиент", "клиента", "клиентов"),
        }
    }

    fn outcome(&self, it: &LevelOutcome, scale: LoadScale) -> String {
        match it {
            LevelOutcome::Yes => "выдержано".to_owned(),
            LevelOutcome::No { reason: why } => self.broke(why),
            LevelOutcome::Invalid { reason: why } => format!("не учитывается: {}", self.hindered(why, scale)),
        }
    }

    fn broke(&self, it: &OverloadReason) -> String {
        match it {
            OverloadReason::Objective { text } => format!("не соблюдается {text}"),
            OverloadReason::FellBehind { share } => {
                format!("выполняется только {} предложенного", RU.percent(*share, 1))
            }
            OverloadReason::ClientsSaturated { clients } => {
                format!("все клиенты ({}) заняты, и новые только ждали бы", RU.count((*clients).into()))
            }
            OverloadReason::InFlightGrows { per_second } => {
                format!("число заявок в работе непрерывно растёт, на {} в секунду", RU.three(*per_second))
            }
            OverloadReason::Rule { rule } => format!("срабатывает правило останова {rule}"),
        }
    }

    fn hindered(&self, it: &SearchStopReason, scale: LoadScale) -> String {
        match it {
            SearchStopReason::Generator => "генератор опаздывал или не имел запаса".to_owned(),
            SearchStopReason::Descriptors => "кончились файловые дескрипторы или локальные порты".to_owned(),
            SearchStopReason::ClientCap { clients } => format!(
                "все клиенты ({}) были заняты, и открытый тест превратился в закрытый",
                RU.count((*clients).into())
            ),
            SearchStopReason::MaxLevelHeld { level } => {
                format!("выше не пробовали (граница поиска — {})", self.level(scale, *level))
            }
            SearchStopReason::MinLevelFailed { level } => {
                format!("не выдержан даже наименьший уровень ({})", self.level(scale, *level))
            }
            SearchStopReason::Undecided { level } => {
                format!(
                    "один и тот же уровень система то выдерживает, то нет ({})",
                    self.level(scale, *level)
                )
            }
            SearchStopReason::Failed { reason: why } => why.clone(),
        }
    }

    fn limit(&self, it: &Limit) -> String {
        match it {
            Limit::Cpu { node } => format!("процессор узла {node}"),
            Limit::Reads { node } => format!("чтение с диска на узле {node}"),
            Limit::Writes { node } => format!("запись на диск на узле {node}"),
            Limit::WalFlush => "сброс журнала предзаписи на диск".to_owned(),
            Limit::SyncReplicas => "ожидание синхронных реплик".to_owned(),
            Limit::Memory { node } => format!("память узла {node}"),
            Limit::Pool { node } => format!("пул узла {node}"),
            Limit::ServicePool { node } => format!("пул соединений сервиса {node}"),
            Limit::ServiceThreads { node } => format!("потоки сервиса {node}"),
            Limit::Slots { node } => format!("слоты подключений узла {node}"),
            Limit::RowLocks { statement: None } => "блокировки строк".to_owned(),
            Limit::RowLocks { statement: Some(it) } => format!("блокировки строк в запросе {it}"),
            Limit::Scan { table, ddl: None } => format!("полный просмотр таблицы {table}"),
            Limit::Scan { table, ddl: Some(ddl) } => {
                format!("полный просмотр таблицы {table}, которой не хватает {ddl}")
            }
            Limit::Checkpoints => "контрольные точки".to_owned(),
            Limit::Clients => "число клиентов".to_owned(),
            Limit::ClientCap => "граница числа заявок в работе".to_owned(),
            Limit::Feed { feed } => format!("лента {feed}, которая помещается в кэш"),
            Limit::Host => "процессоры машины".to_owned(),
            Limit::Generator => "генератор".to_owned(),
        }
    }

    fn nudge(&self, it: &Perturbation) -> String {
        let what = match &it.knob {
            Knob::Cpu { node } => format!("процессоры узла {node}"),
            Knob::ReadIops { node } => format!("чтений в секунду на узле {node}"),
            Knob::WriteIops { node } => format!("записей в секунду на узле {node}"),
            Knob::Memory { node } => format!("память узла {node}"),
            Knob::PoolSize { node } => format!("пул узла {node}"),
            Knob::ServiceEnv { node, variable } => format!("{variable} сервиса {node}"),
            Knob::Slots { node } => format!("max_connections узла {node}"),
            Knob::Clients => "клиенты".to_owned(),
            Knob::Setting { name, value } => format!("{name} = {value}"),
            Knob::Index { ddl } => ddl.clone(),
            Knob::FeedRows { feed } => format!("строки ленты {feed}"),
        };
        let amount = |value: f64| match it.knob {
            Knob::Memory { .. } => self.bytes(value),
            _ => RU.write(&exact_digits(value)),
        };
        it.amount.map_or(what.clone(), |(was, is)| format!("{what}: {} → {}", amount(was), amount(is)))
    }

    fn proven(&self, it: ProofVerdict) -> &'static str {
        match it {
            ProofVerdict::Limits => "ограничивает",
            ProofVerdict::DoesNotLimit => "не ограничивает",
            ProofVerdict::Undecided => "не решено",
        }
    }

    fn asked(&self, it: SearchQuestion, way: &str) -> String {
        let what = if way.is_empty() { "каждая ячейка" } else { way };
        match it {
            SearchQuestion::Maximum => {
                format!("Сколько самое большее выдерживает {what} и что его ограничивает?")
            }
            SearchQuestion::Endurance => {
                format!("Выдерживает ли {what} нагрузку долго и что при этом меняется?")
            }
            SearchQuestion::Plateau => "Каких настроек достаточно?".to_owned(),
        }
    }

    fn reached(&self, it: &MaximumAnswer<'_>) -> String {
        let answer = it.answer;
        let hindered = answer.stop_reason.as_ref().map(|it| self.hindered(it, answer.scale));
        let name = if it.name.is_empty() { String::new() } else { format!("{}: ", it.name) };
        let Some(level) = answer.level else {
            let why = hindered.unwrap_or_else(|| "поиск не окончен".to_owned());
            let suspected = match it.cause {
                CauseAnswer::Suspected { limit } => {
                    format!("; предположительная причина — {}", self.limit(limit))
                }
                _ => String::new(),
            };
            return format!("{name}ответа нет, потому что {why}{suspected}.");
        };
        let (at_least, beyond) = match (&hindered, &answer.overload) {
            (Some(why), _) => ("не менее чем ", format!("; о большем ничего не известно: {why}")),
            (None, Some(why)) => ("", format!("; выше {}", self.broke(why))),
            (None, None) => ("", String::new()),
        };
        let mut sure = Vec::new();
        sure.extend(
            answer
                .interval
                .map(|(low, high)| format!("95\u{a0}%: от {} до {}", RU.three(low), RU.three(high))),
        );
        sure.extend((it.rounds > 1).then(|| counted(it.rounds as u64, "поиск", "поиска", "поисков")));
        let (held, of) = answer.confirmed;
        sure.extend((of > 0).then(|| format!("подтверждено {held} из {of}")));
        let sure = if sure.is_empty() { String::new() } else { format!(" ({})", sure.join(", ")) };
        let delivered = match (answer.scale, answer.delivered) {
            (LoadScale::Clients, Some(it)) => {
                format!(", при этом {} в секунду", said_of(it.0, ["транзакция", "транзакции", "транзакций"]))
            }
            _ => String::new(),
        };
        let cause = match it.cause {
            CauseAnswer::Proven { limit, by, elasticity, ratio } => {
                let proof = match (elasticity, ratio) {
                    (Some(it), _) => format!(" (эластичность {})", self.elasticity(&it)),
                    (None, Some(it)) if matches!(limit, Limit::Feed { .. }) => {
                        format!(" (со строками всей таблицы отношение {})", self.within(&it))
                    }
                    (None, Some(it)) => format!(" (без этого больше, отношение {})", self.within(&it)),
                    (None, None) => String::new(),
                };
                let by = by.map_or(String::new(), |it| format!(", который занимает {}", self.limit(it)));
                format!("; предел — {}{proof}{by}", self.limit(limit))
            }
            CauseAnswer::Suspected { limit } => {
                format!("; причина не доказана, предположительно {}", self.limit(limit))
            }
            CauseAnswer::NotKnown => "; причина не доказана".to_owned(),
        };
        format!("{name}выдерживает {at_least}{}{sure}{delivered}{cause}{beyond}.", borne(answer.scale, level))
    }

    fn answered(&self, answered: usize, of: usize) -> String {
        format!("ответ есть для {answered} из {of} {}", oblique(of as u64, "ячейки", "ячеек"))
    }

    fn rounds(&self, all: &[SearchResult]) -> String {
        let each = all
            .iter()
            .map(|it| it.level.map_or(self.sought(SearchTerm::NoAnswer).to_owned(), |it| RU.three(it)));
        format!("По отдельным поискам: {}.", each.collect::<Vec<_>>().join(RU.among()))
    }

    fn search_window(&self, it: &MaxSearch, warmup: Nanos, repeat: u32) -> String {
        let warmup = match warmup {
            Nanos::ZERO => String::new(),
            it => format!(" после прогрева в {}", self.span(it)),
        };
        let often = match repeat {
            1 => String::new(),
            n => format!(", поиск проводился {}", counted(n.into(), "раз", "раза", "раз")),
        };
        format!(
            "каждый раз {}{warmup}, на найденном уровне {}{often}",
            self.span(it.window),
            self.span(it.hold)
        )
    }

    fn measured_for(&self, trials: u32, measured: Nanos) -> String {
        let trials = counted(trials.into(), "измерение", "измерения", "измерений");
        format!("{trials}, под нагрузкой {}.", self.span(measured))
    }

    fn law(&self, it: &Scalability) -> String {
        let peak = match it.peak {
            Some(it) => {
                let clients = oblique(it.round() as u64, "клиенте", "клиентах");
                format!("Больше всего выполняется при {} {clients}", RU.count(it.round() as u64))
            }
            None => {
                "Наибольшая пропускная способность лежит вне измеренных чисел клиентов, и о них ничего не \
                     утверждается"
                    .to_owned()
            }
        };
        format!(
            "По универсальному закону масштабируемости один клиент даёт λ = {} в секунду; соперничество σ = {}, \
             согласование κ = {}. {peak}. Закон объясняет {} дисперсии.",
            self.within(&it.lambda),
            parameter(&it.sigma),
            parameter(&it.kappa),
            RU.percent(it.r2, 1)
        )
    }

    fn endured(&self, it: &SoakResult, scale: LoadScale, name: &str) -> String {
        let name = if name.is_empty() { String::new() } else { format!("{name}: ") };
        let of = it.of_maximum.map_or(String::new(), |it| format!(" ({} максимума)", RU.percent(it, 0)));
        let lasting = self.span(it.duration);
        let held = match &it.outcome {
            LevelOutcome::Yes => {
                format!("{name}в течение {lasting} выдержано {}{of}", self.level(scale, it.level))
            }
            LevelOutcome::No { reason: why } => format!(
                "{name}в течение {lasting} не выдержано {}{of}: {}",
                self.level(scale, it.level),
                self.broke(why)
            ),
            LevelOutcome::Invalid { reason: why } => format!(
                "{name}ответа нет (уровень — {}{of}), потому что {}",
                self.level(scale, it.level),
                self.hindered(why, scale)
            ),
        };
        format!("{held}{}.", moved(it))
    }

    fn little_proof(&self, share: f64) -> String {
        format!(
            "При {} максимума это мало что доказывает: от того, что утекает или дрейфует под нагрузкой, почти ничего не \
             требовали.",
            RU.percent(share, 0)
        )
    }

    fn trended(&self, it: &TrendMetric) -> String {
        match it {
            TrendMetric::Memory { node } => format!("память узла {node}"),
            TrendMetric::Median => "медиана времени ответа".to_owned(),
            TrendMetric::P99 => "p99 времени ответа".to_owned(),
            TrendMetric::Connections { node } => format!("соединения узла {node}"),
            TrendMetric::DeadRows { table } if table.is_empty() => "мёртвые строки всех таблиц".to_owned(),
            TrendMetric::DeadRows { table } => format!("мёртвые строки таблицы {table}"),
            TrendMetric::Size { table } if table.is_empty() => "размер базы данных".to_owned(),
            TrendMetric::Size { table } => format!("размер таблицы {table}"),
            TrendMetric::Throughput => "пропускная способность".to_owned(),
            TrendMetric::Files { node } => format!("открытые файлы узла {node}"),
        }
    }

    fn course(&self, it: TrendVerdict) -> &'static str {
        match it {
            TrendVerdict::Leak => "утечка",
            TrendVerdict::Drift => "дрейф",
            TrendVerdict::Steady => "неизменно",
            TrendVerdict::Unknown => "судить нельзя",
        }
    }

    fn amount(&self, of: &TrendMetric, value: f64) -> String {
        match of {
            TrendMetric::Memory { .. } | TrendMetric::Size { .. } => self.bytes(value),
            // A slope may be below 0, which a time cannot.
            TrendMetric::Median | TrendMetric::P99 => RU.with_unit(&three_digits(1e3 * value), "мс"),
            TrendMetric::Throughput => format!("{}/с", RU.three(value)),
            TrendMetric::Connections { .. } | TrendMetric::DeadRows { .. } | TrendMetric::Files { .. } => {
                RU.write(&exact_digits(value))
            }
        }
    }

    fn enough(&self, it: &PlateauAnswer<'_>) -> String {
        let figure = if it.maxima { "лучший максимум" } else { "лучшее p99" };
        let figure = match it.recommended {
            Some(least) if least != it.best => format!("Достаточно {least}: {figure}"),
            _ if it.maxima => "Лучший максимум".to_owned(),
            _ => "Лучшее p99".to_owned(),
        };
        let best = match (it.plateau - 1, it.of - it.plateau) {
            (0, 0) => format!("{figure} — {}", it.best),
            (0, left) => {
                let others = if left == 1 { "другой" } else { "всех остальных" };
                format!("{figure} — {}, и эта ячейка доказанно лучше {others}", it.best)
            }
            (others, left) => {
                let among = match left {
                    0 if others == 1 => "другой".to_owned(),
                    0 => "всех остальных".to_owned(),
                    _ => format!(
                        "{others} из {} {}",
                        others + left,
                        oblique((others + left) as u64, "остальной", "остальных")
                    ),
                };
                format!("{figure} — {}, но не доказано, что эта ячейка лучше {among}", it.best)
            }
        };
        match it.recommended {
            Some(least) if least != it.best => {
                format!("{best}, а меньше всех требует {least}.")
            }
            _ => format!("{best}."),
        }
    }

    fn need(&self, it: &RequiredConnections) -> String {
        let rate = three_digits(it.rate);
        let processors = match it.processors {
            whole if whole.fract() == 0.0 => counted(whole as u64, "процессор", "процессора", "процессоров"),
            part => format!("{} процессора", RU.three(part)),
        };
        format!(
            "Транзакциям, которых {} в секунду и каждая из которых держит соединение {}, в среднем нужно соединений: {} \
             (закон Литтла); у PostgreSQL {processors}.",
            RU.write(&rate),
            RU.seconds(it.hold_time),
            RU.three(it.connections),
        )
    }

    fn numerals(&self) -> &'static Numbers {
        &RU
    }

    fn within(&self, it: &FittedValue) -> String {
        let range = it
            .interval
            .map_or(String::new(), |(low, high)| format!(" [{}; {}]", RU.three(low), RU.three(high)));
        format!("{}{range}", RU.three(it.value))
    }
}

/// A number of three digits and what it counts; a broken number takes the genitive singular: 1,5 заявки.
fn said_of(it: f64, [one, few, many]: [&'static str; 3]) -> String {
    let number = exact_digits(it);
    let what = number.parse::<u64>().map_or(few, |whole| plural(whole, one, few, many));
    format!("{} {what}", RU.write(&number))
}

fn arrivals(it: f64, forms: [&'static str; 3]) -> String {
    format!("{} в секунду", said_of(it, forms))
}

/// A level as what is borne: 21 заявку, 21 клиента.
fn borne(scale: LoadScale, level: f64) -> String {
    match scale {
        LoadScale::Rate => arrivals(level, ["заявку", "заявки", "заявок"]),
        LoadScale::Clients => counted(level.round() as u64, "клиента", "клиента", "клиентов"),
    }
}

/// What leaks and drifts, after what was held.
fn moved(it: &SoakResult) -> String {
    let those = |course: TrendVerdict| -> Vec<String> {
        it.trends.iter().filter(|it| it.verdict == course).map(|it| Ru.trended(&it.metric)).collect()
    };
    let found: Vec<String> = [("утекает", TrendVerdict::Leak), ("дрейфует", TrendVerdict::Drift)]
        .into_iter()
        .map(|(what, course)| (what, those(course)))
        .filter(|it| !it.1.is_empty())
        .map(|(what, those)| format!("; {what}: {}", those.join(", ")))
        .collect();
    match (it.trends.is_empty(), found.is_empty(), those(TrendVerdict::Unknown).len()) {
        (true, ..) => String::new(),
        (_, false, _) => found.concat(),
        (_, true, 0) => "; утечек и дрейфа нет".to_owned(),
        (_, true, unknown) => {
            let of = it.trends.len();
            let series = oblique(of as u64, "ряда", "рядов");
            format!("; утечек и дрейфа не видно, но о {unknown} из {of} {series} судить нельзя")
        }
    }
}

/// Of a law, however far below 1.
fn parameter(it: &FittedValue) -> String {
    let written = |it: f64| small(it, &Ru);
    let range =
        it.interval.map_or(String::new(), |(low, high)| format!(" [{}; {}]", written(low), written(high)));
    format!("{}{range}", written(it.value))
}
