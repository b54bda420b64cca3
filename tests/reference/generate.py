"""Writes cases.txt: what functions of PyTorch give, and their gradients, for tests/pytorch.rs.

Written by torch 2.13 on a CPU; run as `python generate.py`. Each case is a line `case NAME NUMBER KEY=VALUE…`, then one for
each input, output and gradient: `in DTYPE SHAPE: VALUES`. The gradient of an input is that of the outputs' sum, in which
element i of a float output weighs (i % 7) / 2 - 7/4.

`FUNCTIONS` gives what a name, which is keyway's, means in PyTorch; below it stand the cases.
"""

import collections
import functools
import itertools
import math
import pathlib
import zlib

import torch
import torch.nn.functional as F

nan, inf = math.nan, math.inf
f64, f32, f16, bf16 = torch.float64, torch.float32, torch.float16, torch.bfloat16
i64, i32, i16, i8, u8 = torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8
DTYPES = {
    "f64": f64, "f32": f32, "f16": f16, "bf16": bf16, "i64": i64, "i32": i32, "i16": i16, "i8": i8, "u8": u8,
    "bool": torch.bool,
}  # fmt: skip
NAMES = {dtype: name for name, dtype in DTYPES.items()}

FUNCTIONS = {}
lines = []
drawn, written = collections.Counter(), collections.Counter()


# ---- Writing ----


def text(value):
    if isinstance(value, (list, tuple)):
        return ",".join(map(text, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def number(value, dtype):
    if not dtype.is_floating_point:
        return str(int(value))
    short = repr(value) if dtype == f64 else f"{value:.9g}"
    return short.removesuffix(".0")


def tensor_line(kind, x):
    values = " ".join(number(v, x.dtype) for v in x.flatten().tolist())
    return f"{kind} {NAMES[x.dtype]} {text(list(x.shape))}: {values}"


def write(name, inputs, args, grad):
    inputs = [x.detach().clone() for x in inputs]
    floats = [(i, x.requires_grad_()) for i, x in enumerate(inputs) if grad and x.is_floating_point()]
    outputs = FUNCTIONS[name](*inputs, **args)
    outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    lines.append(" ".join(["case", name, str(written[name]), *(f"{key}={text(value)}" for key, value in args.items())]))
    written[name] += 1
    lines.extend(tensor_line("in", x.detach()) for x in inputs)
    lines.extend(tensor_line("out", x.detach()) for x in outputs)
    tracked = [y for y in outputs if y.requires_grad]
    if tracked:
        weights = [(torch.arange(y.numel()) % 7 / 2 - 1.75).to(y.dtype).reshape(y.shape) for y in tracked]
        grads = torch.autograd.grad(tracked, [x for _, x in floats], weights, allow_unused=True)
        for (i, _), g in zip(floats, grads):
            if g is not None:
                lines.append(tensor_line(f"grad {i}", g))


def case(name, *inputs, grad=True, **args):
    """A case of the function. An input is a tensor, numbers (f64), or a draw. The first of a name with f64 is one of f32
    too."""
    torch.manual_seed(zlib.crc32(f"{name} {drawn[name]}".encode()))
    drawn[name] += 1
    inputs = [x() if callable(x) else x for x in inputs]
    inputs = [x if torch.is_tensor(x) else torch.tensor(x, dtype=f64) for x in inputs]
    write(name, inputs, args, grad)
    if drawn[name] == 1 and any(x.dtype == f64 for x in inputs) and args.get("dtype") is None:
        write(name, [x.to(f32) if x.dtype == f64 else x for x in inputs], args, grad)


# ---- Inputs ----


def normal(*shape):
    return lambda: (torch.randn(shape, dtype=f64) * 1000).round() / 1000


def uniform(low, high, *shape):
    return lambda: (low + (high - low) * torch.rand(shape, dtype=f64)).mul(1000).round() / 1000


def single(draw):
    """As f32."""
    return lambda: draw().to(f32)


def distinct(*shape):
    """Values without ties."""
    return lambda: (torch.randperm(math.prod(shape)).to(f64) / 4 - math.prod(shape) / 8).reshape(shape)


def indices(bound, *shape, dtype=i32):
    return lambda: torch.randint(0, bound, shape).to(dtype)


def bools(*shape):
    return lambda: torch.rand(shape) < 0.5


def ints(values, dtype=i32):
    return torch.tensor(values, dtype=dtype)


def truths(values):
    return torch.tensor(values, dtype=torch.bool)


EDGES = [nan, inf, -inf, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 1e-10, -1e-10, 1e-300, 20.0, -20.0, 710.0, -750.0]
RIGHT = [[nan, inf, -inf, 0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 3.0, 2.5, -1e300]]
LEFT = [[x] for x in RIGHT[0]]
MIN, MAX = -(2**31), 2**31 - 1
EXTREMES = ints([MIN, MIN + 1, -7, -1, 0, 1, 7, MAX])


def index32(x):
    return x.to(i32)


# ---- Element by element ----

DOMAINS = {
    "log": (0.1, 3), "log2": (0.1, 3), "log10": (0.1, 3), "log1p": (-0.9, 3), "sqrt": (0.1, 3), "recip": (0.1, 3),
    "asin": (-0.9, 0.9), "acos": (-0.9, 0.9), "atanh": (-0.9, 0.9), "acosh": (1.1, 4), "tan": (-1.4, 1.4),
}  # fmt: skip
UNARY = {
    name: getattr(torch, {"recip": "reciprocal"}.get(name, name))
    for name in """neg abs sign exp expm1 log log1p log2 log10 sqrt square recip sin cos tan asin acos atan sinh cosh tanh
    asinh acosh atanh erf sigmoid relu floor ceil round trunc""".split()
}
FUNCTIONS |= UNARY
for name in UNARY:
    case(name, uniform(*DOMAINS.get(name, (-3, 3)), 2, 3))
    case(name, EDGES)
for name in ["neg", "abs", "sign", "square", "relu"]:
    case(name, EXTREMES)
    case(name, ints([-128, -100, -1, 0, 1, 100, 127], i8))

for name, base in {"log2": 2.0, "log10": 10.0}.items():
    case(name, [base**k for k in range(-20, 21)])
FUNCTIONS |= {
    "deg2rad": torch.deg2rad,
    "rad2deg": torch.rad2deg,
    "round_to": lambda x, decimals: torch.round(x, decimals=decimals),
}
for name in ["deg2rad", "rad2deg"]:
    case(name, uniform(-400, 400, 5))
    case(name, [nan, inf, -inf, 0.0, -0.0])
for decimals in [2, 1, 0, -1, -3]:
    case("round_to", uniform(-5000, 5000, 6), decimals=decimals)
    case("round_to", [nan, inf, -inf, 0.0, -0.0, 0.125, 0.375, -2.5, 25.0, 4500.0, 1e15], decimals=decimals)

FUNCTIONS |= {"is_nan": torch.isnan, "is_inf": torch.isinf, "is_finite": torch.isfinite}
FUNCTIONS["contains_nan"] = lambda x: x.isnan().any().reshape(1)
FUNCTIONS |= {"bitwise_not": torch.bitwise_not, "bool_not": torch.logical_not}
for name in ["is_nan", "is_inf", "is_finite", "contains_nan"]:
    case(name, EDGES)
case("contains_nan", [inf, 0.0])
case("bitwise_not", EXTREMES)
case("bitwise_not", ints([0, 1, 254, 255], u8))
case("bool_not", truths([True, False]))

BINARY = {
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "div": torch.div,
    "remainder": torch.remainder,
    "fmod": torch.fmod,
    "powf": torch.pow,
    "max_pair": torch.maximum,
    "min_pair": torch.minimum,
    "atan2": torch.atan2,
    "hypot": torch.hypot,
}
FUNCTIONS |= BINARY | {"powi": torch.pow}
for name in BINARY:
    values = uniform(0.1, 3, 2, 1, 3) if name == "powf" else normal(2, 1, 3)
    case(name, values, normal(1, 4, 1))
    case(name, LEFT, RIGHT)
    if name not in ["div", "powf", "atan2", "hypot", "fmod", "remainder"]:
        case(name, EXTREMES, EXTREMES.flip(0))
case("max_pair", [1.0, 2.0, 3.0], [1.0, 3.0, 2.0])
case("min_pair", [1.0, 2.0, 3.0], [1.0, 3.0, 2.0])
case("powf", [[0.0], [-0.0], [-1.5], [-2.0], [1.0], [10.0]], [[-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 0.5]])
case("powi", ints([[-3], [-1], [0], [1], [2], [10]]), ints([[0, 1, 2, 3, 31, 33]]))
case("powi", ints([[-3], [-1], [1], [2]]), ints([[-3, -2, -1]]))
case("remainder", ints([-3, -2, -1, 1, 2, 3]), ints([2, 3, 1, 2, 1, 3]))
case("remainder", ints([[-7], [-1], [0], [7], [MAX], [MIN]]), ints([[-3, 3, MAX, MIN, 2]]))
case("remainder", [2.0, -2.0, 5.5, -5.5, 4.0], [-1.5, 1.5, -2.0, 2.0, 2.0])
case("fmod", ints([-7, -1, 0, 7, 7, -7]), ints([3, 3, 3, -3, 3, -3]))
case("fmod", [2.0, -2.0, 5.5, -5.5, 4.0], [-1.5, 1.5, -2.0, 2.0, 2.0])
FUNCTIONS["div"] = lambda x, y: torch.div(x, y, rounding_mode=None if x.is_floating_point() else "trunc")
case("div", ints([-7, 7, -7, 7, MIN, MAX, 1]), ints([2, 2, -2, -2, 2, -1, 3]))
for dtype in [f16, bf16]:
    for name in ["add", "mul", "div"]:
        case(name, torch.tensor([1.5, -2.25, 1e-3, 6e4, 0.1], dtype=dtype), torch.tensor([3.0, 0.3, 7.0, 2.0, 0.7], dtype=dtype))

# A number on the right.
for name in ["add", "sub", "mul", "div", "remainder", "fmod", "powf", "max_pair", "min_pair"]:
    f = FUNCTIONS[name]
    FUNCTIONS[f"{name}_scalar"] = lambda x, value, f=f: f(x, value)
    if name in ["max_pair", "min_pair"]:  # PyTorch's take no numbers
        FUNCTIONS[f"{name}_scalar"] = lambda x, value, f=f: f(x, torch.tensor(value, dtype=x.dtype))
    case(f"{name}_scalar", uniform(0.1, 3, 2, 3), value=-1.5)
    case(f"{name}_scalar", ints([-7, -3, 0, 2, 5]), value=3)
for exponent in [0.0, 1.0, 2.0, 3.0, -1.0, -2.0, 0.5]:
    case("powf_scalar", [nan, inf, -inf, 0.0, -0.0, 1.0, -1.5, 2.0], value=exponent)

BITS = ["bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift"]
FUNCTIONS |= {name: getattr(torch, name) for name in BITS}
for name in BITS[:3]:
    case(name, EXTREMES.reshape(8, 1), ints([[-1, 0, 6, MIN]]))
for name in BITS[3:]:
    case(name, EXTREMES.reshape(8, 1), ints([[0, 1, 7, 31]]))
    case(name, ints([[1, 2, 3, 4], [5, 6, 7, 8]]), ints([[0, 1, 2, 3], [3, 2, 1, 0]]))
    case(name, ints([-5, 5, -5, 5]), ints([32, 40, -1, -3]))

COMPARE = {
    "equal": torch.eq,
    "not_equal": torch.ne,
    "lower": torch.lt,
    "lower_equal": torch.le,
    "greater": torch.gt,
    "greater_equal": torch.ge,
}
FUNCTIONS |= COMPARE
for name in COMPARE:
    case(name, LEFT, RIGHT)
    case(name, EXTREMES.reshape(8, 1), EXTREMES.reshape(1, 8))
case("equal", truths([True, True, False, False]), truths([True, False, True, False]))
case("not_equal", truths([True, True, False, False]), truths([True, False, True, False]))
for name in ["and", "or", "xor"]:
    FUNCTIONS[f"bool_{name}"] = getattr(torch, f"logical_{name}")
    case(f"bool_{name}", truths([[True, False, True], [False, True, True]]), truths([[True, True, False]]))

FUNCTIONS |= {
    "clamp": lambda x, min, max: torch.clamp(x, min, max),
    "clamp_min": lambda x, min: torch.clamp_min(x, min),
    "clamp_max": lambda x, max: torch.clamp_max(x, max),
}
case("clamp", normal(3, 4), min=-0.5, max=0.75)
case("clamp", EDGES, min=-0.5, max=0.5)
case("clamp", ints([-9, -2, 0, 3, 9]), min=-2, max=3)
for name, args in {"clamp_min": {"min": 0.5}, "clamp_max": {"max": 0.5}}.items():
    case(name, EDGES, **args)
    case(name, normal(5), **args)

FUNCTIONS |= {
    "is_close": lambda x, y, rtol, atol: torch.isclose(x, y, rtol, atol),
    "mask_where": lambda x, mask, y: torch.where(mask, y, x),
    "mask_fill": lambda x, mask, value: x.masked_fill(mask, value),
    "cast": lambda x, to: x.to(DTYPES[to]),
}
case("is_close", LEFT, RIGHT, rtol=1e-5, atol=1e-8)
case("is_close", [1.0, 1.0, 1.0, 0.0], [1.0 + 1e-6, 1.1, 1.0 + 1e-3, 1e-9], rtol=1e-5, atol=1e-8)
case("mask_where", normal(2, 3), bools(2, 3), normal(2, 3))
case("mask_where", normal(2, 3), bools(1, 3), normal(2, 1))
case("mask_where", [0.0, 1.0, nan], truths([True, False, True]), [nan, inf, 2.0])
case("mask_fill", normal(2, 3), bools(2, 3), value=-7.0)
case("mask_fill", normal(2, 3), bools(2, 1), value=-inf)
WHOLE = [-2.9, -2.5, -1.0, -0.0, 0.0, 0.5, 0.99, 1.5, 100.7]
for to in ["i32", "i64", "i16", "i8", "f32", "bool"]:
    case("cast", WHOLE, to=to)
case("cast", [nan, inf, -inf, 1e300, 1e-300, 0.0, -0.0], to="f32")
case("cast", [nan, inf, 0.0, -0.0, 1e-300], to="bool")
for to in ["f16", "bf16"]:
    halves = [1.00048828125, 1.0009765, 65519.0, 65520.0, 1e-8, 3e-8, 1.00390625, 1.01171875, nan, -inf, 3e38]
    case("cast", torch.tensor(halves, dtype=f32), to=to)
case("cast", ints([0, 1, -1, 2**31, 2**40 + 5, -(2**63)], i64), to="i32")
case("cast", ints([0, 1, -1, 255, 256, 300, MIN]), to="u8")
case("cast", ints([2**53 + 1, -(2**53) - 1, 2**63 - 1], i64), to="f64")
case("cast", EXTREMES, to="f32")
case("cast", truths([True, False]), to="f64")

# ---- Reductions and scans ----

HOLED = [[1.0, nan, 3.0], [2.0, 5.0, -1.0], [nan, inf, nan], [-inf, inf, 0.0]]
TIED = [[2.0, 1.0, 2.0, 1.0], [3.0, 3.0, 3.0, 3.0], [0.0, -0.0, 0.0, -0.0]]
REDUCTIONS = {
    "sum": lambda x, **k: x.sum(dtype=x.dtype, **k),
    "mean": torch.mean,
    "prod": lambda x, **k: x.prod(dtype=x.dtype, **k),
    "max": torch.amax,
    "min": torch.amin,
}


def all_dims(x, f):
    return f(x.flatten(), dim=0, keepdim=True)


for name, f in REDUCTIONS.items():
    FUNCTIONS[name] = lambda x, f=f: all_dims(x, f)
    FUNCTIONS[f"{name}_dim"] = lambda x, dim, f=f: f(x, dim=dim, keepdim=True)
    case(name, normal(2, 3))
    case(name, HOLED)
    case(f"{name}_dim", normal(2, 3, 2), dim=1)
    case(f"{name}_dim", normal(3, 4), dim=0)
    case(f"{name}_dim", HOLED, dim=1)
    case(f"{name}_dim", HOLED, dim=0)
    FUNCTIONS[f"{name}_dims"] = lambda x, dims, f=f: f(x, dim=dims, keepdim=True)
    if name == "prod":  # PyTorch's takes one axis
        FUNCTIONS["prod_dims"] = lambda x, dims: functools.reduce(lambda x, dim: x.prod(dim, keepdim=True), dims, x)
    case(f"{name}_dims", normal(2, 3, 2, 2), dims=[0, 2])
    if name != "mean":
        case(f"{name}_dim", ints([[MAX, 5, 1], [-3, MIN, MIN]]), dim=1)
case("prod", [0.0, 2.0, 3.0])
case("prod_dim", [[0.0, 2.0, 3.0], [0.0, 0.0, 3.0], [1.0, 2.0, -0.0], [0.0, 0.0, 0.0]], dim=1)
case("max_dims", TIED, dims=[1])
case("min_dims", TIED, dims=[1])
for name in ["sum", "prod"]:
    case(f"{name}_dim", torch.zeros(2, 0, dtype=f64), dim=1)
case("mean_dim", torch.zeros(2, 0, dtype=f64), dim=1)
case("sum_dim", torch.full((1, 300), 0.1, dtype=bf16), dim=1)
case("mean_dim", torch.full((1, 300), 300.0, dtype=f16), dim=1)

FUNCTIONS |= {
    "argmax": lambda x, dim: index32(x.argmax(dim, keepdim=True)),
    "argmin": lambda x, dim: index32(x.argmin(dim, keepdim=True)),
    "any": lambda x: x.any().reshape(1),
    "all": lambda x: x.all().reshape(1),
    "any_dim": lambda x, dim: x.any(dim, keepdim=True).bool(),
    "all_dim": lambda x, dim: x.all(dim, keepdim=True).bool(),
    "max_abs": lambda x: x.abs().amax().reshape(1),
    "max_abs_dim": lambda x, dim: x.abs().amax(dim, keepdim=True),
}


def with_index32(f):
    def call(*args, **kwargs):
        values, index = f(*args, **kwargs)
        return values, index32(index)

    return call


for name in ["max", "min"]:
    extreme = with_index32(getattr(torch, name))
    FUNCTIONS[f"{name}_dim_with_indices"] = lambda x, dim, extreme=extreme: extreme(x, dim, keepdim=True)
    for dim in [0, 1]:
        case(f"{name}_dim_with_indices", distinct(3, 4), dim=dim)
        case(f"{name}_dim_with_indices", HOLED, dim=dim)
for name in ["argmax", "argmin"]:
    case(name, distinct(2, 3, 2), dim=1)
    case(name, HOLED, dim=1)
    case(name, TIED, dim=1)
    case(name, ints([[3, 1, 2], [MIN, MAX, MAX]]), dim=1)
for name in ["any", "all"]:
    case(name, bools(2, 3))
    case(name, truths([]))
    case(f"{name}_dim", truths([[True, False], [True, True], [False, False]]), dim=1)
    case(f"{name}_dim", truths([[True, False], [True, True], [False, False]]), dim=0)
    case(f"{name}_dim", [[0.0, -0.0, nan], [1.0, inf, 0.5], [0.0, 0.0, -0.0]], dim=1)
case("max_abs", normal(3, 4))
case("max_abs", [1.0, nan, -3.0])
case("max_abs_dim", normal(3, 4), dim=1)
case("max_abs_dim", [[-2.0, 2.0, 1.0], [-3.0, nan, inf]], dim=1)
FUNCTIONS |= {
    "max_abs_dims": lambda x, dims: x.abs().amax(dims, keepdim=True),
    "sum_dims_squeeze": lambda x, dims: x.sum(dims),
}
for name in ["max_abs_dims", "sum_dims_squeeze"]:
    case(name, normal(2, 3, 2), dims=[0, 2])
    case(name, normal(2, 3, 2), dims=[1])
    case(name, [[[1.0, nan], [2.0, -3.0]]], dims=[0, 2])

for bias in [False, True]:
    k = {"correction": 0 if bias else 1, "keepdim": True}
    suffix = "_bias" if bias else ""
    FUNCTIONS[f"var{suffix}"] = lambda x, dim, k=k: torch.var(x, dim, **k)
    FUNCTIONS[f"var_mean{suffix}"] = lambda x, dim, k=k: torch.var_mean(x, dim, **k)
    for name in [f"var{suffix}", f"var_mean{suffix}"]:
        case(name, normal(2, 5), dim=1)
        case(name, normal(4, 3, 2), dim=0)
        case(name, [[1e8, 1e8 + 1, 1e8 + 2], [2.0, 2.0, 2.0], [nan, 1.0, 2.0]], dim=1)
    case(f"var{suffix}", normal(3, 1), dim=1)
FUNCTIONS |= {
    "std": lambda x, dim: torch.std(x, dim, keepdim=True),
    "median": lambda x, dim: torch.median(x, dim, keepdim=True)[0],
    "cov": lambda x, dim, correction: torch.cov(x if dim == 1 else x.T, correction=correction),
}
case("std", normal(2, 5), dim=1)
case("std", normal(4, 3, 2), dim=0)
case("std", [[1.0, nan, 2.0], [1.0, inf, 2.0], [1e8, 1e8 + 1, 1e8 + 2]], dim=1)
case("median", distinct(3, 5), dim=1)
case("median", distinct(3, 4), dim=1)
case("median", distinct(4, 3), dim=0)
case("median", [[1.0, nan, 2.0, 3.0], [inf, -inf, 1.0, 0.0]], dim=1)
case("median", ints([[3, 1, 2, 4], [MIN, MAX, 0, 0]]), dim=1)
FUNCTIONS["median_with_indices"] = with_index32(lambda x, dim: torch.median(x, dim, keepdim=True))
case("median_with_indices", distinct(3, 5), dim=1)
case("median_with_indices", distinct(4, 3), dim=0)
case("median_with_indices", [[1.0, nan, 2.0, 3.0], [inf, -inf, 1.0, 0.0]], dim=1)
for dim, correction in itertools.product([0, 1], [0, 1]):
    case("cov", normal(4, 5), dim=dim, correction=correction)

FUNCTIONS |= {
    "cumsum": lambda x, dim: x.cumsum(dim, dtype=x.dtype),
    "cumprod": lambda x, dim: x.cumprod(dim, dtype=x.dtype),
    "cummax": lambda x, dim: x.cummax(dim)[0],
    "cummin": lambda x, dim: x.cummin(dim)[0],
}
for name in ["cumsum", "cumprod", "cummax", "cummin"]:
    case(name, normal(2, 4), dim=1)
    case(name, normal(3, 2, 2), dim=0)
    case(name, [[1.0, nan, 5.0, 2.0], [-inf, inf, 1.0, nan], [3.0, 1.0, 4.0, 5.0]], dim=1, grad=name != "cumprod")
    case(name, ints([[3, -1, MAX, 2], [MIN, 4, -1, 1]]), dim=1)
case("cumprod", [[0.0, 2.0, 3.0, 4.0], [2.0, 0.0, 3.0, 0.0], [1.0, 2.0, 3.0, 0.0]], dim=1)

# ---- Order ----

for descending in [False, True]:
    word = "_descending" if descending else ""
    order = lambda x, dim, d=descending: torch.sort(x, dim=dim, descending=d, stable=True)
    FUNCTIONS[f"sort{word}"] = lambda x, dim, order=order: order(x, dim)[0]
    FUNCTIONS[f"argsort{word}"] = lambda x, dim, order=order: index32(order(x, dim)[1])
    FUNCTIONS[f"sort{word}_with_indices"] = with_index32(order)
    for name in [f"sort{word}", f"argsort{word}", f"sort{word}_with_indices"]:
        case(name, distinct(2, 5), dim=1)
        case(name, distinct(4, 2, 2), dim=0)
        case(name, [[2.0, nan, 1.0, 2.0, inf], [nan, -inf, nan, 0.0, -0.0], [1.0, 1.0, 0.0, 1.0, 0.0]], dim=1)
        case(name, ints([[3, 1, 3, MIN], [0, MAX, 0, -1]]), dim=1)
FUNCTIONS |= {
    "topk": lambda x, k, dim: torch.topk(x, k, dim)[0],
    "topk_with_indices": with_index32(torch.topk),
}
for name in ["topk", "topk_with_indices"]:
    case(name, distinct(2, 6), k=3, dim=1)
    case(name, distinct(5, 2), k=5, dim=0)
    case(name, [[2.0, nan, 1.0, -inf, inf]], k=3, dim=1)
    case(name, ints([[3, 1, 4, MIN, MAX]]), k=2, dim=1)
case("topk", [[2.0, 1.0, 2.0, 2.0, 0.0]], k=2, dim=1, grad=False)
FUNCTIONS["argtopk"] = lambda x, k, dim: index32(torch.topk(x, k, dim)[1])
case("argtopk", distinct(2, 6), k=3, dim=1)
case("argtopk", [[2.0, nan, 1.0, -inf, inf]], k=3, dim=1)

# ---- Indices ----


def scatter(x, index, src, dim, mode):
    if mode == "set":
        return x.scatter(dim, index.long(), src)
    if mode == "add":
        return x.scatter_add(dim, index.long(), src)
    return x.scatter_reduce(dim, index.long(), src, reduction(mode))


def select_assign(x, index, src, dim, mode):
    if mode == "set":
        return x.index_copy(dim, index.long(), src)
    if mode == "add":
        return x.index_add(dim, index, src)
    return x.index_reduce(dim, index.long(), src, reduction(mode))


def reduction(mode):
    return mode if mode == "prod" else "a" + mode


def rows(index, shape):
    """The places, in the flattened leading axes, that the rows of indices name."""
    strides = [math.prod(shape[axis + 1 : index.shape[-1]]) for axis in range(index.shape[-1])]
    return (index.long() * torch.tensor(strides, dtype=i64)).sum(-1).flatten()


def scatter_nd(x, index, src, mode):
    rest = x.shape[index.shape[-1] :]
    flat = select_assign(x.reshape(-1, *rest), rows(index, x.shape), src.reshape(-1, *rest), 0, mode)
    return flat.reshape(x.shape)


def take(x, index, dim):
    picked = x.index_select(dim, index.flatten())
    return picked.reshape(*x.shape[:dim], *index.shape, *x.shape[dim + 1 :])


FUNCTIONS |= {
    "gather": lambda x, index, dim: x.gather(dim, index.long()),
    "select": lambda x, index, dim: x.index_select(dim, index),
    "scatter": scatter,
    "select_assign": select_assign,
    "take": take,
    "embedding": lambda weight, index: F.embedding(index, weight),
    "nonzero": lambda x: [index32(places) for places in torch.nonzero(x, as_tuple=True)],
    "argwhere": lambda x: index32(torch.argwhere(x)),
    "mask_select": lambda x, mask: x.masked_select(mask),
    "one_hot": lambda x, classes: F.one_hot(x.long(), classes).to(x.dtype),
}
case("gather", normal(3, 4), indices(4, 3, 5), dim=1)
case("gather", normal(3, 4), indices(3, 2, 4, dtype=i64), dim=0)
case("gather", normal(3, 4), indices(3, 2, 2), dim=0)
case("gather", [0.1], ints([0, 0]), dim=0)
case("gather", [1.0, nan, inf], ints([2, 1, 1, 0]), dim=0)
case("select", normal(3, 4), ints([2, 0, 2]), dim=0)
case("select", normal(2, 4, 2), ints([3, 3, 0, 1, 1], i64), dim=1)
case("select", normal(3, 4), ints([]), dim=0)
UNIQUE = ints([[2, 0, 4], [1, 3, 0]])
REPEATED = ints([[2, 0, 2], [1, 1, 1]])
FUNCTIONS |= {
    "select_dim": lambda x, dim, index: x.select(dim, index),
    "gather_nd": lambda x, index: x[index.long().unbind(-1)],
    "scatter_nd": scatter_nd,
    "one_hot_fill": lambda x, classes, on, off, dim: torch.where(
        F.one_hot(x.long() % classes, classes).movedim(-1, dim) == 1, on, off
    ).to(x.dtype),
}
case("select_dim", normal(2, 3, 2), dim=1, index=2)
case("gather_nd", normal(3, 4, 2), ints([[[2, 3], [0, 0]], [[2, 3], [1, 0]]]))
case("gather_nd", normal(3, 4), ints([[2], [2], [0]], i64))
case("gather_nd", normal(2, 2, 2), ints([[1, 0, 1], [0, 0, 0]]))
for mode in ["set", "add", "prod", "max", "min"]:
    case("scatter_nd", distinct(3, 4, 2), ints([[2, 3], [0, 0], [1, 3]]), uniform(-2, 2, 3, 2), mode=mode)
    if mode != "set":
        case("scatter_nd", distinct(3, 4), ints([[2], [0], [2]], i64), uniform(-2, 2, 3, 4), mode=mode)
case("one_hot_fill", ints([[2, 0], [-1, 1]]), classes=3, on=7, off=-2, dim=1)
case("one_hot_fill", ints([2, 0, -3]), classes=3, on=7, off=-2, dim=0)
for mode in ["set", "add", "prod", "max", "min"]:
    tied = mode in ["max", "min"]
    case("scatter", distinct(2, 5), UNIQUE, uniform(-2, 2, 2, 3), dim=1, mode=mode)
    case("select_assign", distinct(4, 3), ints([3, 1]), uniform(-2, 2, 2, 3), dim=0, mode=mode)
    if mode != "set":
        case("scatter", distinct(2, 5), REPEATED, uniform(-2, 2, 2, 3), dim=1, mode=mode)
        case("select_assign", distinct(4, 3), ints([3, 1, 3]), uniform(-2, 2, 3, 3), dim=0, mode=mode)
        case("scatter", [1.0, 2.0, nan, 4.0], ints([0, 1, 2, 3, 3]), [nan, 3.0, 0.0, -inf, inf], dim=0, mode=mode, grad=not tied)
        case("scatter", ints([MAX, 5, MIN]), ints([0, 1, 2, 1]), ints([1, 7, -1, 3]), dim=0, mode=mode)
case("take", normal(3, 4), indices(3, 2, 2), dim=0)
case("take", normal(2, 3, 2), indices(3, 4), dim=1)
case("embedding", normal(5, 3), ints([[1, 1, 4], [0, 1, 2]]))
case("argwhere", truths([[True, False, True], [False, False, True]]))
case("argwhere", truths([False, False]))
case("nonzero", truths([[True, False, True], [False, False, True]]))
case("argwhere", [[0.0, nan], [-0.0, 2.0]])
case("mask_select", normal(3, 4), bools(3, 4))
case("mask_select", normal(2), truths([False, False]))
case("one_hot", ints([2, 0, 1, 1]), classes=3)
case("one_hot", ints([[1, 0], [3, 3]], i64), classes=4)


def slices(x, starts, ends, steps):
    for dim, (start, end, step) in enumerate(zip(starts, ends, steps)):
        x = x.narrow(dim, start, end - start)
        x = x.flip(dim) if step < 0 else x
        x = x[(slice(None),) * dim + (slice(None, None, abs(step)),)]
    return x


def places(x, starts, ends, steps):
    """The positions of a slice in the flattened tensor."""
    return slices(torch.arange(x.numel()).reshape(x.shape), starts, ends, steps)


def slice_assign(x, values, **ranges):
    return x.flatten().index_copy(0, places(x, **ranges).flatten(), values.flatten()).reshape(x.shape)


def slice_fill(x, value, **ranges):
    return x.flatten().index_fill(0, places(x, **ranges).flatten(), value).reshape(x.shape)


FUNCTIONS["slice_dim"] = lambda x, dim, start, end, step: x[(slice(None),) * dim + (slice(start, end, step),)]
FUNCTIONS |= {"slice": slices, "slice_assign": slice_assign, "slice_fill": slice_fill}
for ranges, shape in [
    ({"starts": [1, 0], "ends": [3, 4], "steps": [1, 1]}, (2, 4)),
    ({"starts": [0, 1], "ends": [3, 5], "steps": [2, 3]}, (2, 2)),
    ({"starts": [0, 0], "ends": [3, 5], "steps": [-1, -2]}, (3, 3)),
    ({"starts": [1, 2], "ends": [1, 5], "steps": [1, 1]}, (0, 3)),
]:
    case("slice", normal(3, 5), **ranges)
    case("slice_assign", normal(3, 5), normal(*shape), **ranges)
    case("slice_fill", normal(3, 5), value=0.5, **ranges)

case("slice_dim", normal(3, 7), dim=1, start=1, end=-1, step=2)

# ---- Movement ----


def pad(x, before, after, mode, value=0.0):
    """As for `F.pad`, whose modes but the constant take batch and channels too, and lack some ranks."""
    sides = [n for pair in reversed(list(zip(before, after))) for n in pair]
    if mode == "constant":
        return F.pad(x, sides, mode, value)
    return F.pad(x[None, None], sides, mode)[0, 0]


FUNCTIONS |= {
    "reshape": lambda x, shape: x.reshape(shape),
    "permute": lambda x, dims: x.permute(dims),
    "swap_dims": lambda x, a, b: x.transpose(a, b),
    "transpose": lambda x: x.mT,
    "t": lambda x: x.t(),
    "movedim": lambda x, src, dst: x.movedim(src, dst),
    "expand": lambda x, shape: x.expand(shape),
    "narrow": lambda x, dim, start, len: x.narrow(dim, start, len),
    "flip": lambda x, dims: x.flip(dims),
    "roll": lambda x, shifts, dims: x.roll(shifts, dims),
    "roll_dim": lambda x, shift, dim: x.roll(shift, dim),
    "repeat": lambda x, times: x.repeat(times),
    "repeat_dim": lambda x, dim, times: torch.cat([x] * times, dim),
    "pad": pad,
    "cat": lambda *xs, dim: torch.cat(xs, dim),
    "stack": lambda *xs, dim: torch.stack(xs, dim),
    "split": lambda x, size, dim: x.split(size, dim),
    "split_with_sizes": lambda x, sizes, dim: x.split(sizes, dim),
    "chunk": lambda x, chunks, dim: x.chunk(chunks, dim),
    "flatten": lambda x, start, end: x.flatten(start, end),
    "squeeze": lambda x: x.squeeze(),
    "squeeze_dim": lambda x, dim: x.squeeze(dim),
    "squeeze_dims": lambda x, dims: x.squeeze(dims),
    "unsqueeze_dim": lambda x, dim: x.unsqueeze(dim),
    "unsqueeze_dims": lambda x, dims: functools.reduce(lambda x, dim: x.unsqueeze(dim), dims, x),
    "triu": lambda x, diagonal: x.triu(diagonal),
    "tril": lambda x, diagonal: x.tril(diagonal),
    "diag": lambda x: x.diagonal(dim1=-2, dim2=-1),
}
case("reshape", normal(2, 6), shape=[3, 4])
case("permute", normal(2, 3, 2), dims=[2, 0, 1])
case("swap_dims", normal(2, 3, 2), a=0, b=2)
case("transpose", normal(2, 3, 2))
case("t", normal(2, 3))
case("movedim", normal(2, 3, 2), src=[0], dst=[2])
case("movedim", normal(2, 3, 2), src=[0, 2], dst=[1, 0])
case("expand", normal(2, 1, 3), shape=[2, 4, 3])
case("narrow", normal(4, 3), dim=0, start=1, len=2)
case("flip", normal(2, 3, 2), dims=[0, 2])
case("roll", normal(3, 4), shifts=[1, -2], dims=[0, 1])
case("roll", normal(5), shifts=[12], dims=[0])
case("roll_dim", normal(2, 4), shift=-3, dim=1)
case("repeat", normal(2, 3), times=[2, 3])
case("repeat_dim", normal(2, 3), dim=1, times=3)
case("pad", normal(2, 3), before=[1, 0], after=[0, 2], mode="constant", value=-1.5)
case("pad", ints([[1, 2], [3, 4]]), before=[0, 1], after=[1, 0], mode="constant", value=7)
for mode in ["reflect", "replicate", "circular"]:
    case("pad", normal(4), before=[3], after=[2], mode=mode)
    case("pad", normal(3, 4), before=[2, 1], after=[1, 3], mode=mode)
case("pad", normal(2, 3), before=[4, 5], after=[3, 6], mode="replicate")
case("cat", normal(2, 3), normal(2, 1), normal(2, 2), dim=1)
case("cat", normal(2, 3), torch.zeros(2, 0, dtype=f64), dim=1)
case("stack", normal(2, 3), normal(2, 3), dim=1)
case("split", normal(5, 2), size=2, dim=0)
case("split_with_sizes", normal(2, 6), sizes=[1, 3, 2], dim=1)
case("chunk", normal(7, 2), chunks=3, dim=0)
case("flatten", normal(2, 3, 2, 1), start=1, end=2)
case("squeeze", normal(1, 3, 1, 2))
case("squeeze_dim", normal(1, 3, 1), dim=2)
case("squeeze_dims", normal(1, 3, 1, 2, 1), dims=[0, 4])
case("unsqueeze_dim", normal(2, 3), dim=1)
case("unsqueeze_dims", normal(2, 3), dims=[0, 2, 4])
for diagonal in [-5, -1, 0, 1, 2]:
    case("triu", normal(3, 4), diagonal=diagonal)
    case("tril", normal(2, 3, 2), diagonal=diagonal)
case("triu", [[1.0, nan], [inf, nan]], diagonal=0)
FUNCTIONS |= {
    "triu_mask": lambda shape, offset: torch.ones(shape).triu(offset) == 0,
    "tril_mask": lambda shape, offset: torch.ones(shape).tril(offset) == 0,
    "diag_mask": lambda shape, offset: torch.ones(shape).triu(offset).tril(offset) == 0,
}
for name, offset in itertools.product(["triu_mask", "tril_mask", "diag_mask"], [-1, 0, 2]):
    case(name, shape=[3, 4], offset=offset)
    case(name, shape=[2, 3, 2], offset=offset)
case("diag", normal(3, 4))
case("diag", normal(2, 3, 2))

# ---- Creation ----

FUNCTIONS |= {
    "arange_step": lambda start, end, step, dtype: torch.arange(start, end, step, dtype=DTYPES[dtype]),
    "linspace": lambda start, end, len, dtype: torch.linspace(start, end, len, dtype=DTYPES[dtype]),
    "eye": lambda size, dtype: torch.eye(size, dtype=DTYPES[dtype]),
}
case("arange_step", start=-3, end=8, step=2, dtype="i32")
case("arange_step", start=0, end=5, step=1, dtype="f32")
for start, end, length in [(-1.0, 2.0, 7), (0.0, 1.0, 1), (3.0, -3.0, 4), (0.1, 0.7, 10)]:
    case("linspace", start=start, end=end, len=length, dtype="f64")
case("eye", size=3, dtype="f32")
case("eye", size=2, dtype="i64")

# ---- Linear algebra ----


def norm(order):
    return lambda x, dim: torch.linalg.vector_norm(x, order, dim, keepdim=True)


def magnitudes(x, full):
    """The decomposition without the signs of its vectors, which are not determined."""
    u, s, vt = torch.linalg.svd(x, full_matrices=full)
    return u.abs(), s, vt.abs()


def scalar(x):
    return x if x.ndim else x.reshape(1)


def regular(*shape):
    """Square matrices that are far from singular."""
    draw = normal(*shape)
    return lambda: draw() + 2 * torch.eye(shape[-1], dtype=f64)


FUNCTIONS |= {
    "matmul": torch.matmul,
    "linear": lambda x, weight, *bias: F.linear(x, weight.T, *bias),
    "dot": lambda x, y: torch.dot(x, y).reshape(1),
    "matvec": lambda a, x: (a @ x.unsqueeze(-1)).squeeze(-1),
    "outer": lambda x, y: torch.outer(x, y) if x.ndim == 1 else x.unsqueeze(-1) * y.unsqueeze(-2),
    "outer_dim": lambda x, y, dim: x.unsqueeze(dim + 1) * y.unsqueeze(dim),
    "cross": lambda x, y, dim: torch.linalg.cross(x, y, dim=dim),
    "trace": lambda x: x.diagonal(dim1=-2, dim2=-1).sum(-1, keepdim=True, dtype=x.dtype),
    "l0_norm": norm(0),
    "l1_norm": norm(1),
    "l2_norm": norm(2),
    "max_abs_norm": norm(inf),
    "min_abs_norm": norm(-inf),
    "lp_norm": lambda x, p, dim: norm(p)(x, dim),
    "vector_norm_dims": lambda x, p, dims: norm(p)(x, dims),
    "vector_normalize": lambda x, p, dim, eps: F.normalize(x, p, dim, eps),
    "cosine_similarity": lambda x, y, dim, eps: F.cosine_similarity(x, y, dim, eps).unsqueeze(dim),
    "det": lambda x: torch.linalg.det(x).reshape(x.shape[:-2] or 1),
    "lu": torch.linalg.lu,
    "qr": lambda x, reduced: torch.linalg.qr(x, "reduced" if reduced else "complete"),
    "cholesky": lambda x, upper: torch.linalg.cholesky(x @ x.mT + torch.eye(x.shape[-2], dtype=x.dtype), upper=upper),
    "solve": torch.linalg.solve,
    "svd": magnitudes,
    "einsum": lambda *xs, equation: scalar(torch.einsum(equation, *xs)),
}
case("matmul", normal(3, 4), normal(4, 2))
case("matmul", normal(2, 3, 4), normal(2, 4, 2))
case("matmul", normal(2, 1, 2, 3), normal(1, 3, 3, 2))
case("matmul", normal(1, 5), normal(5, 1))
case("matmul", torch.zeros(2, 0, dtype=f64), torch.zeros(0, 3, dtype=f64))
case("matmul", [[1.0, nan], [inf, 2.0]], [[1.0, 0.0], [1.0, 2.0]])
case("matmul", ints([[1, 2], [3, MAX]]), ints([[5, 6], [7, 2]]))
case("matmul", torch.tensor([[0.1, 0.2, 0.3]] * 2, dtype=bf16), torch.tensor([[0.7, 1.5], [2.0, 0.1], [9.0, 3.0]], dtype=bf16))
case("linear", normal(3, 4), normal(4, 2), normal(2))
case("linear", normal(2, 3, 4), normal(4, 2))
case("linear", normal(3), normal(3, 1), normal(1))
case("dot", normal(5), normal(5))
case("matvec", normal(2, 3), normal(3))
case("matvec", normal(2, 4, 3), normal(1, 3))
case("outer", normal(3), normal(2))
case("outer", normal(2, 3), normal(2, 2))
case("outer_dim", normal(2, 3), normal(1, 3), dim=0)
case("cross", normal(2, 3), normal(2, 3), dim=1)
case("cross", normal(3, 2), normal(3, 1), dim=0)
case("cross", ints([1, 2, 3]), ints([-4, 5, 6]), dim=0)
case("trace", normal(3, 3))
case("trace", normal(2, 3, 2))
case("trace", ints([[1, 2], [3, MAX]]))
ZEROS = [[3.0, 0.0, -4.0], [0.0, 0.0, 0.0], [1.0, -1.0, 1e-3]]
for name in ["l0_norm", "l1_norm", "l2_norm", "max_abs_norm", "min_abs_norm"]:
    case(name, distinct(3, 4), dim=1)
    case(name, normal(3, 4), dim=0)
    case(name, ZEROS, dim=1)
    case(name, [[nan, 1.0], [inf, -1.0], [-inf, 0.0]], dim=1)
for p in [3.0, 1.5, 0.5, -1.0, -2.0]:
    case("lp_norm", normal(2, 3), p=p, dim=1)
case("lp_norm", ZEROS, p=3.0, dim=1)
for p in [0.5, 1.5, 4.0, -1.0, -2.0, inf, -inf, 2.0, 1.0]:
    case("lp_norm", ZEROS, p=p, dim=1)
    case("vector_norm_dims", distinct(2, 3, 2), p=p, dims=[0, 2])
case("vector_norm_dims", [[0.0, 2.0], [nan, 0.0]], p=0.0, dims=[0, 1])
for p in [2.0, 1.0, 3.0, inf]:
    case("vector_normalize", normal(2, 3), p=p, dim=1, eps=1e-12)
    case("vector_normalize", ZEROS, p=p, dim=1, eps=0.5)
case("cosine_similarity", normal(2, 4), normal(2, 4), dim=1, eps=1e-8)
case("cosine_similarity", normal(3, 2), normal(3, 2), dim=0, eps=1e-8)
case("cosine_similarity", [[0.0, 0.0], [1e-9, 0.0]], [[1.0, 2.0], [1.0, 0.0]], dim=1, eps=1e-8, grad=False)
for shape in [(3, 3), (1, 1), (2, 2), (5, 5), (2, 4, 4), (0, 3, 3), (2, 0, 0), (0, 0)]:
    case("det", regular(*shape))
case("det", [[1.0, 2.0], [2.0, 4.0]], grad=False)
case("det", [[nan, 2.0], [2.0, 4.0]], grad=False)
for shape in [(3, 3), (1, 1), (3, 5), (5, 3), (2, 6, 4), (2, 2, 3, 3), (0, 2, 3)]:
    case("lu", normal(*shape))
    case("qr", normal(*shape), reduced=True)
    case("qr", normal(*shape), reduced=False, grad=shape[-2] <= shape[-1])
    case("svd", normal(*shape), full=False)
    case("svd", normal(*shape[:-2], shape[-1] + 1, shape[-1]), full=True, grad=False)
    case("cholesky", normal(*shape), upper=False)
    case("cholesky", normal(*shape), upper=True)
case("svd", [[1e200, 0.0], [0.0, 1e-200]], full=False, grad=False)
case("solve", regular(3, 3), normal(3, 2))
case("solve", regular(4, 4), normal(4))
case("solve", regular(2, 3, 3), normal(2, 3))
case("solve", regular(2, 1, 3, 3), normal(4, 3, 2))
case("solve", regular(3, 3), normal(2, 3, 1))
case("solve", regular(1, 1), normal(1, 1))
case("solve", regular(2, 2), normal(2, 0))
for equation, *shapes in [
    ("ij,jk->ik", (2, 3), (3, 4)), ("ij,jk", (2, 3), (3, 4)), ("ij->ji", (2, 3)), ("ba", (2, 3)), ("ii->i", (3, 3)),
    ("ii", (3, 3)), ("iij->ji", (3, 3, 2)), ("iijj->", (2, 2, 3, 3)), ("i,i->", (4,), (4,)), ("i,j->ij", (2,), (3,)),
    ("ij->", (2, 3)), ("ij->j", (2, 3)), ("bi,bi->b", (2, 3), (2, 3)), ("bij,bjk->bik", (2, 2, 3), (2, 3, 2)),
    ("...ij,...jk->...ik", (4, 1, 2, 3), (2, 3, 2)), ("...ii->...", (2, 3, 3)), ("i...->...", (2, 3, 2)),
    ("...i,i", (2, 3), (3,)), ("...,...->...", (2, 3), (3,)), ("ij,jk,kl->il", (2, 3), (3, 2), (2, 3)),
    ("ij,ik,il->jkl", (2, 2), (2, 3), (2, 1)), ("bhid,bhjd->bhij", (2, 2, 3, 2), (2, 2, 4, 2)), ("Ab,bC", (2, 3), (3, 2)),
    ("ij,ij->ij", (2, 1), (2, 3)), ("i,i->", (1,), (3,)), ("ik,jk->ji", (2, 0), (3, 0)), ("...ij->ij", (2, 3, 2)),
    ("abc,cd,def->abef", (2, 1, 3), (3, 2), (2, 2, 2)),
]:  # fmt: skip
    case("einsum", *[normal(*shape) for shape in shapes], equation=equation)
case("einsum", ints([[1, 2], [3, 4]]), ints([5, 6]), equation="ij,j->i")

# ---- Convolutions and pools ----

CONV = [F.conv1d, F.conv2d, F.conv3d]
TRANSPOSED = [F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d]
MAX_POOL = [F.max_pool1d, F.max_pool2d, F.max_pool3d]
AVG_POOL = [F.avg_pool1d, F.avg_pool2d, F.avg_pool3d]
ADAPTIVE = [F.adaptive_avg_pool1d, F.adaptive_avg_pool2d, F.adaptive_avg_pool3d]


def conv(x, weight, *bias, stride, padding, dilation, groups):
    return CONV[x.ndim - 3](x, weight, bias[0] if bias else None, stride, padding, dilation, groups)


def conv_transpose(x, weight, *bias, stride, padding, dilation, groups, padding_out):
    return TRANSPOSED[x.ndim - 3](x, weight, bias[0] if bias else None, stride, padding, padding_out, groups, dilation)


def max_pool(x, kernel, stride, padding, dilation, ceil=False):
    return MAX_POOL[x.ndim - 3](x, kernel, stride, padding, dilation, ceil_mode=ceil, return_indices=True)


def avg_pool(x, kernel, stride, padding, include, ceil=False):
    return AVG_POOL[x.ndim - 3](x, kernel, stride, padding, ceil, include)


def deform_conv2d(x, offset, weight, *rest, mask, bias, stride, padding, dilation, groups, offset_groups):
    """By the definition: at a distance of d rows or columns, an element of the image weighs max(0, 1 - |d|)."""
    rest = list(rest)
    batch, channels, height, width = x.shape
    kernel, (rows, columns) = weight.shape[2:], offset.shape[2:]
    factor = rest.pop(0) if mask else torch.ones(batch, offset.shape[1] // 2, rows, columns, dtype=x.dtype)
    shape = (batch, offset_groups, *kernel, rows, columns)
    factor, offset = factor.reshape(shape), offset.reshape(*shape[:4], 2, rows, columns)
    weights = []
    for axis, (size, count) in enumerate([(height, rows), (width, columns)]):
        start = (torch.arange(count) * stride[axis] - padding[axis]).reshape([-1, 1] if axis == 0 else [1, -1])
        tap = (torch.arange(kernel[axis]) * dilation[axis]).reshape([-1, 1, 1, 1] if axis == 0 else [1, -1, 1, 1])
        places = offset[:, :, :, :, axis] + start + tap
        weights.append((1 - (places[..., None] - torch.arange(size)).abs()).clamp(min=0))
    planes = x.reshape(batch, offset_groups, -1, height, width)
    samples = torch.einsum("bgijhwy,bgijhwx,bgcyx,bgijhw->bgcijhw", *weights, planes, factor)
    samples = samples.reshape(batch, groups, channels // groups, *kernel, rows, columns)
    weight = weight.reshape(groups, -1, *weight.shape[1:])
    y = torch.einsum("bgcijhw,gocij->bgohw", samples, weight).reshape(batch, -1, rows, columns)
    return y + rest[0][:, None, None] if bias else y


def gradient(f):
    """The gradient of a function in its first input, for one of its result."""

    def call(x, grad, *rest, **args):
        x = x if x.requires_grad else x.detach().requires_grad_()
        return torch.autograd.grad(f(x, **args), x, grad, create_graph=True)[0]

    return call


FUNCTIONS |= {
    "conv": conv,
    "conv_transpose": conv_transpose,
    "max_pool": lambda *x, **k: max_pool(*x, **k)[0],
    "max_pool_with_indices": with_index32(max_pool),
    "avg_pool": avg_pool,
    "deform_conv2d": deform_conv2d,
    "conv_weight_backward": lambda x, weight, grad, **k: gradient(lambda w: conv(x, w, **k))(weight, grad),
    "max_pool_with_indices_backward": lambda x, grad, index, **k: gradient(lambda x: max_pool(x, **k)[0])(x, grad),
    "avg_pool_backward": gradient(avg_pool),
    "adaptive_avg_pool": lambda x, size: ADAPTIVE[x.ndim - 3](x, size),
}


def window(axes, stride=1, padding=0, dilation=1, **more):
    each = lambda n: list(n) if isinstance(n, (list, tuple)) else [n] * axes
    return {"stride": each(stride), "padding": each(padding), "dilation": each(dilation), **more}


case("conv", normal(2, 3, 7), normal(4, 3, 3), normal(4), **window(1, groups=1))
case("conv", normal(2, 4, 9), normal(6, 2, 3), normal(6), **window(1, 2, 1, 2, groups=2))
case("conv", normal(1, 3, 8), normal(3, 1, 2), **window(1, 3, 2, 1, groups=3))
case("conv", normal(2, 3, 5, 6), normal(4, 3, 3, 2), normal(4), **window(2, groups=1))
case("conv", normal(1, 2, 7, 6), normal(4, 1, 3, 3), normal(4), **window(2, [2, 1], [1, 2], [2, 1], groups=2))
case("conv", normal(2, 4, 5, 5), normal(4, 1, 3, 3), **window(2, 2, 1, groups=4))
case("conv", normal(2, 3, 4, 4), normal(5, 3, 1, 1), **window(2, groups=1))
case("conv", normal(1, 2, 4, 5, 4), normal(3, 2, 2, 3, 2), normal(3), **window(3, groups=1))
case("conv", normal(1, 2, 5, 4, 5), normal(2, 1, 3, 2, 2), **window(3, [2, 1, 2], [1, 0, 1], [1, 2, 1], groups=2))
case("conv_transpose", normal(2, 3, 5), normal(3, 2, 3), normal(2), **window(1, groups=1, padding_out=[0]))
case("conv_transpose", normal(1, 4, 4), normal(4, 2, 3), normal(4), **window(1, 3, 1, 2, groups=2, padding_out=[2]))
case("conv_transpose", normal(2, 3, 3, 4), normal(3, 2, 3, 2), normal(2), **window(2, groups=1, padding_out=[0, 0]))
case("conv_transpose", normal(1, 4, 3, 4), normal(4, 1, 2, 3), **window(2, [2, 3], [1, 2], [2, 1], groups=2, padding_out=[1, 2]))
case("conv_transpose", normal(1, 2, 4), normal(2, 3, 2), normal(3), **window(1, 1, 0, 3, groups=1, padding_out=[2]))
case("conv_transpose", normal(1, 2, 3, 3), normal(2, 1, 3, 2), normal(1), **window(2, [1, 2], [1, 0], 4, groups=1, padding_out=[3, 3]))
case("conv_transpose", normal(1, 2, 2, 3, 2), normal(2, 2, 2, 2, 3), normal(2), **window(3, 2, 1, groups=1, padding_out=[1, 0, 1]))

for name in ["max_pool", "max_pool_with_indices"]:
    case(name, distinct(2, 2, 8), kernel=[3], **window(1, 2))
    case(name, distinct(1, 2, 9), kernel=[3], **window(1, 2, 1, 2))
    case(name, distinct(2, 2, 5, 6), kernel=[2, 3], **window(2, [2, 1], [1, 1]))
    case(name, distinct(1, 1, 7, 7), kernel=[3, 2], **window(2, [1, 2], [1, 0], [2, 3]))
    case(name, distinct(1, 2, 4, 4, 4), kernel=[2, 2, 2], **window(3, 2))
    case(name, [[[1.0, nan, 3.0, 2.0, -inf, -inf]]], kernel=[2], **window(1, 2))
for include in [True, False]:
    case("avg_pool", normal(2, 2, 8), kernel=[3], stride=[2], padding=[1], include=include)
    case("avg_pool", normal(1, 2, 5, 6), kernel=[2, 3], stride=[2, 1], padding=[1, 1], include=include)
    case("avg_pool", normal(1, 2, 4, 4, 5), kernel=[2, 2, 3], stride=[2, 1, 2], padding=[1, 0, 1], include=include)
case("avg_pool", [[[1.0, nan, 3.0, 2.0, inf, -inf]]], kernel=[2], stride=[2], padding=[0], include=True)

# One more window overhangs, or lies in the padding at the end and is dropped.
for kernel, stride, padding, size in [(3, 2, 0, 8), (3, 2, 1, 8), (2, 3, 1, 7), (2, 4, 1, 3), (4, 3, 1, 4), (1, 2, 0, 4)]:
    case("max_pool", distinct(1, 2, size), kernel=[kernel], **window(1, stride, padding), ceil=True)
    for include in [True, False]:
        args = {"kernel": [kernel], "stride": [stride], "padding": [padding], "include": include, "ceil": True}
        case("avg_pool", normal(1, 2, size), **args)
case("max_pool_with_indices", distinct(1, 2, 6, 5), kernel=[3, 2], **window(2, [2, 2], [1, 0], [2, 1]), ceil=True)
case("max_pool", distinct(1, 1, 3, 4, 5), kernel=[2, 3, 2], **window(3, [2, 2, 3], [1, 1, 0]), ceil=True)
for include in [True, False]:
    case("avg_pool", normal(2, 1, 6, 5), kernel=[3, 2], stride=[2, 2], padding=[1, 0], include=include, ceil=True)
    case("avg_pool", normal(1, 1, 3, 4, 5), kernel=[2, 3, 2], stride=[2, 2, 3], padding=[1, 1, 0], include=include, ceil=True)
case("avg_pool", [[[1.0, 2.0, 3.0, nan, 5.0, inf]]], kernel=[4], stride=[4], padding=[1], include=True, ceil=True)
for ceil in [False, True]:
    pools = {"kernel": [3, 2], "stride": [2, 2], "padding": [1, 0], "ceil": ceil}
    out = [1, 2, 4 if ceil else 3, 3 if ceil else 2]
    for include in [True, False]:
        case("avg_pool_backward", normal(1, 2, 6, 5), normal(*out), include=include, **pools)
    x = distinct(1, 2, 6, 5)()
    index = F.max_pool2d(x, [3, 2], [2, 2], [1, 0], 1, ceil, return_indices=True)[1]
    case("max_pool_with_indices_backward", x, normal(*out), index32(index), dilation=[1, 1], **pools)
case("conv_weight_backward", normal(2, 4, 5, 6), normal(6, 2, 3, 2), normal(2, 6, 3, 5), **window(2, [2, 1], [1, 0], groups=2))
for x, size in [
    (normal(2, 2, 7), [3]), (normal(1, 2, 3), [5]), (normal(1, 2, 6), [4]), (normal(2, 1, 6, 4), [3, 2]),
    (normal(1, 2, 5, 7), [3, 7]), (normal(1, 1, 4, 5), [1, 3]), (normal(1, 1, 3, 4, 5), [2, 4, 3]),
    ([[[1.0, 2.0, nan, 4.0, inf, 6.0, 7.0]]], [3]), ([[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, inf, nan]]], [3]),
]:  # fmt: skip
    case("adaptive_avg_pool", x, size=size)


def moved(*shape):
    """Displacements that are never whole, where the slope would be any between two."""
    return lambda: normal(*shape)() + 0.0005


deform = window(2, groups=1, offset_groups=1)
case("deform_conv2d", normal(2, 2, 4, 5), moved(2, 8, 3, 4), normal(3, 2, 2, 2), mask=False, bias=False, **deform)
deform = window(2, [2, 1], [1, 2], [1, 2], groups=2, offset_groups=2)
case(
    "deform_conv2d", normal(1, 4, 5, 4), moved(1, 24, 3, 4), normal(4, 2, 2, 3), uniform(0, 1, 1, 12, 3, 4), normal(4),
    mask=True, bias=True, **deform,
)  # fmt: skip
deform = window(2, 1, 1, groups=2, offset_groups=1)
case("deform_conv2d", normal(2, 2, 3, 1), moved(2, 6, 3, 3), normal(2, 1, 3, 1), uniform(0, 1, 2, 3, 3, 3), mask=True, bias=False, **deform)

# ---- Windows, resampling, grids ----


def interpolate(x, mode, size=None, scale=None, align=None):
    return F.interpolate(x, size, scale, mode, align)


FUNCTIONS |= {
    "unfold": lambda x, dim, size, step: x.unfold(dim, size, step),
    "unfold4d": lambda x, kernel, stride, padding, dilation: F.unfold(x, kernel, dilation, padding, stride),
    "fold4d": lambda x, size, kernel, stride, padding, dilation: F.fold(x, size, kernel, dilation, padding, stride),
    "interpolate": interpolate,
    "grid_sample_2d": lambda x, grid, mode, padding, align: F.grid_sample(x, grid, mode, padding, align),
    "affine_grid_2d": lambda maps, dims: F.affine_grid(maps, dims, align_corners=True),
    "meshgrid": lambda *xs, indexing: torch.meshgrid(*xs, indexing=indexing),
    "cartesian_grid": lambda shape, dtype: torch.stack(
        torch.meshgrid(*[torch.arange(n, dtype=DTYPES[dtype]) for n in shape], indexing="ij"), -1
    ),
}
case("unfold", normal(7), dim=0, size=3, step=2)
case("unfold", normal(2, 5, 3), dim=1, size=2, step=1)
case("unfold", normal(3, 4), dim=0, size=1, step=5)
case("unfold", ints([[1, 2, 3], [4, 5, 6]]), dim=1, size=3, step=1)
case("unfold", [1.0, nan, 3.0, inf], dim=0, size=2, step=1)
case("unfold4d", normal(2, 2, 3, 4), kernel=[2, 3], **window(2))
case("unfold4d", normal(1, 2, 5, 4), kernel=[2, 2], **window(2, [2, 1], [1, 2], [3, 1]))
case("unfold4d", [[[[1.0, nan], [inf, 4.0]]]], kernel=[2, 1], **window(2, 1, 1))
case("fold4d", normal(2, 12, 4), size=[3, 4], kernel=[2, 3], **window(2))
case("fold4d", normal(1, 8, 14), size=[5, 4], kernel=[2, 2], **window(2, [2, 1], [1, 2], [3, 1]))
case("fold4d", normal(1, 4, 1), size=[5, 4], kernel=[2, 2], **window(2, 3, 0, 2))
case("fold4d", [[[1.0, nan, 2.0], [inf, 3.0, -inf]]], size=[1, 4], kernel=[1, 2], **window(2))

for mode in ["nearest", "nearest-exact"]:
    for size in [[5, 7], [2, 3], [3, 1], [4, 4]]:
        case("interpolate", normal(1, 2, 4, 3), mode=mode, size=size)
    for scale in [[2.0, 1.5], [0.5, 0.75], [1.3, 0.7]]:
        case("interpolate", normal(1, 1, 4, 10), mode=mode, scale=scale)
for mode, align in itertools.product(["bilinear", "bicubic"], [False, True]):
    for size in [[5, 7], [2, 3], [3, 1], [4, 3], [1, 6]]:
        case("interpolate", normal(1, 2, 4, 3), mode=mode, size=size, align=align)
    for scale in [[2.0, 1.5], [0.5, 0.75], [1.3, 0.7]]:
        case("interpolate", normal(2, 1, 4, 5), mode=mode, scale=scale, align=align)
    case("interpolate", normal(1, 2, 1, 1), mode=mode, size=[2, 3], align=align)
case("interpolate", [[[[1.0, 2.0, 3.0, nan, 5.0]]]], mode="bilinear", size=[1, 10], align=False)

for mode, padding, align in itertools.product(
    ["bilinear", "nearest", "bicubic"], ["zeros", "border", "reflection"], [False, True]
):
    case("grid_sample_2d", normal(2, 2, 3, 4), uniform(-1.8, 1.8, 2, 2, 3, 2), mode=mode, padding=padding, align=align)
    case("grid_sample_2d", normal(1, 1, 2, 3), uniform(-9, 9, 1, 2, 2, 2), mode=mode, padding=padding, align=align)
CORNERS = [[[[-1.0, -1.0], [1.0, 1.0], [0.0, 0.0]], [[-1.0, 0.5], [1.0, -0.25], [2.0, -2.0]]]]
for padding, align in itertools.product(["zeros", "border", "reflection"], [False, True]):
    case("grid_sample_2d", normal(1, 2, 3, 5), CORNERS, mode="bilinear", padding=padding, align=align)
case("grid_sample_2d", normal(1, 1, 1, 1), uniform(-1.8, 1.8, 1, 2, 2, 2), mode="bilinear", padding="reflection", align=True)
HOLES = [[[[1.0, 2.0, nan], [3.0, 4.0, inf]]]]
OUTSIDE = [[[[-0.9, 0.3], [5.0, 0.0], [0.9, 0.0], [nan, 0.0]]]]
case("grid_sample_2d", HOLES, OUTSIDE, mode="bilinear", padding="zeros", align=False)
case("affine_grid_2d", normal(2, 2, 3), dims=[2, 1, 3, 4])
case("affine_grid_2d", normal(1, 2, 3), dims=[1, 5, 1, 2])
for indexing in ["ij", "xy"]:
    case("meshgrid", normal(2), normal(3), indexing=indexing)
    case("meshgrid", normal(2), normal(1), normal(3), indexing=indexing)
    case("meshgrid", normal(3), indexing=indexing)
case("meshgrid", ints([1, 2]), ints([3, 4, 5]), indexing="ij")
case("cartesian_grid", shape=[2, 3], dtype="i32")
case("cartesian_grid", shape=[2, 1, 3], dtype="i64")

# ---- Activations ----

ACTIVATIONS = {
    "gelu": (F.gelu, [{}]),
    "gelu_approximate": (lambda x: F.gelu(x, approximate="tanh"), [{}]),
    "silu": (F.silu, [{}]),
    "leaky_relu": (lambda x, slope: F.leaky_relu(x, slope), [{"slope": 0.01}, {"slope": 0.3}]),
    "elu": (F.elu, [{"alpha": 1.0}, {"alpha": 0.7}]),
    "celu": (F.celu, [{"alpha": 1.0}, {"alpha": 0.5}]),
    "selu": (F.selu, [{}]),
    "softplus": (F.softplus, [{"beta": 1.0}, {"beta": 2.5}]),
    "log_sigmoid": (F.logsigmoid, [{}]),
    "mish": (F.mish, [{}]),
    "hard_sigmoid": (F.hardsigmoid, [{}]),
    "hard_swish": (F.hardswish, [{}]),
    "softsign": (F.softsign, [{}]),
    "softplus_with_threshold": (F.softplus, [{"beta": 1.0, "threshold": 20.0}, {"beta": 2.5, "threshold": 1.0}]),
    "hardtanh": (F.hardtanh, [{"min_val": -1.0, "max_val": 1.0}, {"min_val": 0.5, "max_val": 3.5}]),
    "relu6": (F.relu6, [{}]),
    "tanhshrink": (F.tanhshrink, [{}]),
    "threshold": (F.threshold, [{"threshold": 0.25, "value": -2.0}, {"threshold": -1.0, "value": 20.0}]),
    "thresholded_relu": (lambda x, alpha: F.threshold(x, alpha, 0.0), [{"alpha": 1.0}]),
    "hard_shrink": (F.hardshrink, [{"lambd": 0.5}, {"lambd": 1.0}]),
    "soft_shrink": (F.softshrink, [{"lambd": 0.5}, {"lambd": 1.0}]),
}
# Not between 20 and 40, where PyTorch's softplus is the identity already: 2e-9 off.
CURVE = [nan, inf, -inf, 0.0, -0.0, 1.0, -1.0, 3.0, -3.0, 0.25, -7.5, 12.0, -12.0, 40.0, -40.0, 1e4, -1e4]
for name, (f, variants) in ACTIVATIONS.items():
    FUNCTIONS[name] = f
    # The gradients of these hold 1/6 as f32.
    draw = single if name in ["hard_sigmoid", "hard_swish"] else lambda x: x
    for args in variants:
        case(name, draw(uniform(-4, 4, 2, 5)), **args)
        case(name, draw(lambda: torch.tensor(CURVE, dtype=f64)), **args)


def quiet_softmax(x, dim):
    """Softmax with a 0 beside the row."""
    more = torch.cat([x, torch.zeros_like(x.narrow(dim, 0, 1))], dim)
    return F.softmax(more, dim).narrow(dim, 0, x.shape[dim])


FUNCTIONS |= {
    "prelu": F.prelu,
    "glu": F.glu,
    "softmax": F.softmax,
    "log_softmax": F.log_softmax,
    "softmin": F.softmin,
    "quiet_softmax": quiet_softmax,
}
case("prelu", normal(2, 3, 2), [0.25])
case("prelu", normal(2, 3, 2), [0.25, -0.5, 1.5])
case("prelu", [[nan, inf, -inf, 0.0, -0.0, -2.0]], [0.5])
case("glu", normal(3, 4), dim=1)
case("glu", normal(4, 3), dim=0)
case("glu", [[nan, inf, -inf, 1.0, 1.0, inf, -inf, nan]], dim=1)
ROWS = [
    [1.0, 2.0, 3.0], [-inf, 0.0, -inf], [-inf, -inf, -inf], [inf, 0.0, 1.0], [nan, 0.0, 1.0], [1e4, -1e4, 1e4],
    [0.0, 0.0, 0.0],
]  # fmt: skip
for name in ["softmax", "log_softmax", "softmin", "quiet_softmax"]:
    case(name, normal(3, 4), dim=1)
    case(name, normal(3, 2, 3), dim=0)
    case(name, ROWS, dim=1)

# ---- Norms, attention ----


def layer_norm(x, *affine, eps):
    return F.layer_norm(x, x.shape[-1:], *affine, eps=eps)


def batch_norm(x, mean, var, weight, bias, training, momentum, eps):
    mean, var = mean.detach().clone(), var.detach().clone()
    y = F.batch_norm(x, mean, var, weight, bias, training, momentum, eps)
    return y, mean, var


def batch_norm_train(x, weight, bias, eps):
    dims = [dim for dim in range(x.ndim) if dim != 1]
    var, mean = torch.var_mean(x.detach(), dims, correction=0)
    return F.batch_norm(x, None, None, weight, bias, True, 0.1, eps), mean, var


def capped_attention(q, k, v, *rest, mask, bias, causal, softcap, scale=None, top_left=False):
    """With bounded scores, which PyTorch's own has not, and heads that share keys and values."""
    if q.ndim > 3:
        k, v = [x.repeat_interleave(q.shape[-3] // k.shape[-3], -3) for x in [k, v]]
    scores = q @ k.mT * (scale or q.shape[-1] ** -0.5)
    scores = softcap * torch.tanh(scores / softcap) if softcap else scores
    rest = list(rest)
    m, n = scores.shape[-2:]
    if mask:
        scores = scores.masked_fill(rest.pop(0), -inf)
    if causal:
        scores = scores.masked_fill(torch.ones(m, n).triu(1 if top_left else n - m + 1).bool(), -inf)
    return F.softmax(scores + rest.pop(0) if bias else scores, -1) @ v


def attention(q, k, v, *rest, mask, bias, causal, scale=None, softcap=None, top_left=None):
    if softcap or top_left or q.shape[:-2] != k.shape[:-2]:
        more = {"scale": scale, "softcap": softcap, "top_left": top_left}
        return capped_attention(q, k, v, *rest, mask=mask, bias=bias, causal=causal, **more)
    rest = list(rest)
    hidden = rest.pop(0) if mask else torch.zeros(1, 1, dtype=torch.bool)
    more = rest.pop(0) if bias else torch.zeros(1, 1, dtype=q.dtype)
    if causal:
        m, n = q.shape[-2], k.shape[-2]
        hidden = hidden | torch.ones(m, n).triu(n - m + 1).bool()
    shift = torch.where(hidden, -inf, more)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=shift, scale=scale)


FUNCTIONS |= {
    "layer_norm": layer_norm,
    "batch_norm": lambda x, weight, bias, mean, var, eps: F.batch_norm(x, mean, var, weight, bias, False, 0.1, eps),
    "batch_norm_train": batch_norm_train,
    "batch_norm_layer": batch_norm,
    "attention": attention,
}
case("layer_norm", normal(3, 5), normal(5), normal(5), eps=1e-5)
case("layer_norm", normal(2, 3, 4), normal(4), eps=1e-5)
case("layer_norm", normal(2, 4), eps=0.1)
case("layer_norm", [[2.0, 2.0, 2.0], [1e4, 1e4 + 1, 1e4 - 1], [nan, 1.0, 2.0]], eps=0.25)
for shape in [(2, 3, 2), (4, 2), (2, 2, 1, 3), (1, 2, 2, 1, 2)]:
    affine = [normal(shape[1]), normal(shape[1])]
    case("batch_norm_train", normal(*shape), *affine, eps=1e-5)
    # PyTorch's gradients end at the statistics.
    statistics = [normal(shape[1]), uniform(0.5, 2, shape[1])]
    case("batch_norm", normal(*shape), *affine, *statistics, eps=1e-3, grad=False)
case("batch_norm_train", [[1.0, 2.0], [nan, 2.0], [3.0, 2.0]], [1.0, 2.0], [0.0, 1.0], eps=0.1)
for shape, training in itertools.product([(3, 2, 2, 2), (2, 3, 1, 2), (4, 3)], [True, False]):
    c = shape[1]
    case(
        "batch_norm_layer", normal(*shape), normal(c), uniform(0.5, 2, c), normal(c), normal(c),
        training=training, momentum=0.1, eps=1e-5, grad=training,
    )  # fmt: skip
for mask, bias, causal in itertools.product([False, True], repeat=3):
    # A key that is never hidden leaves no row without one.
    rest = [truths([[False, True, False, False], [False, False, True, True], [False, True, True, False]])] if mask else []
    rest += [normal(3, 4)] if bias else []
    shapes = [normal(2, 3, 4), normal(2, 4, 4), normal(2, 4, 5)]
    broadcast = [lambda x=x: (x() if callable(x) else x)[None] for x in rest]
    case("attention", *shapes, *broadcast, mask=mask, bias=bias, causal=causal)
case("attention", normal(1, 2, 3, 2), normal(1, 2, 3, 2), normal(1, 2, 3, 2), mask=False, bias=False, causal=True, scale=0.3)
plain = {"mask": False, "bias": False, "causal": False}
case("attention", normal(2, 3, 4), normal(2, 4, 4), normal(2, 4, 5), **plain, softcap=0.5)
case("attention", normal(2, 3, 4), normal(2, 5, 4), normal(2, 5, 2), normal(1, 3, 5), mask=False, bias=True, causal=True, softcap=2.0)
case("attention", normal(2, 3, 2), normal(2, 5, 2), normal(2, 5, 2), mask=False, bias=False, causal=True, top_left=True)
case("attention", normal(1, 4, 2), normal(1, 2, 2), normal(1, 2, 1), truths([[[False, False]]]), mask=True, bias=False, causal=True, top_left=True)
case("attention", normal(2, 4, 3, 2), normal(2, 2, 5, 2), normal(2, 2, 5, 3), **plain)
case(
    "attention", normal(1, 6, 2, 2), normal(1, 2, 3, 2), normal(1, 2, 3, 2), truths([[[[False, i % 2 > 0, i > 3]] for i in range(6)]]), normal(1, 1, 2, 3),
    mask=True, bias=True, causal=True, softcap=1.5,
)  # fmt: skip

# ---- Losses ----


def loss(f, **fixed):
    return lambda x, target, reduction, **args: f(x, target, reduction=reduction, **fixed, **args).reshape(
        (-1 if x.ndim > target.ndim else x.shape) if reduction == "none" else 1
    )


FUNCTIONS |= {
    "mse": loss(F.mse_loss),
    "l1": loss(F.l1_loss),
    "huber": loss(F.huber_loss),
    "smooth_l1": loss(F.smooth_l1_loss),
    "binary_cross_entropy_with_logits": loss(F.binary_cross_entropy_with_logits),
    "kl_div": loss(F.kl_div),
    "cross_entropy": loss(lambda x, target, reduction: F.cross_entropy(x, target.long(), reduction=reduction)),
    "nll": loss(lambda x, target, reduction: F.nll_loss(x, target.long(), reduction=reduction)),
}
for reduction in ["none", "mean", "sum"]:
    for name, args in {"mse": {}, "l1": {}, "huber": {"delta": 0.7}, "smooth_l1": {"beta": 0.7}}.items():
        case(name, normal(3, 4), normal(3, 4), reduction=reduction, **args)
    case("binary_cross_entropy_with_logits", normal(3, 4), uniform(0, 1, 3, 4), reduction=reduction)
    case("kl_div", uniform(-3, -0.1, 3, 4), uniform(0.1, 0.9, 3, 4), reduction=reduction)
    case("cross_entropy", normal(4, 3), ints([2, 0, 1, 1]), reduction=reduction)
    case("nll", uniform(-3, -0.1, 4, 3), ints([2, 0, 1, 1]), reduction=reduction)
FLAT = [0.0, 1.0, -1.0, 0.5, nan, inf]
for name, args in {"mse": {}, "l1": {}, "huber": {"delta": 1.0}, "smooth_l1": {"beta": 1.0}}.items():
    case(name, FLAT, [0.0] * 6, reduction="none", **args)
case("binary_cross_entropy_with_logits", [0.0, 1e3, -1e3, 1e3, nan], [0.5, 1.0, 0.0, 0.0, 0.5], reduction="none")
case("kl_div", [-1.0, -2.0], [0.0, 1.0], reduction="none", grad=False)
case("cross_entropy", [[1e4, 0.0, -1e4], [-inf, 0.0, 1.0], [nan, 0.0, 1.0]], ints([2, 1, 1]), reduction="none")

FUNCTIONS["cross_entropy_with_logits"] = lambda x, target: F.cross_entropy(x, target, reduction="none")
case("cross_entropy_with_logits", normal(3, 4), uniform(0, 1, 3, 4))
case("cross_entropy_with_logits", [[1e4, 0.0, -1e4], [nan, 0.0, 1.0]], [[0.5, 0.5, 0.0], [0.0, 1.0, 0.0]])


def ctc_loss(x, targets, steps, lengths, blank):
    return F.ctc_loss(F.log_softmax(x, 2), targets, steps, lengths, blank, reduction="none")


FUNCTIONS["ctc_loss"] = ctc_loss
# Repeated labels, an empty target, one step, another blank.
case("ctc_loss", normal(6, 3, 4), ints([[1, 2, 2], [3, 1, 0], [0, 0, 0]]), ints([6, 4, 3]), ints([3, 2, 0]), blank=0)
case("ctc_loss", normal(7, 2, 3), ints([[0, 0, 1, 0], [1, 0, 0, 0]]), ints([7, 5]), ints([4, 3]), blank=2)
case("ctc_loss", normal(1, 2, 5), ints([[4], [1]]), ints([1, 1]), ints([1, 0]), blank=3)
case("ctc_loss", normal(2, 2, 3), ints([[1, 1], [1, 2]]), ints([2, 1]), ints([2, 2]), blank=0, grad=False)

# ---- Signals ----


def real_parts(z):
    return z.real, z.imag


def stft(x, *window, n_fft, hop, center, onesided, win=None):
    window = window[0] if window else torch.ones(win or n_fft, dtype=x.dtype)
    y = torch.stft(
        x, n_fft, hop, win, window, center=center, onesided=onesided, pad_mode="reflect", return_complex=True
    )  # fmt: skip
    return torch.view_as_real(y.transpose(1, 2).contiguous())


def istft(y, *window, n_fft, hop, center, onesided, win=None, length=None):
    window = window[0] if window else torch.ones(win or n_fft, dtype=y.dtype)
    y = torch.view_as_complex(y.contiguous()).transpose(1, 2)
    return torch.istft(y, n_fft, hop, win, window, center=center, onesided=onesided, length=length)


FUNCTIONS |= {
    "rfft": lambda x, dim, n=None: real_parts(torch.fft.rfft(x, n, dim)),
    "irfft": lambda re, im, dim, n=None: torch.fft.irfft(torch.complex(re, im), n, dim),
    "cfft": lambda re, im, dim, n=None: real_parts(torch.fft.fft(torch.complex(re, im), n, dim)),
    "ifft": lambda re, im, dim, n=None: real_parts(torch.fft.ifft(torch.complex(re, im), n, dim)),
    "stft": stft,
    "istft": istft,
    "hann_window": lambda size, periodic, dtype: torch.hann_window(size, periodic, dtype=DTYPES[dtype]),
    "hamming_window": lambda size, periodic, dtype: torch.hamming_window(
        size, periodic, 25 / 46, 21 / 46, dtype=DTYPES[dtype]
    ),
    "blackman_window": lambda size, periodic, dtype: torch.blackman_window(size, periodic, dtype=DTYPES[dtype]),
}
for name in ["rfft", "irfft", "cfft", "ifft"]:
    draws = lambda *shape, name=name: [normal(*shape)] * (1 if name == "rfft" else 2)
    case(name, *draws(2, 6), dim=1)
    case(name, *draws(5, 2), dim=0)
    case(name, *draws(2, 3, 2), dim=1, n=7)
    case(name, *draws(2, 9), dim=1, n=4)
    case(name, *draws(70), dim=0, n=67)
    case(name, *draws(66), dim=0, n=72)
case("rfft", [1.0], dim=0)
case("rfft", [1.0, inf, 2.0], dim=0)
case("irfft", [1.0, 2.0], [3.0, 4.0], dim=0)
case("irfft", [1.0, 2.0, 3.0], [3.0, 4.0, 5.0], dim=0, n=5)
for center, onesided in itertools.product([True, False], repeat=2):
    sides = {"center": center, "onesided": onesided}
    case("stft", normal(2, 11), normal(6), n_fft=6, hop=2, **sides)
    case("stft", normal(1, 12), normal(4), n_fft=5, hop=3, win=4, **sides)
    case("stft", normal(1, 12), n_fft=4, hop=4, **sides)
    kept = 4 if onesided else 6
    case("istft", normal(2, 3, kept, 2), uniform(0.2, 1, 6), n_fft=6, hop=2, **sides)
    case("istft", normal(1, 3, kept, 2), n_fft=6, hop=3, **sides)
case("stft", normal(1, 15), normal(4), n_fft=4, hop=6, center=True, onesided=True)
case("istft", normal(1, 4, 4, 2), uniform(0.2, 1, 4), n_fft=6, hop=2, win=4, center=True, onesided=True)
for length in [3, 8]:
    case("istft", normal(1, 4, 3, 2), uniform(0.2, 1, 4), n_fft=4, hop=2, center=True, onesided=True, length=length)
for name in ["hann_window", "hamming_window", "blackman_window"]:
    for size, periodic in itertools.product([0, 1, 2, 7, 8], [True, False]):
        case(name, size=size, periodic=periodic, dtype="f64")
    case(name, size=9, periodic=True, dtype="f32")

pathlib.Path(__file__).with_name("cases.txt").write_text("\n".join([f"# torch {torch.__version__}", *lines]) + "\n")
