//! Russian: what a server of runs says.

use super::Ru;
use crate::lang::serve::{ServeWords, Shown};
use model::account::RunState;

impl ServeWords for Ru {
    fn shown(&self, it: Shown) -> &'static str {
        match it {
            Shown::Runs => "Прогоны",
            Shown::Run => "Прогон",
            Shown::Experiment => "Эксперимент",
            Shown::State => "Состояние",
            Shown::Begun => "Начало (UTC)",
            Shown::Cells => "Ячейки",
            Shown::Trials => "Измерения",
            Shown::Size => "Размер",
            Shown::Headline => "Ответ",
            Shown::Filter => "Найти",
            Shown::All => "все",
            Shown::Select => "Выбрать",
            Shown::Base => "база сравнения",
            Shown::Compare => "Сравнить",
            Shown::CompareHelp => "Выберите два прогона или больше: первый станет базой сравнения.",
            Shown::Reload => "Обновить",
            Shown::None => "Таких прогонов нет.",
            Shown::Token => "Токен",
            Shown::LogIn => "Войти",
            Shown::WantsToken => "Нужен токен, с которым запущен этот сервер.",
            Shown::WrongToken => "Это не токен этого сервера.",
            Shown::AllRuns => "Все прогоны",
            Shown::OneFile => "Сохранить в файл",
            Shown::Unknown => "Такого прогона нет.",
            Shown::Ended => "Этот прогон уже закончился.",
            Shown::Busy => "Слишком много запросов одновременно; повторите чуть позже.",
            Shown::Foreign => "Запрос отправлен не со страницы этого сервера; откройте её заново.",
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
            RunState::Lost => "потерян: его процесс был убит",
        }
    }

    fn unreadable(&self, why: &str) -> String {
        format!("Прочитать не удалось: {why}")
    }

    fn goes_on(&self, trial: usize, of: Option<usize>, seconds: &str) -> String {
        let of = of_all(of);
        format!("Измерение {trial}{of} идёт {seconds}\u{a0}с")
    }

    fn sets_up(&self, trial: usize, of: Option<usize>) -> String {
        let of = of_all(of);
        format!("Измерение {trial}{of} готовится")
    }

    fn ending(&self) -> &'static str {
        "Прогон останавливается; всё измеренное сохраняется."
    }
}

/// Nothing where nobody knows how many there will be.
fn of_all(of: Option<usize>) -> String {
    of.map_or(String::new(), |it| format!(" из {it}"))
}
