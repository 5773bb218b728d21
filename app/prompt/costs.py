"""What units cost, each encoded once. In: a text with what opens and closes it. Out: its tokens, from then on out of
a table. Any thread: a race costs one encoding more."""

from app.prompt.safety import is_usable
from app.prompt.tokens import TokenCounter

_MOST_ENTRIES = 262_144


class CostTable:
    """Costs by (opening, closing), then by text. Bounded: a table that is full starts anew."""

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter
        self._forms: dict[tuple[str, str], _Form] = {}

    def __call__(self, opening: str, closing: str) -> dict[str, int]:
        form = self._forms.get((opening, closing))
        if form is None:
            form = self._forms.setdefault((opening, closing), _Form(self._counter, opening, closing))
        return form


class _Form(dict[str, int]):
    """Tokens of opening + text + closing, computed when first asked for; 0 for text that is not usable."""

    def __init__(self, counter: TokenCounter, opening: str, closing: str) -> None:
        super().__init__()
        self._counter = counter
        self._opening = opening
        self._closing = closing

    def __missing__(self, text: str) -> int:
        cost = len(self._counter.encode(f"{self._opening}{text}{self._closing}")) if is_usable(text) else 0
        if len(self) >= _MOST_ENTRIES:
            self.clear()
        self[text] = cost
        return cost
