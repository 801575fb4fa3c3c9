//! Cities with their coordinates, for `--city`. Heights are 0: 1 km of height changes a contact by up to 1.5 s, and by more near the limits of the path.

use strsim::levenshtein;

use crate::error::quoted;
use crate::error::{Error, Result};
use crate::places::Place;

/// Name, latitude and longitude in degrees, in alphabetical order.
#[rustfmt::skip]
pub const CITIES: &[(&str, f64, f64)] = &[
    ("A Coruna", 43.3623, -8.4115),
    ("Abu Dhabi", 24.4539, 54.3773),
    ("Accra", 5.6037, -0.187),
    ("Addis Ababa", 9.03, 38.74),
    ("Alexandria", 31.2001, 29.9187),
    ("Algeciras", 36.1275, -5.4539),
    ("Algiers", 36.7538, 3.0588),
    ("Almaty", 43.238, 76.945),
    ("Amsterdam", 52.3676, 4.9041),
    ("Anchorage", 61.2181, -149.9003),
    ("Ankara", 39.9334, 32.8597),
    ("Antananarivo", -18.8792, 47.5079),
    ("Athens", 37.9838, 23.7275),
    ("Atlanta", 33.749, -84.388),
    ("Auckland", -36.8509, 174.7645),
    ("Austin", 30.2672, -97.7431),
    ("Baghdad", 33.3152, 44.3661),
    ("Bangkok", 13.7563, 100.5018),
    ("Barcelona", 41.3874, 2.1686),
    ("Beijing", 39.9042, 116.4074),
    ("Belgrade", 44.7866, 20.4489),
    ("Berlin", 52.52, 13.405),
    ("Bilbao", 43.263, -2.935),
    ("Bogota", 4.711, -74.0721),
    ("Boston", 42.3601, -71.0589),
    ("Brisbane", -27.4698, 153.0251),
    ("Brussels", 50.8503, 4.3517),
    ("Bucharest", 44.4268, 26.1025),
    ("Budapest", 47.4979, 19.0402),
    ("Buenos Aires", -34.6037, -58.3816),
    ("Buffalo", 42.8864, -78.8784),
    ("Burgos", 42.3439, -3.6969),
    ("Cadiz", 36.5298, -6.2924),
    ("Cairo", 30.0444, 31.2357),
    ("Canberra", -35.2809, 149.13),
    ("Cape Town", -33.9249, 18.4241),
    ("Caracas", 10.4806, -66.9036),
    ("Casablanca", 33.5731, -7.5898),
    ("Ceuta", 35.8883, -5.3162),
    ("Chicago", 41.8781, -87.6298),
    ("Cleveland", 41.4993, -81.6944),
    ("Copenhagen", 55.6761, 12.5683),
    ("Dakar", 14.7167, -17.4677),
    ("Dallas", 32.7767, -96.797),
    ("Damascus", 33.5138, 36.2765),
    ("Delhi", 28.6139, 77.209),
    ("Denver", 39.7392, -104.9903),
    ("Dhaka", 23.8103, 90.4125),
    ("Dublin", 53.3498, -6.2603),
    ("Durban", -29.8587, 31.0218),
    ("Edinburgh", 55.9533, -3.1883),
    ("Exmouth", -21.9307, 114.1233),
    ("Geneva", 46.2044, 6.1432),
    ("Gibraltar", 36.1408, -5.3536),
    ("Gijon", 43.5322, -5.6611),
    ("Guadalajara", 20.6597, -103.3496),
    ("Hamburg", 53.5511, 9.9937),
    ("Hanoi", 21.0278, 105.8342),
    ("Havana", 23.1136, -82.3666),
    ("Helsinki", 60.1699, 24.9384),
    ("Hobart", -42.8821, 147.3272),
    ("Hong Kong", 22.3193, 114.1694),
    ("Honolulu", 21.3069, -157.8583),
    ("Houston", 29.7604, -95.3698),
    ("Indianapolis", 39.7684, -86.1581),
    ("Istanbul", 41.0082, 28.9784),
    ("Jakarta", -6.2088, 106.8456),
    ("Jerusalem", 31.7683, 35.2137),
    ("Johannesburg", -26.2041, 28.0473),
    ("Karachi", 24.8607, 67.0011),
    ("Kathmandu", 27.7172, 85.324),
    ("Kinshasa", -4.4419, 15.2663),
    ("Kyiv", 50.4501, 30.5234),
    ("La Coruna", 43.3623, -8.4115),
    ("Lagos", 6.5244, 3.3792),
    ("Leon", 42.5987, -5.5671),
    ("Lima", -12.0464, -77.0428),
    ("Lisbon", 38.7223, -9.1393),
    ("Liverpool", 53.4084, -2.9916),
    ("Logrono", 42.4627, -2.445),
    ("London", 51.5074, -0.1278),
    ("Los Angeles", 34.0522, -118.2437),
    ("Luxor", 25.6872, 32.6396),
    ("Madrid", 40.4168, -3.7038),
    ("Malaga", 36.7213, -4.4214),
    ("Manila", 14.5995, 120.9842),
    ("Marseille", 43.2965, 5.3698),
    ("Mazatlan", 23.2494, -106.4111),
    ("Mecca", 21.3891, 39.8579),
    ("Melbourne", -37.8136, 144.9631),
    ("Mexico City", 19.4326, -99.1332),
    ("Miami", 25.7617, -80.1918),
    ("Milan", 45.4642, 9.19),
    ("Minneapolis", 44.9778, -93.265),
    ("Montreal", 45.5017, -73.5673),
    ("Moscow", 55.7558, 37.6173),
    ("Mumbai", 19.076, 72.8777),
    ("Munich", 48.1351, 11.582),
    ("Murmansk", 68.9585, 33.0827),
    ("Nairobi", -1.2921, 36.8219),
    ("Nashville", 36.1627, -86.7816),
    ("New York", 40.7128, -74.006),
    ("Nuuk", 64.1836, -51.7214),
    ("Osaka", 34.6937, 135.5023),
    ("Oslo", 59.9139, 10.7522),
    ("Ottawa", 45.4215, -75.6972),
    ("Oviedo", 43.3619, -5.8494),
    ("Palma", 39.5696, 2.6502),
    ("Paris", 48.8566, 2.3522),
    ("Perth", -31.9523, 115.8613),
    ("Philadelphia", 39.9526, -75.1652),
    ("Phoenix", 33.4484, -112.074),
    ("Plymouth", 50.3755, -4.1427),
    ("Portland", 45.5152, -122.6784),
    ("Porto", 41.1579, -8.6291),
    ("Prague", 50.0755, 14.4378),
    ("Quito", -0.1807, -78.4678),
    ("Reykjavik", 64.1466, -21.9426),
    ("Riga", 56.9496, 24.1052),
    ("Rio de Janeiro", -22.9068, -43.1729),
    ("Riyadh", 24.7136, 46.6753),
    ("Rome", 41.9028, 12.4964),
    ("Ronda", 36.7423, -5.1671),
    ("Saint Petersburg", 59.9311, 30.3609),
    ("San Antonio", 29.4241, -98.4936),
    ("San Francisco", 37.7749, -122.4194),
    ("Santander", 43.4623, -3.81),
    ("Santiago", -33.4489, -70.6693),
    ("Sao Paulo", -23.5505, -46.6333),
    ("Seattle", 47.6062, -122.3321),
    ("Seoul", 37.5665, 126.978),
    ("Seville", 37.3891, -5.9845),
    ("Sfax", 34.7398, 10.76),
    ("Shanghai", 31.2304, 121.4737),
    ("Singapore", 1.3521, 103.8198),
    ("Sofia", 42.6977, 23.3219),
    ("Stockholm", 59.3293, 18.0686),
    ("Sydney", -33.8688, 151.2093),
    ("Taipei", 25.033, 121.5654),
    ("Tallinn", 59.437, 24.7536),
    ("Tarifa", 36.0139, -5.606),
    ("Tashkent", 41.2995, 69.2401),
    ("Tehran", 35.6892, 51.389),
    ("Tel Aviv", 32.0853, 34.7818),
    ("Tokyo", 35.6762, 139.6503),
    ("Toronto", 43.6532, -79.3832),
    ("Tunis", 36.8065, 10.1815),
    ("Valencia", 39.4699, -0.3763),
    ("Valladolid", 41.6523, -4.7245),
    ("Vancouver", 49.2827, -123.1207),
    ("Vienna", 48.2082, 16.3738),
    ("Vilnius", 54.6872, 25.2797),
    ("Vitoria", 42.8467, -2.6716),
    ("Warsaw", 52.2297, 21.0122),
    ("Washington", 38.9072, -77.0369),
    ("Wellington", -41.2866, 174.7756),
    ("Zaragoza", 41.6488, -0.8891),
    ("Zurich", 47.3769, 8.5417),
];

/// The name in small letters without accents, as the list spells it.
fn plain(name: &str) -> String {
    let letter = |letter: char| match letter {
        'à'..='å' => 'a',
        'ç' => 'c',
        'è'..='ë' => 'e',
        'ì'..='ï' => 'i',
        'ñ' => 'n',
        'ò'..='ö' | 'ø' => 'o',
        'ù'..='ü' => 'u',
        'ý' | 'ÿ' => 'y',
        other => other,
    };
    name.trim().to_lowercase().chars().map(letter).collect()
}

/// The city with this name, in small or capital letters, with or without accents: its name and its place.
///
/// # Errors
/// [`Error::InvalidArgument`] if the list does not have it, with the most similar names.
pub fn city(name: &str) -> Result<(&'static str, Place)> {
    let wanted = plain(name);
    if let Some(&(name, latitude, longitude)) = CITIES.iter().find(|one| one.0.to_lowercase() == wanted) {
        return Ok((name, Place { latitude, longitude, height_m: 0.0 }));
    }
    // A longer name is not like any in the list.
    let start: String = wanted.chars().take(100).collect();
    let mut near: Vec<(usize, &str)> = CITIES
        .iter()
        .map(|one| (levenshtein(&start, &one.0.to_lowercase()), one.0))
        .filter(|&(edits, name)| edits <= 1 + name.len() / 6)
        .collect();
    near.sort_unstable();
    let names: Vec<&str> = near.into_iter().take(3).map(|one| one.1).collect();
    let hint = if names.is_empty() {
        "give its latitude and longitude".into()
    } else {
        format!("did you mean {}?", names.join(" or "))
    };
    Err(Error::InvalidArgument(format!("there is no city '{}' in the list: {hint}", quoted(name))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_or_suggested() {
        assert_eq!(city("dallas").unwrap().0, "Dallas");
        assert!(city("Dalas").unwrap_err().to_string().contains("did you mean Dallas"));
        assert!(city("Reykjavk").unwrap_err().to_string().contains("Reykjavik"));
        assert_eq!(city("Reykjavík").unwrap().0, "Reykjavik");
        assert_eq!(city("LA CORUÑA").unwrap().0, "La Coruna");
        // Two letters of five differ from Paris: no suggestion.
        assert!(city("Pabos").unwrap_err().to_string().contains("give its latitude"));
        assert!(city("Atlantis of old").unwrap_err().to_string().contains("give its latitude"));
        assert!(CITIES.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(CITIES.iter().all(|one| Place::new(one.1, one.2, 0.0).is_ok()));
    }
}
