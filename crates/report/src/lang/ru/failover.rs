//! Russian: faults, and what outlived them.

use super::{NUMBERS as RU, Ru, counted, oblique, plural};
use crate::lang::Lang;
use crate::lang::failover::{Done, FailoverWords, Happening, Loss, Outlived};
use model::Nanos;
use model::durability::{Conclusion, Doubt, Kind, RecoveryPoint};
use model::ordeal::{After, Controlled, Promoted, ReadBack, Rejoined, Survival};

impl FailoverWords for Ru {
    fn outlived(&self, it: Outlived) -> &'static str {
        match it {
            Outlived::Failover => "Переключение",
            Outlived::Findings => "Что обнаружено",
            Outlived::Cell => "ячейка",
            Outlived::Conclusion => "обещанное",
            Outlived::Failovers => "переключения",
            Outlived::Acknowledged => "подтверждено",
            Outlived::Lost => "потеряно",
            Outlived::LostLocally => "потеряно, с предупреждением",
            Outlived::Unknown => "неизвестно (из них есть)",
            Outlived::Refused => "отклонено",
            Outlived::Misrouted => "не по адресу",
            Outlived::Outage => "без записи",
            Outlived::Promoted => "повышение через",
            Outlived::Healthy => "готовность через",
            Outlived::Rejoined => "прежний вернулся за",
            Outlived::Control => "потеряно в контроле",
            Outlived::Finding => "вывод",
            Outlived::Count => "число",
            Outlived::Meaning => "что это значит",
            Outlived::Examples => "сеанс/номер",
        }
    }

    fn asked_of_failovers(&self, way: &str) -> String {
        let of = if way.is_empty() { String::new() } else { format!(" ({way})") };
        format!("Переживает ли переключение каждая подтверждённая запись{of} и как долго невозможна запись?")
    }

    fn survival(&self, it: &Survival, name: &str) -> String {
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
        let told = match Loss::of(it) {
            Loss::NotKnown => {
                format!(
                    "{}; журнала записей нет ни у одной операции, и что потеряно, неизвестно",
                    failovers(n)
                )
            }
            Loss::None if n == 0 => lost,
            Loss::None => {
                format!("{lost} (95\u{a0}%: что-то теряют менее {} переключений)", RU.percent(it.bound, 0))
            }
            Loss::Unpromised { before: Some(point), .. } => {
                format!("{lost}: точка восстановления\u{a0}— {}, обещано ничего не было", self.time(point))
            }
            Loss::Unpromised { after: Some(until), .. } => format!(
                "{lost}, все подтверждены не позже чем через {} после сбоя; обещано ничего не было",
                self.time(until)
            ),
            Loss::Unpromised { .. } => format!("{lost}; обещано ничего не было"),
            Loss::Broken => {
                let violations = it.found.iter().filter(|it| it.kind.is_violation());
                let each: Vec<String> = violations
                    .map(|it| format!("{}\u{a0}— {}", self.kind(it.kind), RU.count(it.count)))
                    .collect();
                format!("обещание нарушено: {}; {lost}", each.join(", "))
            }
            Loss::Unproven => {
                let why = it.doubts.first().map_or(String::new(), |it| format!(": {}", self.unproven(it)));
                let more = match it.doubts.len() as u64 {
                    0 | 1 => String::new(),
                    n => format!(" (и ещё {})", counted(n - 1, "сомнение", "сомнения", "сомнений")),
                };
                format!("не доказано{why}{more}; {lost}")
            }
        };
        let outage = it.outage.map_or(String::new(), |it| {
            let [median, greatest] = [it.median, it.greatest].map(|it| self.time(it));
            match it.least == it.greatest {
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

    fn kind(&self, it: Kind) -> &'static str {
        match it {
            Kind::Lost => "потерянные записи",
            Kind::Hole => "пропуски",
            Kind::Flicker => "мерцающие записи",
            Kind::FalseFailure => "ложные отказы",
            Kind::Phantom => "фантомы",
            Kind::Duplicate => "дубликаты",
            Kind::SplitBrain => "записи на смещённом сервере",
            Kind::WrongPromotion => "ошибочные повышения",
            Kind::LostAmbiguous => "потери при смене обещания",
            Kind::LostUnpromised => "потери без обещания",
            Kind::LostLocal => "потери с предупреждением",
            Kind::DuplicateByRetry => "дубликаты из-за повторов",
        }
    }

    fn meaning(&self, it: Kind) -> &'static str {
        match it {
            Kind::Lost => "подтверждены с обещанием пережить основной сервер и исчезли",
            Kind::Hole => "исчезли, хотя более поздняя запись того же сеанса на том же сервере есть",
            Kind::Flicker => "в одном чтении есть, в другом нет, и между ними ничего не происходило",
            Kind::FalseFailure => "отклонены, но есть",
            Kind::Phantom => "есть, хотя никто их не делал",
            Kind::Duplicate => "есть несколько раз после единственной попытки",
            Kind::SplitBrain => "подтверждены прежним основным сервером, когда подтверждал уже новый",
            Kind::WrongPromotion => "повышена реплика, у которой могло быть не всё",
            Kind::LostAmbiguous => "подтверждены во время смены обещания и исчезли",
            Kind::LostUnpromised => "подтверждены без обещания пережить основной сервер и исчезли",
            Kind::LostLocal => "подтверждены с предупреждением, что есть только на этом сервере, и исчезли",
            Kind::DuplicateByRetry => "есть несколько раз после нескольких попыток",
        }
    }

    fn unproven(&self, it: &Doubt) -> String {
        let writes =
            |n| counted(n, "подтверждённая запись", "подтверждённые записи", "подтверждённых записей");
        match it {
            Doubt::NotRead => "обратно ничего не прочитано".to_owned(),
            Doubt::YoungerThanReadings { count } => {
                format!("{} позже всех чтений", writes(*count))
            }
            Doubt::ReadFromStandby { reading } => {
                format!("чтение {} сделано с сервера в режиме восстановления", reading + 1)
            }
            Doubt::ReadFromOldTimeline { reading } => {
                format!("чтение {} сделано со старой линии времени", reading + 1)
            }
            Doubt::ReadFromElsewhere { reading } => {
                format!("чтение {} сделано из другой системы", reading + 1)
            }
            Doubt::StandbyAcknowledged { .. } => {
                "записи подтверждал сервер в режиме восстановления".to_owned()
            }
            Doubt::SeveralSystems => "записи подтверждали серверы разных систем".to_owned(),
            Doubt::SilentAfterFault { fault } => format!("после сбоя {} ничего не подтверждено", fault + 1),
            Doubt::FaultUnseen { fault } => {
                format!("после сбоя {} не появилось другой линии времени", fault + 1)
            }
            Doubt::LedgerOpen => "журнал записей не закрыт, и в его конце может чего-то не быть".to_owned(),
            Doubt::LedgerTorn { bytes } => format!(
                "конец журнала записей ({}) прочитать нельзя",
                counted(*bytes, "байт", "байта", "байт")
            ),
            Doubt::LedgerContradictsItself { entries } => format!(
                "в журнале записей {} {} другим",
                counted(*entries, "строка", "строки", "строк"),
                plural(*entries, "противоречит", "противоречат", "противоречат"),
            ),
            Doubt::LedgerHasGaps { writes } => format!(
                "в журнале записей нет исхода {} {}",
                RU.count(*writes),
                oblique(*writes, "записи", "записей")
            ),
            Doubt::PromiseUnknown { count } => format!(
                "неизвестно, что было обещано об {} {}",
                RU.count(*count),
                oblique(*count, "исчезнувшей записи", "исчезнувших записях")
            ),
            Doubt::LostWhilePromiseChanged => "записи потеряны во время смены обещания".to_owned(),
            Doubt::NoFault => "с системой ничего не делали".to_owned(),
            Doubt::NoControl => "не было положительного контроля".to_owned(),
            Doubt::ControlLostNothing => "положительный контроль ничего не потерял".to_owned(),
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

    fn controlled(&self, it: &Controlled, name: &str) -> String {
        let name = if name.is_empty() { String::new() } else { format!(" ({name})") };
        let trials = u64::from(it.trials);
        match it.lossy {
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

    fn deed(&self, it: &Done) -> &'static str {
        match it {
            Done::Kill => "все процессы убиты",
            Done::KillPostmaster => "убит главный процесс",
            Done::KillPatroni => "убит процесс Patroni",
            Done::Pause => "процессы приостановлены",
            Done::Restart => "перезапуск",
            Done::Switchover => "плановое переключение",
            Done::CutOff => "отрезан от сети",
            Done::FillDisk => "диск заполнен",
            Done::Withhold => "журнал не передаётся репликам",
        }
    }

    fn inflicted(&self, it: &Done, nodes: &[String], healed: Option<Nanos>) -> String {
        if nodes.is_empty() {
            return format!("не удалось: {}", self.deed(it));
        }
        let until = healed.map_or(String::new(), |it| format!(" (до {})", self.time(it)));
        format!("{}: {}{until}", nodes.join(", "), self.deed(it))
    }

    fn promotion(&self, it: &Promoted) -> String {
        let healthy = it.healthy.map_or(String::new(), |it| format!(", готовность с {}", self.time(it)));
        let safe = match it.safe {
            Some(false) => ", у него могло быть не всё",
            Some(true) | None => "",
        };
        format!("{}: повышен до основного, линия времени {}{safe}{healthy}", it.to, it.timeline)
    }

    fn rejoining(&self, it: &Rejoined) -> String {
        let how = if it.rewound { "отмотан назад" } else { "скопирован заново" };
        format!("{}: вернулся репликой, {how} за {}", it.node, self.time(it.took))
    }

    fn reading(&self, it: &ReadBack) -> String {
        let after = match it.after {
            After::Load => "после нагрузки",
            After::Rejoining => "после возврата прежнего основного сервера",
            After::Restart => "после перезапуска всех серверов",
        };
        format!("{}: {after} прочитано {}", it.node, counted(it.rows, "метка", "метки", "меток"))
    }

    fn happening(&self, it: &Happening<'_>) -> String {
        match it {
            Happening::Done(it) => self.deed(it).to_owned(),
            Happening::Promoted(timeline) => format!("линия времени {timeline}"),
            Happening::Rewound => "отмотан назад".to_owned(),
            Happening::Copied => "скопирован заново".to_owned(),
        }
    }
}
