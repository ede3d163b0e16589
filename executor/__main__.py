"""`python executor script.py`: the package without an installation and without PYTHONPATH."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# Python puts this folder first on the path as it was typed; the program that runs next gets that place for its own folder.
sys.path[0] = HERE

from raceline.command import main  # noqa: E402

if __name__ == "__main__":
    main()
