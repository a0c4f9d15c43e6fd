"""The real kernels of the course: one module a kernel family, with float64 oracles in ``dcp_kernels.reference``.

Triton: ``index_space``, ``ckv_write``, ``index_k``, ``topk_transform``, ``lse_merge``, ``ragged``, ``rows``, ``relayout``.
TileLang: the ``tl_*`` modules. Import the module you need; nothing is imported here, because Triton decides at its import
whether it interprets or compiles.
"""

__version__ = "0.1.0"
