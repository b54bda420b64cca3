//! The handwritten digits: 8×8 images and their labels.

use std::path::Path;

use keyway::op::random::philox;
use keyway::prelude::*;

/// The pixels of an image.
const PIXELS: usize = 64;

/// Images with pixels in `0.0..=1.0`, and the digit that each shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Digits {
    images: Vec<[f32; PIXELS]>,
    labels: Vec<i32>,
}

impl Digits {
    /// Reads a file with a line per image: 64 pixels from 0 to 16, then the digit.
    pub(crate) fn read(path: &Path) -> Result<Self, Error> {
        let refused = |message: String| Error::File {
            path: path.display().to_string(),
            message,
        };
        let text = std::fs::read_to_string(path).map_err(|e| refused(e.to_string()))?;
        Self::parse(&text).map_err(refused)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let mut digits = Digits::default();
        for (i, line) in text.lines().enumerate() {
            let (image, label) = parse_line(line).map_err(|message| format!("line {}: {message}", i + 1))?;
            digits.images.push(image);
            digits.labels.push(label);
        }
        match digits.len() {
            0..5 => Err(format!(
                "{} images; a fifth is held out, so there must be 5 or more",
                digits.len()
            )),
            _ => Ok(digits),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.labels.len()
    }

    /// Holds out every fifth image: those to train with, and those to test with.
    pub(crate) fn split(self) -> (Digits, Digits) {
        let (mut train, mut test) = (Digits::default(), Digits::default());
        for (i, (image, label)) in self.images.into_iter().zip(self.labels).enumerate() {
            let part = if i % 5 == 4 { &mut test } else { &mut train };
            part.images.push(image);
            part.labels.push(label);
        }
        (train, test)
    }

    /// Some of the images, as `[batch, 1, 8, 8]`, and their labels.
    pub(crate) fn batch<B: Backend>(
        &self,
        picks: &[usize],
        device: &B::Device,
    ) -> (Tensor<B, 4>, Tensor<B, 1, i32>) {
        let images = picks.iter().flat_map(|&i| self.images[i]).collect();
        let labels = picks.iter().map(|&i| self.labels[i]).collect();
        (
            Tensor::from_vec(images, [picks.len(), 1, 8, 8], device),
            Tensor::from_vec(labels, [picks.len()], device),
        )
    }
}

fn parse_line(line: &str) -> Result<([f32; PIXELS], i32), String> {
    let numbers = line.split(',').map(|text| {
        let number = text.trim().parse::<u8>();
        number.map_err(|_| format!("`{text}` is not a number from 0 to 16"))
    });
    let numbers = numbers.collect::<Result<Vec<u8>, String>>()?;
    let Some((&label, pixels)) = numbers.split_last().filter(|(_, pixels)| pixels.len() == PIXELS) else {
        return Err(format!(
            "expected {PIXELS} pixels and a digit, got {} numbers",
            numbers.len()
        ));
    };
    if let Some(pixel) = pixels.iter().find(|&&pixel| pixel > 16) {
        return Err(format!("`{pixel}` is not a number from 0 to 16"));
    }
    if label > 9 {
        return Err(format!("`{label}` is not a digit"));
    }
    Ok((
        std::array::from_fn(|i| f32::from(pixels[i]) / 16.0),
        i32::from(label),
    ))
}

/// `0..len` in an order that depends on the seed and the epoch alone (Fisher & Yates).
pub(crate) fn shuffled(len: usize, seed: u64, epoch: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..len).collect();
    let stream = seed ^ ((epoch as u64 + 1) << 32);
    for i in (1..len).rev() {
        let [word, ..] = philox(stream, i as u64);
        order.swap(i, ((u64::from(word) * (i as u64 + 1)) >> 32) as usize);
    }
    order
}
