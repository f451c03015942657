"""headwave shows why attention heads look where they look. It offers the program's analyses for arrays, files and PyTorch models."""

import inspect

from . import _core
from .arguments import named_arguments
from .attention import Tile, attend, delay, spectrum
from .capture import capture
from .check import ModelCheck, check_model
from .errors import Error, FormatError, IoError, NumericError, ShapeError
from .jobs import account, atlas, run
from .profiles import watch
from .profiles.training_page import training_page
from .result import Result, open_result as open
from .studies import compare

__version__: str = _core.version
commit: str = _core.commit

__all__ = [
    "Error", "FormatError", "IoError", "ModelCheck", "NumericError", "Result", "ShapeError", "Tile", "account", "atlas", "attend",
    "capture", "check_model", "commit", "compare", "delay", "open", "run", "spectrum",
    "training_page", "watch",
]

for _name in __all__:   # at run time; type checkers see the functions themselves
    if inspect.isfunction(globals()[_name]):
        globals()[_name] = named_arguments(_name, globals()[_name])


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
