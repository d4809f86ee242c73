//! Generator of the tables `delivery.send` and `delivery.receive`
//!
//! Two wide, denormalized tables for one query: which offices near a buyer can receive a parcel from an office near the
//! seller, and in which tariff zone? A tag identifies the offices of one provider in one place of departure. Each
//! office that takes parcels has a tag. Each office that hands parcels out has a row for every tag of its provider.
//!
//! Scale 1 has 400,000 senders and 160 million receivers, as in a real system. The numbers of tags and offices of a
//! provider both shrink with the square root of the scale.

use super::geography::{CITIES, Point, distance_km, draw_city, draw_point_near, write_degrees};
use super::row_rng::{derive_seed, row_rng};
use super::table_spec::{CopyFormat, TableSpec};
use super::{timestamp, write_decimal};
use std::sync::Arc;

/// Tables to create.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Delivery {
    /// Scale factor above 0; 1 gives 160 million receivers.
    pub scale: f64,
    pub seed: u64,
}

/// Provider of deliveries, with the limits of its parcels and its means of delivery.
struct Provider {
    limits: Limits,
    /// Percentage of parcel lockers among the offices that hand parcels out.
    locker_percent: u64,
    km_a_day: f64,
}

/// Limits of a parcel: grams, millimetres, roubles.
#[derive(Clone, Copy)]
struct Limits {
    weight: u64,
    height: u64,
    length: u64,
    width: u64,
    cost: u64,
}

/// Number of tags of a provider at scale 1. Proportional to the square root of the scale, like the number of offices.
const ORIGINS_PER_PROVIDER: f64 = 1000.0;
/// Upper bound of each tariff zone, in kilometres from the place of departure.
const ZONES: [f64; 6] = [50.0, 300.0, 700.0, 1500.0, 3000.0, 5000.0];
const DAY: i64 = 86_400;
/// Start of the oldest sender: 2019-01-01.
const FIRST_START: i64 = 17_897 * DAY;
/// End of senders that are still active: 2100-01-01.
const NEVER_ENDS: i64 = 47_482 * DAY;

/// Values that do not depend on the row.
struct Geography {
    /// City of each place of departure; all providers share them.
    origins: Vec<usize>,
    /// Places of departure by city; may be empty.
    origins_by_city: Vec<Vec<u64>>,
    /// Kilometres between two cities.
    distances: Vec<[f64; CITIES.len()]>,
}

impl Delivery {
    /// Number of offices that take parcels: 400,000, or at scales below 0.025, a tenth of the number of receivers.
    pub fn senders(self) -> u64 {
        ((400_000.0 * (self.scale * 40.0).min(1.0)).round() as u64).max(1)
    }

    pub fn receivers(self) -> u64 {
        ((160e6 * self.scale).round() as u64).max(1)
    }

    pub(super) fn table_specs(self) -> Vec<TableSpec> {
        let country =
            Arc::new(Geography::new(((ORIGINS_PER_PROVIDER * self.scale.sqrt()).round() as usize).max(1)));
        let columns =
            "max_weight int, max_height int, max_length int, max_width int, max_declared_cost bigint";
        let spec = |name: &str, rows, columns: String, write, index: &str| TableSpec {
            schema: Some("delivery".to_owned()),
            name: name.to_owned(),
            rows,
            create: format!("create table delivery.{name}({columns})"),
            form: CopyFormat::Text,
            write,
            post_load_statements: vec![format!("create index {name}_idx on delivery.{name}({index})")],
        };
        let (send_country, receive_country) = (Arc::clone(&country), country);
        vec![
            spec(
                "send",
                self.senders(),
                format!(
                    "provider smallint, tariff_id int, tag_from_id int, lat float8, lon float8, \
                     active_from timestamptz, active_until timestamptz, {columns}"
                ),
                Box::new(move |row, out: &mut Vec<u8>| self.write_sender(&send_country, row, out)),
                "lon, lat, active_from, active_until",
            ),
            spec(
                "receive",
                self.receivers(),
                format!(
                    "terminal_id int, tag_from_id int, lat float8, lon float8, tariff_zone_id int, \
                     min_term smallint, max_term smallint, {columns}"
                ),
                Box::new(move |row, out: &mut Vec<u8>| self.write_receiver(&receive_country, row, out)),
                "tag_from_id, lon, lat",
            ),
        ]
    }

    fn write_sender(self, country: &Geography, row: u64, out: &mut Vec<u8>) {
        let mut chance = row_rng(derive_seed(self.seed, &["send"]), row);
        let provider = row % PROVIDERS.len() as u64;
        let place = draw_city(&mut chance, country.origins_by_city.len());
        let origins = &country.origins_by_city[place];
        let origin = origins[chance.below(origins.len() as u64) as usize];
        let point = draw_point_near(&CITIES[place], &mut chance);
        write_decimal(out, provider + 1);
        write_tab_number(out, (provider + 1) * 10 + chance.below(3));
        write_tab_number(out, tag_id(origin, provider));
        write_point(point, out);
        let active_from = FIRST_START + chance.below(2000) as i64 * DAY;
        // One sender in twenty was active for only 30 to 399 days.
        let ended = chance.below(20) == 0;
        let active_until =
            if ended { active_from + (30 + chance.below(370) as i64) * DAY } else { NEVER_ENDS };
        for moment in [active_from, active_until] {
            out.push(b'\t');
            timestamp::write_timestamp(moment, out);
        }
        PROVIDERS[provider as usize].limits.write(out);
        out.push(b'\n');
    }

    /// Writes a row of the table `receive`. All tags of one office come before those of the next office. A real table
    /// grows in this order, because a provider opens one office after the other.
    fn write_receiver(self, country: &Geography, row: u64, out: &mut Vec<u8>) {
        let providers = PROVIDERS.len() as u64;
        let tags = country.origins.len() as u64 * providers;
        let (number, office) = (row % tags, row / tags);
        let (provider, origin) = (number % providers, number / providers);
        let its = &PROVIDERS[provider as usize];
        // Use one random sequence for all rows of an office, because they describe the same office.
        let mut chance = row_rng(derive_seed(self.seed, &["receive"]), office * providers + provider);
        let place = draw_city(&mut chance, CITIES.len());
        let point = draw_point_near(&CITIES[place], &mut chance);
        let limits =
            if chance.below(100) < its.locker_percent { its.limits.for_locker() } else { its.limits };
        let km = country.distances[country.origins[origin as usize]][place];
        write_decimal(out, office * providers + provider + 1);
        write_tab_number(out, tag_id(origin, provider));
        write_point(point, out);
        write_tab_number(out, ZONES.iter().filter(|it| km > **it).count() as u64);
        let least = 1 + (km / its.km_a_day) as u64;
        write_tab_number(out, least);
        write_tab_number(out, least + 1 + chance.below(3));
        limits.write(out);
        out.push(b'\n');
    }
}

impl Geography {
    /// Chooses the places of departure: one in each of the larger cities, and further places in proportion to
    /// population.
    fn new(origins: usize) -> Geography {
        let mut people = 0;
        let cumulative = CITIES.each_ref().map(|city| {
            people += u64::from(city.population);
            people
        });
        let more = origins.saturating_sub(CITIES.len()) as u64;
        let evenly = (0..more).map(|it| (2 * it + 1) * people / (2 * more));
        let shared = evenly.map(|share| {
            cumulative
                .iter()
                .position(|sum| share < *sum)
                .expect("the number is below the sum of the weights")
        });
        let origins: Vec<usize> = (0..origins.min(CITIES.len())).chain(shared).collect();
        let mut of_city = vec![Vec::new(); origins.len().min(CITIES.len())];
        origins.iter().enumerate().for_each(|(origin, city)| of_city[*city].push(origin as u64));
        let from = |a| std::array::from_fn(|b| distance_km(&CITIES[a], &CITIES[b]));
        Geography { origins, origins_by_city: of_city, distances: (0..CITIES.len()).map(from).collect() }
    }
}

impl Limits {
    const fn new(weight: u64, [height, length, width]: [u64; 3], cost: u64) -> Limits {
        Limits { weight, height, length, width, cost }
    }

    /// Returns these limits, reduced to parcels that fit into a locker.
    fn for_locker(self) -> Limits {
        Limits {
            weight: self.weight.min(15_000),
            height: self.height.min(360),
            length: self.length.min(600),
            width: self.width.min(380),
            cost: self.cost.min(100_000),
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        [self.weight, self.height, self.length, self.width, self.cost]
            .into_iter()
            .for_each(|it| write_tab_number(out, it));
    }
}

fn tag_id(origin: u64, provider: u64) -> u64 {
    origin * PROVIDERS.len() as u64 + provider + 1
}

fn write_tab_number(out: &mut Vec<u8>, number: u64) {
    out.push(b'\t');
    write_decimal(out, number);
}

fn write_point(point: Point, out: &mut Vec<u8>) {
    for degrees in [point.lat, point.lon] {
        out.push(b'\t');
        write_degrees(degrees, out);
    }
}

const fn provider(limits: Limits, lockers: u64, km_a_day: f64) -> Provider {
    Provider { limits, locker_percent: lockers, km_a_day }
}

/// Invented providers that differ like real ones: post, couriers, shops, lockers, freight.
static PROVIDERS: [Provider; 8] = [
    provider(Limits::new(20_000, [600, 1000, 600], 500_000), 0, 400.0),
    provider(Limits::new(30_000, [800, 1500, 800], 1_000_000), 20, 700.0),
    provider(Limits::new(25_000, [700, 1200, 700], 300_000), 40, 600.0),
    provider(Limits::new(15_000, [360, 600, 380], 100_000), 100, 550.0),
    provider(Limits::new(31_500, [1000, 1800, 1000], 500_000), 10, 650.0),
    provider(Limits::new(10_000, [400, 600, 400], 50_000), 70, 500.0),
    provider(Limits::new(50_000, [1200, 2000, 1200], 2_000_000), 0, 800.0),
    provider(Limits::new(18_000, [500, 900, 500], 250_000), 50, 450.0),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn rows(scale: f64, table: usize) -> Vec<Vec<String>> {
        let spec = &Delivery { scale, seed: 42 }.table_specs()[table];
        let row = |row| {
            let mut out = Vec::new();
            (spec.write)(row, &mut out);
            let text = String::from_utf8(out).unwrap();
            text.strip_suffix('\n').unwrap().split('\t').map(str::to_owned).collect()
        };
        (0..spec.rows).map(row).collect()
    }

    #[test]
    fn table_sizes_follow_scale() {
        let check = |scale: f64, senders: u64, receivers: u64| {
            let delivery = Delivery { scale, seed: 1 };
            assert_eq!((delivery.senders(), delivery.receivers()), (senders, receivers), "{scale}");
        };
        check(1.0, 400_000, 160_000_000);
        check(0.025, 400_000, 4_000_000);
        check(0.001, 16_000, 160_000);
        check(1e-9, 1, 1);
    }

    #[test]
    fn writes_golden_rows() {
        assert_eq!(
            rows(0.0001, 0)[0].join(" | "),
            "1 | 12 | 41 | 56.477403 | 44.035927 | 2020-06-05 00:00:00+00 | 2100-01-01 00:00:00+00 | 20000 | 600 | 1000 | 600 | 500000"
        );
        assert_eq!(
            rows(0.0001, 1)[9].join(" | "),
            "2 | 10 | 56.131313 | 40.369494 | 3 | 2 | 4 | 30000 | 800 | 1500 | 800 | 1000000"
        );
        assert_eq!(model::parse_utc("2019-01-01"), Some(FIRST_START));
        assert_eq!(model::parse_utc("2100-01-01"), Some(NEVER_ENDS));
    }

    #[test]
    fn every_tag_has_receivers_and_zones_grow_with_distance() {
        let (send, receive) = (rows(0.0005, 0), rows(0.0005, 1));
        let tags =
            |rows: &[Vec<String>], at: usize| rows.iter().map(|it| it[at].clone()).collect::<HashSet<_>>();
        let (from, to) = (tags(&send, 2), tags(&receive, 1));
        assert!(from.is_subset(&to), "senders have tags that no receiver has");
        assert_eq!(to.len(), 22 * PROVIDERS.len());
        assert_eq!(tags(&send, 0).len(), PROVIDERS.len());
        // An office has one position, whatever its tag.
        let places: HashSet<(&String, &String, &String)> =
            receive.iter().map(|it| (&it[0], &it[2], &it[3])).collect();
        assert_eq!(places.len(), tags(&receive, 0).len());
        // The first place of departure is Moscow: places within a degree of it belong to the first two zones.
        for row in receive.iter().filter(|it| it[1].parse::<usize>().unwrap() <= PROVIDERS.len()) {
            let value = |at: usize| row[at].parse::<f64>().unwrap();
            let near = (value(2) - CITIES[0].lat).abs() < 0.5 && (value(3) - CITIES[0].lon).abs() < 0.8;
            let far = value(3) > 100.0;
            assert!(!near || value(4) <= 1.0, "{row:?}");
            assert!(!far || value(4) >= 5.0, "{row:?}");
            assert!(value(5) >= 1.0 && value(6) > value(5), "{row:?}");
        }
        let ended = send.iter().filter(|it| !it[6].starts_with("2100")).count();
        assert!((send.len() / 30..send.len() / 13).contains(&ended), "{ended} of {}", send.len());
        assert!(
            send.iter().all(|it| it[5] < it[6] && (it[6].as_str() < "2026" || it[6].starts_with("2100"))),
            "{:?}",
            send[0]
        );
    }

    #[test]
    fn origins_are_proportional_to_population() {
        for origins in [1, 10, 84, 158, 1000] {
            let geography = Geography::new(origins);
            assert_eq!(geography.origins.len(), origins);
            assert!(geography.origins_by_city.iter().all(|it| !it.is_empty()), "{origins}");
            assert!(
                geography.origins_by_city.windows(2).all(|it| it[0].len() + 1 >= it[1].len()),
                "{origins}"
            );
        }
        let moscow = Geography::new(1000).origins_by_city[0].len();
        assert!((180..200).contains(&moscow), "nearly a fifth: {moscow}");
    }
}
