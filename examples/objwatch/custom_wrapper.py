"""A wrapper of one's own: what the log says about calls, results and new values."""

import filmstrip.compat.objwatch as objwatch
from filmstrip.compat.objwatch.wrappers import ABCWrapper


class Sizes(ABCWrapper):
    """Says how large things are, not what they are."""

    def size(self, value):
        return (
            f"{len(value)} long" if hasattr(value, "__len__") else type(value).__name__
        )

    def wrap_call(self, func_name, frame):
        names = frame.f_code.co_varnames[: frame.f_code.co_argcount]
        return ", ".join(f"{name}: {self.size(frame.f_locals[name])}" for name in names)

    def wrap_return(self, func_name, result):
        return self.size(result)

    def wrap_upd(self, old_value, current_value):
        return self.size(old_value), self.size(current_value)


def split(text):
    words = text.split()
    longest = max(words, key=len)
    return longest


if __name__ == "__main__":
    with objwatch.ObjWatch(["custom_wrapper.py"], with_locals=True, wrapper=Sizes):
        split("a few words of some length")
