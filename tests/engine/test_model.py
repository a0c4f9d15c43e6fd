"""What the constructed model's scores promise: a match outweighs the sink, the sink outweighs chance, wherever it stands."""

import math

import torch

from dcplab.engine.configurator import ServerConfig
from dcplab.engine.model import BITS, DEAD_ZONE, EARLIER, OWN, PLACE, Model

CPU = torch.device("cpu")
CONFIG = ServerConfig(layers=2)


def rows(positions):
    model = Model(CONFIG, CONFIG.layers, 512, CPU)
    word = model.embed(positions % 400 + 1)
    before = torch.where(positions[:, None] > 0, word.roll(1, 0), 0.0)
    return model, model.activations(word, before, positions)


def test_each_place_is_looked_up_and_not_the_first_row():
    """A code of the first place is like those of 205 and 284, which then lose to the sink."""
    positions = torch.arange(4096)
    model, s = rows(positions)
    kv = model.latent(s, 1).float()
    for part in positions[1:].split(512):
        query = model.query(s.own[part], model.activations(s.word[part], s.before[part], part), 1)[:, 0].float()
        assert ((query @ kv.t()).argmax(1) == part).all()


def test_who_looks_for_nothing_finds_the_first_row():
    positions = torch.arange(4096)
    model, s = rows(positions)
    for layer in range(2):
        query = model.query(torch.zeros_like(s.own), s, layer)[:, 0].float()
        assert ((query @ model.latent(s, layer).float().t()).argmax(1) == 0).all()


def test_the_witness_has_three_quarters_on_its_own_row_and_one_on_an_earlier():
    positions = torch.arange(1, 600)
    model, s = rows(positions)
    kv = model.latent(s, 0).float()
    bits = model.query(s.own, s, 0)[:, -1].float() @ kv.t() * BITS
    bits = bits.masked_fill(positions > positions[:, None], float("-inf"))  # no row of a later token
    weight = torch.softmax(bits * math.log(2), 1)
    out = (weight @ kv)[:, PLACE]
    assert (out - OWN * s.own - EARLIER * s.earlier).abs().max() < DEAD_ZONE
    alone = (s.own == s.earlier).all(1)
    assert (weight.diagonal()[~alone] - OWN).abs().max() < DEAD_ZONE and 0 < alone.sum() < len(alone) / 4
