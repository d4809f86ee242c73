//! Common English names and words
//!
//! No word needs escaping in COPY or JSON.

#[rustfmt::skip]
pub(super) const FIRST_NAMES: [&str; 64] = [
    "James", "Mary", "John", "Patricia", "Robert", "Jennifer", "Michael", "Linda", "William", "Elizabeth",
    "David", "Barbara", "Richard", "Susan", "Joseph", "Jessica", "Thomas", "Sarah", "Charles", "Karen",
    "Daniel", "Nancy", "Matthew", "Margaret", "Anthony", "Lisa", "Mark", "Betty", "Donald", "Dorothy",
    "Steven", "Sandra", "Paul", "Ashley", "Andrew", "Kimberly", "Joshua", "Donna", "Kenneth", "Emily",
    "Kevin", "Carol", "Brian", "Michelle", "George", "Amanda", "Edward", "Melissa", "Ronald", "Deborah",
    "Timothy", "Stephanie", "Jason", "Rebecca", "Jeffrey", "Laura", "Ryan", "Helen", "Jacob", "Sharon",
    "Gary", "Cynthia", "Nicholas", "Kathleen",
];

#[rustfmt::skip]
pub(super) const LAST_NAMES: [&str; 64] = [
    "Smith", "Johnson", "Williams", "Brown", "Jones", "Miller", "Davis", "Wilson", "Anderson", "Taylor",
    "Thomas", "Moore", "Jackson", "Martin", "Lee", "Thompson", "White", "Harris", "Clark", "Lewis",
    "Robinson", "Walker", "Young", "Allen", "King", "Wright", "Scott", "Hill", "Green", "Adams", "Nelson",
    "Baker", "Hall", "Campbell", "Mitchell", "Carter", "Roberts", "Phillips", "Evans", "Turner", "Parker",
    "Collins", "Edwards", "Stewart", "Morris", "Murphy", "Cook", "Rogers", "Morgan", "Cooper", "Reed",
    "Bailey", "Bell", "Kelly", "Howard", "Ward", "Cox", "Richardson", "Wood", "Watson", "Brooks",
    "Bennett", "Gray", "Hughes",
];

#[rustfmt::skip]
pub(super) const WORDS: [&str; 250] = [
    "able", "above", "across", "after", "again", "against", "almost", "alone", "along", "always", "among",
    "animal", "answer", "autumn", "basket", "before", "begin", "behind", "between", "bird", "blue",
    "board", "boat", "body", "book", "bottle", "bread", "bridge", "bright", "bring", "brother", "build",
    "butter", "candle", "carry", "castle", "chair", "change", "cheese", "child", "church", "circle",
    "city", "clean", "clear", "clock", "close", "cloud", "coast", "cold", "colour", "common", "copper",
    "corner", "count", "country", "cover", "cream", "cross", "dance", "dark", "daughter", "dinner",
    "distance", "doctor", "door", "double", "dream", "drive", "during", "early", "earth", "east", "empty",
    "engine", "evening", "every", "example", "family", "farmer", "father", "field", "finger", "fire",
    "first", "floor", "flower", "follow", "forest", "forward", "fresh", "friend", "front", "fruit",
    "garden", "gentle", "glass", "gold", "grass", "great", "green", "ground", "group", "half", "hammer",
    "hand", "happy", "harbour", "heart", "heavy", "high", "hill", "history", "home", "honey", "hope",
    "horse", "house", "hundred", "island", "iron", "jacket", "journey", "judge", "kitchen", "kind",
    "knife", "lake", "language", "large", "late", "laugh", "leaf", "learn", "letter", "level", "light",
    "line", "little", "long", "machine", "market", "meadow", "measure", "memory", "metal", "middle",
    "milk", "mind", "minute", "mirror", "money", "month", "moon", "morning", "mother", "mountain",
    "music", "narrow", "nation", "near", "needle", "never", "night", "noble", "north", "number", "ocean",
    "office", "often", "open", "orange", "order", "other", "paper", "parcel", "past", "peace", "pencil",
    "people", "picture", "place", "plain", "plant", "pocket", "point", "present", "quarter", "question",
    "quick", "quiet", "rain", "reason", "record", "river", "road", "round", "sail", "salt", "school",
    "season", "second", "silver", "simple", "sister", "small", "smooth", "snow", "song", "south", "speak",
    "spring", "square", "stone", "story", "street", "strong", "summer", "sugar", "table", "teacher",
    "thing", "thousand", "thread", "ticket", "tower", "town", "travel", "tree", "valley", "village",
    "voice", "walk", "wall", "water", "weather", "week", "west", "wheel", "white", "wind", "window",
    "winter", "wonder", "wood", "word", "work", "world", "yellow", "young",
];
