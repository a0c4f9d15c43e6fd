"""What an exception of torch means is known by its message: held against the torch that is installed."""

import pytest
import torch

from dcplab.present.facts import of_raised

T = torch.arange(6)


@pytest.mark.parametrize(
    "identity, slip",
    [
        ("one-bool", lambda: T >= 0 and T < 3),
        ("index-dtype", lambda: T[T.float()]),
        ("tensor-for-int", lambda: T[: T + 1]),
        ("slice-of-float", lambda: T.tolist()[: 4 / 2]),
        ("float-for-int", lambda: range(4 / 2)),
        ("largest-of-none", lambda: T[:0].max()),
        ("shapes-apart", lambda: T + T[:4]),
        ("range-backwards", lambda: torch.arange(5, 2)),
        ("stack", lambda: torch.stack([T, T[:2]])),
        ("mask-shape", lambda: T[T[:3] > 0]),
        ("split-lengths", lambda: T.split([1, 2])),
        ("store-dtype", lambda: T.clone().index_put_((T,), torch.ones(6))),
        ("join-shapes", lambda: torch.cat([T[None], T[None, :3]])),
        ("view-size", lambda: T.view(4, 2)),
        ("beyond", lambda: T[7]),
    ],
)
def test_a_message_of_torch_is_known(identity, slip):
    with pytest.raises(Exception) as raised:
        slip()
    found = of_raised(str(raised.value))
    assert found and found[0] == identity, raised.value


def test_another_message_is_not():
    assert of_raised("division by zero") is None and of_raised("") is None
