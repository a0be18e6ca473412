"""Labelled sessions in tests: the bench that plays them, and its files."""

import importlib
import os
import sys
from types import ModuleType

_ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")


def bench(name: str) -> ModuleType:
    """``bench/<name>.py``."""
    folder = os.path.join(_ROOT, "bench")
    if folder not in sys.path:
        sys.path.append(folder)
    return importlib.import_module(name)


def path_of(bench_name: str, name: str) -> str:
    """One file of a bench's labelled sessions."""
    return os.path.join(_ROOT, "tests", "data", bench_name, name)


def open_files(bench_name: str) -> list[str]:
    """Names of the files that may be read, without those held out."""
    held_out = bench(bench_name).HELD_OUT
    names = os.listdir(path_of(bench_name, ""))
    return sorted(n for n in names if n.endswith(".jsonl") and n not in held_out)
