"""t[...] and t[...] = v in all their forms."""

import torch


def main():
    t = torch.arange(60.0).reshape(3, 4, 5)
    rows, mask = torch.tensor([0, 2]), t > 30
    got = [
        t[0],
        t[-1, 2],
        t[1:],
        t[:, ::2],
        t[..., 0],
        t[None, 0, ..., None],
        t[rows],
        t[rows, :, torch.tensor([1, 3])],
        t[mask],
        t[[0, 1]],
        t[[True, False, True]],
        t[True],
        t[torch.tensor(1)],
        t[1, 2, 3],
    ]
    t[0] = 0
    t[1, 1:3] = torch.tensor([7.0])
    t[mask] = -t[mask]
    t[rows, 0] = 2
    t[..., -1] += 1
    t[rows, :, 2] *= 3
    t[torch.tensor(2), 3, 4] = 99
    t[2][1][0] = 5
    parts = [row.sum() for row in t]
    first, *rest = t.unbind()
    errors = []
    for index in (9, "x", (0, 0, 0, 0), slice(None, None, -1)):
        try:
            t[index]
        except Exception as error:
            errors.append((type(error).__name__, str(error)))
    try:
        t[0] = torch.ones(7)
    except RuntimeError as error:
        errors.append(str(error))
    more = [t.take(rows), t.gather(2, torch.zeros(3, 4, 1, dtype=torch.int64))]
    more += [t.index_select(1, rows), t.masked_select(mask), torch.where(mask, t, 0)]
    more += torch.where(mask)
    return t, got, parts, first, rest, more, errors, len(t), 7.0 in t
