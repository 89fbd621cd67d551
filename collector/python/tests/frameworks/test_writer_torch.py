"""`SummaryWriter` against torch's: signatures, and what TensorBoard reads after the same calls. And with Lightning."""

import inspect
import io
import subprocess
import sys
import wave

import numpy as np
import pytest
import torch
import torch.utils.tensorboard
import torch.utils.tensorboard._utils as peer_utils
import trainscope.tensorboard
from event_files import open_images, read, read_events, read_images, read_points
from google.protobuf import text_format
from PIL import Image
from reading import export
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.plugins.hparams import plugin_data_pb2
from tensorboard.plugins.projector import projector_config_pb2
from test_media import read_sound
from trainscope import SummaryWriter

PEER = torch.utils.tensorboard.SummaryWriter


def public_methods(cls):
    return {name: method for name, method in inspect.getmembers(cls, inspect.isfunction) if not name.startswith("_")}


def parameters(function):
    return [(each.name, each.kind, each.default) for each in inspect.signature(function).parameters.values()]


def test_every_public_method_of_torch_has_the_same_parameters_and_defaults():
    ours, peer = public_methods(SummaryWriter), public_methods(PEER)
    assert set(ours) == set(peer)
    assert len(ours) == 25
    for name in [*peer, "__init__", "__enter__", "_get_file_writer"]:
        assert parameters(getattr(SummaryWriter, name)) == parameters(getattr(PEER, name)), name


def test_every_public_method_of_torchs_file_writer_has_the_same_parameters_and_defaults():
    ours = public_methods(trainscope.tensorboard.FileWriter)
    peer = public_methods(torch.utils.tensorboard.FileWriter)
    assert set(ours) == set(peer)
    for name in [*peer, "__init__"]:
        assert parameters(getattr(trainscope.tensorboard.FileWriter, name)) == parameters(
            getattr(torch.utils.tensorboard.FileWriter, name)
        ), name


def record_both(folder, calls):
    """Folders of ours and of torch, after the same calls."""
    for name, cls in (("ours", SummaryWriter), ("peer", PEER)):
        torch.manual_seed(3)
        with cls(folder / name) as writer:
            calls(writer)
    return folder / "ours", folder / "peer"


def test_scalars_have_the_same_points(tmp_path):
    def calls(writer):
        weight = torch.nn.Parameter(torch.tensor([[2.5]]))
        values = (0.1, 7, True, torch.tensor(1.5), weight, torch.tensor([3.0], dtype=torch.float16), torch.tensor(4))
        for step, value in enumerate((*values, torch.tensor(float("nan")), np.array([5.0]))):
            writer.add_scalar("a b/loss", value, step, 100.5 + step)
        writer.add_scalar("bf16", torch.tensor(0.1, dtype=torch.bfloat16).to(torch.float32), None, 1.0)
        writer.add_scalar("steps", 1.0, torch.tensor(7), 1.0)
        writer.add_scalar("steps", 1.0, 7.9, 2.0)
        writer.add_scalars("m/lines", {"x": 1, "y/z": torch.tensor(2.0)}, 3, 5.0)

    ours, peer = record_both(tmp_path, calls)
    for line in ("", "m_lines_x", "m_lines_y/z"):
        assert read_points(ours / line) == read_points(peer / line)
    assert sorted(path.name for path in ours.iterdir() if path.is_dir()) == ["m_lines_x", "m_lines_y"]


def test_texts_and_charts_are_the_same(tmp_path):
    def calls(writer):
        writer.add_text("words", "one\n\ntwo", 3, 5.0)
        writer.add_custom_scalars({"c": {"t": ["Multiline", ["a"]], "m": ["Margin", ["a", "b", "c"]]}})

    ours, peer = (read(folder) for folder in record_both(tmp_path, calls))
    assert set(ours) >= set(peer) == {"words/text_summary", "custom_scalars__config__"}
    for tag, (value,) in peer.items():
        assert ours[tag][0].plugin == value.plugin
        assert ours[tag][0].array.reshape(-1).tolist() == value.array.reshape(-1).tolist()
    assert ours["words/text_summary"][0][:2] == (3, 5.0)


def test_hyper_parameters_are_the_same(tmp_path):
    def calls(writer):
        values = {"rate": 0.1, "layers": 3, "name": "adam", "none": None, "tensor": torch.tensor([0.5])}
        domains = {"rate": [0.1, 0.2], "name": ["adam", "sgd"]}
        writer.add_hparams(values, {"hparam/loss": torch.tensor(2.0)}, domains, "run", 4)

    ours, peer = (read(folder / "run") for folder in record_both(tmp_path, calls))
    for tag in ("_hparams_/experiment", "_hparams_/session_start_info", "_hparams_/session_end_info"):
        messages = [plugin_data_pb2.HParamsPluginData.FromString(values[tag][0].content) for values in (ours, peer)]
        assert messages[0] == messages[1]
    assert ours["hparam/loss"][0].step == 4
    assert float(ours["hparam/loss"][0].array) == 2


def test_histograms_have_the_same_numbers(tmp_path):
    values = torch.randn(40, 50, generator=torch.Generator().manual_seed(1))

    def calls(writer):
        writer.add_histogram("default", values, 3, walltime=6.0)
        writer.add_histogram("edges", values, 3, [-4.5, -1, 0, 2, 4.5])
        writer.add_histogram("rule", values, 3, "auto")

    ours, peer = (read(folder) for folder in record_both(tmp_path, calls))
    assert ours["default"][0][:3] == peer["default"][0][:3] == (3, 6.0, "histograms")
    our_bins, peer_bins = ours["default"][0].array, peer["default"][0].array
    assert our_bins[:, 2].sum() == peer_bins[:, 2].sum() == 2000
    assert our_bins[0, 0] == peer_bins[0, 0] == values.min()
    assert our_bins[-1, 1] == peer_bins[-1, 1] == values.max()
    for tag in ("edges", "rule"):
        # torch leaves out empty bins at both ends, after one at the beginning that holds the smallest value.
        our_counts, peer_counts = (values[tag][0].array[:, 2] for values in (ours, peer))
        assert our_counts[our_counts > 0].tolist() == peer_counts[peer_counts > 0].tolist()


def test_a_histogram_of_bfloat16_is_finite(tmp_path):
    values = torch.tensor([70_000.0, -70_000.0], dtype=torch.bfloat16)
    with SummaryWriter(tmp_path) as writer:
        writer.add_histogram("large", values)
        writer.add_histogram("two", values, bins=2)
    for tag in ("large", "two"):
        bins = read(tmp_path)[tag][0].array
        assert bins[0, 0] == -70_144 and bins[-1, 1] == 70_144
        assert bins[:, 2].sum() == 2


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int16, torch.int32, torch.int64, torch.bool])
def test_tensors_have_the_same_elements(tmp_path, dtype):
    tensor = (torch.arange(12).reshape(3, 4) - 5).to(dtype)

    def calls(writer):
        writer.add_tensor("tensor", tensor, 3, 7.0)

    ours, peer = (read(folder)["tensor"][0] for folder in record_both(tmp_path, calls))
    assert (ours.step, ours.wall_time) == (3, 7.0)
    assert ours.array.tolist() == tensor.tolist() == peer.array.tolist()
    assert ours.array.dtype == peer.array.dtype


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.uint8])
def test_tensors_that_torch_writes_wrongly_keep_their_elements(tmp_path, dtype):
    tensor = torch.tensor([1.5, 0.25, 200]).to(dtype)
    with SummaryWriter(tmp_path) as writer:
        writer.add_tensor("tensor", tensor)
    assert read(tmp_path)["tensor"][0].array.astype(np.float64).tolist() == tensor.double().tolist()


def test_images_have_the_same_pixels(tmp_path):
    batch = torch.rand(10, 3, 6, 7, generator=torch.Generator().manual_seed(2)) * 1.2 - 0.1

    def calls(writer):
        writer.add_image("chw", batch[0], 3, 8.0)
        writer.add_image("alpha", torch.cat([batch[0], batch[1, :1]]))
        writer.add_image("hw", batch[0, 0], dataformats="HW")
        writer.add_image("u8", (batch[0].clamp(0, 1) * 255).to(torch.uint8))
        writer.add_image("i64", batch[0].round().long())
        writer.add_image("bool", batch[0] > 0.5)
        writer.add_image("bf16", batch[0].to(torch.bfloat16).float())
        writer.add_images("nchw", batch)
        writer.add_images("nhwc", batch.permute(0, 2, 3, 1), dataformats="NHWC")
        writer.add_images("grey", batch[:, :1])
        boxes = torch.tensor([[1.0, 1.5, 5.0, 5.0], [0, 2, 3, 4]])
        writer.add_image_with_boxes("boxes", torch.nn.functional.interpolate(batch[:1], 60)[0], boxes * 9, labels="one")
        writer.add_image_with_boxes("scaled", batch[0], boxes, rescale=3, labels=["a", "b"])

    ours, peer = (read_images(folder) for folder in record_both(tmp_path, calls))
    assert set(ours) == set(peer) and len(ours) == 12
    for tag, (pixels,) in peer.items():
        if tag == "scaled":
            assert ours[tag][0].shape == (18, 21, 3)
        assert (ours[tag][0] == pixels).all(), tag


def test_bfloat16_images_are_those_of_float32(tmp_path):
    image = torch.rand(3, 4, 5).to(torch.bfloat16).requires_grad_()
    with SummaryWriter(tmp_path) as writer:
        writer.add_image("bf16", image)
        writer.add_image("f32", image.float())
    images = read_images(tmp_path)
    assert (images["bf16"][0] == images["f32"][0]).all()


@pytest.mark.parametrize("number", [1, 2, 3, 5, 8])
def test_videos_have_the_frames_that_torch_arranges(tmp_path, number):
    videos = torch.randint(0, 256, (number, 3, 3, 4, 6), dtype=torch.uint8)
    with SummaryWriter(tmp_path) as writer:
        writer.add_video("bytes", videos)
        writer.add_video("floats", videos.float() / 255 + 0.001)
    # torch needs moviepy to encode them, and divides bytes by 255 first.
    frames = np.rint(peer_utils._prepare_video(videos.numpy()) * 255).astype(np.uint8)
    images = open_images(tmp_path)
    for tag in ("bytes", "floats"):
        (video,) = images[tag]
        assert video.n_frames == 3
        for index, frame in enumerate(frames):
            video.seek(index)
            assert (np.asarray(video.convert("RGB")) == frame).all()


def test_sounds_have_the_same_samples(tmp_path):
    samples = torch.rand(1, 300, generator=torch.Generator().manual_seed(4)) * 2 - 1

    def calls(writer):
        writer.add_audio("sound", samples, 3, 8000, 9.0)

    ours, peer = record_both(tmp_path, calls)
    rate, our_samples = read_sound(ours)
    with wave.open(io.BytesIO(read(peer)["sound"][0].array.reshape(-1)[0])) as file:
        peer_samples = np.frombuffer(file.readframes(300), "<i2") / 32767
        assert rate == file.getframerate()
    assert np.abs(our_samples[:, 0] - peer_samples).max() < 1 / 32000
    assert read(ours)["sound"][0][:2] == (3, 9.0)


def test_curves_and_meshes_are_the_same(tmp_path):
    generator = torch.Generator().manual_seed(6)
    labels, predictions = torch.randint(0, 2, (200,), generator=generator), torch.rand(200, generator=generator)
    vertices = torch.rand(1, 4, 3, generator=generator)

    def calls(writer):
        writer.add_pr_curve("curve", labels, predictions, 1, walltime=10.0)
        writer.add_pr_curve("few", labels.bool(), predictions.double(), 1, 11, np.linspace(0, 1, 200))
        writer.add_pr_curve_raw("raw", *np.arange(18).reshape(6, 3), num_thresholds=3)
        writer.add_mesh("body", vertices, (vertices * 255).int(), torch.tensor([[[0, 1, 2]]]), {"a": 1}, 3, 11.0)

    ours, peer = (read(folder) for folder in record_both(tmp_path, calls))
    assert set(ours) >= set(peer) == {"curve", "few", "raw", "body_VERTEX", "body_COLOR", "body_FACE"}
    for tag, (peer_value,) in peer.items():
        (our_value,) = ours[tag]
        assert (our_value.step, our_value.plugin) == (peer_value.step, peer_value.plugin)
        np.testing.assert_allclose(our_value.array, peer_value.array, rtol=1e-6)
    assert ours["curve"][0].wall_time == 10.0 and ours["body_FACE"][0].wall_time == 11.0


def test_embeddings_have_the_same_files(tmp_path):
    points = torch.randn(5, 3, generator=torch.Generator().manual_seed(8))
    labels = ["eins", "zwei", 3, "vier %", "fünf"]
    images = torch.rand(5, 3, 4, 4, generator=torch.Generator().manual_seed(9))

    def calls(writer):
        writer.add_embedding(points, labels, images, 2, "a/b%")
        writer.add_embedding(points, [[label, 1] for label in labels], metadata_header=["name", "one"])
        writer.add_embedding(points.double(), label_img=images[:, :1], tag="grey")

    ours, peer = record_both(tmp_path, calls)
    files = sorted(path.relative_to(peer) for path in peer.rglob("*.tsv"))
    assert files == sorted(path.relative_to(ours) for path in ours.rglob("*.tsv")) and len(files) == 5
    for file in files:
        assert (ours / file).read_bytes() == (peer / file).read_bytes()
    sprites = sorted(path.relative_to(peer) for path in peer.rglob("sprite.png"))
    assert len(sprites) == 2
    for file in sprites:
        assert (np.asarray(Image.open(ours / file)) == np.asarray(Image.open(peer / file))).all()
    configs = [
        text_format.Parse((folder / "projector_config.pbtxt").read_text(), projector_config_pb2.ProjectorConfig())
        for folder in (ours, peer)
    ]
    assert configs[0] == configs[1] and len(configs[0].embeddings) == 3


def make_model():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU(), torch.nn.Linear(3, 2))


def test_a_graph_is_that_of_the_modules_and_the_model_stays_as_it_is(tmp_path, capsys):
    model, inputs = make_model(), torch.ones(2, 4)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    with SummaryWriter(tmp_path) as writer:
        writer.add_graph(model, inputs)
        writer.add_graph(model, (inputs,), verbose=True)
    (first, second) = read(tmp_path)["graph"]
    assert first.plugin == second.plugin == "trainscope"
    assert "Linear" in capsys.readouterr().out
    assert all((value == before[name]).all() for name, value in model.state_dict().items())
    assert model.training and not model._forward_hooks and not model[0]._forward_hooks


def test_a_graph_that_is_not_strict_is_the_trace_of_torch(tmp_path):
    def calls(writer):
        writer.add_graph(make_model(), torch.ones(2, 4), use_strict_trace=False)

    graphs = []
    for folder in record_both(tmp_path, calls):
        (event,) = [event for event in read_events(folder) if event.graph_def]
        graphs.append(GraphDef.FromString(event.graph_def))
    assert graphs[0] == graphs[1] and graphs[0].node


def test_a_model_that_fails_does_not_end_the_training(tmp_path):
    with SummaryWriter(tmp_path) as writer, pytest.warns(trainscope.TrainscopeWarning):
        writer.add_graph(make_model(), torch.ones(2, 5))
        writer.add_graph(make_model())


def test_an_onnx_file_is_copied_where_onnx_is_missing(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    (tmp_path / "net.onnx").write_bytes(b"\x08\x07")
    with SummaryWriter(tmp_path / "run") as writer:
        writer.add_onnx_graph(tmp_path / "net.onnx")
    assert (tmp_path / "run" / "model.onnx").read_bytes() == b"\x08\x07"


@pytest.fixture
def installed():
    """`install` before the test, `uninstall` after it."""
    trainscope.tensorboard.install()
    yield
    trainscope.tensorboard.uninstall()


def test_install_replaces_the_writer_of_torch_until_uninstall():
    trainscope.tensorboard.install()
    try:
        assert torch.utils.tensorboard.SummaryWriter is torch.utils.tensorboard.writer.SummaryWriter is SummaryWriter
    finally:
        trainscope.tensorboard.uninstall()
    assert torch.utils.tensorboard.SummaryWriter is torch.utils.tensorboard.writer.SummaryWriter is PEER


@pytest.mark.usefixtures("installed")
def test_the_logger_of_lightning_writes_with_it(tmp_path):
    from pytorch_lightning.loggers import TensorBoardLogger

    logger = TensorBoardLogger(tmp_path, name="run", version=0, sub_dir="tb", flush_secs=5)
    assert isinstance(logger.experiment, SummaryWriter)
    logger.log_hyperparams({"rate": 0.1, "nested": {"layers": 3}, "flag": True}, {"accuracy": 0.5})
    logger.log_metrics({"loss": torch.tensor(1.5), "both": {"a": 1, "b": 2}}, 3)
    logger.experiment.add_text("words", "one")
    logger.save()
    logger.finalize("success")
    folder = tmp_path / "run" / "version_0" / "tb"
    values = read(folder)
    assert {"loss", "accuracy", "words/text_summary", "_hparams_/experiment"} <= set(values)
    assert [(value.step, float(value.array)) for value in values["loss"]] == [(3, 1.5)]
    session = plugin_data_pb2.HParamsPluginData.FromString(values["_hparams_/session_start_info"][0].content)
    assert session.session_start_info.hparams["nested/layers"].number_value == 3
    assert [(step, value) for step, _, value in read_points(folder / "both_b")["both"]] == [(3, "2.0")]


@pytest.mark.usefixtures("installed")
def test_the_tracker_of_accelerate_writes_with_it(tmp_path):
    from accelerate.tracking import TensorBoardTracker

    tracker = TensorBoardTracker("run", tmp_path)
    tracker.start()
    tracker.store_init_configuration({"rate": 0.1, "name": "adam"})
    tracker.log({"loss": 1.5, "words": "one", "both": {"a": 1.0}}, 3)
    tracker.log_images({"pictures": np.zeros((2, 3, 4, 5))}, 3)
    tracker.finish()
    values = read(tmp_path / "run")
    assert {"loss", "words/text_summary", "pictures"} <= set(values)


def test_importing_the_writer_does_not_import_torch():
    code = "import sys, trainscope.tensorboard; print('torch' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "False\n"


def test_a_graph_is_on_the_graphs_page_of_tensorboard_and_once_in_trainscope(tmp_path):
    model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU())
    with SummaryWriter(tmp_path) as writer:
        writer.add_graph(model, torch.ones(2, 4))
    events = EventAccumulator(str(tmp_path)).Reload()
    nodes = {node.name: node for node in events.Graph().node}
    assert {name: node.op for name, node in nodes.items()} == {
        "input": "Input", "0/weight": "Parameter", "0/bias": "Parameter", "0": "Linear", "1": "ReLU",
    }
    assert list(nodes["0"].input) == ["input", "0/weight", "0/bias"] and list(nodes["1"].input) == ["0"]
    assert [dim.size for dim in nodes["0"].attr["_output_shapes"].list.shape[0].dim] == [2, 3]
    rows = export(tmp_path, "graph")
    assert [(row["tag"], row["name"]) for row in rows] == [("graph", name) for name in nodes]
