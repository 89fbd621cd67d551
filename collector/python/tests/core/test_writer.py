"""`SummaryWriter` against tensorboardX's, as TensorBoard reads both; alone where tensorboardX is not like torch."""

import gc
import inspect
import json
import os
import re
import socket
import subprocess
import sys
import time
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import tensorboardX
import trainscope.tensorboard
from event_files import open_images, read, read_events, read_images, read_points
from google.protobuf import text_format
from PIL import Image
from recorded import PROGRAM
from tensorboard.compat.proto import event_pb2, summary_pb2
from tensorboard.plugins.custom_scalar import layout_pb2
from tensorboard.plugins.hparams import plugin_data_pb2
from tensorboard.plugins.mesh import plugin_data_pb2 as mesh_pb2
from tensorboard.plugins.pr_curve import plugin_data_pb2 as curve_pb2
from tensorboard.plugins.projector import projector_config_pb2
from test_media import read_sound
from trainscope import SummaryWriter, TrainscopeWarning

RANDOM = np.random.default_rng(7)
# Exact in 32 bits, so that no writer rounds it to another byte.
COLOURS = RANDOM.integers(0, 256, (3, 9, 11)) / 256


def record_both(folder, calls):
    """Folders of ours and of tensorboardX, after the same calls."""
    with SummaryWriter(folder / "ours") as writer:
        calls(writer)
    with tensorboardX.SummaryWriter(str(folder / "peer")) as writer:
        calls(writer)
    return folder / "ours", folder / "peer"


def test_scalars_have_the_same_points(tmp_path):
    values = [1, 0.1, True, np.float32(2.5), np.int64(-3), np.array(4.0), np.array([5.0]), np.array([[6.5]])]
    values += [float("nan"), float("inf"), -np.inf, 1e-40, 3e38]

    def calls(writer):
        for step, value in enumerate(values):
            writer.add_scalar("loss/train", value, step, 1000.25 + step)
        writer.add_scalar("without a step", 1.0, walltime=5.0)
        writer.add_scalar("steps", 1.0, np.int32(7), walltime=5.0)
        writer.add_scalar("steps", 2.0, 8.75, walltime=5.5)
        writer.add_scalar("steps", 3.0, np.array(9), walltime=0.0)
        writer.add_scalar("steps", 4.0, -10, walltime=6.0)

    ours, peer = record_both(tmp_path, calls)
    # tensorboardX cleans names.
    points = {tag.replace(" ", "_"): points for tag, points in read_points(ours).items()}
    assert points == read_points(peer)
    assert [step for step, _, _ in points["steps"]] == [7, 8, 9, -10]


def test_a_scalar_without_a_time_has_that_of_the_call(tmp_path):
    before = time.time()
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("loss", 1.0, 3, new_style=True, double_precision=True)
    ((step, wall_time, value),) = read_points(tmp_path)["loss"]
    assert (step, value) == (3, "1.0")
    assert before <= wall_time <= time.time()


def test_each_line_of_a_chart_has_a_folder(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalars("run/14h", {"sin": 0.5, "cos": 1.5}, 2, 50.0)
        writer.add_scalars("run/14h", {"sin": 0.75}, 3, 51.0)
    assert read_points(tmp_path / "run_14h_sin") == {"run/14h": [(2, 50.0, "0.5"), (3, 51.0, "0.75")]}
    assert read_points(tmp_path / "run_14h_cos") == {"run/14h": [(2, 50.0, "1.5")]}
    assert {path.name for path in tmp_path.iterdir() if path.is_dir()} == {"run_14h_cos", "run_14h_sin"}


def test_texts_have_the_same_names_and_words(tmp_path):
    def calls(writer):
        writer.add_text("words", "one\n\n| a | table |", 4, 60.0)
        writer.add_text("words", "größer \N{GRINNING FACE}", walltime=61.0)

    ours, peer = record_both(tmp_path, calls)

    def read_texts(folder):
        (values,) = [values for values in read(folder).values() if values[0].plugin == "text"]
        return [(value.step, value.wall_time, value.array.reshape(-1).tolist()) for value in values]

    assert read_texts(ours) == read_texts(peer)
    assert "words/text_summary" in read(ours)


def parse(message, value):
    """Message of a plugin."""
    return message.FromString(value.content)


def test_hyper_parameters_are_the_same(tmp_path):
    values = {"rate": 0.1, "layers": 3, "zero": 0, "name": "adam", "nesterov": True, "off": False, "none": None}

    with SummaryWriter(tmp_path / "ours") as writer:
        writer.add_hparams(values, {"hparam/accuracy": 0.5, "hparam/loss": 2}, run_name="first", global_step=4)
    with tensorboardX.SummaryWriter(str(tmp_path / "peer")) as writer:
        writer.add_hparams(values, {"hparam/accuracy": 0.5, "hparam/loss": 2}, name="first", global_step=4)
    ours, peer = read(tmp_path / "ours" / "first"), read(tmp_path / "peer" / "first")
    for tag in ("_hparams_/experiment", "_hparams_/session_start_info", "_hparams_/session_end_info"):
        (our_value,), (peer_value,) = ours[tag], peer[tag]
        assert parse(plugin_data_pb2.HParamsPluginData, our_value) == parse(
            plugin_data_pb2.HParamsPluginData, peer_value
        )
    points = read_points(tmp_path / "ours" / "first")
    assert [(step, value) for step, _, value in points["hparam/accuracy"]] == [(4, "0.5")]
    assert [(step, value) for step, _, value in points["hparam/loss"]] == [(4, "2.0")]


def test_hyper_parameters_of_other_kinds_are_numbers_or_their_repr(tmp_path):
    values = {"f32": np.float32(0.5), "list": [1, 2], "array": np.zeros(2), "type": int, "huge": 10**400, 7: "seven"}
    with SummaryWriter(tmp_path) as writer:
        writer.add_hparams(values, {})
    (folder,) = [path for path in tmp_path.iterdir() if path.is_dir()]
    assert abs(float(folder.name) - time.time()) < 60
    (value,) = read(folder)["_hparams_/session_start_info"]
    session = parse(plugin_data_pb2.HParamsPluginData, value).session_start_info.hparams
    assert session["f32"].number_value == 0.5
    assert session["list"].string_value == "[1, 2]"
    assert session["array"].string_value == "array([0., 0.])"
    assert session["type"].string_value == "<class 'int'>"
    assert session["huge"].string_value == repr(10**400)
    assert session["7"].string_value == "seven"


def read_bins(folder, tag):
    """Left edges, right edges and counts of a histogram."""
    (value,) = read(folder)[tag]
    assert value.plugin == "histograms"
    return value.array


def test_a_histogram_has_64_bins_of_all_finite_elements(tmp_path):
    values = RANDOM.normal(size=(50, 20)).astype(np.float32)
    values[0, :3] = np.nan, np.inf, -np.inf
    finite = values[np.isfinite(values)]
    with SummaryWriter(tmp_path) as writer:
        writer.add_histogram("weights", values, 2)
    bins = read_bins(tmp_path, "weights")
    assert len(bins) == 64
    assert bins[0, 0] == finite.min() and bins[-1, 1] == finite.max()
    counts, _ = np.histogram(finite.astype(np.float64), np.append(bins[:, 0], bins[-1, 1]))
    assert (bins[:, 2] == counts).all()
    assert counts.sum() == finite.size


def test_edges_of_ones_own_are_honoured(tmp_path):
    values = RANDOM.normal(size=1000)
    values[:4] = np.nan, np.inf, -np.inf, 17
    edges = [-3, -1, 0, 0.5, 2, 5]
    with SummaryWriter(tmp_path) as writer:
        writer.add_histogram("edges", values, 2, edges, 70.0)
        writer.add_histogram("number", values, 2, 5)
        writer.add_histogram("rule", values, 2, "sturges")
        writer.add_histogram("at most", values, 2, max_bins=10)
    finite = values[np.isfinite(values)]
    bins = read_bins(tmp_path, "edges")
    assert bins[:, 0].tolist() == edges[:-1] and bins[:, 1].tolist() == edges[1:]
    assert bins[:, 2].tolist() == np.histogram(finite, edges)[0].tolist()
    for tag, rule in (("number", 5), ("rule", "sturges")):
        counts, limits = np.histogram(finite, rule)
        assert read_bins(tmp_path, tag).tolist() == np.column_stack((limits[:-1], limits[1:], counts)).tolist()
    bins = read_bins(tmp_path, "at most")
    assert len(bins) == 10 and bins[:, 2].sum() == finite.size
    assert (bins[1:, 0] == bins[:-1, 1]).all()


def test_histograms_made_elsewhere_are_the_same(tmp_path):
    def calls(writer):
        counts, limits = [1, 0, 5.5, 2], np.array([-1.0, 0, 1, 2])
        writer.add_histogram_raw("raw", -2, 1.5, 8.5, 3.25, 17.0, limits, counts, 9, 80.0)
        writer.add_histogram_raw("raw", -2, 1.5, 8.5, 3.25, 17.0, [-1.0, 0, 1, 2], counts)
        writer.add_histogram_raw("raw", -2, 1.5, 8.5, 3.25, 17.0, [-1.0, 0, 1, 2], counts, -300)

    ours, peer = (read(folder)["raw"] for folder in record_both(tmp_path, calls))
    assert [value.step for value in ours] == [9, 0, -300]
    assert ours[0].wall_time == peer[0].wall_time == 80.0
    for our_value, peer_value in zip(ours, peer, strict=True):
        assert our_value.array.tolist() == peer_value.array.tolist()


@pytest.mark.parametrize(
    ("axes", "kind"),
    [
        *[("CHW", "f8"), ("HWC", "f8"), ("WHC", "f4"), ("HW", "f8")],
        *[("WH", "f4"), ("CHW", "u1"), ("CHW", "?"), ("chw", "f8")],
    ],
)
def test_images_have_the_same_pixels(tmp_path, axes, kind):
    image = COLOURS * (255 if kind == "u1" else 1)
    image = image.transpose(["CHW".index(axis) for axis in axes.upper()]) if len(axes) == 3 else image[0]
    image = (image > 0.5) if kind == "?" else image.astype(kind)

    def calls(writer):
        writer.add_image("picture", image, 3, 90.0, axes)

    ours, peer = record_both(tmp_path, calls)
    (value,) = read(ours)["picture"]
    assert (value.step, value.wall_time) == (3, 90.0)
    assert (read_images(ours)["picture"][0] == read_images(peer)["picture"][0]).all()


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("number", [1, 3, 8, 11])
def test_a_batch_of_images_is_the_same_grid(tmp_path, number, channels):
    batch = RANDOM.integers(0, 256, (number, channels, 4, 5), np.uint8)

    def calls(writer):
        writer.add_images("NCHW", batch)
        writer.add_images("NHWC", batch.transpose(0, 2, 3, 1), dataformats="NHWC")
        # tensorboardX needs PyTorch for a list.
        if isinstance(writer, SummaryWriter):
            writer.add_images("list", list(batch), dataformats="CHW")

    ours, peer = (read_images(folder) for folder in record_both(tmp_path, calls))
    assert set(ours) == {"NCHW", "NHWC", "list"}
    assert (ours["NCHW"][0] == peer["NCHW"][0]).all()
    assert (ours["NHWC"][0] == peer["NHWC"][0]).all()
    assert (ours["list"][0] == peer["NCHW"][0]).all()


def test_boxes_are_drawn_as_by_the_peer(tmp_path):
    image = RANDOM.integers(0, 256, (3, 60, 80), np.uint8)
    boxes = np.array([[5, 6, 40, 30], [20, 25, 70, 55]])

    def calls(writer):
        writer.add_image_with_boxes("boxes", image, boxes, 1, dataformats="CHW", labels=["cat", "dog"])
        writer.add_image_with_boxes("plain", image, boxes, 1)
        writer.add_image_with_boxes("half", image, boxes, 1, rescale=0.5)

    ours, peer = (read_images(folder) for folder in record_both(tmp_path, calls))
    assert (ours["plain"][0] == peer["plain"][0]).all()
    assert (ours["half"][0] == peer["half"][0]).all()
    assert (ours["boxes"][0] == peer["boxes"][0]).all()
    assert (ours["boxes"][0] != ours["plain"][0]).any()


def test_a_video_is_an_animated_image(tmp_path):
    videos = RANDOM.integers(0, 256, (3, 5, 3, 4, 6), np.uint8)
    with SummaryWriter(tmp_path) as writer:
        writer.add_video("video", videos, 2, fps=10, walltime=95.0)
        writer.add_video("one", videos[:1, :, :1])
    images = open_images(tmp_path)
    (video,), (one,) = images["video"], images["one"]
    assert (video.n_frames, one.n_frames) == (5, 5)
    for frame in range(5):
        video.seek(frame)
        pixels = np.asarray(video.convert("RGB"))
        # Four cells beside each other, the last of them black.
        cells = pixels.reshape(4, 4, 6, 3).swapaxes(0, 1)
        assert (cells[:3] == videos[:, frame].transpose(0, 2, 3, 1)).all()
        assert (cells[3] == 0).all()
        assert video.info["duration"] == 100
        one.seek(frame)
        assert (np.asarray(one.convert("L")) == videos[0, frame, 0]).all()


def test_a_sound_keeps_its_samples(tmp_path):
    samples = RANDOM.uniform(-2, 2, (1, 500)).astype(np.float32)
    with SummaryWriter(tmp_path) as writer:
        writer.add_audio("sound", samples, 6, 16000, 96.0)
        writer.add_audio("flat", samples[0], sample_rate=8000)
        writer.add_audio("deep", samples[None])
    for tag, wanted in (("sound", 16000), ("flat", 8000), ("deep", 44100)):
        rate, read_samples = read_sound(tmp_path, tag)
        assert rate == wanted
        assert (read_samples == samples.T).all()
    assert read(tmp_path)["sound"][0][:2] == (6, 96.0)


def test_curves_of_precision_and_recall_are_the_same(tmp_path):
    labels, predictions = RANDOM.integers(0, 2, 300), RANDOM.random(300)
    weights = RANDOM.random(300)

    def calls(writer):
        writer.add_pr_curve("curve", labels, predictions, 1, walltime=97.0)
        writer.add_pr_curve("weighted", labels > 0, predictions.astype(np.float32), 1, 50, weights)
        writer.add_pr_curve_raw("raw", [75, 64], [150, 105], [0, 45], [0, 11], [0.3, 0.4], [1.0, 0.85], 2, 2)

    ours, peer = (read(folder) for folder in record_both(tmp_path, calls))
    for tag in ("curve", "weighted", "raw"):
        (our_value,), (peer_value,) = ours[tag], peer[tag]
        assert our_value.plugin == "pr_curves"
        assert parse(curve_pb2.PrCurvePluginData, our_value) == parse(curve_pb2.PrCurvePluginData, peer_value)
        np.testing.assert_allclose(our_value.array, peer_value.array, rtol=1e-6)
    assert ours["curve"][0].wall_time == 97.0


def test_a_mesh_has_vertices_faces_and_colors(tmp_path):
    vertices = RANDOM.random((1, 4, 3)).astype(np.float32)
    colors = RANDOM.integers(0, 256, (1, 4, 3))
    faces = np.array([[[0, 2, 3], [0, 3, 1]]])
    with SummaryWriter(tmp_path) as writer:
        writer.add_mesh("body", vertices, colors, faces, {"lights": ["AmbientLight"], "camera": 1}, 5, 98.0)
        writer.add_mesh("cloud", vertices.astype(np.float64))
    values = read(tmp_path)
    kinds = mesh_pb2.MeshPluginData
    wanted = [("VERTEX", kinds.VERTEX, vertices), ("FACE", kinds.FACE, faces), ("COLOR", kinds.COLOR, colors)]
    for name, kind, array in wanted:
        (value,) = values[f"body_{name}"]
        assert value[:3] == (5, 98.0, "mesh")
        assert (value.array == array).all()
        config = '{"camera": 1, "lights": ["AmbientLight"]}'
        assert parse(kinds, value) == kinds(
            name="body", content_type=kind, components=0b1110, shape=array.shape, json_config=config
        )
    (value,) = values["cloud_VERTEX"]
    assert (value.array == vertices).all()
    assert parse(kinds, value).components == 0b10


def test_charts_of_scalars_are_the_same(tmp_path):
    layout = {
        "Taiwan": {"twse": ["Multiline", ["twse/0050", "twse/2330"]]},
        "USA": {"dow": ["Margin", ["dow/a", "dow/b", "dow/c"]], "nasdaq": ["Margin", ["n/a", "n/b", "n/c"]]},
    }
    calls = [
        lambda writer: writer.add_custom_scalars(layout),
        lambda writer: writer.add_custom_scalars_multilinechart(["a", "b"], "stocks", "two"),
        lambda writer: writer.add_custom_scalars_marginchart(["a", "b", "c"]),
    ]
    for number, call in enumerate(calls):
        ours, peer = (read(folder) for folder in record_both(tmp_path / str(number), call))
        layouts = [
            layout_pb2.Layout.FromString(values["custom_scalars__config__"][0].array.item()) for values in (ours, peer)
        ]
        assert layouts[0] == layouts[1]
        assert layouts[0].category


def test_an_embedding_is_files_for_the_projector(tmp_path):
    points = np.array([[1.5, -2], [3, np.nan], [0.1, 5]])
    sprites = RANDOM.integers(0, 256, (3, 1, 4, 6), np.uint8)
    with SummaryWriter(tmp_path) as writer:
        writer.add_embedding(points, ["eins", "zwei", 3], sprites, 7, 'a/b"\u00e4')
        writer.add_embedding(points, [["a", 1], ["b", 2], ["c", 3]], metadata_header=["name", "number"])
        with pytest.warns(TrainscopeWarning, match="1 metadata for 3 points"):
            writer.add_embedding(points, ["too few"])
    config = (tmp_path / "projector_config.pbtxt").read_text()
    first, second = text_format.Parse(config, projector_config_pb2.ProjectorConfig()).embeddings
    assert first.tensor_name == 'a/b"\u00e4:00007' and second.tensor_name == "default:00000"
    assert first.tensor_path == '00007/a%2fb"\u00e4/tensors.tsv'
    assert (tmp_path / first.tensor_path).read_text() == "1.5\t-2.0\n3.0\tnan\n0.1\t5.0\n"
    assert (tmp_path / first.metadata_path).read_text() == "eins\nzwei\n3\n"
    assert (tmp_path / second.metadata_path).read_text() == "name\tnumber\na\t1\nb\t2\nc\t3\n"
    assert list(first.sprite.single_image_dim) == [6, 4]
    sprite = np.asarray(Image.open(tmp_path / first.sprite.image_path))
    assert sprite.shape == (12, 12, 3)
    assert (sprite[4:8, :6, 0] == sprites[2, 0]).all()
    assert not second.sprite.image_path


def test_a_restart_supersedes_steps(tmp_path):
    SummaryWriter(tmp_path).close()
    with SummaryWriter(tmp_path, purge_step=5) as writer:
        writer.add_scalar("loss", 1.0, 5)
        assert writer.purge_step is None
    starts = [event for event in read_events(tmp_path) if event.HasField("session_log")]
    assert [(event.step, event.session_log.status) for event in starts] == [(5, event_pb2.SessionLog.START)]


def test_the_default_folder_has_time_host_and_comment(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with SummaryWriter(comment="_LR_0.1") as writer:
        folder = writer.log_dir
        assert writer.get_logdir() == folder
    assert re.fullmatch(rf"runs/\w{{3}}\d\d_\d\d-\d\d-\d\d_{re.escape(socket.gethostname())}_LR_0\.1", folder)
    assert (tmp_path / folder).is_dir()


def test_a_closed_writer_begins_a_new_file(tmp_path):
    writer = SummaryWriter(tmp_path, filename_suffix=".mine")
    writer.add_scalar("loss", 1.0, 0, 1.0)
    writer.close()
    writer.close()
    writer.flush()
    writer.add_scalar("loss", 2.0, 1, 2.0)
    writer.add_text("words", "after")
    writer.close()
    assert read_points(tmp_path) == {"loss": [(0, 1.0, "1.0"), (1, 2.0, "2.0")]}
    names = os.listdir(tmp_path)
    assert len(names) == 2 and all(name.endswith(".mine") for name in names)


def test_flush_makes_everything_readable(tmp_path):
    writer = SummaryWriter(tmp_path)
    writer.add_scalar("loss", 1.0, 0, 1.0)
    writer.add_scalars("both", {"a": 1}, 0, 1.0)
    writer.flush()
    assert set(read_points(tmp_path)) == {"loss"}
    assert set(read_points(tmp_path / "both_a")) == {"both"}
    writer.close()


def test_records_are_readable_within_seconds_without_flush(tmp_path):
    writer = SummaryWriter(tmp_path)
    writer.add_scalar("loss", 1.0, 0, 1.0)
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and not any(path.stat().st_size for path in tmp_path.iterdir()):
        time.sleep(0.05)
    assert read_points(tmp_path) == {"loss": [(0, 1.0, "1.0")]}
    writer.close()


def test_two_writers_in_one_folder_keep_apart(tmp_path):
    with SummaryWriter(tmp_path) as first, SummaryWriter(tmp_path) as second:
        first.add_scalar("a", 1.0, 0, 1.0)
        second.add_scalar("b", 2.0, 0, 2.0)
    assert read_points(tmp_path) == {"a": [(0, 1.0, "1.0")], "b": [(0, 2.0, "2.0")]}


def test_a_writer_is_no_run_of_the_module(tmp_path):
    with trainscope.start(tmp_path / "run") as run, SummaryWriter(tmp_path / "writer") as writer:
        assert trainscope.current() is run
        trainscope.scalar("loss", 1.0, 0)
        writer.add_scalar("other", 2.0, 0, 2.0)
    assert set(read_points(tmp_path / "run")) == {"loss"}
    assert read_points(tmp_path / "writer") == {"other": [(0, 2.0, "2.0")]}


def test_several_threads_may_add_to_one_writer(tmp_path):
    def add(thread):
        for step in range(200):
            writer.add_scalar(f"thread {thread}", step, step, 1.0)
            writer.add_scalars("line", {f"{thread}": step}, step, 1.0)

    with SummaryWriter(tmp_path) as writer, ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(8)))
    points = [(step, 1.0, f"{step}.0") for step in range(200)]
    for thread in range(8):
        assert read_points(tmp_path)[f"thread {thread}"] == points
        assert read_points(tmp_path / f"line_{thread}")["line"] == points


def test_the_program_reads_everything_and_sees_what_is_not_finite(tmp_path):
    with SummaryWriter(tmp_path, purge_step=1) as writer:
        writer.add_scalar("loss", 0.1, 1)
        writer.add_scalars("lines", {"a": 1}, 1)
        writer.add_text("words", "one", 1)
        writer.add_hparams({"a": 1, "b": True, "c": "x"}, {"metric": 1.0}, {"a": [1, 2]}, "session", 1)
        writer.add_histogram("default", RANDOM.normal(size=100), 1)
        writer.add_histogram("edges", np.append(RANDOM.normal(size=97), [np.nan, np.inf, np.inf]), 1, [-9, 0, 9])
        writer.add_histogram_raw("raw", 0, 1, 2, 1, 1, [0.5, 1], [1, 1], 1)
        writer.add_image("image", COLOURS, 1)
        writer.add_video("video", RANDOM.random((1, 3, 3, 4, 5)), 1)
        writer.add_audio("sound", RANDOM.random((1, 100)), 1)
        writer.add_pr_curve("curve", RANDOM.integers(0, 2, 50), RANDOM.random(50), 1)
        writer.add_mesh("mesh", RANDOM.random((1, 4, 3)), global_step=1)
        writer.add_custom_scalars({"category": {"title": ["Multiline", ["loss"]]}})
        writer.add_tensor("tensor", RANDOM.random((2, 3)), 1)
        writer.add_embedding(RANDOM.random((4, 3)), "abcd")
    command = [PROGRAM, "check", "--format", "json", str(tmp_path)]
    judgement = json.loads(subprocess.run(command, capture_output=True, text=True, check=False).stdout)
    assert [judgement[name] for name in ("unread", "damaged", "truncated", "skipped")] == [[]] * 4
    cause = judgement["first_cause"]
    assert (cause["condition"], cause["tensor"]) == ("tensor_overflow", "edges")
    # Two infinities and one NaN beside the elements in bins.
    assert cause["values"] == {"count": 3.0, "elements": 100.0, "nan": 1.0}


def test_messages_are_passed_on_as_they_are(tmp_path):
    summary = summary_pb2.Summary(value=[summary_pb2.Summary.Value(tag="a", simple_value=1.5)])
    peer_summary = tensorboardX.summary.scalar("b", 2.5)
    event = event_pb2.Event(step=3, wall_time=4.0, summary=summary)
    with SummaryWriter(tmp_path) as writer:
        file_writer = writer._get_file_writer()
        assert file_writer is writer.file_writer
        assert file_writer.get_logdir() == str(tmp_path)
        file_writer.add_summary(summary, 1, 10.0)
        file_writer.add_summary(peer_summary, np.int64(2), 11.0)
        file_writer.add_summary(summary.SerializeToString(), walltime=12.0)
        file_writer.add_event(event, walltime=13.0)
        file_writer.add_event(event, 5, 14.0)
        before = time.time()
        file_writer.add_event(event, 6)
    points = read_points(tmp_path)
    assert points["a"][:-1] == [(1, 10.0, "1.5"), (0, 12.0, "1.5"), (3, 13.0, "1.5"), (5, 14.0, "1.5")]
    assert points["b"] == [(2, 11.0, "2.5")]
    assert points["a"][-1][0] == 6 and before <= points["a"][-1][1] <= time.time()


WRONG = [None, "text", -1, 1 << 80, float("nan"), b"\xff", object(), [], {}, {"a": object()}]
WRONG += [np.zeros((2, 3)), "x" * 5000]


def takes(method, arguments):
    """Truth of the signature having as many parameters; another number of arguments is the program's own error."""
    try:
        inspect.signature(method).bind(*arguments)
    except TypeError:
        return False
    return True


def test_wrong_arguments_never_raise_and_are_warned_of(tmp_path):
    writer = SummaryWriter(tmp_path)
    names = [name for name in dir(writer) if name.startswith("add_")]
    assert len(names) == 22
    with pytest.warns(TrainscopeWarning) as warnings:
        for method in [getattr(writer, name) for name in names]:
            for arguments in [[wrong] * count for wrong in WRONG for count in (1, 2, 3, 7)]:
                if takes(method, arguments):
                    method(*arguments)
        writer.add_scalar("loss", 1.0, "no step")
        writer.add_scalar("loss", 1.0, 1, "no time")
        writer.add_scalar("loss", "no number", 1)
        writer._get_file_writer().add_summary(None)
        writer._get_file_writer().add_event("no event")
        writer.add_scalar("after", 1.0, 1, 2.0)
    writer.close()
    assert read_points(tmp_path)["after"] == [(1, 2.0, "1.0")]
    # Once for each place of the program, of which this test has few.
    assert 1 <= len(warnings) <= 10
    assert not writer._run.report().is_complete


def test_a_folder_that_cannot_be_made_is_an_error_of_the_constructor_only(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OSError):
        SummaryWriter(tmp_path / "file")
    with SummaryWriter(tmp_path / "run") as writer, pytest.warns(TrainscopeWarning):
        (tmp_path / "run" / "line_a").touch()
        writer.add_scalars("line", {"a": 1})
        writer.add_hparams({"a": 1}, {}, run_name="line_a")


def test_a_writer_is_freed_and_its_file_complete(tmp_path):
    writer = SummaryWriter(tmp_path)
    writer.add_scalar("loss", 1.0, 0, 1.0)
    reference = weakref.ref(writer)
    del writer
    gc.collect()
    assert reference() is None
    assert read_points(tmp_path) == {"loss": [(0, 1.0, "1.0")]}


def run_python(code, *arguments):
    """Output of a program of its own."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    return result.stdout


def test_neither_frameworks_nor_numpy_are_imported(tmp_path):
    code = """
import sys
from trainscope import SummaryWriter
writer = SummaryWriter(sys.argv[1], purge_step=1)
writer.add_scalar("loss", 1.0, 0, 1.0)
writer.add_scalars("both", {"a": 1})
writer.add_text("words", "one")
writer.add_hparams({"rate": 0.1}, {"loss": 1.0})
writer.add_histogram_raw("raw", 0, 1, 1, 1, 1, [1], [1])
writer.add_custom_scalars_multilinechart(["loss"])
writer.close()
print({"torch", "tensorboard", "tensorboardX", "numpy", "google", "PIL"} & set(sys.modules))
"""
    assert run_python(code, tmp_path) == "set()\n"
    assert {"loss", "words/text_summary", "raw", "custom_scalars__config__"} <= set(read(tmp_path))


def test_a_program_that_forgets_to_close_loses_nothing(tmp_path):
    code = """
import sys, threading, time
from trainscope import SummaryWriter
writer = SummaryWriter(sys.argv[1])
threading.Thread(target=lambda writer: time.sleep(1000), args=[writer], daemon=True).start()
writer.add_scalar("loss", 1.0, 0, 1.0)
writer.add_scalars("both", {"a": 1}, 0, 1.0)
"""
    run_python(code, tmp_path)
    assert read_points(tmp_path) == {"loss": [(0, 1.0, "1.0")]}
    assert read_points(tmp_path / "both_a") == {"both": [(0, 1.0, "1.0")]}


@pytest.fixture
def installed():
    """`install` before the test, `uninstall` after it."""
    trainscope.tensorboard.install()
    yield
    trainscope.tensorboard.uninstall()


def test_install_replaces_the_writer_of_tensorboardx_until_uninstall():
    peer = tensorboardX.SummaryWriter
    trainscope.tensorboard.install()
    trainscope.tensorboard.install()
    try:
        assert issubclass(tensorboardX.SummaryWriter, SummaryWriter)
        assert issubclass(tensorboardX.writer.SummaryWriter, SummaryWriter)
    finally:
        trainscope.tensorboard.uninstall()
    trainscope.tensorboard.uninstall()
    assert tensorboardX.SummaryWriter is tensorboardX.writer.SummaryWriter is peer


@pytest.mark.usefixtures("installed")
def test_programs_for_tensorboardx_work(tmp_path):
    with tensorboardX.SummaryWriter(logdir=str(tmp_path), flush_secs=10, comet_config={"disabled": True}) as writer:
        assert writer.logdir == str(tmp_path)
        writer.add_scalar("loss", 1.0, 0, 1.0, display_name="Loss", summary_description="of the training")
        writer.add_scalars("both", {"a": 1, "b": np.float32(2)}, 3, 2.0)
        writer.add_hparams({"rate": 0.1}, {"loss": 1.0}, "named", 4)
        writer.add_video("video", np.zeros((1, 4, 5, 2, 3), np.uint8), dataformats="NHWTC")
        writer.add_image_with_boxes("boxes", np.zeros((3, 8, 8)), np.array([[1, 1, 5, 5]]), dataformats="CHW")
        writer.export_scalars_to_json(tmp_path / "scalars.json")
        writer.export_scalars_to_json(tmp_path / "empty.json")
    assert read_points(tmp_path)["loss"] == [(0, 1.0, "1.0")]
    assert read_points(tmp_path / "both" / "b") == {"both": [(3, 2.0, "2.0")]}
    assert "_hparams_/experiment" in read(tmp_path / "named")
    assert json.loads((tmp_path / "scalars.json").read_text()) == {
        f"{tmp_path}/both/a": [[2.0, 3, 1.0]],
        f"{tmp_path}/both/b": [[2.0, 3, 2.0]],
    }
    assert json.loads((tmp_path / "empty.json").read_text()) == {}
    images = open_images(tmp_path)
    assert images["video"][0].n_frames == 2 and images["video"][0].size == (5, 4)
    assert set(images) == {"video", "boxes"}


@pytest.mark.usefixtures("installed")
def test_a_writer_of_tensorboardx_without_a_disk_writes_nothing(tmp_path):
    with tensorboardX.SummaryWriter(str(tmp_path / "run"), write_to_disk=False, purge_step=3) as writer:
        writer.add_scalar("loss", 1.0, 0)
        writer.add_scalars("both", {"a": 1})
        writer.add_hparams({"rate": 0.1}, {})
        writer.add_embedding(np.zeros((2, 2)))
        writer._get_file_writer().add_summary(summary_pb2.Summary(), 1)
        writer.flush()
    assert os.listdir(tmp_path) == []


def test_a_relative_folder_is_that_of_the_beginning(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with SummaryWriter("runs/x") as writer:
        os.chdir("elsewhere")
        assert writer.get_logdir() == "runs/x"
        writer.add_scalar("loss", 1.0, 0, 1.0)
        writer.add_scalars("lines", {"a": 1.0}, 0, 1.0)
        writer.add_embedding(np.zeros((2, 2)))
        writer.add_hparams({"lr": 0.1}, {}, run_name="trial")
        writer.close()
        writer.add_scalar("loss", 2.0, 1, 1.0)
    assert not list((tmp_path / "elsewhere").iterdir())
    folder = tmp_path / "runs" / "x"
    assert read_points(folder)["loss"] == [(0, 1.0, "1.0"), (1, 1.0, "2.0")]
    assert {each.name for each in folder.iterdir() if each.is_dir()} == {"lines_a", "00000", "trial"}
    assert (folder / "projector_config.pbtxt").exists()


def test_texts_of_numbers_and_empty_tags_are_taken_as_torch_takes_them(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("loss", "1.5", 1, 1.0)
        writer.add_scalar("", 2.5, 1, 1.0)
        with pytest.warns(TrainscopeWarning, match="add_scalar"):
            writer.add_scalar("loss", "much", 2, 1.0)
    assert read_points(tmp_path) == {"loss": [(1, 1.0, "1.5")], "": [(1, 1.0, "2.5")]}


def test_an_image_of_five_channels_is_warned_of(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        with pytest.warns(TrainscopeWarning, match="an image of 5 channels; it has 1 to 4"):
            writer.add_image("picture", np.zeros((5, 4, 4)))
        with pytest.warns(TrainscopeWarning, match="5 channels"):
            writer.add_images("pictures", np.zeros((2, 5, 4, 4)))
