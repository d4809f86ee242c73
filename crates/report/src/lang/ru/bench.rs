//! Russian: one benchmark and its generator.

use super::NUMBERS as RU;
use super::{counted, oblique, plural};
use crate::lang::number::quantile;
use crate::preview::SchedulePreview;
use model::summary::{
    BenchPlan, CpuCost, Doubt, Fairness, InvalidReason, LoadModelSummary, Server, ServerTransport,
};
use model::{Nanos, Spacing};

pub fn dropped(dropped: u64, arrivals: u64) -> String {
    format!(
        "так и не {} {} из {} ({})",
        plural(dropped, "отправлена", "отправлены", "отправлено"),
        counted(dropped, "заявка", "заявки", "заявок"),
        RU.count(arrivals),
        RU.percent(dropped as f64 / arrivals as f64, 3)
    )
}

pub fn fairness(it: &Fairness) -> String {
    format!(
        "транзакций у клиента: меньше всего {}, медиана {}, больше всего {}; индекс Джейна {}",
        RU.count(it.fewest),
        RU.count(it.median),
        RU.count(it.most),
        RU.fixed(it.jain, 3)
    )
}

pub fn generator(it: &CpuCost, busiest: f64) -> String {
    let micros = |it: Nanos| format!("{}\u{a0}мкс", RU.fixed(it.as_micros_f64(), 2));
    let [user, system, spun] = [it.user, it.system, it.spun].map(micros);
    format!(
        "на транзакцию {user} в режиме пользователя и {system} в режиме ядра, из них {spun} активного ожидания; самый \
         занятый поток работал {} времени",
        RU.percent(busiest, 0)
    )
}

pub fn measured(server: &Server, plan: &BenchPlan) -> String {
    let transport = match &server.transport {
        ServerTransport::UnixSocket => "Unix-сокет".to_owned(),
        ServerTransport::Tcp => "TCP".to_owned(),
        ServerTransport::TcpTls { version } => format!("TCP с TLS {version}"),
    };
    let origin = server.origin.as_ref().map(|it| format!(" из {it}")).unwrap_or_default();
    let model = match &plan.model {
        LoadModelSummary::Closed { think } if *think == Nanos::ZERO => "закрытая модель".to_owned(),
        LoadModelSummary::Closed { think } => format!("закрытая модель с паузой {}", RU.chosen(*think)),
        LoadModelSummary::Open { schedule, arrivals: Spacing::Even } => {
            format!("открытая модель, {schedule}, равномерный поток заявок")
        }
        LoadModelSummary::Open { schedule, arrivals: Spacing::Poisson } => {
            format!("открытая модель, {schedule}, пуассоновский поток заявок")
        }
    };
    let (version, address) = (&server.version, &server.address);
    let asked = match server.is_postgres() {
        true => format!("PostgreSQL {version}{origin}, {transport} {address}, база {}", server.database),
        false => format!("{version}, HTTP/1.1 поверх {transport} {address}"),
    };
    format!("{asked}; {model}; драйвер {}; начальное число {}", plan.driver, plan.seed)
}

pub fn preview(it: &SchedulePreview) -> String {
    let expected = it.expected.round();
    let arrivals = match it.arrivals {
        Some(n) => counted(n, "заявка", "заявки", "заявок"),
        None => {
            format!("около {} {}", RU.fixed(expected, 0), oblique(expected as u64, "заявки", "заявок"))
        }
    };
    let spacing = match it.spacing {
        Spacing::Even => "равномерный поток".to_owned(),
        Spacing::Poisson => {
            format!(
                "пуассоновский поток с начальным числом {} (в среднем {})",
                it.seed,
                RU.fixed(expected, 0)
            )
        }
    };
    let rates = match it.lowest == it.highest {
        true => RU.rate(it.lowest),
        false => format!("от {} до {}", RU.rate(it.lowest), RU.rate(it.highest)),
    };
    format!("{arrivals} за {}, {spacing}, частота {rates}", RU.duration(it.duration))
}

pub fn reason(it: &InvalidReason) -> String {
    match *it {
        InvalidReason::Late { quantile: at, lag, jitter } => {
            let host = match jitter {
                Some(jitter) => format!("джиттер таймера этой машины — {}", RU.time(jitter)),
                None => "джиттер таймера этой машины неизвестен".to_owned(),
            };
            format!("генератор опаздывал: {} опоздания отправки — {}; {host}", quantile(at), RU.time(lag))
        }
        InvalidReason::Saturated { thread, busy } => format!(
            "генератор был загружен до предела: поток {} работал {} времени; добавьте потоков (-j) или уменьшите нагрузку",
            thread + 1,
            RU.percent(busy, 0)
        ),
        InvalidReason::ResourcesExhausted { connections } => format!(
            "не удалось открыть {}: кончились файловые дескрипторы или локальные порты; увеличьте ulimit -n или \
             net.ipv4.ip_local_port_range",
            counted(connections, "соединение", "соединения", "соединений")
        ),
        InvalidReason::Suspended { duration: lasting } => {
            format!("машина была приостановлена на {}", RU.time(lasting))
        }
        InvalidReason::Throttled { share } => format!(
            "генератор был придержан собственным ограничением в {} периодов квоты",
            RU.percent(share, 0)
        ),
        InvalidReason::Stalled { thread, duration: lasting } => {
            format!("поток {} генератора замер на {}", thread + 1, RU.time(lasting))
        }
        InvalidReason::Aborted { clients, of } => format!(
            "{} из {of} {} работу: их скрипт не мог продолжаться; нагрузка была меньше заданной",
            counted(clients.into(), "клиент", "клиента", "клиентов"),
            plural(clients.into(), "прекратил", "прекратили", "прекратили")
        ),
    }
}

pub fn doubt(it: &Doubt, clients: u32) -> String {
    match *it {
        Doubt::HostLate { quantile: at, lag, jitter } => format!(
            "эта машина опаздывает: {} опоздания отправки — {}, джиттера её таймера — {}; время ответа содержит и это",
            quantile(at),
            RU.time(lag),
            RU.time(jitter)
        ),
        Doubt::Stolen { processors } => {
            format!("гипервизор отдавал другим {} процессора этой машины", RU.fixed(processors, 2))
        }
        Doubt::Starved { thread, share } => format!(
            "поток {} генератора ждал процессора {} времени; время ответа содержит и это",
            thread + 1,
            RU.percent(share, 0)
        ),
        Doubt::InFlightCapReached { arrivals, waited, dropped } => format!(
            "все клиенты ({clients}) были заняты: из {} {} ждали клиента {}, отброшено {}; такой тест уже не открытый",
            RU.count(arrivals),
            oblique(arrivals, "заявки", "заявок"),
            RU.count(waited),
            RU.count(dropped)
        ),
        Doubt::UnevenClients { jain, fewest, most } => format!(
            "клиенты обслужены неравномерно: от {} до {} {} (индекс Джейна {}); среднее скрывает тех, кто ждал",
            RU.count(fewest),
            RU.count(most),
            oblique(most, "транзакции", "транзакций"),
            RU.fixed(jain, 2)
        ),
        Doubt::Outage { count: 1, duration: lasting, from, to } => format!(
            "ни одного успеха в течение {} (с {} до {})",
            RU.time(lasting),
            RU.time(from),
            RU.time(to)
        ),
        Doubt::Outage { count, duration: lasting, from, to } => format!(
            "ни одного успеха в течение {}, всего перерывов: {count}, самый долгий с {} до {}",
            RU.time(lasting),
            RU.time(from),
            RU.time(to)
        ),
        Doubt::NoSuccess => "ни одна транзакция не завершилась успешно".to_owned(),
        Doubt::FewSamples { count } => format!(
            "{} — слишком мало для p99: нужна хотя бы 1000; измеряйте дольше",
            counted(count, "транзакция", "транзакции", "транзакций")
        ),
        Doubt::SmallAnswers { small, large, share } => format!(
            "{} ответов сервиса размером около {}, а другие ответы на тот же запрос — {}; проверьте, не страницы ли это ошибки \
             или входа",
            RU.percent(share, 0),
            RU.bytes(small as f64),
            RU.bytes(large as f64)
        ),
        Doubt::ClockStepped { step } => format!(
            "часы этой машины переведены {} на {}; длительности и моменты в этом отчёте от них не зависят, а в логах \
             других программ зависят",
            if step < 0 { "назад" } else { "вперёд" },
            RU.span(Nanos(step.unsigned_abs()))
        ),
    }
}
