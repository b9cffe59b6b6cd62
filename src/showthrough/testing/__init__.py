"""For tests of pipelines: `assert_releasable`, and a fixture of pytest that does the same."""

from showthrough.testing.releasable import NotReleasableError as NotReleasableError
from showthrough.testing.releasable import assert_releasable as assert_releasable
