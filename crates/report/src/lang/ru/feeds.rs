//! Russian: what is said of feeds.

use super::NUMBERS as RU;
use super::counted;
use model::reach::Reach;

pub fn reach(it: &Reach) -> String {
    let rows = counted(it.rows, "строка", "строки", "строк");
    let mut said = format!("лента {}: {rows}, из них разных {}", it.feed, RU.count(it.distinct));
    if let Some(after) = it.repeats_after {
        said += &format!("; строка повторяется через {}", counted(after, "запрос", "запроса", "запросов"));
    }
    let Some(table) = &it.table else { return said };
    let [touched, bytes, memory] = [table.touched, table.bytes, table.memory].map(|it| RU.bytes(it as f64));
    said += &format!(
        "; она ведёт к {} строк таблицы по столбцу {}, это примерно {touched} из {bytes}",
        RU.percent(table.share, 1),
        table.column
    );
    if table.measures_a_cache() {
        said += &format!(
            ": столько помещается в {memory}, доступные серверу, а вся таблица — нет, поэтому измеряется кэш; нужно \
             больше строк"
        );
    }
    said
}
