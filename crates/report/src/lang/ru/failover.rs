//! Russian: faults, and what outlived them.

use super::{NUMBERS as RU, Ru, counted, oblique, plural};
use crate::lang::failover::{FailoverTerm, FailoverWords, FaultStatus, LossKind, TimelineEvent};
use model::Nanos;
use model::durability::{AnomalyKind, Conclusion, InconclusiveReason, RecoveryPoint};
use model::fault_injection::{
    ControlSummary, FailoverResult, PromotionRecord, ReadBackPhase, ReadBackRecord, RejoinRecord,
};

impl FailoverWords for Ru {
    fn outlived(&self, it: FailoverTerm) -> &'static str {
        match it {
            FailoverTerm::Failover => "Переключение",
            FailoverTerm::Findings => "Что обнаружено",
            FailoverTerm::Cell => "ячейка",
            FailoverTerm::Conclusion => "обещанное",
            FailoverTerm::Failovers => "переключения",
            FailoverTerm::Acknowledged => "подтверждено",
            FailoverTerm::Lost => "потеряно",
            FailoverTerm::LostLocally => "потеряно, с предупреждением",
            FailoverTerm::Unknown => "неизвестно (из них есть)",
            FailoverTerm::Refused => "отклонено",
            FailoverTerm::Misrouted => "не по адресу",
            FailoverTerm::Outage => "без записи",
            FailoverTerm::Promoted => "повышение через",
            FailoverTerm::Healthy => "готовность через",
            FailoverTerm::Rejoined => "прежний вернулся за",
            FailoverTerm::Control => "потеряно в контроле",
            FailoverTerm::Finding => "вывод",
            FailoverTerm::Count => "число",
            FailoverTerm::Meaning => "что это значит",
            FailoverTerm::Examples => "сеанс/номер",
        }
    }

    fn asked_of_failovers(&self, way: &str) -> String {
        let of = if way.is_empty() { String::new() } else { format!(" ({way})") };
        format!("Переживает ли переключение каждая подтверждённая запись{of} и как долго невозможна запись?")
    }

    fn survival(&self, it: &FailoverResult, name: &str) -> String {
        let n = u64::from(it.failovers);
        let failovers = |n| counted(n, "переключение", "переключения", "переключений");
        let during = if n == 0 {
            "без переключения".to_owned()
        } else {
            format!("за {}", failovers(n))
        };
        let lost = format!(
            "{} {} из {} {} {during}",
            plural(it.lost, "потеряна", "потеряны", "потеряно"),
            RU.count(it.lost),
            RU.count(it.counts.acknowledged),
            oblique(it.counts.acknowledged, "подтверждённой записи", "подтверждённых записей"),
        );
        let told = match LossKind::of(it) {
            LossKind::NotKnown => {
                format!(
                    "{}; журнала записей нет ни у одной операции, и что потеряно, неизвестно",
                    failovers(n)
                )
            }
            LossKind::None if n == 0 => lost,
            LossKind::None => {
                format!("{lost} (95\u{a0}%: что-то теряют менее {} переключений)", RU.percent(it.bound, 0))
            }
            LossKind::Unpromised { before: Some(point), .. } => {
                format!("{lost}: точка восстановления\u{a0}— {}, обещано ничего не было", self.time(point))
            }
            LossKind::Unpromised { after: Some(until), .. } => format!(
                "{lost}, все подтверждены не позже чем через {} после сбоя; обещано ничего не было",
                self.time(until)
            ),
            LossKind::Unpromised { .. } => format!("{lost}; обещано ничего не было"),
            LossKind::Broken => {
                let violations = it.anomalies.iter().filter(|it| it.kind.is_violation());
                let each: Vec<String> = violations
                    .map(|it| format!("{}\u{a0}— {}", self.kind(it.kind), RU.count(it.count)))
                    .collect();
                format!("обещание нарушено: {}; {lost}", each.join(", "))
            }
            LossKind::Unproven => {
                let why = it.doubts.first().map_or(String::new(), |it| format!(": {}", self.unproven(it)));
                let more = match it.doubts.len() as u64 {
                    0 | 1 => String::new(),
                    n => format!(" (и ещё {})", counted(n - 1, "сомнение", "сомнения", "сомнений")),
                };
                format!("не доказано{why}{more}; {lost}")
            }
        };
        let outage = it.outage.map_or(String::new(), |it| {
            let [median, greatest] = [it.median, it.max].map(|it| self.time(it));
            match it.min == it.max {
                true => format!(" Запись была невозможна {median}."),
                false => format!(" Запись была невозможна {median} (медиана), самое большее {greatest}."),
            }
        });
        let name = if name.is_empty() { String::new() } else { format!("{name}: ") };
        format!("{name}{told}.{outage}")
    }

    fn conclusion(&self, it: Conclusion) -> &'static str {
        match it {
            Conclusion::Kept => "соблюдено",
            Conclusion::Broken => "нарушено",
            Conclusion::Unknown => "не доказано",
        }
    }

    fn kind(&self, it: AnomalyKind) -> &'static str {
        match it {
            AnomalyKind::Lost => "потерянные записи",
            AnomalyKind::Hole => "пропуски",
            AnomalyKind::Flicker => "мерцающие записи",
            AnomalyKind::FalseFailure => "ложные отказы",
            AnomalyKind::Phantom => "фантомы",
            AnomalyKind::Duplicate => "дубликаты",
            AnomalyKind::SplitBrain => "записи на смещённом сервере",
            AnomalyKind::WrongPromotion => "ошибочные повышения",
            AnomalyKind::LostAmbiguous => "потери при смене обещания",
            AnomalyKind::LostWithoutPromise => "потери без обещания",
            AnomalyKind::LostLocal => "потери с предупреждением",
            AnomalyKind::DuplicateByRetry => "дубликаты из-за повторов",
        }
    }

    fn meaning(&self, it: AnomalyKind) -> &'static str {
        match it {
            AnomalyKind::Lost => "подтверждены с обещанием пережить основной сервер и исчезли",
            AnomalyKind::Hole => "исчезли, хотя более поздняя запись того же сеанса на том же сервере есть",
            AnomalyKind::Flicker => "в одном чтении есть, в другом нет, и между ними ничего не происходило",
            AnomalyKind::FalseFailure => "отклонены, но есть",
            AnomalyKind::Phantom => "есть, хотя никто их не делал",
            AnomalyKind::Duplicate => "есть несколько раз после единственной попытки",
            AnomalyKind::SplitBrain => "подтверждены прежним основным сервером, когда подтверждал уже новый",
            AnomalyKind::WrongPromotion => "повышена реплика, у которой могло быть не всё",
            AnomalyKind::LostAmbiguous => "подтверждены во время смены обещания и исчезли",
            AnomalyKind::LostWithoutPromise => "подтверждены без обещания пережить основной сервер и исчезли",
            AnomalyKind::LostLocal => {
                "подтверждены с предупреждением, что есть только на этом сервере, и исчезли"
            }
            AnomalyKind::DuplicateByRetry => "есть несколько раз после нескольких попыток",
        }
    }

    fn unproven(&self, it: &InconclusiveReason) -> String {
        let writes =
            |n| counted(n, "подтверждённая запись", "подтверждённые записи", "подтверждённых записей");
        match it {
            InconclusiveReason::NotReadBack => "обратно ничего не прочитано".to_owned(),
            InconclusiveReason::NewerThanReadBacks { count } => {
                format!("{} позже всех чтений", writes(*count))
            }
            InconclusiveReason::ReadFromStandby { reading } => {
                format!("чтение {} сделано с сервера в режиме восстановления", reading + 1)
            }
            InconclusiveReason::ReadFromOldTimeline { reading } => {
                format!("чтение {} сделано со старой линии времени", reading + 1)
            }
            InconclusiveReason::ReadFromOtherSystem { reading } => {
                format!("чтение {} сделано из другой системы", reading + 1)
            }
            InconclusiveReason::StandbyAcknowledged { .. } => {
                "записи подтверждал сервер в режиме восстановления".to_owned()
            }
            InconclusiveReason::MultipleSystems => "записи подтверждали серверы разных систем".to_owned(),
            InconclusiveReason::NoWritesAfterFault { fault } => {
                format!("после сбоя {} ничего не подтверждено", fault + 1)
            }
            InconclusiveReason::NoNewTimelineAfterFault { fault } => {
                format!("после сбоя {} не появилось другой линии времени", fault + 1)
            }
            InconclusiveReason::LedgerOpen => {
                "журнал записей не закрыт, и в его конце может чего-то не быть".to_owned()
            }
            InconclusiveReason::LedgerTorn { bytes } => format!(
                "конец журнала записей ({}) прочитать нельзя",
                counted(*bytes, "байт", "байта", "байт")
            ),
            InconclusiveReason::LedgerContradictsItself { entries } => format!(
                "в журнале записей {} {} другим",
                counted(*entries, "строка", "строки", "строк"),
                plural(*entries, "противоречит", "противоречат", "противоречат"),
            ),
            InconclusiveReason::LedgerHasGaps { writes } => format!(
                "в журнале записей нет исхода {} {}",
                RU.count(*writes),
                oblique(*writes, "записи", "записей")
            ),
            InconclusiveReason::PromiseUnknown { count } => format!(
                "неизвестно, что было обещано об {} {}",
                RU.count(*count),
                oblique(*count, "исчезнувшей записи", "исчезнувших записях")
            ),
            InconclusiveReason::LostWhilePromiseChanged => {
                "записи потеряны во время смены обещания".to_owned()
            }
            InconclusiveReason::NoFault => "с системой ничего не делали".to_owned(),
            InconclusiveReason::NoControl => "не было положительного контроля".to_owned(),
            InconclusiveReason::ControlLostNothing => "положительный контроль ничего не потерял".to_owned(),
        }
    }

    fn untold(&self, writes: u64) -> String {
        let sent = plural(
            writes,
            "запись могла быть отправлена",
            "записи могли быть отправлены",
            "записей могли быть отправлены",
        );
        format!("Ещё {} {sent} или нет: там, где журнал записей не закрыт, это неизвестно.", RU.count(writes))
    }

    fn controlled(&self, it: &ControlSummary, name: &str) -> String {
        let name = if name.is_empty() { String::new() } else { format!(" ({name})") };
        let trials = u64::from(it.trials);
        match it.lossy_trials {
            0 => format!(
                "Положительный контроль{name} ничего не потерял за {}: ничто не показывает, что потеря была бы замечена.",
                counted(trials, "измерение", "измерения", "измерений"),
            ),
            lossy => format!(
                "Положительный контроль{name}, с которым делали то же самое, но где ничего не обещано, потерял {} в {} из \
                 {}: потеря замечается.",
                counted(it.lost, "подтверждённую запись", "подтверждённые записи", "подтверждённых записей"),
                RU.count(lossy.into()),
                format_args!("{} {}", RU.count(trials), oblique(trials, "измерения", "измерений")),
            ),
        }
    }

    fn recovery_point(&self, it: &RecoveryPoint) -> String {
        let moment = |ns: i64| {
            let time = self.time(Nanos(ns.unsigned_abs()));
            if ns < 0 {
                format!("за {time} до сбоя")
            } else {
                format!("через {time} после сбоя")
            }
        };
        let window = it.window_ns.map_or(String::new(), |(first, last)| match first == last {
            true => format!("; время подтверждения\u{a0}— {}", moment(first)),
            false => format!("; первая подтверждена {}, последняя\u{a0}— {}", moment(first), moment(last)),
        });
        format!(
            "Больше всего без обещания потеряно в одном измерении: {} {} {}, подряд не больше {}{window}.",
            counted(it.count, "запись", "записи", "записей"),
            RU.count(it.sessions.into()),
            oblique(it.sessions.into(), "сеанса", "сеансов"),
            RU.count(it.longest_run)
        )
    }

    fn deed(&self, it: &FaultStatus) -> &'static str {
        match it {
            FaultStatus::Kill => "все процессы убиты",
            FaultStatus::KillPostmaster => "убит главный процесс",
            FaultStatus::KillPatroni => "убит процесс Patroni",
            FaultStatus::Pause => "процессы приостановлены",
            FaultStatus::Restart => "перезапуск",
            FaultStatus::Switchover => "плановое переключение",
            FaultStatus::CutOff => "отрезан от сети",
            FaultStatus::FillDisk => "диск заполнен",
            FaultStatus::Withhold => "журнал не передаётся репликам",
        }
    }

    fn inflicted(&self, it: &FaultStatus, nodes: &[String], healed: Option<Nanos>) -> String {
        if nodes.is_empty() {
            return format!("не удалось: {}", self.deed(it));
        }
        let until = healed.map_or(String::new(), |it| format!(" (до {})", self.time(it)));
        format!("{}: {}{until}", nodes.join(", "), self.deed(it))
    }

    fn promotion(&self, it: &PromotionRecord) -> String {
        let healthy = it.healthy.map_or(String::new(), |it| format!(", готовность с {}", self.time(it)));
        let safe = match it.safe {
            Some(false) => ", у него могло быть не всё",
            Some(true) | None => "",
        };
        format!("{}: повышен до основного, линия времени {}{safe}{healthy}", it.to, it.timeline)
    }

    fn rejoining(&self, it: &RejoinRecord) -> String {
        let how = if it.rewound { "отмотан назад" } else { "скопирован заново" };
        format!("{}: вернулся репликой, {how} за {}", it.node, self.time(it.elapsed))
    }

    fn reading(&self, it: &ReadBackRecord) -> String {
        let after = match it.phase {
            ReadBackPhase::Load => "после нагрузки",
            ReadBackPhase::Rejoining => "после возврата прежнего основного сервера",
            ReadBackPhase::Restart => "после перезапуска всех серверов",
        };
        format!("{}: {after} прочитано {}", it.node, counted(it.rows, "метка", "метки", "меток"))
    }

    fn happening(&self, it: &TimelineEvent<'_>) -> String {
        match it {
            TimelineEvent::Done(it) => self.deed(it).to_owned(),
            TimelineEvent::Promoted(timeline) => format!("линия времени {timeline}"),
            TimelineEvent::Rewound => "отмотан назад".to_owned(),
            TimelineEvent::Copied => "скопирован заново".to_owned(),
        }
    }
}
