//! Russian book titles
//!
//! Every title consists of two or three words and has a number. The titles are plausible but do not repeat those of
//! well-known books.

use Gender::{Feminine, Masculine, Neuter};

/// Number of titles, about half a million.
pub(super) const TITLE_COUNT: u64 =
    ADJECTIVE_NOUN_TITLES + GENITIVE_TITLES + PAIR_TITLES + ADJECTIVE_NOUN_TITLES * (NOUN_COUNT - 1) * 2;
/// Distance between two titles of one author; coprime with [`TITLE_COUNT`], so that no title repeats.
pub(super) const STEP: u64 = 100_003;

const NOUN_COUNT: u64 = NOUNS.len() as u64;
const ADJECTIVE_COUNT: u64 = ADJECTIVES.len() as u64;
/// Number of titles such as «Белая ночь».
const ADJECTIVE_NOUN_TITLES: u64 = ADJECTIVE_COUNT * NOUN_COUNT;
/// Number of titles such as «Берег реки».
const GENITIVE_TITLES: u64 = NOUN_COUNT * (NOUN_COUNT - 1);
/// Number of titles such as «Ветер и дорога».
const PAIR_TITLES: u64 = NOUN_COUNT * (NOUN_COUNT - 1);

/// Appends title `number`, which is below [`TITLE_COUNT`].
pub(super) fn write_title(number: u64, out: &mut Vec<u8>) {
    let mut text = |it: &str| out.extend_from_slice(it.as_bytes());
    let mut rest = number;
    let mut digit = |base: u64| {
        let digit = rest % base;
        rest /= base;
        digit as usize
    };
    if number < ADJECTIVE_NOUN_TITLES {
        let (noun, adjective) = (&NOUNS[digit(NOUN_COUNT)], &ADJECTIVES[digit(ADJECTIVE_COUNT)]);
        text(&capitalize(adjective.for_gender(noun.gender)));
        text(" ");
        return text(noun.name);
    }
    // Choose two different nouns.
    let mut two = |number: u64| {
        rest = number;
        let (first, other) = (rest % NOUN_COUNT, rest / NOUN_COUNT % (NOUN_COUNT - 1));
        rest /= NOUN_COUNT * (NOUN_COUNT - 1);
        (&NOUNS[first as usize], &NOUNS[(other + u64::from(other >= first)) as usize], rest as usize)
    };
    let number = number - ADJECTIVE_NOUN_TITLES;
    if number < GENITIVE_TITLES {
        let (noun, other, _) = two(number);
        return [&capitalize(noun.name), " ", other.genitive].into_iter().for_each(text);
    }
    let number = number - GENITIVE_TITLES;
    if number < PAIR_TITLES {
        let (noun, other, _) = two(number);
        return [&capitalize(noun.name), " и ", other.name].into_iter().for_each(text);
    }
    let number = number - PAIR_TITLES;
    let (noun, other, adjective) = two(number / 2);
    let adjective = &ADJECTIVES[adjective];
    if number.is_multiple_of(2) {
        // For example, «Последний вечер лета».
        let words = [&capitalize(adjective.for_gender(noun.gender)), " ", noun.name, " ", other.genitive];
        return words.into_iter().for_each(text);
    }
    // For example, «Ветер и белая ночь».
    [&capitalize(noun.name), " и ", adjective.for_gender(other.gender), " ", other.name]
        .into_iter()
        .for_each(text);
}

/// Capitalizes the first letter.
fn capitalize(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

#[derive(Clone, Copy, Debug)]
enum Gender {
    Masculine,
    Feminine,
    Neuter,
}

struct Noun {
    name: &'static str,
    gender: Gender,
    genitive: &'static str,
}

struct Adjective {
    masculine: &'static str,
    feminine: &'static str,
    neuter: &'static str,
}

impl Adjective {
    fn for_gender(&self, gender: Gender) -> &'static str {
        match gender {
            Masculine => self.masculine,
            Feminine => self.feminine,
            Neuter => self.neuter,
        }
    }
}

const fn noun(name: &'static str, gender: Gender, genitive: &'static str) -> Noun {
    Noun { name, gender, genitive }
}

const fn adjective(masculine: &'static str, feminine: &'static str, neuter: &'static str) -> Adjective {
    Adjective { masculine, feminine, neuter }
}

static NOUNS: [Noun; 72] = [
    noun("берег", Masculine, "берега"),
    noun("вечер", Masculine, "вечера"),
    noun("ветер", Masculine, "ветра"),
    noun("город", Masculine, "города"),
    noun("дом", Masculine, "дома"),
    noun("дождь", Masculine, "дождя"),
    noun("голос", Masculine, "голоса"),
    noun("гость", Masculine, "гостя"),
    noun("день", Masculine, "дня"),
    noun("друг", Masculine, "друга"),
    noun("закат", Masculine, "заката"),
    noun("камень", Masculine, "камня"),
    noun("корабль", Masculine, "корабля"),
    noun("лес", Masculine, "леса"),
    noun("мост", Masculine, "моста"),
    noun("остров", Masculine, "острова"),
    noun("огонь", Masculine, "огня"),
    noun("ответ", Masculine, "ответа"),
    noun("поезд", Masculine, "поезда"),
    noun("полёт", Masculine, "полёта"),
    noun("праздник", Masculine, "праздника"),
    noun("рассвет", Masculine, "рассвета"),
    noun("сад", Masculine, "сада"),
    noun("свет", Masculine, "света"),
    noun("снег", Masculine, "снега"),
    noun("сон", Masculine, "сна"),
    noun("учитель", Masculine, "учителя"),
    noun("туман", Masculine, "тумана"),
    noun("весна", Feminine, "весны"),
    noun("встреча", Feminine, "встречи"),
    noun("вода", Feminine, "воды"),
    noun("война", Feminine, "войны"),
    noun("гора", Feminine, "горы"),
    noun("гроза", Feminine, "грозы"),
    noun("деревня", Feminine, "деревни"),
    noun("дорога", Feminine, "дороги"),
    noun("дружба", Feminine, "дружбы"),
    noun("загадка", Feminine, "загадки"),
    noun("звезда", Feminine, "звезды"),
    noun("зима", Feminine, "зимы"),
    noun("книга", Feminine, "книги"),
    noun("любовь", Feminine, "любви"),
    noun("музыка", Feminine, "музыки"),
    noun("надежда", Feminine, "надежды"),
    noun("ночь", Feminine, "ночи"),
    noun("осень", Feminine, "осени"),
    noun("песня", Feminine, "песни"),
    noun("победа", Feminine, "победы"),
    noun("память", Feminine, "памяти"),
    noun("птица", Feminine, "птицы"),
    noun("река", Feminine, "реки"),
    noun("роза", Feminine, "розы"),
    noun("станция", Feminine, "станции"),
    noun("тайна", Feminine, "тайны"),
    noun("тень", Feminine, "тени"),
    noun("тишина", Feminine, "тишины"),
    noun("тропа", Feminine, "тропы"),
    noun("улица", Feminine, "улицы"),
    noun("время", Neuter, "времени"),
    noun("детство", Neuter, "детства"),
    noun("дерево", Neuter, "дерева"),
    noun("зеркало", Neuter, "зеркала"),
    noun("имя", Neuter, "имени"),
    noun("лето", Neuter, "лета"),
    noun("море", Neuter, "моря"),
    noun("небо", Neuter, "неба"),
    noun("озеро", Neuter, "озера"),
    noun("письмо", Neuter, "письма"),
    noun("поле", Neuter, "поля"),
    noun("путешествие", Neuter, "путешествия"),
    noun("сердце", Neuter, "сердца"),
    noun("утро", Neuter, "утра"),
];

static ADJECTIVES: [Adjective; 48] = [
    adjective("белый", "белая", "белое"),
    adjective("бескрайний", "бескрайняя", "бескрайнее"),
    adjective("большой", "большая", "большое"),
    adjective("вечный", "вечная", "вечное"),
    adjective("вольный", "вольная", "вольное"),
    adjective("высокий", "высокая", "высокое"),
    adjective("голубой", "голубая", "голубое"),
    adjective("горький", "горькая", "горькое"),
    adjective("далёкий", "далёкая", "далёкое"),
    adjective("долгий", "долгая", "долгое"),
    adjective("древний", "древняя", "древнее"),
    adjective("забытый", "забытая", "забытое"),
    adjective("зелёный", "зелёная", "зелёное"),
    adjective("зимний", "зимняя", "зимнее"),
    adjective("золотой", "золотая", "золотое"),
    adjective("короткий", "короткая", "короткое"),
    adjective("красный", "красная", "красное"),
    adjective("лёгкий", "лёгкая", "лёгкое"),
    adjective("летний", "летняя", "летнее"),
    adjective("лунный", "лунная", "лунное"),
    adjective("малый", "малая", "малое"),
    adjective("молодой", "молодая", "молодое"),
    adjective("мудрый", "мудрая", "мудрое"),
    adjective("найденный", "найденная", "найденное"),
    adjective("настоящий", "настоящая", "настоящее"),
    adjective("небесный", "небесная", "небесное"),
    adjective("невидимый", "невидимая", "невидимое"),
    adjective("ночной", "ночная", "ночное"),
    adjective("новый", "новая", "новое"),
    adjective("обычный", "обычная", "обычное"),
    adjective("одинокий", "одинокая", "одинокое"),
    adjective("первый", "первая", "первое"),
    adjective("пёстрый", "пёстрая", "пёстрое"),
    adjective("полярный", "полярная", "полярное"),
    adjective("последний", "последняя", "последнее"),
    adjective("прошлый", "прошлая", "прошлое"),
    adjective("русский", "русская", "русское"),
    adjective("светлый", "светлая", "светлое"),
    adjective("северный", "северная", "северное"),
    adjective("серебряный", "серебряная", "серебряное"),
    adjective("синий", "синяя", "синее"),
    adjective("старый", "старая", "старое"),
    adjective("степной", "степная", "степное"),
    adjective("странный", "странная", "странное"),
    adjective("тайный", "тайная", "тайное"),
    adjective("тихий", "тихая", "тихое"),
    adjective("тёмный", "тёмная", "тёмное"),
    adjective("чужой", "чужая", "чужое"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn title(number: u64) -> String {
        let mut out = Vec::new();
        write_title(number, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn titles_are_unique() {
        let all: HashSet<String> = (0..TITLE_COUNT).map(title).collect();
        assert_eq!(all.len() as u64, TITLE_COUNT);
        assert_eq!(TITLE_COUNT, 504_432);
        let (mut a, mut b) = (TITLE_COUNT, STEP);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        assert_eq!(a, 1, "a step that meets every title");
    }

    #[test]
    fn builds_golden_titles() {
        let check = |number: u64, expected: &str| assert_eq!(title(number), expected, "{number}");
        check(0, "Белый берег");
        check(ADJECTIVE_NOUN_TITLES - 1, "Чужое утро");
        check(ADJECTIVE_NOUN_TITLES, "Берег вечера");
        check(ADJECTIVE_NOUN_TITLES + GENITIVE_TITLES + 1, "Вечер и берег");
        check(ADJECTIVE_NOUN_TITLES + GENITIVE_TITLES + PAIR_TITLES, "Белый берег вечера");
        check(ADJECTIVE_NOUN_TITLES + GENITIVE_TITLES + PAIR_TITLES + 1, "Берег и белый вечер");
        check(TITLE_COUNT - 1, "Утро и чужое сердце");
    }
}
