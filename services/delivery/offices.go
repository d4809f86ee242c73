package main

import (
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// box is an area of the map, in degrees.
type box struct{ south, west, north, east float64 }

// parcel is the goods to deliver: weight in grams, sizes in millimetres, value in roubles.
type parcel struct{ weight, height, length, width, cost int64 }

// question is the request of a buyer.
type question struct {
	sellerLat, sellerLon float64
	// Area of the offices that accept the parcel from the seller.
	seller box
	// Area of the map that the buyer sees.
	buyer  box
	parcel parcel
	limit  int64
	now    time.Time
}

// office is a place where a parcel can be picked up.
type office struct {
	Terminal int32   `json:"terminal"`
	Lat      float64 `json:"lat"`
	Lon      float64 `json:"lon"`
	MinDays  int16   `json:"min_days"`
	MaxDays  int16   `json:"max_days"`
	// Price in roubles.
	Price int64 `json:"price"`
}

// mostOffices is the maximum number of offices in an answer.
const mostOffices = 1000

// ofQuery reads all parameters of a request, or returns all of their errors.
func ofQuery(values url.Values, now time.Time) (question, error) {
	it := question{now: now}
	var wrong []string
	degrees := func(name string, most float64) float64 {
		value, err := strconv.ParseFloat(values.Get(name), 64)
		// NaN is neither less than nor greater than any bound.
		if err != nil || !(math.Abs(value) <= most) {
			wrong = append(wrong, fmt.Sprintf("%s: write degrees from -%g to %g", name, most, most))
		}
		return value
	}
	whole := func(name string, least, most int64) int64 {
		value, err := strconv.ParseInt(values.Get(name), 10, 64)
		if err != nil || value < least || value > most {
			wrong = append(wrong, fmt.Sprintf("%s: write a whole number from %d to %d", name, least, most))
		}
		return value
	}
	area := func(whose string) box {
		return box{
			south: degrees(whose+"_south", 90), west: degrees(whose+"_west", 180),
			north: degrees(whose+"_north", 90), east: degrees(whose+"_east", 180),
		}
	}
	it.sellerLat, it.sellerLon = degrees("seller_lat", 90), degrees("seller_lon", 180)
	it.seller, it.buyer = area("seller"), area("buyer")
	it.parcel = parcel{
		weight: whole("weight", 1, 1_000_000), height: whole("height", 1, 10_000),
		length: whole("length", 1, 10_000), width: whole("width", 1, 10_000),
		cost: whole("cost", 0, 1_000_000_000),
	}
	it.limit = 100
	if values.Has("limit") {
		it.limit = whole("limit", 1, mostOffices)
	}
	if len(wrong) > 0 {
		return question{}, fmt.Errorf("%s", strings.Join(wrong, "; "))
	}
	return it, nil
}

// nearest finds, for each provider, the nearest office that accepts the parcel, and the offices to which it delivers.
const nearest = `
SELECT r.terminal_id, r.lat, r.lon, r.tariff_zone_id, r.min_term, r.max_term
FROM delivery.receive r
JOIN (
    SELECT DISTINCT ON (s.provider) s.provider, s.tag_from_id, point(s.lat, s.lon) <-> point($1, $2) AS distance
    FROM delivery.send s
    WHERE s.lat BETWEEN $3 AND $5 AND s.lon BETWEEN $4 AND $6
        AND $7 BETWEEN s.active_from AND s.active_until
        AND s.max_weight >= $8 AND s.max_height >= $9 AND s.max_length >= $10 AND s.max_width >= $11
        AND s.max_declared_cost >= $12
    ORDER BY s.provider, distance
) AS s USING (tag_from_id)
WHERE r.lat BETWEEN $13 AND $15 AND r.lon BETWEEN $14 AND $16
    AND r.max_weight >= $8 AND r.max_height >= $9 AND r.max_length >= $10 AND r.max_width >= $11
    AND r.max_declared_cost >= $12
LIMIT $17`

// arguments returns the values in the order of the statement's parameters.
func (it question) arguments() []any {
	return []any{
		it.sellerLat, it.sellerLon,
		it.seller.south, it.seller.west, it.seller.north, it.seller.east,
		it.now,
		it.parcel.weight, it.parcel.height, it.parcel.length, it.parcel.width, it.parcel.cost,
		it.buyer.south, it.buyer.west, it.buyer.north, it.buyer.east,
		it.limit,
	}
}

// price of one parcel in roubles. It depends on the tariff zone (0 is the nearest), on each started kilogram of its actual
// or volumetric weight, and on the insurance.
func price(zone int32, it parcel) int64 {
	// Volumetric weight: five litres count as one kilogram.
	bySize := float64(it.height*it.length*it.width) / 5e6
	kilograms := int64(math.Ceil(math.Max(float64(it.weight)/1e3, bySize)))
	return 150 + 40*int64(zone) + (20+5*int64(zone))*max(kilograms-1, 0) + it.cost/200
}
