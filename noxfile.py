"""What CI runs, as commands: nox -s lint, test, test-fast, lowest, docs, package, nightly, bench."""

from __future__ import annotations

import sys
import tempfile
from hashlib import sha256
from pathlib import Path

import nox

nox.options.sessions = ["lint", "test-fast"]

# Threads that wait for each other would count as processor time.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
# Both checkouts are measured this often, in turn, and the least time of each counts.
N_RUNS = 3


@nox.session
def lint(session: nox.Session) -> None:
    """Check style, types, import floors and spelling."""
    session.install("-e", ".", "--group", "lint")
    session.run(".ci/lint", external=True)


@nox.session
def test(session: nox.Session) -> None:
    """Run all tests; what follows -- goes to pytest."""
    session.install("-e", ".[test]")
    # Builds for other systems bring gigabytes for GPUs; without torch its tests are skipped.
    if sys.platform == "darwin":
        session.install("--group", "tensors")
    session.run("python", "-m", "pytest", "-n", "auto", *session.posargs)


@nox.session(name="test-fast")
def test_fast(session: nox.Session) -> None:
    """Run the tests marked fast: some of every floor, and the examples of all docstrings."""
    session.install("-e", ".[test]")
    session.run("python", "-m", "pytest", "-n", "auto", "-m", "fast", *session.posargs)


@nox.session(python="3.11")
def lowest(session: nox.Session) -> None:
    """Run the fast tests with the lowest versions that pyproject.toml allows."""
    session.install("uv")
    session.run("uv", "pip", "install", "--resolution", "lowest-direct", "-e", ".[test]")
    # Packages that these need in turn come in their newest versions and may warn, which is no error here.
    session.run("python", "-m", "pytest", "-n", "auto", "-W", "default", "-m", "fast", *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """Run what guides, stories and examples show, and build the site, where a warning is an error."""
    session.install("-e", ".[test]", "--group", "docs")
    session.run("python", "-m", "pytest", "-n", "auto", "-m", "docs")
    session.run("python", "-m", "sphinx", "-W", "-n", "--keep-going", "docs", "build/site", *session.posargs)


@nox.session
def package(session: nox.Session) -> None:
    """Build wheel and sdist twice, to the same bytes, and run each as installed, away from the sources."""
    session.install("build", "twine", "cyclonedx-bom", "pip-audit")
    # Archives hold times: those of the commit are the same on every machine.
    epoch = session.run("git", "log", "-1", "--format=%ct", external=True, silent=True).strip()
    with tempfile.TemporaryDirectory() as folder:
        once, twice = Path(folder) / "once", Path(folder) / "twice"
        for built in (once, twice):
            session.run("python", "-m", "build", "--outdir", str(built), env={"SOURCE_DATE_EPOCH": epoch})
        for file in sorted(once.iterdir()):
            digest = sha256(file.read_bytes()).hexdigest()
            if sha256((twice / file.name).read_bytes()).hexdigest() != digest:
                session.error(f"{file.name} is not the same when it is built again.")
            session.log(f"{digest}  {file.name}")
        session.run("twine", "check", "--strict", *map(str, sorted(once.iterdir())))
        with session.chdir(once):
            for file in sorted(once.iterdir()):
                session.run("pip", "uninstall", "-q", "-y", "pushrank")
                session.install(f"pushrank[all] @ {file.as_uri()}")
                session.run("pushrank", "--version")
                session.run("pushrank", "demo")
    # What a user gets, by name and version, and what is known against it.
    Path("build").mkdir(exist_ok=True)
    session.run("cyclonedx-py", "environment", "--output-file", "build/pushrank.cdx.json")
    session.run("pip-audit", "--skip-editable", *session.posargs)


@nox.session
def nightly(session: nox.Session) -> None:
    """Run what takes hours: fuzzing, full products, simulations of coverage."""
    session.install("-e", ".", "--group", "nightly")
    session.run("python", "-m", "pytest", "-n", "auto", "-m", "nightly")
    session.run("python", "-m", "pytest", "-n", "auto", "--hypothesis-profile=nightly")
    session.run("python", "-m", "pytest", "-n", "2", "--junitxml=build/day.xml")
    session.run("python", "benchmarks/test_seconds.py", "build/day.xml", "--check")


@nox.session
def bench(session: nox.Session) -> None:
    """Measure a few ratios of times; after -- another checkout, whose ratios must not be passed."""
    session.install("-e", ".")
    script, sides = "benchmarks/compare_runs.py", {"after": Path.cwd()}
    if session.posargs:
        sides["before"] = Path(session.posargs[0])
    with tempfile.TemporaryDirectory() as kept:
        files = {name: str(Path(kept) / f"{name}.json") for name in sides}
        for _ in range(N_RUNS):
            for name, checkout in sides.items():
                # This path precedes the installed package, so each side measures its checkout.
                sources = {"PYTHONPATH": str((checkout / "src").resolve())}
                session.run("python", script, "measure", files[name], env=sources | ONE_THREAD)
        if "before" in sides:
            session.run("python", script, "compare", files["before"], files["after"])
        else:
            print(Path(files["after"]).read_text(encoding="utf-8"))
