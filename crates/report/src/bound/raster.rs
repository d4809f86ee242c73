//! SVG pictures as PNG, for formats without SVG
//!
//! The text is drawn with a font that is part of the program, so that pictures are equal on all machines.

use crate::svg::SvgPicture;
use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Options, Tree};
use std::sync::{Arc, LazyLock};

/// DejaVu Sans with the characters of reports in Latin and Cyrillic script.
pub const FONT: &[u8] = include_bytes!("../../fonts/DejaVuSans-subset.ttf");

/// Pixels of the PNG per pixel of the picture, so that it can be printed.
const SCALE: u32 = 2;

static FONTS: LazyLock<Arc<Database>> = LazyLock::new(|| {
    let mut fonts = Database::new();
    fonts.load_font_data(FONT.to_vec());
    Arc::new(fonts)
});

/// Renders a picture on a white background.
pub fn png(picture: &SvgPicture) -> Vec<u8> {
    let options =
        Options { fontdb: Arc::clone(&FONTS), font_family: "DejaVu Sans".to_owned(), ..Options::default() };
    let tree = Tree::from_str(&picture.text, &options).expect("our own picture is valid SVG");
    let size = (picture.width * SCALE, picture.height * SCALE);
    let mut pixels = Pixmap::new(size.0, size.1).expect("a picture has a size");
    pixels.fill(Color::WHITE);
    resvg::render(&tree, Transform::from_scale(SCALE as f32, SCALE as f32), &mut pixels.as_mut());
    pixels.encode_png().expect("pixels can be encoded in memory")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number of dark pixels of a text.
    fn ink(text: &str) -> usize {
        let text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"120\" height=\"20\" font-family=\"DejaVu Sans, Arial\" \
             font-size=\"12\"><text x=\"2\" y=\"15\">{text}</text></svg>"
        );
        let bytes = png(&SvgPicture { text, width: 120, height: 20 });
        let pixels = Pixmap::decode_png(&bytes).expect("PNG");
        assert_eq!((pixels.width(), pixels.height()), (240, 40));
        pixels.pixels().iter().filter(|it| it.red() < 128).count()
    }

    #[test]
    fn draws_latin_and_cyrillic_text() {
        assert_eq!(ink(""), 0);
        for text in ["offered/s", "Время, мс", "5\u{a0}мс → ≈ µ"] {
            assert!(ink(text) > 100, "{text}: {} dark pixels", ink(text));
        }
    }
}
