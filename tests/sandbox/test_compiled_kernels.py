"""What a child finds of compiled kernels: the course's, to read, beside its own; and only the course's programs add to them."""

import os

import pytest

from dcplab.sandbox import compiled_kernels


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for name in ("TRITON_CACHE_DIR", "TILELANG_CACHE_DIR", "CUDA_CACHE_PATH", "TORCHINDUCTOR_CACHE_DIR"):
        monkeypatch.setenv(name, "/nowhere")


def kernel(at, text):
    at.mkdir(parents=True)
    (at / "kernel.cubin").write_text(text)


def test_an_answers_child_finds_the_courses_kernels_and_keeps_its_own_to_itself(tmp_path):
    course, own = tmp_path / "course", tmp_path / "own"
    kernel(course / "triton_cache_dir" / "AB12", "ours")
    kernel(course / "tilelang_cache_dir" / "0.1.15" / "linux-x86_64" / "kernels" / "CD34", "ours too")
    (course / "tilelang_cache_dir" / "0.1.15" / "linux-x86_64" / ".staging" / "x").mkdir(parents=True)
    own.mkdir()
    assert compiled_kernels.place(own, str(course), keeps=False) == []
    triton = os.environ["TRITON_CACHE_DIR"]
    assert triton.startswith(str(own))
    assert open(f"{triton}/AB12/kernel.cubin").read() == "ours"
    assert open(f"{os.environ['TILELANG_CACHE_DIR']}/0.1.15/linux-x86_64/kernels/CD34/kernel.cubin").read() == "ours too"
    assert not os.path.exists(f"{os.environ['TILELANG_CACHE_DIR']}/0.1.15/linux-x86_64/.staging")
    os.makedirs(f"{triton}/EF56")
    os.makedirs(f"{os.environ['TILELANG_CACHE_DIR']}/0.1.15/linux-x86_64/kernels/GH78")
    assert sorted(os.listdir(course / "triton_cache_dir")) == ["AB12"]
    assert os.listdir(course / "tilelang_cache_dir" / "0.1.15" / "linux-x86_64" / "kernels") == ["CD34"]


def test_only_a_program_of_the_courses_adds_to_them(tmp_path):
    course, own = tmp_path / "course", tmp_path / "own"
    own.mkdir()
    assert compiled_kernels.place(own, str(course), keeps=True) == [str(course)]
    assert os.environ["TILELANG_CACHE_DIR"].startswith(str(course))


def test_without_a_folder_of_the_courses_a_child_has_empty_ones(tmp_path):
    assert compiled_kernels.place(tmp_path, "", keeps=False) == []
    assert os.listdir(os.environ["TRITON_CACHE_DIR"]) == []
