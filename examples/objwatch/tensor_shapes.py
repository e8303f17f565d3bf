"""Shapes of tensors: read from the recording, the program runs none of our code."""

import torch

import filmstrip
from filmstrip.compat.objwatch.wrappers import TensorShapeWrapper


def attend(query, key):
    scores = query @ key.T
    weights = torch.softmax(scores, dim=-1)
    return weights


def main():
    query = torch.zeros(4, 8)
    key = torch.zeros(6, 8)
    return attend(query, key)


if __name__ == "__main__":
    with filmstrip.watch(
        ["tensor_shapes.py"], with_locals=True, wrapper=TensorShapeWrapper
    ):
        main()
