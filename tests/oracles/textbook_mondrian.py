"""Mondrian by plain recursion over lists of records (LeFevre, DeWitt, Ramakrishnan, ICDE 2006)."""


def groups(records, trees, allowed, *, relaxed=False):
    """Lists of record numbers; a tree maps a leaf to its labels from the root down, None is an ordered column."""
    domain = [sorted({record[c] for record in records}) for c in range(len(trees))]

    def width(part, column):
        values = sorted({records[i][column] for i in part})
        if trees[column] is not None and not relaxed:
            return len(values) / len(domain[column])
        span = domain[column].index(values[-1]) - domain[column].index(values[0]) + 1
        return span / len(domain[column])

    def cut(part, column):
        if relaxed:
            order = sorted(part, key=lambda i: records[i][column])  # stable, like the order of the rows
            half = len(part) // 2
            return [order[:half], order[half:]] if records[order[0]][column] != records[order[-1]][column] else [part]
        if trees[column] is None:
            values = sorted(records[i][column] for i in part)
            median = values[(len(values) - 1) // 2]
            return [[i for i in part if records[i][column] <= median], [i for i in part if records[i][column] > median]]
        paths = {i: [*trees[column][records[i][column]], records[i][column]] for i in part}
        for level in range(len(paths[part[0]])):
            labels = {path[level] for path in paths.values()}
            if len(labels) > 1:
                return [[i for i in part if paths[i][level] == label] for label in labels]
        return [part]

    def split(part):
        for column in sorted(range(len(trees)), key=lambda c: -width(part, c)):
            parts = [piece for piece in cut(part, column) if piece]
            if len(parts) > 1 and all(allowed(piece) for piece in parts):
                return [group for piece in parts for group in split(piece)]
        return [part]

    return split(list(range(len(records))))
