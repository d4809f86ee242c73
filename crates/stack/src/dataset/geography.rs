//! Cities of Russia and random places near them
//!
//! The list contains the larger cities. Coordinates are accurate to a few kilometres, populations (about 2021) to a few
//! per cent. The resulting map has few crowded places and many remote ones. The density of offices around a city
//! depends on its population.

use model::SplitMix64;

/// City with its position and population.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct City {
    pub name: &'static str,
    /// Latitude, degrees north.
    pub lat: f64,
    /// Longitude, degrees east.
    pub lon: f64,
    /// Population, thousands of inhabitants.
    pub population: u32,
}

/// Point, in millionths of a degree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Point {
    pub lat: i64,
    pub lon: i64,
}

/// Kilometres per degree of latitude, from the mean radius of the Earth.
const KM_PER_DEGREE: f64 = 111.195;

/// Draws one of the first `count` cities, with a probability proportional to population.
pub(super) fn draw_city(chance: &mut SplitMix64, count: usize) -> usize {
    let all: u64 = CITIES[..count].iter().map(|it| u64::from(it.population)).sum();
    let mut left = chance.below(all);
    for (at, city) in CITIES[..count].iter().enumerate() {
        let people = u64::from(city.population);
        if left < people {
            return at;
        }
        left -= people;
    }
    unreachable!("the random number is below the sum of the weights")
}

/// Draws a point in or near a city. For a city of a million people, the standard deviation is about five kilometres.
pub(super) fn draw_point_near(city: &City, chance: &mut SplitMix64) -> Point {
    let spread = 0.17 * f64::from(city.population).sqrt();
    // The sum of four uniform numbers is nearly normal, and bounded.
    let mut normal =
        || ((0..4).map(|_| chance.uniform()).sum::<f64>() - 2.0) * 3f64.sqrt() * spread / KM_PER_DEGREE;
    let (north, east) = (normal(), normal() / city.lat.to_radians().cos());
    let micro = |it: f64| (it * 1e6).round() as i64;
    Point { lat: micro(city.lat + north), lon: micro(city.lon + east) }
}

/// Great-circle distance between two cities, kilometres.
pub(super) fn distance_km(a: &City, b: &City) -> f64 {
    let (north, other) = (a.lat.to_radians(), b.lat.to_radians());
    let (up, along) = (((other - north) / 2.0).sin(), ((b.lon - a.lon).to_radians() / 2.0).sin());
    let half = up * up + north.cos() * other.cos() * along * along;
    2.0 * half.sqrt().asin().to_degrees() * KM_PER_DEGREE
}

/// Appends millionths as a number with six decimals.
pub(super) fn write_degrees(micro: i64, out: &mut Vec<u8>) {
    if micro < 0 {
        out.push(b'-');
    }
    let micro = micro.unsigned_abs();
    super::write_decimal(out, micro / 1_000_000);
    out.push(b'.');
    let mut unit = 100_000;
    while unit > 0 {
        out.push(b'0' + (micro / unit % 10) as u8);
        unit /= 10;
    }
}

const fn new_city(name: &'static str, lat: f64, lon: f64, people: u32) -> City {
    City { name, lat, lon, population: people }
}

/// Cities, largest first.
pub(super) static CITIES: [City; 84] = [
    new_city("Москва", 55.75, 37.62, 12_640),
    new_city("Санкт-Петербург", 59.94, 30.31, 5_380),
    new_city("Новосибирск", 55.03, 82.92, 1_620),
    new_city("Екатеринбург", 56.84, 60.61, 1_540),
    new_city("Казань", 55.79, 49.12, 1_260),
    new_city("Нижний Новгород", 56.33, 44.00, 1_240),
    new_city("Челябинск", 55.16, 61.40, 1_190),
    new_city("Красноярск", 56.01, 92.87, 1_180),
    new_city("Самара", 53.20, 50.15, 1_170),
    new_city("Уфа", 54.74, 55.97, 1_140),
    new_city("Ростов-на-Дону", 47.24, 39.71, 1_140),
    new_city("Омск", 54.99, 73.37, 1_130),
    new_city("Краснодар", 45.04, 38.98, 1_100),
    new_city("Воронеж", 51.67, 39.18, 1_050),
    new_city("Пермь", 58.01, 56.25, 1_030),
    new_city("Волгоград", 48.71, 44.51, 1_020),
    new_city("Саратов", 51.53, 46.03, 900),
    new_city("Тюмень", 57.15, 65.53, 850),
    new_city("Тольятти", 53.51, 49.42, 680),
    new_city("Барнаул", 53.35, 83.78, 630),
    new_city("Махачкала", 42.98, 47.50, 625),
    new_city("Ижевск", 56.85, 53.20, 623),
    new_city("Хабаровск", 48.48, 135.07, 617),
    new_city("Ульяновск", 54.32, 48.40, 616),
    new_city("Иркутск", 52.29, 104.30, 615),
    new_city("Владивосток", 43.12, 131.89, 603),
    new_city("Ярославль", 57.63, 39.87, 577),
    new_city("Кемерово", 55.35, 86.09, 557),
    new_city("Томск", 56.50, 84.97, 556),
    new_city("Набережные Челны", 55.74, 52.41, 548),
    new_city("Севастополь", 44.60, 33.52, 547),
    new_city("Ставрополь", 45.04, 41.97, 547),
    new_city("Оренбург", 51.77, 55.10, 543),
    new_city("Новокузнецк", 53.76, 87.12, 537),
    new_city("Рязань", 54.63, 39.74, 528),
    new_city("Балашиха", 55.80, 37.96, 520),
    new_city("Пенза", 53.20, 45.00, 501),
    new_city("Чебоксары", 56.13, 47.25, 497),
    new_city("Липецк", 52.61, 39.59, 496),
    new_city("Калининград", 54.71, 20.51, 490),
    new_city("Астрахань", 46.35, 48.04, 475),
    new_city("Тула", 54.19, 37.62, 473),
    new_city("Киров", 58.60, 49.66, 468),
    new_city("Сочи", 43.60, 39.73, 466),
    new_city("Курск", 51.73, 36.19, 440),
    new_city("Улан-Удэ", 51.83, 107.58, 437),
    new_city("Тверь", 56.86, 35.91, 416),
    new_city("Магнитогорск", 53.41, 58.98, 410),
    new_city("Сургут", 61.25, 73.40, 396),
    new_city("Брянск", 53.24, 34.37, 379),
    new_city("Иваново", 57.00, 40.97, 361),
    new_city("Якутск", 62.03, 129.73, 355),
    new_city("Владимир", 56.13, 40.41, 349),
    new_city("Симферополь", 44.95, 34.10, 340),
    new_city("Белгород", 50.60, 36.59, 339),
    new_city("Нижний Тагил", 57.91, 59.97, 338),
    new_city("Калуга", 54.51, 36.26, 337),
    new_city("Чита", 52.03, 113.50, 334),
    new_city("Грозный", 43.32, 45.69, 328),
    new_city("Волжский", 48.79, 44.75, 321),
    new_city("Смоленск", 54.78, 32.05, 316),
    new_city("Подольск", 55.43, 37.55, 314),
    new_city("Саранск", 54.19, 45.18, 314),
    new_city("Вологда", 59.22, 39.89, 313),
    new_city("Курган", 55.44, 65.34, 310),
    new_city("Череповец", 59.13, 37.90, 305),
    new_city("Орёл", 52.97, 36.07, 303),
    new_city("Архангельск", 64.54, 40.52, 301),
    new_city("Владикавказ", 43.02, 44.68, 295),
    new_city("Нижневартовск", 60.94, 76.56, 283),
    new_city("Йошкар-Ола", 56.63, 47.89, 281),
    new_city("Стерлитамак", 53.63, 55.95, 277),
    new_city("Мурманск", 68.97, 33.08, 270),
    new_city("Кострома", 57.77, 40.93, 267),
    new_city("Новороссийск", 44.72, 37.77, 262),
    new_city("Тамбов", 52.72, 41.45, 261),
    new_city("Нальчик", 43.48, 43.61, 247),
    new_city("Сыктывкар", 61.67, 50.84, 220),
    new_city("Псков", 57.82, 28.33, 193),
    new_city("Южно-Сахалинск", 46.96, 142.74, 181),
    new_city("Норильск", 69.35, 88.20, 174),
    new_city("Петропавловск-Камчатский", 53.02, 158.65, 165),
    new_city("Магадан", 59.56, 150.80, 90),
    new_city("Горно-Алтайск", 51.96, 85.96, 65),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::row_rng::row_rng;

    #[test]
    fn distances_match_known_values() {
        let city = |name: &str| CITIES.iter().find(|it| it.name == name).unwrap();
        let check = |a: &str, b: &str, expected: f64| {
            let found = distance_km(city(a), city(b));
            assert!((found - expected).abs() < expected * 0.02 + 0.01, "{a}, {b}: {found} km");
        };
        check("Москва", "Москва", 0.0);
        check("Москва", "Санкт-Петербург", 634.0);
        check("Москва", "Новосибирск", 2811.0);
        check("Калининград", "Владивосток", 7380.0);
    }

    #[test]
    fn points_scatter_around_their_city() {
        let mut chance = row_rng(42, 0);
        let moscow = &CITIES[0];
        let points: Vec<Point> = (0..10_000).map(|_| draw_point_near(moscow, &mut chance)).collect();
        let mean = |coordinate: fn(&Point) -> i64| points.iter().map(coordinate).sum::<i64>() as f64 / 1e10;
        assert!(
            (mean(|it| it.lat) - moscow.lat).abs() < 0.01 && (mean(|it| it.lon) - moscow.lon).abs() < 0.02
        );
        let within = points
            .iter()
            .filter(|it| (it.lat as f64 / 1e6 - moscow.lat).abs() * KM_PER_DEGREE < 19.1)
            .count();
        assert!((6500..7100).contains(&within), "two thirds lie within one standard deviation: {within}");
        let drawn = (0..10_000).filter(|_| draw_city(&mut chance, CITIES.len()) == 0).count();
        assert!((1700..2100).contains(&drawn), "Moscow is nearly a fifth of all: {drawn}");
    }

    #[test]
    fn cities_are_sorted_by_population() {
        assert!(CITIES.windows(2).all(|it| it[0].population >= it[1].population));
    }

    #[test]
    fn formats_degrees() {
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
