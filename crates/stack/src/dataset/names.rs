//! Russian names of people
//!
//! The surnames, first names and patronymics are common; each combination is invented.

/// Name of a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Person {
    pub surname: &'static str,
    pub name: &'static str,
    pub patronymic: &'static str,
    /// Surname in Latin letters.
    pub latin: &'static str,
}

impl Person {
    /// Appends surname, name and patronymic.
    pub fn write(&self, out: &mut Vec<u8>) {
        for (at, part) in [self.surname, self.name, self.patronymic].into_iter().enumerate() {
            if at > 0 {
                out.push(b' ');
            }
            out.extend_from_slice(part.as_bytes());
        }
    }
}

/// Draws a person; `below(n)` is a random number in 0..n.
pub(super) fn draw_person(mut below: impl FnMut(u64) -> u64) -> Person {
    let mut pick = |n: usize| below(n as u64) as usize;
    let (his, hers, latin) = SURNAMES[pick(SURNAMES.len())];
    let (_, son_of, daughter_of) = MALE_NAMES[pick(MALE_NAMES.len())];
    if pick(2) == 0 {
        Person { surname: his, name: MALE_NAMES[pick(MALE_NAMES.len())].0, patronymic: son_of, latin }
    } else {
        Person { surname: hers, name: FEMALE_NAMES[pick(FEMALE_NAMES.len())], patronymic: daughter_of, latin }
    }
}

/// Number of different people that [`person_by_number`] returns.
pub(super) const PERSON_COUNT: u64 = 1 << 17;

/// Name, patronymic and surname of person `number`, which is below [`PERSON_COUNT`]. Different numbers give different
/// people.
pub(super) fn person_by_number(number: u64) -> [&'static str; 3] {
    const { assert!(2 * SURNAMES.len() * MALE_NAMES.len() * MALE_NAMES.len() == PERSON_COUNT as usize) };
    const { assert!(MALE_NAMES.len() == FEMALE_NAMES.len()) };
    let mut rest = number as usize;
    let mut digit = |base: usize| {
        let digit = rest % base;
        rest /= base;
        digit
    };
    let (woman, name) = (digit(2) == 1, digit(MALE_NAMES.len()));
    let (his, hers, _) = SURNAMES[digit(SURNAMES.len())];
    let (_, son_of, daughter_of) = MALE_NAMES[digit(MALE_NAMES.len())];
    if woman { [FEMALE_NAMES[name], daughter_of, hers] } else { [MALE_NAMES[name].0, son_of, his] }
}

/// Surname of a man, surname of a woman, and the surname in Latin letters.
const SURNAMES: [(&str, &str, &str); 64] = [
    ("Иванов", "Иванова", "ivanov"),
    ("Смирнов", "Смирнова", "smirnov"),
    ("Кузнецов", "Кузнецова", "kuznetsov"),
    ("Попов", "Попова", "popov"),
    ("Васильев", "Васильева", "vasilev"),
    ("Петров", "Петрова", "petrov"),
    ("Соколов", "Соколова", "sokolov"),
    ("Михайлов", "Михайлова", "mikhailov"),
    ("Новиков", "Новикова", "novikov"),
    ("Фёдоров", "Фёдорова", "fedorov"),
    ("Морозов", "Морозова", "morozov"),
    ("Волков", "Волкова", "volkov"),
    ("Алексеев", "Алексеева", "alekseev"),
    ("Лебедев", "Лебедева", "lebedev"),
    ("Семёнов", "Семёнова", "semenov"),
    ("Егоров", "Егорова", "egorov"),
    ("Павлов", "Павлова", "pavlov"),
    ("Козлов", "Козлова", "kozlov"),
    ("Степанов", "Степанова", "stepanov"),
    ("Николаев", "Николаева", "nikolaev"),
    ("Орлов", "Орлова", "orlov"),
    ("Андреев", "Андреева", "andreev"),
    ("Макаров", "Макарова", "makarov"),
    ("Никитин", "Никитина", "nikitin"),
    ("Захаров", "Захарова", "zakharov"),
    ("Зайцев", "Зайцева", "zaitsev"),
    ("Соловьёв", "Соловьёва", "solovev"),
    ("Борисов", "Борисова", "borisov"),
    ("Яковлев", "Яковлева", "yakovlev"),
    ("Григорьев", "Григорьева", "grigorev"),
    ("Романов", "Романова", "romanov"),
    ("Воробьёв", "Воробьёва", "vorobev"),
    ("Сергеев", "Сергеева", "sergeev"),
    ("Кузьмин", "Кузьмина", "kuzmin"),
    ("Фролов", "Фролова", "frolov"),
    ("Александров", "Александрова", "aleksandrov"),
    ("Дмитриев", "Дмитриева", "dmitriev"),
    ("Королёв", "Королёва", "korolev"),
    ("Гусев", "Гусева", "gusev"),
    ("Киселёв", "Киселёва", "kiselev"),
    ("Ильин", "Ильина", "ilin"),
    ("Максимов", "Максимова", "maksimov"),
    ("Поляков", "Полякова", "polyakov"),
    ("Сорокин", "Сорокина", "sorokin"),
    ("Виноградов", "Виноградова", "vinogradov"),
    ("Ковалёв", "Ковалёва", "kovalev"),
    ("Белов", "Белова", "belov"),
    ("Медведев", "Медведева", "medvedev"),
    ("Антонов", "Антонова", "antonov"),
    ("Тарасов", "Тарасова", "tarasov"),
    ("Жуков", "Жукова", "zhukov"),
    ("Баранов", "Баранова", "baranov"),
    ("Филиппов", "Филиппова", "filippov"),
    ("Комаров", "Комарова", "komarov"),
    ("Давыдов", "Давыдова", "davydov"),
    ("Беляев", "Беляева", "belyaev"),
    ("Герасимов", "Герасимова", "gerasimov"),
    ("Богданов", "Богданова", "bogdanov"),
    ("Осипов", "Осипова", "osipov"),
    ("Островский", "Островская", "ostrovsky"),
    ("Вознесенский", "Вознесенская", "voznesensky"),
    ("Черных", "Черных", "chernykh"),
    ("Щербаков", "Щербакова", "shcherbakov"),
    ("Шевченко", "Шевченко", "shevchenko"),
];

/// First name of a man, his son's patronymic, his daughter's patronymic.
const MALE_NAMES: [(&str, &str, &str); 32] = [
    ("Александр", "Александрович", "Александровна"),
    ("Алексей", "Алексеевич", "Алексеевна"),
    ("Анатолий", "Анатольевич", "Анатольевна"),
    ("Андрей", "Андреевич", "Андреевна"),
    ("Антон", "Антонович", "Антоновна"),
    ("Артём", "Артёмович", "Артёмовна"),
    ("Борис", "Борисович", "Борисовна"),
    ("Вадим", "Вадимович", "Вадимовна"),
    ("Василий", "Васильевич", "Васильевна"),
    ("Виктор", "Викторович", "Викторовна"),
    ("Владимир", "Владимирович", "Владимировна"),
    ("Вячеслав", "Вячеславович", "Вячеславовна"),
    ("Георгий", "Георгиевич", "Георгиевна"),
    ("Григорий", "Григорьевич", "Григорьевна"),
    ("Денис", "Денисович", "Денисовна"),
    ("Дмитрий", "Дмитриевич", "Дмитриевна"),
    ("Евгений", "Евгеньевич", "Евгеньевна"),
    ("Иван", "Иванович", "Ивановна"),
    ("Игорь", "Игоревич", "Игоревна"),
    ("Илья", "Ильич", "Ильинична"),
    ("Кирилл", "Кириллович", "Кирилловна"),
    ("Константин", "Константинович", "Константиновна"),
    ("Леонид", "Леонидович", "Леонидовна"),
    ("Максим", "Максимович", "Максимовна"),
    ("Михаил", "Михайлович", "Михайловна"),
    ("Николай", "Николаевич", "Николаевна"),
    ("Олег", "Олегович", "Олеговна"),
    ("Павел", "Павлович", "Павловна"),
    ("Пётр", "Петрович", "Петровна"),
    ("Роман", "Романович", "Романовна"),
    ("Сергей", "Сергеевич", "Сергеевна"),
    ("Юрий", "Юрьевич", "Юрьевна"),
];

const FEMALE_NAMES: [&str; 32] = [
    "Александра",
    "Алина",
    "Алла",
    "Анастасия",
    "Анна",
    "Валентина",
    "Валерия",
    "Вера",
    "Вероника",
    "Виктория",
    "Галина",
    "Дарья",
    "Евгения",
    "Екатерина",
    "Елена",
    "Елизавета",
    "Зинаида",
    "Инна",
    "Ирина",
    "Кристина",
    "Ксения",
    "Лариса",
    "Любовь",
    "Людмила",
    "Маргарита",
    "Марина",
    "Мария",
    "Надежда",
    "Наталья",
    "Ольга",
    "Светлана",
    "Татьяна",
];
