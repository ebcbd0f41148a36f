"""The version is one everywhere, and wheel and sdist are the same bytes whenever they are built."""

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

import pushrank
from tests.cli import runner

ROOT = Path(__file__).parent.parent


def cited():
    """Return the version that a paper cites."""
    return re.search(r"(?m)^version: (.*)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"))[1]


@pytest.mark.fast
def test_the_version_is_one_everywhere():
    headings = re.findall(r"(?m)^## (\d[\d.]*\d)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert headings[0] == cited()
    assert project["tool"]["hatch"]["version"]["fallback-version"] == f"{cited()}.dev0"
    # What is installed may be of an earlier commit, and is one everywhere, too.
    assert runner.call("--version").stdout == f"pushrank {pushrank.__version__}\n"
    assert pushrank.__version__ == version("pushrank")


def run(*words, cwd, **environment):
    """Return what a program prints."""
    done = subprocess.run(
        words, cwd=cwd, env=os.environ | environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def built(checkout, *targets):
    """Return the bytes of what is built of a checkout, by their names."""
    words = [sys.executable, "-m", "hatchling", "build", *targets, "-d", "built"]
    # Archives hold times: those of the commit are the same on every machine.
    run(*words, cwd=checkout, SOURCE_DATE_EPOCH="1700000000")
    return {file.name: file.read_bytes() for file in (checkout / "built").iterdir()}


@pytest.mark.nightly
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="only a clone has tags")
def test_a_clone_has_the_version_of_its_tag_and_is_built_twice_to_the_same_bytes(tmp_path):
    pytest.importorskip("hatch_vcs")
    archives = []
    for name, mask in (("once", 0o022), ("twice", 0o077)):
        before = os.umask(mask)
        try:
            checkout = tmp_path / name
            run("git", "clone", "-q", "--no-tags", str(ROOT), str(checkout), cwd=tmp_path)
            named = run(sys.executable, "-m", "hatchling", "version", cwd=checkout)
            assert re.fullmatch(re.escape(cited()) + r"\.dev\d+", named)
            run("git", "tag", f"v{cited()}", cwd=checkout)
            assert run(sys.executable, "-m", "hatchling", "version", cwd=checkout) == cited()
            archives.append(built(checkout))
        finally:
            os.umask(before)
    wheel, sdist = f"pushrank-{cited()}-py3-none-any.whl", f"pushrank-{cited()}.tar.gz"
    assert set(archives[0]) == {wheel, sdist}
    assert archives[0] == archives[1]
    with zipfile.ZipFile(tmp_path / "once" / "built" / wheel) as archive:
        metadata = archive.read(f"pushrank-{cited()}.dist-info/METADATA").decode()
    assert f"\nVersion: {cited()}\n" in metadata
    # An sdist has no tags, and makes the same wheel.
    with tarfile.open(tmp_path / "once" / "built" / sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    assert built(tmp_path / f"pushrank-{cited()}", "-t", "wheel") == {wheel: archives[0][wheel]}
