//! Russian: the list of runs.

use super::{Ru, plural};
use crate::lang::serve::{ServeWords, Shown};
use model::account::RunState;

impl ServeWords for Ru {
    fn serve(&self, it: Shown) -> &'static str {
        match it {
            Shown::Runs => "Прогоны",
            Shown::NoRuns => "Здесь пока нет ни одного прогона.",
            Shown::NoneFits => "Нет прогонов, в имени которых это встречается.",
            Shown::Name => "Прогон",
            Shown::Begun => "Начало (UTC)",
            Shown::Trials => "Измерений",
            Shown::State => "Состояние",
            Shown::Size => "Размер",
            Shown::Base => "База",
            Shown::Others => "Сравнить",
            Shown::Filter => "Отобрать",
            Shown::Compare => "Сравнить",
            Shown::Stop => "Остановить…",
            Shown::StopNow => "Остановить сейчас, сохранив измеренное",
            Shown::LogIn => "Войти",
            Shown::NameContains => "Имя содержит",
            Shown::Token => "Токен",
            Shown::WantsToken => "Нужен токен, с которым запущен этот сервер.",
            Shown::WrongToken => "Это не токен этого сервера.",
            Shown::Save => "Сохранить одним файлом",
            Shown::AllRuns => "Все прогоны",
            Shown::Unknown => "Такого прогона нет.",
            Shown::Busy => "Слишком много запросов сразу; повторите через мгновение.",
            Shown::Foreign => "Запрос отправлен не со страницы этого сервера; откройте её заново.",
            Shown::Ended => "Этот прогон уже закончился.",
            Shown::ChooseTwo => "Выберите базу сравнения и хотя бы ещё один прогон.",
        }
    }

    fn run_state(&self, it: RunState) -> &'static str {
        match it {
            RunState::Running => "идёт",
            RunState::Complete => "завершён",
            RunState::Interrupted => "прерван",
            RunState::Stopped => "остановлен по правилу",
            RunState::Failed => "не удался",
            RunState::Skipped => "пропущен",
            RunState::Lost => "потерян: процесс был убит",
        }
    }

    fn runs(&self, shown: usize, of: usize) -> String {
        match shown == of {
            true => format!("{of} {}", plural(of as u64, "прогон", "прогона", "прогонов")),
            false => format!("{shown} из {of} {}", plural(of as u64, "прогона", "прогонов", "прогонов")),
        }
    }

    fn unreadable(&self, why: &str) -> String {
        format!("Прочитать не удалось: {why}")
    }

    fn goes_on(&self, trial: usize, of: usize, seconds: &str) -> String {
        format!("Измерение {trial} из {of} длится {seconds} с")
    }

    fn sets_up(&self, trial: usize, of: usize) -> String {
        format!("Измерение {trial} из {of} готовится")
    }

    fn ending(&self) -> &'static str {
        "Прогону велено остановиться; измеренное сохраняется."
    }
}
