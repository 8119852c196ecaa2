"""`python -m vinode` is `vinode`."""

from vinode.cli import main

if __name__ == "__main__":
    main()
