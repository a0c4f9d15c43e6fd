"""A model whose answers can be judged. Its weights are constructed, not learned, and its mathematics is the real path's.

What it computes, layer by layer:

* The *convolution* layer gives each position the word before it, kept for the next step in the request's convolution state.
* Each *DSA* layer scores all positions with the indexer, keeps the top-k, and attends to their c-KV rows. A row holds four
  codes: the word before, its own position, its own word, and how recent it is. Each layer has a *basis*, signs that its rows
  and keys are multiplied with, so that what one layer stored means nothing to another.
* The first DSA layer looks for the last place where the current word stood before: ``word before == current word``. What it
  brings back is that place's position, a *pointer*. Every following layer looks the pointer up again and passes it on; the
  last one brings back the word that stands there.

So the model copies what followed the last time: it recites a passage, finds a needle and continues a list, exactly when every
cache of every layer gives back what was stored. A word never seen before finds the first row, whose word is ``<bos>``: "I do
not know". With attention dead, what is left is the residual, the current word, and the model repeats itself.

The heads that find are peaked: one row has all the weight. Copying needs no row that was stored while decoding either. So the
last of several heads, the *witness*, looks at two places that every token knows: its own, and one 0, 1, 3, 7 ... 127 before it.
Three quarters of its weight go to the first, one to the second. Where it brings back anything else, what the others found is
not believed. It needs what this token and the last few have stored, at the right rank, and merged with LSEs of the right base.

A code is a row of 128 signs drawn by hashing, so any two agree about half the time; exact in bf16 and in fp8.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import torch

CODE = 128  # signs of a code
BEFORE, PLACE, WORD, REST = (slice(i * CODE, (i + 1) * CODE) for i in range(4))  # the four parts of a c-KV row
SM_SCALE = 1 / 16
# What a full match, the sink (the first row), and a doubling of the position add to a score, in bits. The best chance match
# among a million codes is worth under half of MATCH, so MATCH > SINK > chance + recency.
MATCH, SINK, RECENCY = 250.0, 215.0, 4.0
BITS = 1.4426950408889634 * SM_SCALE  # bits per unit of q.k
RESIDUAL = 0.02  # how much of the current word is left beside what attention brings
# An index key: 60 signs of what the layer looks for, 60 of the place, and eight numbers of the sink: more than chance is worth.
INDEX_FIND, INDEX_PLACE, INDEX_SINK = slice(0, 60), slice(60, 120), 10.0
OWN, EARLIER = 0.75, 0.25  # the witness's weights
DISTANCES = 8  # of the earlier place: 2^n - 1 for n = position % 8
WITNESS = 160.0  # bits of a full match of the witness
TOLERANCE = 0.04  # of what the witness brings; a wrong base of the LSE is 0.13 off
DEAD_ZONE = 0.02  # a pointer's component this small says nothing
BOS = 0


def signs(ids: torch.Tensor, salt: int) -> torch.Tensor:
    """Map ids of any shape to their codes ``[..., 128]``, +1.0 and -1.0, float32. Splitmix64 twice, 64 bits each."""
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
    """Shift right logically: torch's shift is arithmetic."""
    return (z >> by) & ((1 << (64 - by)) - 1)


@dataclass(frozen=True)
class Activations:
    """The values that flow through the layers for the tokens of a step: the words' codes, the codes of the words before,
    positions, and the c-KV row of each token before a layer's basis. All are ``[T, ...]`` float32, but positions are int64."""

    word: torch.Tensor
    before: torch.Tensor
    position: torch.Tensor
    first: torch.Tensor  # bool: the token is the request's first
    own: torch.Tensor  # code of the position
    earlier: torch.Tensor  # code of the witness's other place
    row: torch.Tensor


class ModelConfig(Protocol):
    """Names all that the model asks of a server's configuration. A server of another house has a configuration of its own."""

    @property
    def heads(self) -> int: ...
    @property
    def index_heads(self) -> int: ...
    @property
    def witness(self) -> bool: ...
    @property
    def veto(self) -> bool: ...
    @property
    def dtype(self) -> torch.dtype: ...


class Model:
    """``layers`` DSA layers over a vocabulary of ``words`` ids. Holds no state: caches and convolution state are the arena's.

    ``config`` says how many heads there are and whether there is a witness. ``salt``: other bases; 0 leaves the first layer's
    codes as they are, so that a person can read them in its rows.
    """

    def __init__(self, config: ModelConfig, layers: int, words: int, device: torch.device, salt: int = 0):
        self.layers, self.heads, self.index_heads, self.dtype = layers, config.heads, config.index_heads, config.dtype
        self.witness, self.veto = config.witness, config.witness and config.veto
        self.codes = signs(torch.arange(words, device=device), salt=1)
        self.bases = signs(torch.arange(4 * layers, device=device) + 4096 * salt, salt=3).view(layers, 4 * CODE)
        if not salt:
            self.bases[0] = 1.0
        unit = 1 / BITS
        misc = torch.zeros(CODE, device=device)
        misc[0] = misc[1] = RECENCY * unit
        misc[2] = SINK * unit
        self._misc = misc
        self._gain = MATCH / CODE * unit
        self._weights = torch.zeros(1, self.index_heads, device=device)
        self._weights[:, : 3 if self.witness else 1] = 1.0  # the other heads, which a kernel may need, have no say

    def embed(self, tokens: torch.Tensor) -> torch.Tensor:
        """Map token ids ``[T]`` to their codes ``[T, 128]``."""
        return self.codes[tokens]

    def activations(self, word: torch.Tensor, before: torch.Tensor, position: torch.Tensor) -> Activations:
        """Compute all that the layers need of these tokens from the codes of words, of the words before, and positions."""
        first = position == 0
        recent = torch.log2(1.0 + position.float())
        high = recent.to(self.dtype).float()
        rest = torch.zeros_like(word)
        rest[:, 0], rest[:, 1], rest[:, 2] = high, recent - high, first.float()
        # The first row has no place: a code of its own would now and then lift the sink above a match.
        own = torch.where(first[:, None], 0.0, signs(position, salt=2))
        earlier = signs((position - (1 << position % DISTANCES) + 1).clamp(min=1), salt=2)
        earlier = torch.where(first[:, None], 0.0, earlier)
        row = torch.cat([before, own, word, rest], -1)
        return Activations(word, before, position, first, own, earlier, row)

    def latent(self, s: Activations, layer: int) -> torch.Tensor:
        """Compute the c-KV rows ``[T, 512]`` of these tokens, as this layer stores them."""
        return (s.row * self.bases[layer]).to(self.dtype)

    def index_keys(self, s: Activations, layer: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Compute fp8 keys ``[T, 128]`` and fp32 scales ``[T]``: what a later query finds this token by. The scale grows with
        the position, so that of equal matches the last one wins; 1 + p/2^20 is exact."""
        sink = torch.where(s.first[:, None], INDEX_SINK, 0.0).expand(-1, CODE - INDEX_PLACE.stop)
        keys = self._index_vector(s.before if layer == 0 else s.own, s.own, sink, layer)
        return keys, 1.0 + s.position.float() * 2.0**-20

    def index_query(self, code: torch.Tensor, s: Activations, layer: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Compute fp8 queries ``[T, Hi, 128]`` and weights ``[T, Hi]`` of the indexer: the first index head finds, the next two
        select the witness's places."""
        nothing = torch.zeros_like(code)
        sink = torch.ones_like(code[:, INDEX_PLACE.stop :])
        # A match is worth 120 in every layer: in the first, places say nothing of what is looked for.
        heads = [self._index_vector(*((2 * code, nothing) if layer == 0 else (code, code)), sink, layer)]
        if self.witness:
            heads += [self._index_vector(nothing, place, 0 * sink, layer) for place in (s.own, s.earlier)]
        heads += heads[:1] * (self.index_heads - len(heads))
        return torch.stack(heads, 1), self._weights.expand(len(code), -1).contiguous()

    def _index_vector(self, find: torch.Tensor, place: torch.Tensor, sink: torch.Tensor, layer: int) -> torch.Tensor:
        looked_for, places = self.bases[layer, BEFORE if layer == 0 else PLACE], self.bases[layer, PLACE]
        parts = [(find * looked_for)[:, INDEX_FIND], (place * places)[:, INDEX_PLACE], sink]
        return torch.cat(parts, -1).to(torch.float8_e4m3fn)

    def query(self, code: torch.Tensor, s: Activations, layer: int) -> torch.Tensor:
        """Compute attention queries ``[T, H, 512]``: what the first layer looks for is a word before, the others a place. The
        last head is the witness."""
        q = torch.zeros(len(code), 4 * CODE, device=code.device)
        q[:, BEFORE if layer == 0 else PLACE] = code * self._gain
        q[:, REST] = self._misc
        heads = [q] * self.heads
        if self.witness:
            heads = [*heads[:-1], self._witness_query(s)]
        return (torch.stack(heads, 1) * self.bases[layer]).to(self.dtype)

    def _witness_query(self, s: Activations) -> torch.Tensor:
        """Compute the query that scores the two places alike, but for the bits by which the first is to outweigh the second.
        Where their codes agree the query has one size, elsewhere another, so that rounding to bf16 leaves the difference of
        scores as it is."""
        same = s.own == s.earlier
        alike, apart = same.sum(-1, keepdim=True), (~same).sum(-1, keepdim=True)
        more = math.log2(OWN / EARLIER) / (2 * apart).clamp(min=1)
        q = torch.zeros(len(s.own), 4 * CODE, device=s.own.device)
        q[:, PLACE] = s.own * torch.where(same, WITNESS / alike.clamp(min=1), more) / BITS
        return q

    def pointer(self, out: torch.Tensor, s: Activations, layer: int) -> torch.Tensor:
        """Read from a layer's attention output ``[T, H, 512]`` the code of the place it brought back: ``[T, 128]`` of +1, -1
        and 0."""
        place = self._found(out, s, layer)[:, PLACE]
        return torch.where(place.abs() < DEAD_ZONE, 0.0, place.sign())

    def logits(self, out: torch.Tensor, s: Activations, picked: slice | torch.Tensor = slice(None)) -> torch.Tensor:
        """Compute word logits ``[n, words]`` of the tokens ``picked`` from the last layer's output."""
        brought = self._found(out, s, self.layers - 1)[picked, WORD]
        return (brought + RESIDUAL * s.word[picked]) @ self.codes.t() / CODE

    def doubted(self, out: torch.Tensor, s: Activations, layer: int) -> torch.Tensor:
        """Tell from a layer's attention output ``[T, H, 512]`` where the witness did not bring what it must: bool ``[T]``."""
        brought = out[:, -1, PLACE].float() * self.bases[layer, PLACE]
        off = brought - (OWN * s.own + EARLIER * s.earlier)
        return ~(off.abs() < TOLERANCE).all(-1)

    def _found(self, out: torch.Tensor, s: Activations, layer: int) -> torch.Tensor:
        """Return the finding heads' mean ``[T, 512]`` in plain codes; zeros where the witness has a veto and is off."""
        heads = out[:, :-1] if self.witness else out
        plain = heads.float().mean(1) * self.bases[layer]
        if not self.veto:
            return plain
        return plain.masked_fill(self.doubted(out, s, layer)[:, None], 0.0)
