"""A program that only defines runs nothing while it loads; whatever could run, or reach a module's function, is not inert."""

import pytest

from dcplab.notebook.inert import core, inert, made_by_triton

HEAD = "import torch\nimport triton\nimport triton.language as tl\nSIZE: tl.constexpr = tl.constexpr(2 * 64)\n"
KERNEL = "@triton.jit\ndef k(a, n, B: tl.constexpr = 4):\n    at = tl.arange(0, B)\n    "


@pytest.mark.parametrize(
    "source",
    [
        HEAD + KERNEL + "tl.store(a + at, tl.exp(at.to(tl.float32)), mask=at < n)\n",
        HEAD + "@triton.autotune(configs=[triton.Config({'B': 2}, num_warps=1)], key=['n'])\n" + KERNEL + "pass\n",
        HEAD + "@triton.heuristics({'EVEN': lambda args: args['n'] % 2 == 0})\n" + KERNEL + "pass\n",
        "from triton import jit\nfrom triton.language import arange\nimport triton\n@jit\ndef k(a):\n    arange(0, 4)\n",
        HEAD + KERNEL + "tl.extra.cuda.libdevice.tanh(a)\n",
        HEAD + "def helper(x):\n    import os\n    return os.system(x)\n" + KERNEL + "pass\n",
        HEAD + "import math\nL: tl.constexpr = tl.constexpr(math.log2(math.e))\nTOP = torch.iinfo(torch.int64).max\n",
        HEAD + "@triton.jit\ndef own(x, N: 'tl.constexpr'):\n    return x * N\n" + KERNEL + "print(at)\n    x = own(at, 3)\n",
        HEAD
        + KERNEL
        + "max = tl.max(at, 0)\n    assert isinstance(max, tl.tensor)\n    tl.store(a, max.to(a.dtype.element_ty))\n",
    ],
)
def test_definitions_and_constants_are_inert(source):
    assert inert(source)


@pytest.mark.parametrize(
    "source",
    [
        "triton.compile = lambda *a, **k: None\n" + KERNEL + "pass\n",
        "import os\n",
        "import triton, os\nON = os.environ.get('TRITON_INTERPRET')\n",
        "from helper import k\n",
        "tl = 3\n",
        "print(1)\n",
        "exec('x')\n",
        "class A:\n    x = print(1)\n",
        "def f(x=print(1)): pass\n",
        "@triton.jit\ndef triton(): pass\n",
        "f = lambda: torch.load('x')\n",
        "@triton.heuristics({'E': lambda a: torch.load('x')})\n" + KERNEL + "pass\n",
        "@triton.constexpr_function\ndef f(): return 1\n",
        "import triton.runtime\nr = triton.runtime\n",
        KERNEL + "torch.load('x')\n",
        KERNEL + "m = tl\n    m.core.os.system('x')\n",
        KERNEL + "m = tl.core\n    m.os.system('x')\n",
        KERNEL + "m = tl.extra\n",
        KERNEL + "a.__class__\n",
        KERNEL + "getattr(tl, 'core')\n",
        KERNEL + "triton.knobs.runtime.x\n",
        "from triton.language import core\n" + KERNEL + "core.os.system('x')\n",
        "if True:\n    x = 1\n",
        "not python",
        # A decorator is a call; typing evaluates texts; a name of one's own in an annotation may stand for a text.
        "@print\n@triton.jit\ndef k(a): pass\n",
        "@(lambda f: f)\n@triton.jit\ndef k(a): pass\n",
        "import typing\n@typing.get_type_hints\n@triton.jit\ndef k(a): pass\n",
        "import typing\n@typing.ForwardRef\n@(lambda f: 'exec(1)')\n@triton.jit\ndef R(): pass\n",
        "import typing\nhints = typing.get_type_hints\n" + KERNEL + "hints(a)\n",
        "S = 'exec(1) or int'\n@triton.jit\ndef k(a, n: S): pass\n",
        "def plain(x): pass\n@plain\ndef k(a): pass\n",
        # A kernel changes no name of the language, and calls none of the builtins by another meaning.
        KERNEL + "tl.store = at\n",
        KERNEL + "del tl.load\n",
        KERNEL + "for tl.load in (at, n):\n        pass\n",
        KERNEL + "at.value += 1\n",
        KERNEL + "range = at\n    range(n)\n",
        "import typing\n" + KERNEL + "range = typing.get_type_hints\n    x = range\n",
        KERNEL + "if isinstance(B, tl.constexpr):\n        pass\n",
        # The interpreter's values have an array behind them, and a kernel calls what it finds.
        KERNEL + "x = at.handle.data\n",
        KERNEL + "x = type(at)\n",
        KERNEL + "tl = at\n    x = tl.handle.data\n",
        "@triton.jit\ndef k(tl):\n    x = tl.handle.data\n",
        KERNEL + "for tl in a:\n        pass\n",
        KERNEL + "match a:\n        case tl:\n            x = tl.handle.data\n",
        "def helper(x):\n    import os\n" + KERNEL + "helper(at)\n",
        "def helper(x):\n    import os\n" + KERNEL + "tl.reduce(at, 0, helper)\n",
        "def helper(x):\n    import os\n@triton.jit\ndef k(a, f: tl.constexpr = helper):\n    tl.reduce(a, 0, f)\n",
        "def evil(x):\n    import os\nk = triton.jit(evil)\n",
        "def int(x):\n    import os\nN = int(3)\n",
        "tl: object = 3\n",
        "import numpy as np\n" + KERNEL + "np.load('x')\n",
        "from numpy import load\n" + KERNEL + "load('x')\n",
        "from typing import get_type_hints\n" + KERNEL + "get_type_hints(a)\n",
        "import math as triton\n",
        '@triton.jit\ndef k(a: \'__import__("os").system("x")\'): pass\n',
        "x: 'print(1)' = 3\n",
        KERNEL + "print(a, file=b)\n",
    ],
)
def test_whatever_could_run_something_is_not(source):
    assert not inert(HEAD + source)


def test_the_core_is_what_runs_nothing_with_its_lines_where_they_were():
    source = HEAD + "import os\nprint(1); X = 3\nY = 4\n" + KERNEL + "tl.store(a, Y)\n"
    assert not inert(source) and inert(core(source))
    assert core(source) == source.replace("import os", "").replace("print(1); X = 3", "")
    assert core("not python") == ""


@pytest.mark.parametrize(
    "source, made",
    [
        (KERNEL + "os.x\n", True),
        ("@triton.autotune(configs=[], key=[])\n" + KERNEL + "pass\n", True),
        ("def f(a): pass\nk = triton.jit(f)\n", True),
        (KERNEL + "pass\nclass K: pass\nk = K()\n", False),
        ("def k(a): pass\n", False),
        ("from helper import k\n", False),
    ],
)
def test_what_triton_made_is_read_from_the_source(source, made):
    assert made_by_triton(HEAD + source, "k") is made
