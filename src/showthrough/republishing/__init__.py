"""Kernels that make the next release in view of the last ones, one per file.

| file | what it does | what it costs |
| --- | --- | --- |
| ``m_invariance.py`` | a person keeps the set of values of its group for ever | counterfeits |
| ``history_guided.py`` | groups stay, newcomers take the places of those who left | empty places, or what fills them |

``split.py`` cuts a bucket of m-invariance into groups with small extents. Kernels read arrays of
codes and know no names; whoever calls them keeps the history.
"""
