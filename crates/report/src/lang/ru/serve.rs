//! Russian: what a server of runs says.

use super::Ru;
use crate::lang::serve::{ServeTerm, ServeWords};
use model::run_result::RunState;

impl ServeWords for Ru {
    fn shown(&self, it: ServeTerm) -> &'static str {
        match it {
            ServeTerm::Runs => "Прогоны",
            ServeTerm::Run => "Прогон",
            ServeTerm::Experiment => "Эксперимент",
            ServeTerm::State => "Состояние",
            ServeTerm::Begun => "Начало (UTC)",
            ServeTerm::Cells => "Ячейки",
            ServeTerm::Trials => "Измерения",
            ServeTerm::Size => "Размер",
            ServeTerm::Headline => "Ответ",
            ServeTerm::Filter => "Найти",
            ServeTerm::All => "все",
            ServeTerm::Select => "Выбрать",
            ServeTerm::Base => "база сравнения",
            ServeTerm::Compare => "Сравнить",
            ServeTerm::CompareHelp => "Выберите два прогона или больше: первый станет базой сравнения.",
            ServeTerm::Reload => "Обновить",
            ServeTerm::None => "Таких прогонов нет.",
            ServeTerm::Token => "Токен",
            ServeTerm::LogIn => "Войти",
            ServeTerm::WantsToken => "Нужен токен, с которым запущен этот сервер.",
            ServeTerm::WrongToken => "Это не токен этого сервера.",
            ServeTerm::AllRuns => "Все прогоны",
            ServeTerm::OneFile => "Сохранить в файл",
            ServeTerm::Unknown => "Такого прогона нет.",
            ServeTerm::Ended => "Этот прогон уже закончился.",
            ServeTerm::Busy => "Слишком много запросов одновременно; повторите чуть позже.",
            ServeTerm::Foreign => "Запрос отправлен не со страницы этого сервера; откройте её заново.",
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
