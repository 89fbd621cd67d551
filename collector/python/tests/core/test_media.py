"""Images and sounds of `Run`: every layout and type of numbers against the pixels and samples that it should give."""

import struct

import numpy as np
import pytest
from event_files import open_images, read, read_images
from PIL import Image

import trainscope

RANDOM = np.random.default_rng(5)
# Height 5, width 7, three channels: sizes that no two axes share.
COLOURS = RANDOM.integers(0, 256, (5, 7, 3), np.uint8)
GREY = RANDOM.integers(0, 256, (5, 7), np.uint8)


def record(folder, image, **options):
    """Images of a run that recorded one."""
    with trainscope.start(folder, strict=True) as run:
        run.image("picture", image, 3, **options)
    return read_images(folder)["picture"]


@pytest.mark.parametrize(
    ("layout", "image"),
    [
        ("HWC", COLOURS),
        ("CHW", COLOURS.transpose(2, 0, 1)),
        ("WHC", COLOURS.transpose(1, 0, 2)),
        ("CHW", np.ascontiguousarray(COLOURS.transpose(2, 0, 1))),
        ("HWC", COLOURS[::-1][::-1]),
    ],
)
def test_colours_are_the_same_in_every_layout(tmp_path, layout, image):
    (pixels,) = record(tmp_path, image, layout=layout)
    assert (pixels == COLOURS).all()


@pytest.mark.parametrize("image", [COLOURS, COLOURS.transpose(2, 0, 1)])
def test_a_layout_with_one_axis_of_three_is_recognized(tmp_path, image):
    (pixels,) = record(tmp_path, image)
    assert (pixels == COLOURS).all()


@pytest.mark.parametrize("image", [GREY, GREY[:, :, None], GREY[None]])
def test_grey_needs_no_axis_for_channels(tmp_path, image):
    (pixels,) = record(tmp_path, image)
    assert (pixels == GREY[:, :, None]).all()


@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
def test_a_batch_is_one_image_each(tmp_path, layout):
    batch = RANDOM.integers(0, 256, (4, 5, 7, 3), np.uint8)
    pixels = record(tmp_path, batch.transpose([("NHWC").index(axis) for axis in layout]), layout=layout)
    assert len(pixels) == 4
    assert all((image == wanted).all() for image, wanted in zip(pixels, batch, strict=True))


def test_transparency_is_kept(tmp_path):
    colours = RANDOM.integers(0, 256, (5, 7, 4), np.uint8)
    with trainscope.start(tmp_path, strict=True) as run:
        run.image("picture", colours)
    (image,) = open_images(tmp_path)["picture"]
    assert image.mode == "RGBA"
    assert (np.asarray(image) == colours).all()


def test_floating_point_is_from_0_to_1_and_beyond_is_clamped(tmp_path):
    image = np.array([[0.0, 0.5, 1.0, 2.0, -1.0, np.nan, np.inf, -np.inf]])
    (pixels,) = record(tmp_path / "f64", image)
    assert pixels[0, :, 0].tolist() == [0, 127, 255, 255, 0, 0, 255, 0]
    (pixels,) = record(tmp_path / "f16", image.astype(np.float16))
    assert pixels[0, :, 0].tolist() == [0, 127, 255, 255, 0, 0, 255, 0]


@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_every_brightness_of_a_byte_survives_as_floating_point(tmp_path, kind):
    bytes_ = np.arange(256, dtype=np.uint8).reshape(16, 16)
    (pixels,) = record(tmp_path, (bytes_ / 255).astype(kind))
    assert (pixels[:, :, 0] == bytes_).all()


def test_bool_is_black_and_white(tmp_path):
    (pixels,) = record(tmp_path, GREY > 100)
    assert (pixels[:, :, 0] == np.where(GREY > 100, 255, 0)).all()


def test_integers_are_from_0_to_255(tmp_path):
    (pixels,) = record(tmp_path, np.array([[0, 7, 255, 256, -1]], np.int64))
    assert pixels[0, :, 0].tolist() == [0, 7, 255, 255, 0]


@pytest.mark.parametrize("mode", ["RGB", "L", "RGBA", "P", "1"])
def test_an_image_of_pil_is_recorded_as_it_looks(tmp_path, mode):
    picture = Image.fromarray(COLOURS).convert(mode)
    (pixels,) = record(tmp_path, picture)
    assert (pixels == np.asarray(picture.convert("RGB"))).all()


def test_what_is_no_image_is_counted_and_the_program_goes_on(tmp_path):
    shapes = [(3,), (2, 2, 2, 2, 2), (0, 5), (5, 7, 9)]
    wrong = [None, "picture", 7, object(), *map(np.zeros, shapes)]
    with pytest.warns(trainscope.TrainscopeWarning), trainscope.start(tmp_path) as run:
        for image in wrong:
            run.image("picture", image)
        run.image("picture", COLOURS, layout="HW")
        run.image("picture", COLOURS, layout="nonsense")
        run.image(None, COLOURS)
        run.image("after", COLOURS)
    assert set(read_images(tmp_path)) == {"after"}
    assert not run.report().is_complete


def read_sound(folder, tag="sound"):
    """Rate, and samples (n, channels) of a WAV file of 32-bit floats."""
    (value,) = read(folder)[tag]
    content = value.array.reshape(-1)[0]
    assert content[:4] == b"RIFF" and content[8:12] == b"WAVE"
    place, form, samples = 12, None, None
    while place < len(content):
        name, size = struct.unpack_from("<4sI", content, place)
        chunk = content[place + 8 : place + 8 + size]
        form = chunk if name == b"fmt " else form
        samples = chunk if name == b"data" else samples
        place += 8 + size + size % 2
    _, channels, rate, _, _, bits = struct.unpack_from("<HHIIHH", form)
    assert bits == 32
    return rate, np.frombuffer(samples, "<f4").reshape(-1, channels)


def record_sound(folder, samples, rate=8000):
    with trainscope.start(folder, strict=True) as run:
        run.audio("sound", samples, rate, 3)
    return read_sound(folder)


WAVES = RANDOM.uniform(-1, 1, (40, 2)).astype(np.float32)


@pytest.mark.parametrize(
    ("samples", "wanted"),
    [
        (WAVES[:, 0], WAVES[:, :1]),
        (WAVES, WAVES),
        (WAVES.T, WAVES),
        (WAVES[:, :1].T, WAVES[:, :1]),
        (WAVES[:, :1], WAVES[:, :1]),
        (WAVES.astype(np.float64), WAVES),
        (WAVES[::2], WAVES[::2]),
    ],
)
def test_sounds_keep_their_samples_in_every_layout(tmp_path, samples, wanted):
    rate, read_samples = record_sound(tmp_path, samples)
    assert rate == 8000
    assert (read_samples == wanted).all()


def test_integers_are_scaled_by_the_range_of_their_type(tmp_path):
    _, samples = record_sound(tmp_path, np.array([-32768, -16384, 0, 16384], np.int16))
    assert samples[:, 0].tolist() == [-1, -0.5, 0, 0.5]


def test_loud_sounds_and_nan_are_kept(tmp_path):
    _, samples = record_sound(tmp_path, np.array([2.5, -3, np.nan, np.inf]))
    assert samples[:2, 0].tolist() == [2.5, -3]
    assert np.isnan(samples[2, 0]) and np.isposinf(samples[3, 0])


def test_what_is_no_sound_is_counted_and_the_program_goes_on(tmp_path):
    with pytest.warns(trainscope.TrainscopeWarning), trainscope.start(tmp_path) as run:
        for samples in (None, "la", 7, np.zeros((2, 2, 2)), object()):
            run.audio("sound", samples, 8000)
        for rate in (None, -1, "fast", 1 << 80):
            run.audio("sound", WAVES, rate)
        run.audio("after", WAVES, 8000)
    assert set(read(tmp_path)) & {"sound", "after"} == {"after"}
    assert not run.report().is_complete
