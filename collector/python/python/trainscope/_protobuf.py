"""Messages of TensorBoard's event files as bytes, written without the package protobuf.

Fields are numbered as in FORMAT.md. A message is the concatenation of its fields; a field that is written twice counts
as it was written last.
"""

import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

DT_FLOAT = 1
DT_DOUBLE = 2
DT_STRING = 7


def varint(number: int) -> bytes:
    """A variable-length integer; negative ones take ten bytes. Beyond 64 bits the upper bits are lost."""
    number &= (1 << 64) - 1
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


def integer(field: int, number: int) -> bytes:
    """A field that holds an integer."""
    return varint(field << 3) + varint(number)


def double(field: int, number: float) -> bytes:
    """A field that holds a 64-bit float."""
    return varint(field << 3 | 1) + struct.pack("<d", number)


def single(field: int, number: float) -> bytes:
    """A field that holds a 32-bit float."""
    return varint(field << 3 | 5) + struct.pack("<f", number)


def data(field: int, content: bytes | str) -> bytes:
    """A field that holds bytes, text or a message. Halves of surrogate pairs become question marks."""
    if isinstance(content, str):
        content = content.encode("utf-8", "replace")
    return varint(field << 3 | 2) + varint(len(content)) + content


def doubles(field: int, numbers: Sequence[float]) -> bytes:
    """A field that holds a list of 64-bit floats."""
    return data(field, struct.pack(f"<{len(numbers)}d", *numbers))


def metadata(plugin: str, content: bytes = b"") -> bytes:
    """`SummaryMetadata` as a field of a `Summary.Value`, with the content of the plugin's own message."""
    return data(9, data(1, data(1, plugin) + data(2, content)))


def tensor(dtype: int, shape: Iterable[int], elements: bytes) -> bytes:
    """`TensorProto` as a field of a `Summary.Value`; `elements` is the field that holds them."""
    dimensions = b"".join(data(2, integer(1, size)) for size in shape)
    return data(8, integer(1, dtype) + data(2, dimensions) + elements)


def float_tensor(array: Any) -> bytes:
    """The same of a NumPy array, as 32-bit floats."""
    return tensor(DT_FLOAT, array.shape, data(5, array.astype("<f4").tobytes()))


def graph(nodes: Iterable[Mapping[str, Any]]) -> bytes:
    """`GraphDef` of nodes as `Run._graph` takes them, for TensorBoard."""
    content = b""
    for node in nodes:
        settings = {str(key): data(2, str(value)) for key, value in node.get("attributes", {}).items()}
        if "shape" in node:
            dimensions = b"".join(data(2, integer(1, int(size))) for size in node["shape"])
            settings["_output_shapes"] = data(1, data(7, dimensions))
        own = data(1, node["name"]) + data(2, node["op"])
        own += b"".join(data(3, name) for name in node["inputs"])
        own += b"".join(data(5, data(1, key) + data(2, value)) for key, value in settings.items())
        content += data(1, own)
    # The version of the format that torch writes.
    return content + data(4, integer(1, 22))


def histogram(
    minimum: float,
    maximum: float,
    count: float,
    total: float,
    squares: float,
    limits: Sequence[float],
    counts: Sequence[float],
) -> bytes:
    """`HistogramProto` as a field of a `Summary.Value`: upper edges of the bins, and how many values each has."""
    numbers = (minimum, maximum, count, total, squares)
    fields = b"".join(double(field, number) for field, number in enumerate(numbers, 1))
    return data(5, fields + doubles(6, limits) + doubles(7, counts))


def hparams(values: dict[Any, Any], metrics: Iterable[Any], domains: dict[Any, Any]) -> tuple[bytes, bytes, bytes]:
    """Three values of the plugin hparams: the experiment, the beginning of a session, and its successful end.

    None is left out. Text and bool are kept, everything that `float` takes is a number, the rest is its `repr`.
    """
    infos = session = b""
    for name, value in values.items():
        if value is None:
            continue
        kind, content = _encode_hparam(value)
        info = data(1, str(name)) + integer(4, kind)
        if name in domains:
            info += data(5, b"".join(data(1, _encode_hparam(choice)[1]) for choice in domains[name]))
        infos += data(4, info)
        session += data(1, data(1, str(name)) + data(2, content))
    tags = b"".join(data(5, data(1, data(2, str(metric)))) for metric in metrics)
    return (
        data(1, "_hparams_/experiment") + metadata("hparams", data(2, infos + tags)),
        data(1, "_hparams_/session_start_info") + metadata("hparams", data(3, session)),
        data(1, "_hparams_/session_end_info") + metadata("hparams", data(4, integer(1, 1))),
    )


def _encode_hparam(value: Any) -> tuple[int, bytes]:
    """Type of a hyper-parameter (1 text, 2 bool, 3 number), and its value as a message."""
    if isinstance(value, bool):
        return 2, integer(4, value)
    if isinstance(value, str):
        return 1, data(3, value)
    try:
        return 3, double(2, float(value))
    except Exception:  # each framework has its own error for tensors that are no number
        return 1, data(3, repr(value))


def custom_scalars(layout: dict[str, Any]) -> bytes:
    """A value of the plugin custom_scalars: `{category: {title: ["Multiline" or "Margin", tags]}}`.

    Raises ValueError if a margin chart has not three tags.
    """
    categories = b""
    for category, charts in layout.items():
        content = data(1, category)
        for title, (kind, tags, *_) in charts.items():
            if kind != "Margin":
                chart = data(2, b"".join(data(1, tag) for tag in tags))
            elif len(tags) == 3:
                chart = data(3, data(1, b"".join(data(field, tag) for field, tag in enumerate(tags, 1))))
            else:
                raise ValueError(f"chart {title!r} needs three tags (value, lower, upper), not {len(tags)}")
            content += data(2, data(1, title) + chart)
        categories += data(2, content)
    return data(1, "custom_scalars__config__") + metadata("custom_scalars") + tensor(DT_STRING, (), data(8, categories))


def embeddings(infos: Iterable[dict[str, Any]]) -> str:
    """`ProjectorConfig` as the text of `projector_config.pbtxt`: tensor_name, tensor_path, metadata_path, sprite."""

    def write_fields(message: dict[str, Any], indent: str) -> str:
        lines = ""
        for name, value in message.items():
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, dict):
                    lines += f"{indent}{name} {{\n{write_fields(item, indent + '  ')}{indent}}}\n"
                else:
                    lines += f"{indent}{name}: {_quote(item) if isinstance(item, str) else item}\n"
        return lines

    return write_fields({"embeddings": list(infos)}, "")


def _quote(text: str) -> str:
    """Text in quotation marks; other than letters, digits and common signs are written as octal numbers of bytes."""
    encoded = text.encode("utf-8", "replace")
    plain = (chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:03o}" for byte in encoded)
    return '"' + "".join(plain) + '"'
