//! Where in Russia do people live?
//!
//! The larger cities, with coordinates to some kilometres and inhabitants to some per cent, about 2021: enough for a map on
//! which few places are crowded and most are far away. Around each its offices lie as thick as people do.

use super::chance::Chance;

/// A city.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct City {
    pub name: &'static str,
    /// Degrees north.
    pub lat: f64,
    /// Degrees east.
    pub lon: f64,
    /// Thousands.
    pub people: u32,
}

/// A point, in millionths of a degree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Point {
    pub lat: i64,
    pub lon: i64,
}

/// Of a degree of latitude, by the mean radius of the Earth.
const KM: f64 = 111.195;

/// Draws a city of the first `of`, the larger more often, by how many live there.
pub(super) fn city(chance: &mut Chance, of: usize) -> usize {
    let all: u64 = CITIES[..of].iter().map(|it| u64::from(it.people)).sum();
    let mut left = chance.below(all);
    for (at, city) in CITIES[..of].iter().enumerate() {
        let people = u64::from(city.people);
        if left < people {
            return at;
        }
        left -= people;
    }
    unreachable!("a number below the sum")
}

/// Draws a point in or near a city: a million people live within some ten kilometres of its middle.
pub(super) fn near(city: &City, chance: &mut Chance) -> Point {
    let spread = 0.17 * f64::from(city.people).sqrt();
    // Of four uniform numbers: nearly normal, and bounded.
    let mut normal = || ((0..4).map(|_| chance.fraction()).sum::<f64>() - 2.0) * 3f64.sqrt() * spread / KM;
    let (north, east) = (normal(), normal() / city.lat.to_radians().cos());
    let micro = |it: f64| (it * 1e6).round() as i64;
    Point { lat: micro(city.lat + north), lon: micro(city.lon + east) }
}

/// As the crow flies, kilometres.
pub(super) fn distance(a: &City, b: &City) -> f64 {
    let (north, other) = (a.lat.to_radians(), b.lat.to_radians());
    let (up, along) = (((other - north) / 2.0).sin(), ((b.lon - a.lon).to_radians() / 2.0).sin());
    let half = up * up + north.cos() * other.cos() * along * along;
    2.0 * half.sqrt().asin().to_degrees() * KM
}

/// Appends millionths as a number with six places.
pub(super) fn write_degrees(micro: i64, out: &mut Vec<u8>) {
    if micro < 0 {
        out.push(b'-');
    }
    let micro = micro.unsigned_abs();
    super::decimal(out, micro / 1_000_000);
    out.push(b'.');
    let mut unit = 100_000;
    while unit > 0 {
        out.push(b'0' + (micro / unit % 10) as u8);
        unit /= 10;
    }
}

const fn at(name: &'static str, lat: f64, lon: f64, people: u32) -> City {
    City { name, lat, lon, people }
}

/// The largest first.
pub(super) static CITIES: [City; 84] = [
    at("Москва", 55.75, 37.62, 12_640),
    at("Санкт-Петербург", 59.94, 30.31, 5_380),
    at("Новосибирск", 55.03, 82.92, 1_620),
    at("Екатеринбург", 56.84, 60.61, 1_540),
    at("Казань", 55.79, 49.12, 1_260),
    at("Нижний Новгород", 56.33, 44.00, 1_240),
    at("Челябинск", 55.16, 61.40, 1_190),
    at("Красноярск", 56.01, 92.87, 1_180),
    at("Самара", 53.20, 50.15, 1_170),
    at("Уфа", 54.74, 55.97, 1_140),
    at("Ростов-на-Дону", 47.24, 39.71, 1_140),
    at("Омск", 54.99, 73.37, 1_130),
    at("Краснодар", 45.04, 38.98, 1_100),
    at("Воронеж", 51.67, 39.18, 1_050),
    at("Пермь", 58.01, 56.25, 1_030),
    at("Волгоград", 48.71, 44.51, 1_020),
    at("Саратов", 51.53, 46.03, 900),
    at("Тюмень", 57.15, 65.53, 850),
    at("Тольятти", 53.51, 49.42, 680),
    at("Барнаул", 53.35, 83.78, 630),
    at("Махачкала", 42.98, 47.50, 625),
    at("Ижевск", 56.85, 53.20, 623),
    at("Хабаровск", 48.48, 135.07, 617),
    at("Ульяновск", 54.32, 48.40, 616),
    at("Иркутск", 52.29, 104.30, 615),
    at("Владивосток", 43.12, 131.89, 603),
    at("Ярославль", 57.63, 39.87, 577),
    at("Кемерово", 55.35, 86.09, 557),
    at("Томск", 56.50, 84.97, 556),
    at("Набережные Челны", 55.74, 52.41, 548),
    at("Севастополь", 44.60, 33.52, 547),
    at("Ставрополь", 45.04, 41.97, 547),
    at("Оренбург", 51.77, 55.10, 543),
    at("Новокузнецк", 53.76, 87.12, 537),
    at("Рязань", 54.63, 39.74, 528),
    at("Балашиха", 55.80, 37.96, 520),
    at("Пенза", 53.20, 45.00, 501),
    at("Чебоксары", 56.13, 47.25, 497),
    at("Липецк", 52.61, 39.59, 496),
    at("Калининград", 54.71, 20.51, 490),
    at("Астрахань", 46.35, 48.04, 475),
    at("Тула", 54.19, 37.62, 473),
    at("Киров", 58.60, 49.66, 468),
    at("Сочи", 43.60, 39.73, 466),
    at("Курск", 51.73, 36.19, 440),
    at("Улан-Удэ", 51.83, 107.58, 437),
    at("Тверь", 56.86, 35.91, 416),
    at("Магнитогорск", 53.41, 58.98, 410),
    at("Сургут", 61.25, 73.40, 396),
    at("Брянск", 53.24, 34.37, 379),
    at("Иваново", 57.00, 40.97, 361),
    at("Якутск", 62.03, 129.73, 355),
    at("Владимир", 56.13, 40.41, 349),
    at("Симферополь", 44.95, 34.10, 340),
    at("Белгород", 50.60, 36.59, 339),
    at("Нижний Тагил", 57.91, 59.97, 338),
    at("Калуга", 54.51, 36.26, 337),
    at("Чита", 52.03, 113.50, 334),
    at("Грозный", 43.32, 45.69, 328),
    at("Волжский", 48.79, 44.75, 321),
    at("Смоленск", 54.78, 32.05, 316),
    at("Подольск", 55.43, 37.55, 314),
    at("Саранск", 54.19, 45.18, 314),
    at("Вологда", 59.22, 39.89, 313),
    at("Курган", 55.44, 65.34, 310),
    at("Череповец", 59.13, 37.90, 305),
    at("Орёл", 52.97, 36.07, 303),
    at("Архангельск", 64.54, 40.52, 301),
    at("Владикавказ", 43.02, 44.68, 295),
    at("Нижневартовск", 60.94, 76.56, 283),
    at("Йошкар-Ола", 56.63, 47.89, 281),
    at("Стерлитамак", 53.63, 55.95, 277),
    at("Мурманск", 68.97, 33.08, 270),
    at("Кострома", 57.77, 40.93, 267),
    at("Новороссийск", 44.72, 37.77, 262),
    at("Тамбов", 52.72, 41.45, 261),
    at("Нальчик", 43.48, 43.61, 247),
    at("Сыктывкар", 61.67, 50.84, 220),
    at("Псков", 57.82, 28.33, 193),
    at("Южно-Сахалинск", 46.96, 142.74, 181),
    at("Норильск", 69.35, 88.20, 174),
    at("Петропавловск-Камчатский", 53.02, 158.65, 165),
    at("Магадан", 59.56, 150.80, 90),
    at("Горно-Алтайск", 51.96, 85.96, 65),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        let of = |name: &str| CITIES.iter().find(|it| it.name == name).unwrap();
        let check = |a: &str, b: &str, expected: f64| {
            let found = distance(of(a), of(b));
            assert!((found - expected).abs() < expected * 0.02 + 0.01, "{a}, {b}: {found} km");
        };
        check("Москва", "Москва", 0.0);
        check("Москва", "Санкт-Петербург", 634.0);
        check("Москва", "Новосибирск", 2811.0);
        check("Калининград", "Владивосток", 7380.0);
    }

    #[test]
    fn points_lie_about_their_cities() {
        let mut chance = Chance::of(42, 0);
        let moscow = &CITIES[0];
        let points: Vec<Point> = (0..10_000).map(|_| near(moscow, &mut chance)).collect();
        let mean = |of: fn(&Point) -> i64| points.iter().map(of).sum::<i64>() as f64 / 1e10;
        assert!(
            (mean(|it| it.lat) - moscow.lat).abs() < 0.01 && (mean(|it| it.lon) - moscow.lon).abs() < 0.02
        );
        let within = points.iter().filter(|it| (it.lat as f64 / 1e6 - moscow.lat).abs() * KM < 19.1).count();
        assert!((6500..7100).contains(&within), "two thirds lie within one standard deviation: {within}");
        let drawn = (0..10_000).filter(|_| city(&mut chance, CITIES.len()) == 0).count();
        assert!((1700..2100).contains(&drawn), "Moscow is nearly a fifth of all: {drawn}");
    }

    #[test]
    fn the_largest_come_first() {
        assert!(CITIES.windows(2).all(|it| it[0].people >= it[1].people));
    }

    #[test]
    fn degrees() {
        let check = |micro: i64, expected: &str| {
            let mut out = Vec::new();
            write_degrees(micro, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        };
        check(55_750_000, "55.750000");
        check(-7, "-0.000007");
        check(-179_999_999, "-179.999999");
    }
}
