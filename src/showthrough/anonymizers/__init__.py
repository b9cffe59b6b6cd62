"""Algorithms that turn a table into groups, one per file.

Each is a kernel over encoded columns (``quasi_columns.py``) and a requirement (``requirement.py``) and
returns a frozen result whose ``group`` holds one group code per row, -1 for a suppressed row.
None of them certifies itself: the criteria check what comes out.

| file | what it does | choose it when |
| --- | --- | --- |
| ``mondrian.py`` | cuts the table at medians | speed; numeric or ordered columns |
| ``local_recoding.py`` | gathers near records, then improves | the least information loss |
| ``full_domain.py`` | one hierarchy level per column for everybody | uniform cells are wanted |
| ``anatomy.py`` | buckets of l different values | exact quasi-identifiers stay |
| ``mdav.py`` | groups of k around far records | centroids instead of ranges |
| ``xcolor.py`` | groups without near sensitive values | proximity of values matters |
"""
