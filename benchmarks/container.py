"""What does pushrank cost in a container: its size, its memory, and the first fit and score, cold and warm?

    python benchmarks/container.py [FOLDER] > benchmarks/container.txt

The steps of the Dockerfiles in ``docs/deploy.md`` run without a container tool: each ``RUN`` in a mount
namespace whose ``/srv`` is a temporary folder, and what the image is for as nobody, without a home, with a
root that cannot be written to and no network. Linux, the superuser and a package index are needed, and some
ten minutes, unless FOLDER has the environments of an earlier run. Every command runs once, in a fresh
process, with an empty ``/tmp`` unless it says otherwise; times are of the processor, user and system.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
# Others may not enter the home of the superuser, where this Python may be: it is mounted there alone.
INSIDE = """
set -e
mount --make-rprivate /
mount --bind {work}/srv /srv
if [ -n "{sealed}" ]; then
    mount --bind {base} {work}/python
    mount -t tmpfs -o mode=755 tmpfs /root
    mkdir -p {base}
    mount --bind {work}/python {base}
    mount --bind {work}/mnt /mnt
    mount --bind {work}/tmp /tmp
    mount -o remount,bind,ro /srv
    mount -o remount,bind,ro /
    cd /
fi
exec "$@"
"""
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs"]
IMPORT = "import pushrank; from pushrank import load_scorer; "
ONE_ROW = IMPORT + "print(load_scorer('/mnt/{model}.skops').decision_function([[1.0, 2.0, 3.0]]))"
SEALED = """
import os, socket

for folder in ("/srv", "/root", "/usr", os.path.dirname(os.__file__)):
    try:
        open(f"{folder}/written", "w")
    except OSError:
        continue
    raise SystemExit(f"{folder} can be written to.")
try:
    socket.create_connection(("192.0.2.1", 80), 5.0)
except OSError as error:
    assert error.errno == 101, error
assert os.getuid() == 65534 and not os.path.exists(os.environ["HOME"])
"""


class Ran(NamedTuple):
    """What a command took and said."""

    seconds: float
    megabytes: float
    code: int
    errors: str


def dockerfiles() -> list[list[str]]:
    """Return the instructions of the Dockerfiles of the guide."""
    page = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```dockerfile\n(.*?)```", page, re.DOTALL)
    return [re.sub(r"\\\n", "", block).splitlines() for block in blocks]


class Image:
    """A folder that stands for the file system of an image."""

    def __init__(self, work: Path, wheel: Path) -> None:
        self.work, self.wheel = work, wheel
        self.settings = {"PATH": os.environ["PATH"], "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}

    def build(self, instructions: list[str]) -> None:
        """Run the steps of a Dockerfile, all stages in one file system: none writes where another does."""
        for instruction in instructions:
            kind, _, words = instruction.partition(" ")
            if kind == "ENV":
                for name, value in (word.split("=", 1) for word in words.split()):
                    self.settings[name] = value.replace("$PATH", self.settings["PATH"])
            elif kind == "RUN":
                step = re.sub(r'"pushrank(\[\w+\])?"', rf'"{self.wheel}\1"', words)
                done = self.run(["sh", "-c", step], os.environ | self.settings, sealed=False)
                if done.code:
                    raise RuntimeError(f"{words}: {done.errors}")

    def run(self, command: list[str], settings: dict[str, str], *, sealed: bool = True) -> Ran:
        """Run a command in the image, and as the guide says it is run unless the image is being built."""
        base = sys.base_prefix
        script = INSIDE.format(work=self.work, base=base, sealed="sealed" if sealed else "")
        words = ["unshare", "--mount", *(["--net"] if sealed else []), "sh", "-c", script, "sh"]
        with tempfile.TemporaryFile("w+") as errors:
            process = subprocess.Popen(
                [*words, *(NOBODY if sealed else []), *command],
                env=settings,
                stdout=subprocess.DEVNULL,
                stderr=errors,
            )
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            errors.seek(0)
            # Linux counts memory in units of 1,024 bytes.
            took = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024.0
            return Ran(*took, process.returncode, errors.read())

    def serve(self, command: str, *, warm: bool = True, keep: bool = False, code: int = 0) -> Ran:
        """Run a command as nobody; by default nothing is in the folder of temporary files."""
        settings = self.settings | {"HOME": "/nonexistent"}
        if not warm:
            settings = {name: value for name, value in settings.items() if not name.startswith("NUMBA_C")}
        if not keep:
            shutil.rmtree(self.work / "tmp")
            (self.work / "tmp").mkdir()
            (self.work / "tmp").chmod(0o1777)
        ran = self.run(shlex.split(command), settings)
        if ran.code != code:
            raise RuntimeError(f"{command}: {ran.errors}")
        return ran


def megabytes(folder: Path) -> float:
    """Return the size of the files of a folder, without the tools that brought them."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    tools = re.compile(r".*/site-packages/(pip|setuptools|pkg_resources|_distutils_hack)\b")
    return sum(path.stat().st_size for path in files if not tools.match(str(path))) / 2**20


def show(name: str, ran: Ran) -> None:
    """Print a row of what a command took, and whether it compiled."""
    compiled = "compiled" if "Compiling" in ran.errors else ""
    assert ran.errors.count("Compiling") <= 1, ran.errors
    print(f"{name:58} {ran.seconds:6.2f} s {ran.megabytes:6.0f} MiB  {compiled}".rstrip(), flush=True)


def main() -> None:
    """Build the environments, and print sizes, times and peaks of memory."""
    if os.geteuid():
        sys.exit("Namespaces of mounts need the superuser.")
    # Others may not enter the folders that are made for temporary files.
    with tempfile.TemporaryDirectory(prefix="pushrank-image-", dir="/var/tmp") as folder:
        work = Path(sys.argv[1] if sys.argv[1:] else folder).resolve()
        for path in (work, *(work / name for name in ("srv", "mnt", "tmp", "python"))):
            path.mkdir(exist_ok=True, parents=True)
            path.chmod(0o755)
        (work / "mnt").chmod(0o777)
        built = (work / "srv" / "score").exists()
        if not built:
            words = ("wheel", "--quiet", "--no-deps", "--wheel-dir", work, ROOT)
            subprocess.run([sys.executable, "-m", "pip", *map(str, words)], check=True)
        image = Image(work, next(work.glob("*.whl")))
        for instructions in dockerfiles():
            image.build([step for step in instructions if not (built and step.startswith("RUN"))])
        measure(image)


def measure(image: Image) -> None:
    """Print what the environments take, and what commands take in them."""
    full, score, alone = (f"/srv/{name}/bin/" for name in ("pushrank", "score", "numpy"))
    rows = "a,b,c,text,y\n" + "".join(
        f"{i % 7},{i * 0.1},{i % 5},{'uvw'[i % 3]},{int(i % 7 + i % 5 > 7)}\n" for i in range(1000)
    )
    (image.work / "mnt" / "rows.csv").write_text(rows)
    image.serve(f"{full}python -c {shlex.quote(SEALED)}")
    print("environments, without Python and pip:")
    for name in ("pushrank", "score", "numpy", "compiled"):
        print(f"{'/srv/' + name:58} {megabytes(image.work / 'srv' / name):6.1f} MiB")
    options = "--label y --exclude text --model pnorm-push -o /mnt/linear.skops --force"
    fit = f"{full}pushrank fit /mnt/rows.csv {options}"
    print("\nprocessor time and peak of memory of a fresh process, read-only, as nobody, without a network:")
    show("fit of a linear model, nothing compiled", cold := image.serve(fit, warm=False))
    assert "/pushrank-compiled-65534-" in cold.errors
    show("the same again in this container", image.serve(fit, warm=False, keep=True))
    show("the same with what the image brings", warm := image.serve(fit))
    assert "Compiling" not in warm.errors, warm.errors
    image.serve(fit.replace("linear", "stumps").replace("pnorm-push", "push-boost"))
    image.serve(fit.replace("linear", "texts").replace("--exclude text ", ""))
    for model in ("linear", "stumps"):
        words = f"pushrank score /mnt/{model}.skops /mnt/rows.csv -o /mnt/{model}.csv --force"
        for place, kept in ((full, False), (full, True), (score, True)):
            how = ("compiled code kept" if kept else "nothing compiled") if place == full else "without numba"
            show(f"score of 1,000 rows, {model}, {how}", image.serve(place + words, warm=kept))
        row = f"python -c {shlex.quote(ONE_ROW.format(model=model))}"
        for place, kept in ((full, False), (full, True), (alone, True)):
            how = ("compiled code kept" if kept else "nothing compiled") if place == full else "NumPy alone"
            show(f"one row in Python, {model}, {how}", image.serve(place + row, warm=kept))
    print("\nmodels that need more than NumPy:")
    refused = image.serve(f"{score}pushrank score /mnt/texts.skops /mnt/rows.csv -o /mnt/texts.csv", code=1)
    print("pushrank score:", refused.errors.splitlines()[-1])
    refused = image.serve(f"{alone}python -c {shlex.quote(ONE_ROW.format(model='texts'))}", code=1)
    print("load_scorer:", refused.errors.splitlines()[-1])


if __name__ == "__main__":
    main()
