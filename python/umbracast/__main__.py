"""The command line: the script ``umbracast`` of the package, and ``python -m umbracast``."""

from __future__ import annotations

import signal
import sys

from . import _umbracast
from ._devices import quiet_mesa


def main() -> int:
    """Run the command line on the arguments of the process, and return its exit code."""
    quiet_mesa()
    # The command line handles Ctrl-C itself: it cancels its work and removes temporary files.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _umbracast.command_line(["umbracast", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
