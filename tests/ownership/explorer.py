"""Explores every order of the steps of several processes, with crashes and with pauses longer than a lease.

A process is a function over a store (`model_store`), which runs Penstock's own code. It is deterministic: what it does
next follows from the answers that it got. So a state is the store's content and the answers of each process, and the
explorer visits each state once. Whether a claim has expired is answered both ways for a process that has not crashed:
it may be paused at any step, for any time.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from connectors.commits import claiming, run_owner
from tests.ownership.model_store import Content, ModelFiles, Step, apply

Answers = tuple[object, ...]
Program = Callable[[ModelFiles], object]
State = tuple[int, tuple[int, ...], frozenset[int], int, int, int]
"""The number of the store's content, those of the processes' answers, who has crashed, the pauses and the switches so
far, and who did the last step."""


class NextStep(BaseException):
    """The process has no answer to its next step yet."""

    def __init__(self, step: Step) -> None:
        super().__init__(step)
        self.step = step


@dataclass(frozen=True)
class Raised:
    kind: type[OSError]
    text: str


class Explorer:
    """`programs` are the processes by their numbers; `crashes` and `pauses` are how many there may be; `check` looks at
    every end: the store, who has crashed, and what each process returned. `switches`: how often a process may be
    interrupted by another's step (an end, a crash or a wait for nobody is no interruption); None: any number."""

    def __init__(
        self,
        programs: Sequence[Program],
        files: type[ModelFiles],
        check: Callable[[Content, tuple[object, ...]], None],
        *,
        crashes: int = 0,
        pauses: int = 0,
        switches: int | None = None,
    ) -> None:
        self.programs, self.files, self.check = programs, files, check
        self.crashes, self.pauses, self.switches = crashes, pauses, switches
        self.contents: list[Content] = []
        self.content_numbers: dict[frozenset[tuple[str, str]], int] = {}
        self.answers: list[tuple[int, Answers]] = []
        self.answer_numbers: dict[tuple[int, object], int] = {}
        self.steps: dict[int, Step | None] = {}
        self.results: dict[int, object] = {}
        self.effects: dict[tuple[int, Step], tuple[int, object]] = {}

    def explore(self, content: Content) -> int:
        """Visit every state; returns their number."""
        begun = tuple(self.numbered(-1 - number, None, number, ()) for number in range(len(self.programs)))
        first: State = (self.stored(content), begun, frozenset(), 0, 0, -1)
        seen, todo = {first}, [first]
        while todo:
            state = todo.pop()
            following = list(self.following(state))
            if not following:
                self.check(self.contents[state[0]], tuple(self.results.get(n, "crashed") for n in state[1]))
            for new in following:
                if new not in seen:
                    seen.add(new)
                    todo.append(new)
        return len(seen)

    def following(self, state: State) -> Iterator[State]:
        content, answers, crashed, pauses, switches, last = state
        steps = {n: step for n, done in enumerate(answers) if n not in crashed and (step := self.step(done))}
        for number, step in steps.items():
            switched = switches + (number != last and last in steps)
            if self.switches is not None and switched > self.switches:
                continue
            if step.name == "expired":
                owner = int(step.arguments[0])
                is_over = owner not in steps
                yield content, self.after(answers, number, is_over), crashed, pauses, switched, number
                if not is_over and pauses < self.pauses:
                    yield content, self.after(answers, number, True), crashed, pauses + 1, switched, number
            else:
                new, answer = self.effect(content, step)
                yield new, self.after(answers, number, answer), crashed, pauses, switched, number
            if len(crashed) < self.crashes:
                yield content, answers, crashed | {number}, pauses, switched, number

    def effect(self, content: int, step: Step) -> tuple[int, object]:
        key = content, step
        if key not in self.effects:
            new, answer = apply(self.contents[content], step)
            answer = Raised(type(answer), str(answer)) if isinstance(answer, OSError) else answer
            self.effects[key] = (content if new is self.contents[content] else self.stored(new)), answer
        return self.effects[key]

    def stored(self, content: Content) -> int:
        key = frozenset(content.items())
        if key not in self.content_numbers:
            self.content_numbers[key] = len(self.contents)
            self.contents.append(content)
        return self.content_numbers[key]

    def after(self, answers: tuple[int, ...], number: int, answer: object) -> tuple[int, ...]:
        before = answers[number]
        new = self.numbered(before, answer, number, (*self.answers[before][1], answer))
        return (*answers[:number], new, *answers[number + 1 :])

    def numbered(self, before: int, answer: object, number: int, answers: Answers) -> int:
        key = before, answer
        if key not in self.answer_numbers:
            self.answer_numbers[key] = len(self.answers)
            self.answers.append((number, answers))
        return self.answer_numbers[key]

    def step(self, answered: int) -> Step | None:
        """The next step of a process after these answers; None at its end."""
        if answered not in self.steps:
            number, answers = self.answers[answered]
            try:
                self.results[answered] = replay(self.programs[number], self.files, number, answers)
                self.steps[answered] = None
            except NextStep as pending:
                self.steps[answered] = pending.step
        return self.steps[answered]


def replay(
    program: Program, files: type[ModelFiles], number: int, answers: Answers, *, live: ModelFiles | None = None
) -> object:
    """Run a process with the answers that it got; raises `NextStep` at its next step. `live`: on this store instead,
    to its end."""
    given = iter(answers)
    pending: list[NextStep] = []

    class Replayed(files):
        def ask(self, name: str, *arguments: str):
            if pending:  # a handler of the exception is running: it has no more steps
                raise pending[0]
            for answer in given:
                if isinstance(answer, Raised):
                    raise answer.kind(answer.text)
                return answer
            pending.append(NextStep(Step(name, arguments)))
            raise pending[0]

    replayed, count = live or Replayed(), iter(range(1_000_000))
    mark = {"host": "model", "boot": None, "pid": number, "start": number}
    saved = (run_owner.this_process, claiming.expired, claiming.is_gone)
    run_owner.this_process = lambda: dict(mark)
    claiming.expired = lambda store, folder, claim: bool(replayed.ask("expired", str(claim.owner["pid"])))
    claiming.is_gone = lambda claim: bool(replayed.ask("expired", str(claim.owner["pid"])))
    token, now, pause = claiming.secrets.token_hex, claiming.time.time, claiming._pause
    claiming.secrets.token_hex = lambda size: f"p{number}x{next(count)}"
    claiming.time.time = lambda: 0.0
    claiming._pause = lambda attempt: None
    try:
        return program(replayed)
    finally:
        run_owner.this_process, claiming.expired, claiming.is_gone = saved
        claiming.secrets.token_hex, claiming.time.time, claiming._pause = token, now, pause
