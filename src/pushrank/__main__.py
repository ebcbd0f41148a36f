"""``python -m pushrank``: the command line."""

from pushrank.cli import main

if __name__ == "__main__":
    main()
