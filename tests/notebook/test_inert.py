"""A program that only defines runs nothing while it loads; whatever could run, or reach a module's function, is not inert."""

import pytest

from dcplab.notebook.inert import inert

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
    ],
)
def test_whatever_could_run_something_is_not(source):
    assert not inert(HEAD + source)
