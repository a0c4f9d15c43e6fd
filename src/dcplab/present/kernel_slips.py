"""Names a beginner's slip in a Triton kernel by the line that raised. Triton words it for somebody else."""

from __future__ import annotations

import ast

from dcplab import syntax


def of_line(source: str, line: int | None) -> tuple[str, str] | None:
    """Return the id and the meaning of what a kernel's line does that no kernel can, or None: a pointer that is indexed, or a
    function of torch."""
    if not line:
        return None
    for kernel in syntax.parse(source).body:
        if not isinstance(kernel, ast.FunctionDef) or not any("jit" in ast.unparse(d) for d in kernel.decorator_list):
            continue
        given = {a.arg for a in kernel.args.args if a.annotation is None}  # no constexpr
        for node in ast.walk(kernel):
            if not isinstance(node, ast.expr) or not node.lineno <= line <= (node.end_lineno or node.lineno):
                continue
            match node:
                case ast.Subscript(value=ast.Name(id=name)) if name in given:
                    return "indexed-pointer", _indexed(node, name)
                case ast.Call(func=ast.Attribute(value=ast.Name(id="torch"), attr=name)):
                    return "torch-in-kernel", f"torch's functions do not exist in a kernel: `torch.{name}` {_instead(name)}."
    return None


def _indexed(node: ast.Subscript, name: str) -> str:
    at = f"{name} + {ast.unparse(node.slice)}"
    does = f"`tl.store({at}, ...)` writes" if isinstance(node.ctx, ast.Store) else f"`tl.load({at})` reads"
    return f"A pointer is an address and is not indexed: {does} there."


def _instead(name: str) -> str:
    import triton.language as tl

    return f"is `tl.{name}` there" if hasattr(tl, name) else "has no namesake there"
