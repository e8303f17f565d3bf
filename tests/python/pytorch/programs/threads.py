"""Operations in several threads at a time, one after the other of each its own."""

import threading

import torch


def work(number, results, gate):
    gate.wait()
    x = torch.full((3,), float(number))
    weight = torch.ones(3, requires_grad=True)
    for _ in range(20):
        x = torch.sin(x) + number
        (x * weight).sum().backward()
    results[number] = x, weight.grad


def main():
    results, gate = {}, threading.Barrier(4)
    threads = [
        threading.Thread(target=work, args=(n, results, gate), name=f"worker {n}")
        for n in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [results[n] for n in range(4)]
