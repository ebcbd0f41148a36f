"""``pushrank`` and ``python -m pushrank``: the command line, where its packages are installed."""

import sys

EXTRA = {
    "jinja2", "joblib", "matplotlib", "numba", "pandas", "pyarrow", "rich", "scipy",
    "sklearn", "skops", "threadpoolctl", "typer",
}  # fmt: skip


def main() -> None:
    """Run the command line, or say which extra brings what it lacks."""
    try:
        from pushrank.cli import app

        app()
    except ImportError as error:
        missing = str(error.name).partition(".")[0]
        if missing not in EXTRA:
            raise
        sys.exit(f'The command line needs {missing}, which is not installed: pip install "pushrank[cli]".')


if __name__ == "__main__":
    main()
