"""Writes one graph: nodes, small constants, and weights that stay in their own file or are copied from it.

A constant is stored as small as its numbers allow and cast where it is used; tables that follow from smaller ones are
computed by nodes without inputs. onnxruntime does both once, when it loads the graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

from diffusearch.graphs.weights_file import TensorPlace

OPSET = 20
IR_VERSION = 9
WEIGHTS = "weights.safetensors"  # beside the graph
FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL

Inputs = dict[str, tuple[int, list[Any]]]  # name -> type and shape
Outputs = dict[str, tuple[str, int]]  # name -> value in the graph and type

_KINDS = {"F16": TensorProto.FLOAT16, "BF16": TensorProto.BFLOAT16, "F32": FLOAT}
_SMALL = (np.uint8, np.int8, np.uint16, np.int16, np.int32)


class GraphBuilder:
    """The nodes of a graph in the order in which they are computed; values are named by their text."""

    def __init__(self, places: dict[str, TensorPlace], embedded: Path | None = None) -> None:
        """`embedded`: the weights' file, whose tensors are copied into the graph."""
        self.places, self.embedded = places, embedded
        self.nodes: list[onnx.NodeProto] = []
        self.initialisers: dict[str, onnx.TensorProto] = {}
        self._constants: dict[tuple[Any, ...], str] = {}
        self._weights: dict[str, str] = {}

    def op(self, kind: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """A node with one output, whose name it gives."""
        return self.ops(kind, *inputs, count=1, domain=domain, **attributes)[0]

    def ops(self, kind: str, *inputs: str, count: int, domain: str = "", **attributes: Any) -> list[str]:
        """A node with several outputs."""
        outputs = [f"{kind}.{len(self.nodes)}" + (f".{index}" if count > 1 else "") for index in range(count)]
        self.nodes.append(helper.make_node(kind, list(inputs), outputs, domain=domain, **attributes))
        return outputs

    def constant(self, array: npt.ArrayLike, dtype: type[np.generic] | None = None) -> str:
        """A constant of float32, int64 or bool; alike ones are stored once."""
        value = np.asarray(array, dtype=dtype)
        if value.dtype.kind == "f":
            value = value.astype(np.float32)
        key = (value.tobytes(), value.dtype.str, value.shape)
        if key not in self._constants:
            self._constants[key] = self._stored(value)
        return self._constants[key]

    def _stored(self, value: npt.NDArray[Any]) -> str:
        name = f"constant.{len(self.initialisers)}"
        stored, cast = value, None
        if value.dtype.kind in "iu":
            low, high = (int(value.min()), int(value.max())) if value.size else (0, 0)
            if value.size > 16:
                fits = (kind for kind in _SMALL if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max)
                stored, cast = value.astype(next(fits, np.int64)), INT64
            else:
                stored = value.astype(np.int64)
        self.initialisers[name] = numpy_helper.from_array(stored, name)
        return name if cast is None else self.op("Cast", name, to=cast)

    def weight(self, name: str) -> str:
        """A tensor of weights.safetensors, in float32."""
        if name not in self._weights:
            place = self.places[name]
            proto = TensorProto(name=name, dims=place.shape, data_type=_KINDS[place.kind])
            if self.embedded is not None:
                proto.raw_data = place.read(self.embedded)
            else:
                proto.data_location = TensorProto.EXTERNAL
                for key, text in (("location", WEIGHTS), ("offset", place.offset), ("length", place.length)):
                    proto.external_data.add(key=key, value=str(text))
            self.initialisers[name] = proto
            self._weights[name] = name if place.kind == "F32" else self.op("Cast", name, to=FLOAT)
        return self._weights[name]

    # --- what is written often ---------------------------------------------------------------------------------

    def add(self, *terms: str) -> str:
        out = terms[0]
        for term in terms[1:]:
            out = self.op("Add", out, term)
        return out

    def times(self, x: str, factor: float | int) -> str:
        return self.op("Mul", x, self.constant(factor, np.float32 if isinstance(factor, float) else np.int64))

    def linear(self, x: str, name: str) -> str:
        """Rows [n, inputs] through the linear layer of that name."""
        return self.op("Gemm", x, self.weight(f"{name}.weight"), self.weight(f"{name}.bias"), transB=1)

    def int8_linear(self, x: str, name: str) -> str:
        """The same with 8-bit weights, a scale for each output, and rows of 8 bits with a scale for the whole call.

        Weights are at most 64: processors without VNNI add pairs of products in 16 bits, and 2 x 255 x 64 fits. The
        weights stay in their file as they are: onnxruntime computes the 8 bits once, when it loads the graph.
        """
        weight = self.op("Transpose", self.weight(f"{name}.weight"), perm=[1, 0])  # [inputs, outputs]
        largest = self.op("ReduceMax", self.op("Abs", weight), self.constant(np.array([0])), keepdims=0)
        scale = self.op("Div", self.op("Max", largest, self.constant(1e-12)), self.constant(64.0))  # [outputs]
        bits = self.op("Cast", self.op("Round", self.op("Div", weight, scale)), to=TensorProto.INT8)
        rows, row_scale, zero = self.ops("DynamicQuantizeLinear", x, count=3)
        product = self.to_float(self.op("MatMulInteger", rows, bits, zero))
        scaled = self.op("Mul", product, self.op("Mul", row_scale, scale))
        return self.add(scaled, self.weight(f"{name}.bias"))

    def gather(self, x: str, index: str | npt.ArrayLike, axis: int = 0) -> str:
        where = index if isinstance(index, str) else self.constant(np.asarray(index, dtype=np.int64))
        return self.op("Gather", x, where, axis=axis)

    def spread(self, index: npt.NDArray[np.int64], x: str) -> str:
        """A constant index [k] as [batch, k], with as many rows as x."""
        shape = self.concat([self.op("Shape", x, start=0, end=1), self.constant(np.array([len(index)]))], 0)
        return self.op("Expand", self.constant(index[None]), shape)

    def pick(self, x: str, index: str) -> str:
        """The columns `index` [batch, k] of x [batch, n]. Single numbers are ten times as fast so as by `gather`."""
        return self.op("GatherElements", x, index, axis=1)

    def lookup(self, table: str, index: str, *shape: int) -> str:
        """The numbers of a flat table at an index of any shape, in that shape."""
        flat = self.op("GatherElements", table, self.reshape(index, -1), axis=0)
        return self.reshape(flat, *shape)

    def reshape(self, x: str, *shape: int) -> str:
        """0 keeps a dimension, -1 is what is left."""
        return self.op("Reshape", x, self.constant(np.array(shape, dtype=np.int64)))

    def slice(self, x: str, start: int, end: int | str, axis: int) -> str:
        """`end` may be computed in the graph, as an array of one number."""
        stop = end if isinstance(end, str) else self.constant(np.array([end], dtype=np.int64))
        begin, where = (self.constant(np.array([value], dtype=np.int64)) for value in (start, axis))
        return self.op("Slice", x, begin, stop, where)

    def sum(self, x: str, axis: int, *, keep: bool = False) -> str:
        return self.op("ReduceSum", x, self.constant(np.array([axis], dtype=np.int64)), keepdims=int(keep))

    def unsqueeze(self, x: str, axis: int) -> str:
        return self.op("Unsqueeze", x, self.constant(np.array([axis], dtype=np.int64)))

    def concat(self, parts: Sequence[str], axis: int) -> str:
        return parts[0] if len(parts) == 1 else self.op("Concat", *parts, axis=axis)

    def to_float(self, x: str) -> str:
        return self.op("Cast", x, to=FLOAT)

    def positive(self, x: str) -> str:
        """Where integers are above 0."""
        return self.op("Greater", x, self.constant(0, np.int64))

    def column(self, x: str, value: int) -> str:
        """Integers [batch, n] with one more column of that value."""
        return self.op("Pad", x, self.constant(np.array([0, 0, 0, 1])), self.constant(value, np.int64))

    def model(
        self,
        inputs: dict[str, tuple[int, list[Any]]],
        outputs: dict[str, tuple[str, int]],
        shapes: dict[str, list[Any]] | None = None,
    ) -> onnx.ModelProto:
        """The whole graph. Inputs: name -> type and shape; outputs: name -> value in the graph and type.

        `shapes` of outputs are for programs that ask for them.
        """
        given = [helper.make_tensor_value_info(name, kind, shape) for name, (kind, shape) in inputs.items()]
        for name, (value, _) in outputs.items():
            self.nodes.append(helper.make_node("Identity", [value], [name]))
        rank = shapes or {}
        told = [helper.make_tensor_value_info(name, kind, rank.get(name)) for name, (_, kind) in outputs.items()]
        graph = helper.make_graph(self.nodes, "diffusearch", given, told, list(self.initialisers.values()))
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="diffusearch")
