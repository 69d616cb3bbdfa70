"""`python -m gradelake` is the command `gradelake`."""

from gradelake.app import main

if __name__ == "__main__":
    main()
