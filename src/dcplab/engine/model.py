"""A model whose answers can be judged. Its weights are constructed, not learned, and its mathematics is the real path's.

What it computes, layer by layer:

* The *convolution* layer gives each position the word before it, kept for the next step in the request's convolution state.
* Each *DSA* layer scores all positions with the indexer, keeps the top-k, and attends to their c-KV rows. A row holds four
  codes: the word before, its own position, its own word, and how recent it is.
* The first DSA layer looks for the last place where the current word stood before: ``word before == current word``. What it
  brings back is that place's position, a *pointer*. Every following layer looks the pointer up again and passes it on; the
  last one brings back the word that stands there.

So the model copies what followed the last time: it recites a passage, finds a needle and continues a list, exactly when every
cache of every layer gives back what was stored. A word never seen before finds the first row, whose word is ``<bos>``: "I do
not know". With attention dead, what is left is the residual, the current word, and the model repeats itself.

A code is a row of 128 signs drawn by hashing, so any two agree about half the time; exact in bf16 and in fp8.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

CODE = 128  # signs of a code
BEFORE, PLACE, WORD, REST = (slice(i * CODE, (i + 1) * CODE) for i in range(4))  # the four parts of a c-KV row
SM_SCALE = 1 / 16
# What a full match, the sink (the first row), and a doubling of the position add to a score, in bits. The best chance match
# among a million codes is worth under half of MATCH, so MATCH > SINK > chance + recency.
MATCH, SINK, RECENCY = 250.0, 215.0, 4.0
BITS = 1.4426950408889634 * SM_SCALE  # bits per unit of q.k
RESIDUAL = 0.02  # how much of the current word is left beside what attention brings
INDEX_CODE = 120  # signs of a code that the 128 of an index key hold; the other eight are the sink's
INDEX_SINK = 10.0  # 8 * 10 = 80: less than a match (120), more than chance
DEAD_ZONE = 0.02  # a pointer's component this small says nothing
BOS = 0


def signs(ids: torch.Tensor, salt: int) -> torch.Tensor:
    """Ids of any shape -> their codes ``[..., 128]``, +1.0 and -1.0, float32. Splitmix64 twice, 64 bits each."""
    words = []
    for half in (1, 2):
        z = ids.to(torch.int64) * _M1 + _int64((2 * salt + half) * _M2 % (1 << 64))
        z = (z ^ _shift(z, 30)) * _M3
        z = (z ^ _shift(z, 27)) * _M4
        words.append(z ^ _shift(z, 31))
    bit = torch.arange(64, device=ids.device)
    return torch.cat([((w[..., None] >> bit) & 1) for w in words], -1).to(torch.float32) * 2 - 1


def _int64(n: int) -> int:
    return n - (1 << 64) if n >= 1 << 63 else n


_M1, _M2, _M3, _M4 = (_int64(n) for n in (0x9E3779B97F4A7C15, 0xD1B54A32D192ED03, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


def _shift(z: torch.Tensor, by: int) -> torch.Tensor:
    """A logical right shift: torch's is arithmetic."""
    return (z >> by) & ((1 << (64 - by)) - 1)


@dataclass(frozen=True)
class Activations:
    """The values that flow through the layers for the tokens of a step: the words' codes, the codes of the words before,
    positions, and the c-KV row of each token (the same in every layer). All are ``[T, ...]`` float32, but positions are
    int64."""

    word: torch.Tensor
    before: torch.Tensor
    position: torch.Tensor
    first: torch.Tensor  # bool: the token is the request's first
    latent: torch.Tensor


class Model:
    """``layers`` DSA layers over a vocabulary of ``words`` ids. Holds no state: caches and convolution state are the
    arena's."""

    def __init__(self, layers: int, words: int, heads: int, index_heads: int, device: torch.device, dtype: torch.dtype):
        self.layers, self.heads, self.index_heads, self.dtype = layers, heads, index_heads, dtype
        self.codes = signs(torch.arange(words, device=device), salt=1)
        unit = 1 / BITS
        misc = torch.zeros(CODE, device=device)
        misc[0] = misc[1] = RECENCY * unit
        misc[2] = SINK * unit
        self._misc = misc
        self._gain = MATCH / CODE * unit
        self._weights = torch.zeros(1, index_heads, device=device)
        self._weights[:, 0] = 1.0  # the other heads, which a kernel may need, have no say

    def embed(self, tokens: torch.Tensor) -> torch.Tensor:
        """Token ids ``[T]`` -> their codes ``[T, 128]``."""
        return self.codes[tokens]

    def activations(self, word: torch.Tensor, before: torch.Tensor, position: torch.Tensor) -> Activations:
        """Codes of words and of the words before, positions -> everything the layers need of these tokens."""
        first = position == 0
        recent = torch.log2(1.0 + position.float())
        high = recent.to(self.dtype).float()
        rest = torch.zeros_like(word)
        rest[:, 0], rest[:, 1], rest[:, 2] = high, recent - high, first.float()
        latent = torch.cat([before, signs(position, salt=2), word, rest], -1).to(self.dtype)
        return Activations(word, before, position, first, latent)

    def index_keys(self, s: Activations, layer: int) -> tuple[torch.Tensor, torch.Tensor]:
        """fp8 keys ``[T, 128]`` and fp32 scales ``[T]``: what a later query finds this token by. The scale grows with the
        position, so that of equal matches the last one wins; 1 + p/2^20 is exact."""
        code = s.before if layer == 0 else s.latent[:, PLACE].float()
        sink = torch.where(s.first[:, None], INDEX_SINK, 0.0).expand(-1, CODE - INDEX_CODE)
        keys = torch.cat([code[:, :INDEX_CODE], sink], -1).to(torch.float8_e4m3fn)
        return keys, 1.0 + s.position.float() * 2.0**-20

    def index_query(self, code: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """fp8 queries ``[T, Hi, 128]`` and weights ``[T, Hi]`` of the indexer."""
        q = torch.cat([code[:, :INDEX_CODE], torch.ones_like(code[:, : CODE - INDEX_CODE])], -1)
        q = q.to(torch.float8_e4m3fn)[:, None].expand(-1, self.index_heads, -1).contiguous()
        return q, self._weights.expand(len(code), -1).contiguous()

    def query(self, code: torch.Tensor, layer: int) -> torch.Tensor:
        """Attention queries ``[T, H, 512]``: what the first layer looks for is a word before, the others a place."""
        q = torch.zeros(len(code), 4 * CODE, device=code.device)
        q[:, BEFORE if layer == 0 else PLACE] = code * self._gain
        q[:, REST] = self._misc
        return q.to(self.dtype)[:, None].expand(-1, self.heads, -1).contiguous()

    def pointer(self, out: torch.Tensor) -> torch.Tensor:
        """Attention output ``[T, H, 512]`` -> the code of the place it brought back, ``[T, 128]`` of +1, -1 and 0."""
        place = out[..., PLACE].float().mean(1)
        return torch.where(place.abs() < DEAD_ZONE, 0.0, place.sign())

    def logits(self, out: torch.Tensor, word: torch.Tensor) -> torch.Tensor:
        """The last layer's output and the words' codes ``[n, 128]`` -> word logits ``[n, words]``."""
        brought = out[..., WORD].float().mean(1)
        return (brought + RESIDUAL * word) @ self.codes.t() / CODE
