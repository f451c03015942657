"""Rotary positions of a running model: queries and keys before rotation, and how rotary positions rotate channels."""

from __future__ import annotations

import dataclasses
import inspect
import re
import sys
import threading
from typing import Any, Callable

import numpy as np
import torch

from ..errors import FormatError
from .tiles import Scores


class CannotDeal(FormatError):
    """An account is not possible for this model, or for documents of this length."""


class Rotations:
    """Records the last call of transformers' apply_rotary_pos_emb.

    Args:
        modules: modules that compute attention
    """

    def __init__(self, modules: list[torch.nn.Module]) -> None:
        self._thread = threading.local()
        self._places = {sys.modules[type(module).__module__] for module in modules}
        self._places = {place for place in self._places if hasattr(place, "apply_rotary_pos_emb")}
        self._originals: list[tuple[Any, Callable[..., Any]]] = []

    @property
    def last(self) -> tuple[Any, ...] | None:
        """The last call in this thread: the function, its arguments, and its output (queries and keys). None if there was no call."""
        return getattr(self._thread, "last", None)

    @last.setter
    def last(self, what: tuple[Any, ...] | None) -> None:
        self._thread.last = what

    def misses(self, module: torch.nn.Module) -> bool:
        """Whether a module rotates queries and keys by another function."""
        source = inspect.getsource(type(module))
        if sys.modules[type(module).__module__] not in self._places:
            return bool(re.search("rotary|rope", source, re.IGNORECASE))
        return bool(set(re.findall(r"\bapply_rot\w*", source)) - {"apply_rotary_pos_emb"})

    def begin(self) -> None:
        for place in self._places:
            original = place.apply_rotary_pos_emb
            self._originals.append((place, original))
            place.apply_rotary_pos_emb = self._keeping(original)

    def end(self) -> None:
        for place, original in self._originals:
            place.apply_rotary_pos_emb = original
        self._originals.clear()
        self.last = None

    def _keeping(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def apply(*args: Any, **kwargs: Any) -> Any:
            output = original(*args, **kwargs)
            self._keep(original, args, kwargs, output)
            return output
        return apply

    @torch.compiler.disable
    def _keep(self, *what: Any) -> None:
        self.last = what


@dataclasses.dataclass
class Unturned:
    """Queries and keys of one call before rotary positions are applied.

    Args:
        width: number of first channels of a head that `turn` rotates; 0: nothing is rotated
        turn: function that applies rotary positions to vectors (B, n, T, width) at the tokens of the call
    """

    query: torch.Tensor
    key: torch.Tensor
    width: int = 0
    turn: Callable[[torch.Tensor], torch.Tensor] = lambda x: x


def unturned(last: tuple[Any, ...] | None, scores: Scores, path: str) -> Unturned:
    """Gives queries and keys before rotary positions.

    Args:
        last: Rotations.last for these queries; None: the model has no rotary positions

    Raises:
        CannotDeal: queries or keys are changed after rotation
    """
    if last is None:
        return Unturned(scores.query, scores.key)
    function, args, kwargs, output = last
    refusal = CannotDeal(f"watch: {path} turns queries and keys in a way that watch cannot undo, as deal=True and queries=True need; omit both")
    if not (isinstance(output, tuple) and len(output) == 2 and len(args) >= 2 and all(isinstance(each, torch.Tensor) for each in args[:2])):
        raise refusal
    width, before = args[0].shape[-1], []
    for given, turned, whole in zip(args[:2], output, (scores.query, scores.key)):
        if whole is scores.key and whole.shape[2] > turned.shape[2]:
            if scores.shift:   # the call continues documents: only its queries are needed
                before.append(whole)
                continue
            whole = whole[:, :, :turned.shape[2]]   # a static cache has room for more keys
        if given.shape != turned.shape or turned.shape[:-1] != whole.shape[:-1] or not torch.equal(turned.to(whole.dtype), whole[..., :width]):
            raise refusal
        before.append(torch.cat([given, whole[..., width:]], -1))
    return Unturned(*before, width, lambda x: function(x, x, *args[2:], **kwargs)[0])


@dataclasses.dataclass
class Turns:
    """A rotation of queries and keys: at position n, pair m of a head's channels is rotated by n f_m and multiplied by `gain`.

    Args:
        frequency: (r/2) f, in radians per token; empty: nothing is rotated
        neighbours: True: channels 2m and 2m + 1 are pair m; False: channels m and m + r/2 are pair m
    """

    frequency: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros(0))
    gain: float = 1.0
    neighbours: bool = False


def turns_of(before: Unturned, row: int, tokens: slice, path: str) -> Turns:
    """Finds how rotary positions rotate the tokens of one document, by applying them to unit vectors.

    Raises:
        CannotDeal: rotary positions do something else than Turns describes
    """
    refusal = CannotDeal(f"watch: rotary positions of {path} do not turn channel pairs (m, m + r/2) or (2m, 2m + 1) by a constant angle per "
                         "token, as deal=True needs; omit deal")
    if not before.width:
        return Turns()
    (batch, _, length, _), width = before.query.shape, before.width
    own, beside = np.zeros((2, width, tokens.stop - tokens.start))
    partner = np.arange(width)
    some = max(1, (1 << 22) // (batch * length * width))
    for c0 in range(0, width, some):
        unit = torch.eye(width, device=before.query.device)[c0:c0 + some]
        out = before.turn(unit[None, :, None].expand(batch, -1, length, -1))[row, :, tokens].double().cpu().numpy()
        for c, turned in enumerate(out, c0):
            size = np.square(turned).sum(0)
            own[c], size[c] = turned[:, c], 0
            if size.max() > 0:
                partner[c] = size.argmax()
                beside[c] = turned[:, partner[c]]
            if np.sqrt(size.sum() - size.max()) > 1e-5 * np.sqrt(len(turned)):
                raise refusal
    moved = partner != np.arange(width)
    if not moved.any():
        if np.abs(own - 1).max() > 1e-6:
            raise refusal
        return Turns()
    apart = np.abs(partner - np.arange(width))[moved]
    touched = int(np.flatnonzero(moved | (np.abs(own - 1).max(1) > 1e-6))[-1]) + 1
    neighbours = apart[0] == 1 and touched > 2
    channels = touched + touched % 2 if neighbours else 2 * int(apart[0])
    first = np.arange(0, channels, 2) if neighbours else np.arange(channels // 2)
    if (apart != apart[0]).any() or not touched <= channels <= width or (moved[first] & (partner[first] != first + apart[0])).any():
        raise refusal
    gain, angle = np.hypot(own, beside)[first], np.unwrap(np.arctan2(beside, own)[first], axis=1)
    t = np.arange(angle.shape[1]) - (angle.shape[1] - 1) / 2
    frequency = angle @ t / (t @ t)
    rounding = 1e-3 if before.query.dtype in (torch.float32, torch.float64) else 3e-2
    if np.abs(angle - angle.mean(1, keepdims=True) - frequency[:, None] * t).max() > rounding or np.ptp(gain) > rounding:
        raise refusal
    return Turns(frequency, float(np.mean(gain)), bool(neighbours))
