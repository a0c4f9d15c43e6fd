"""The servers that lab 07 opens with: both layouts are right, three mixtures of them are wrong and stay within every buffer."""

from dcplab.demos import layout_servers


def test_two_layouts_are_right_and_three_mixtures_wrong_without_a_sign():
    lines = layout_servers.five_servers().text.splitlines()[3:]
    assert [line[26:34].strip() for line in lines] == ["3 of 3", "3 of 3", "0 of 3", "0 of 3", "0 of 3"]
    assert all(line[34:44].strip() == "none" for line in lines)
    told = [line[44:] for line in lines]
    assert told[0] == told[1] and not {told[0]} & set(told[2:])
