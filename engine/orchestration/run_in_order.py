"""Runs jobs side by side, each after those that it needs; what needs a failed job is skipped."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from engine.project.recorded_state import JobStatus


def run_in_order(
    names: Sequence[str],
    parents: Mapping[str, frozenset[str]],
    run: Callable[[str], bool],
    *,
    workers: int,
    keeps_going: bool,
    is_stopped: Callable[[], bool] = lambda: False,
) -> Iterator[tuple[str, JobStatus]]:
    """The jobs and how they ended, as they end; `run` returns whether its job succeeded.

    `names`: in an order in which each comes after its parents. A job is skipped if one of its parents failed or was
    skipped and, unless `keeps_going`, if any job has failed before it starts. What `run` raises is raised here once the
    running jobs have ended.
    """
    ended: dict[str, JobStatus] = {}
    waiting, running = list(names), dict[Future[bool], str]()
    with ThreadPoolExecutor(max(1, workers), thread_name_prefix="job") as pool:
        while waiting or running:
            has_failed = JobStatus.ERROR in ended.values()
            stops = is_stopped() or (has_failed and not keeps_going)
            for name in list(waiting):
                before = parents[name] & frozenset(names)
                if stops or any(ended.get(parent) in (JobStatus.ERROR, JobStatus.SKIPPED) for parent in before):
                    waiting.remove(name)
                    ended[name] = JobStatus.SKIPPED
                    yield name, JobStatus.SKIPPED
                elif len(running) < workers and all(parent in ended for parent in before):
                    waiting.remove(name)
                    running[pool.submit(run, name)] = name
            if not running:
                continue
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                name = running.pop(future)
                ended[name] = JobStatus.SUCCESS if future.result() else JobStatus.ERROR
                yield name, ended[name]
