"""Writes a system that is given as a dictionary as TOML, the format of system files."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _validate


def dumps(system: Mapping[str, Any]) -> str:
    """Return a TOML text with one line per key. Raises TypeError for a value that TOML does not have."""
    return "".join(f"{_key(key)} = {_value(str(key), value)}\n" for key, value in system.items() if value is not None)


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(f"the keys of a system must be text, not {key!r}")
    # Strings of JSON are basic strings of TOML, but for the character DEL.
    return json.dumps(key, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(place: str, value: Any) -> str:
    if isinstance(value, (np.generic, np.ndarray)):
        value = _validate.array(place, value).tolist()
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return _key(value)
    if isinstance(value, Mapping):
        pairs = (f"{_key(key)} = {_value(f'{place}.{key}', own)}" for key, own in value.items() if own is not None)
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(f"{place}[{i}]", own) for i, own in enumerate(value)) + "]"
    raise TypeError(f"{place} is {value!r}: a system has numbers, text, lists and dictionaries")
