"""``python -m showthrough``."""

from showthrough.cli.main import main

main()
