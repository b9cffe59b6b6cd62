"""Random instances are the same in every run, unless SHOWTHROUGH_EXPLORE asks for fresh ones."""

import os

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("exploring", deadline=None, max_examples=500)
settings.load_profile("exploring" if os.environ.get("SHOWTHROUGH_EXPLORE") else "repeatable")
