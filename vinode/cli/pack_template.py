"""A new pack: the files of a working, tested, installable distribution with one node."""

from __future__ import annotations

import keyword
import re
import shutil
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from vinode.graph.errors import Fault, VinodeError

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")

_PROJECT = """\
[build-system]
requires = ["setuptools>=64"]
build-backend = "setuptools.build_meta"

[project]
name = "{name}"
version = "0.1.0"
description = "Nodes for vinode"
readme = "README.md"
requires-python = ">=3.11"
dependencies = ["numpy", "vinode"]

[project.entry-points."vinode.nodes"]
{module} = "{module}"

[tool.setuptools]
packages = ["{module}"]

[tool.setuptools.package-data]
{module} = ["py.typed"]

[tool.pytest.ini_options]
testpaths = ["tests"]
pythonpath = ["."]

[tool.mypy]
strict = true
files = ["{module}", "tests"]
"""

_README = """\
# {name}

Nodes for vinode.

    pip install -e .
    vinode nodes check {module}
    pytest

The nodes are in `{module}/light.py`; every further file there may hold more.
"""

_INIT = '''\
"""Nodes of {name}; every module of this package is looked through for them."""

__version__ = "0.1.0"
'''

_NODE = '''\
"""Nodes that change how light a picture is."""

from typing import Annotated

import numpy as np

from vinode import Image, Range, node


@node("{module}.Dim", category="{name}")
def dim(image: Image, stops: Annotated[float, Range(0, 8, "EV", 0.1)] = 1.0) -> Image:
    """Darken by camera stops: one stop halves the values.

    image    the pictures to darken
    stops    how much darker, in EV
    returns  the darker pictures, as float
    """
    # Inputs are read-only, so a new array is made: (B, H, W, C) float32 0..1.
    pixels = image.as_float().copy()
    pixels[..., :3] *= np.float32(2.0**-stops)
    return Image(pixels)
'''

_TEST = '''\
"""A node is tested like any function."""

import numpy as np

from {module}.light import dim
from vinode import Image


def test_one_stop_halves_the_light() -> None:
    """A white picture becomes grey."""
    white = Image(np.ones((1, 2, 2, 3), np.float32))
    assert dim(white, stops=1).as_float().max() == 0.5
'''


def module_name(name: str) -> str:
    """Give the import name of a pack; refuse a name that cannot be one, with a better one.

    >>> module_name("my-pack")
    'my_pack'
    """
    module = name.replace("-", "_")
    taken = keyword.iskeyword(module) or (module.isidentifier() and find_spec(module) is not None)
    if (
        _NAME.fullmatch(name)
        and len(name) <= 60
        and not taken
        and module not in ("vinode", "nodes")
    ):
        return module
    problem = "the name is taken" if taken else "this is no name for a pack"
    better = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-0123456789")[:50]
    better = better if _NAME.fullmatch(better) and better != name else f"{better or 'my'}-nodes"
    fix = f"use small letters, digits and single hyphens: {better}"
    raise VinodeError(Fault("name of the pack", problem, repr(name), fix))


def files(name: str) -> Mapping[str, str]:
    """Give the files of a new pack: path inside its folder -> text."""
    module = module_name(name)
    texts = {
        "pyproject.toml": _PROJECT,
        "README.md": _README,
        f"{module}/__init__.py": _INIT,
        f"{module}/py.typed": "",
        f"{module}/light.py": _NODE,
        "tests/test_light.py": _TEST,
    }
    return {
        path: text.replace("{name}", name).replace("{module}", module)
        for path, text in texts.items()
    }


def write(name: str, to: Path) -> Path:
    """Write a new pack into the folder `to` / name, which must not exist; give that folder."""
    texts = files(name)
    folder = to / name
    try:
        folder.mkdir(parents=True, exist_ok=False)
        for path, text in texts.items():
            file = folder / path
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="\n")
    except FileExistsError as error:
        fix = "choose another name, or --to another folder; nothing was changed"
        raise VinodeError(Fault(f"folder {folder}", "it is there already", fix=fix)) from error
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)  # made a moment ago, by us
        fix = "choose another folder with --to"
        fault = Fault(f"folder {folder}", "it cannot be written", error.strerror or str(error), fix)
        raise VinodeError(fault) from error
    return folder
