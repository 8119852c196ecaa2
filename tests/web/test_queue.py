"""The queue: order, history, and what a restart makes of a run that ran."""

from __future__ import annotations

import json
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vinode.web.queue import TRIES, Queue
from vinode.web.runs import Ended, NewRun, QueueError, Run

NEW = NewRun('{"1": {"class_type": "EmptyImage", "inputs": {}}}')
DONE = Ended("done", '{"1": {"images": []}}', '[["execution_success", {}]]', '{"status": "done"}')


@pytest.fixture
def queue(tmp_path: Path) -> Generator[Queue]:
    """Give a new queue."""
    with Queue(tmp_path / "queue.sqlite") as queue:
        yield queue


def submit(queue: Queue, *names: str) -> None:
    """Hand in runs by these names."""
    for name in names:
        queue.submit(replace(NEW, id=name))


def order(queue: Queue) -> list[str]:
    """Name the runs that wait, in the order in which they will run."""
    return [run.id for run in queue.pending()]


def take(queue: Queue) -> Run:
    """Begin the next run; there has to be one."""
    run = queue.take()
    assert run is not None
    return run


def end(queue: Queue, *names: str) -> None:
    """Hand in runs and bring them to their end."""
    for name in names:
        submit(queue, name)
        take(queue)
        queue.finish(name, DONE)


def test_a_run_comes_back_as_it_was_handed_in(queue: Queue) -> None:
    """Texts are not written anew, whatever is in them."""
    new = NewRun(
        ' {"1":{}}\n',
        id="mine",
        number=-2.5,
        client_id="c",
        extra_data='{"a": "ä"}',
        targets=("1", "2"),
        options={"device": "NPU!"},
    )
    assert queue.submit(new).number == -2.5
    run = queue.get("mine")
    assert run is not None
    shared = ("prompt", "id", "number", "client_id", "extra_data", "targets", "options")
    assert {name: getattr(run, name) for name in shared} == {
        name: getattr(new, name) for name in shared
    }
    assert (run.state, run.started, run.ended, run.tries) == ("pending", 0, 0, 0)


def test_half_a_letter_is_no_reason_to_refuse(queue: Queue) -> None:
    """JSON may say \\ud83d alone; what cannot be kept as it is becomes a question mark."""
    id = queue.submit(NewRun('{"1": "\ud83d"}', client_id="\ud83d", extra_data='{"\ud83d": 1}')).id
    run = queue.get(id)
    assert run is not None
    assert (run.prompt, run.client_id, run.extra_data) == ('{"1": "?"}', "?", '{"?": 1}')
    assert queue.get("\ud83d") is None


def test_lower_numbers_run_first_and_equal_ones_in_order(queue: Queue) -> None:
    """As ComfyUI's `number` has it; the next `front` stands before the one before."""
    submit(queue, "a", "b")
    queue.submit(replace(NEW, id="first", front=True))
    queue.submit(replace(NEW, id="before", front=True))
    queue.submit(replace(NEW, id="same", number=queue.pending()[-1].number))
    assert order(queue) == ["before", "first", "a", "b", "same"]
    assert [take(queue).id for _ in range(5)] == ["before", "first", "a", "b", "same"]
    assert queue.take() is None


def test_an_id_is_taken_once(queue: Queue) -> None:
    """Even where the run that has it is over; nothing of the second is kept."""
    end(queue, "a")
    with pytest.raises(QueueError, match="prompt_id: another run has it; got a"):
        submit(queue, "a")
    assert (queue.remaining(), queue.ended()) == (0, 1)
    ids = {queue.submit(NEW).id for _ in range(5)}
    assert len(ids) == 5


def test_a_queue_does_not_grow_for_ever(queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refused is what comes after that, until one has run."""
    monkeypatch.setattr("vinode.web.queue.MOST", 3)
    submit(queue, "a", "b", "c")
    with pytest.raises(QueueError, match="the queue: 3 runs wait already; wait, or clear it"):
        submit(queue, "d")
    take(queue)
    queue.finish("a", DONE)
    submit(queue, "d")


def test_what_ended_is_kept_whole(queue: Queue) -> None:
    """Outputs, messages and report, and when."""
    submit(queue, "a")
    begun = take(queue)
    assert (begun.state, begun.tries) == ("running", 1)
    assert begun.started >= begun.accepted > 0
    assert [run.id for run in queue.running()] == ["a"]
    assert queue.finish("a", DONE)
    run = queue.get("a")
    assert run is not None
    assert Ended("done", run.outputs, run.messages, run.report) == DONE
    assert run.ended >= run.started
    assert not queue.finish("a", Ended("failed"))
    assert queue.get("a") == run
    assert queue.history(10) == [replace(run, report="")]


@pytest.mark.parametrize("keep", [0, 1, 4, 9])
def test_the_newest_are_kept(queue: Queue, keep: int) -> None:
    """What waits is never cut."""
    end(queue, *"abcdef")
    submit(queue, "waiting")
    assert queue.prune(keep) == max(0, 6 - keep)
    assert [run.id for run in queue.history(10)] == list("fedcba")[:keep]
    assert order(queue) == ["waiting"]


@given(st.integers(0, 12), st.integers(1, 5))
def test_pages_of_the_history_have_each_run_once(
    tmp_path_factory: pytest.TempPathFactory, count: int, limit: int
) -> None:
    """The newest first, though many ended within one tick of the clock."""
    with Queue(tmp_path_factory.mktemp("pages") / "queue.sqlite") as queue:
        names = [str(number) for number in range(count)]
        end(queue, *names)
        pages: list[list[Run]] = [queue.history(limit)]
        while pages[-1]:
            pages.append(queue.history(limit, before=pages[-1][-1].ended))
        assert [run.id for page in pages for run in page] == names[::-1]
        assert [run.id for run in queue.history(limit, offset=2)] == names[::-1][2 : 2 + limit]


def test_a_light_history_has_no_large_texts(queue: Queue) -> None:
    """All else is there."""
    end(queue, "a")
    whole = queue.get("a")
    assert whole is not None
    (light,) = queue.history(1, light=True)
    assert light == replace(whole, prompt="", extra_data="{}", messages="[]", report="")


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 7)), max_size=8))
def test_moving_is_what_a_list_does(
    tmp_path_factory: pytest.TempPathFactory, moves: list[tuple[int, int]]
) -> None:
    """Wherever to, and however often; what is handed in later still runs later."""
    with Queue(tmp_path_factory.mktemp("moves") / "queue.sqlite") as queue:
        expected = list("abcdef")
        for name in expected:
            queue.submit(replace(NEW, id=name, number=1.0 if name in "cd" else None))
        expected = order(queue)
        for which, where in moves:
            name = expected.pop(which)
            expected.insert(where, name)
            assert queue.move(name, where)
            assert order(queue) == expected
        submit(queue, "last")
        assert order(queue) == [*expected, "last"]


def test_only_what_waits_can_be_moved_or_cancelled(queue: Queue) -> None:
    """Not what runs, has ended, or was never there."""
    end(queue, "over")
    submit(queue, "runs", "waits")
    take(queue)
    for id in ("over", "runs", "unknown"):
        assert not queue.move(id, 0)
        assert not queue.prioritize(id, 5.0)
        assert not queue.to_front(id)
        assert not queue.cancel(id)
    assert queue.to_front("waits")
    assert queue.cancel("waits")
    assert [(run.id, run.state) for run in queue.history(5)] == [
        ("waits", "cancelled"),
        ("over", "done"),
    ]


def test_forgetting(queue: Queue) -> None:
    """Runs that wait and runs that ended go; the one that runs stays."""
    end(queue, "over", "over2")
    submit(queue, "runs", "a", "b", "c")
    take(queue)
    assert queue.delete(["over", "runs", "a", "unknown"]) == ["over", "a"]
    assert queue.clear() == 2
    assert queue.clear_history() == 1
    assert [run.id for run in queue.running()] == ["runs"]
    assert (queue.remaining(), queue.ended()) == (1, 0)


def test_a_pause_holds_over_a_restart(tmp_path: Path) -> None:
    """Nothing is begun; what is handed in is accepted."""
    with Queue(tmp_path / "queue.sqlite") as queue:
        queue.pause()
        submit(queue, "a")
        assert queue.take() is None
    with Queue(tmp_path / "queue.sqlite") as queue:
        assert queue.paused
        assert queue.take() is None
        queue.resume()
        assert take(queue).id == "a"


def test_running_again_is_a_run_of_its_own(queue: Queue) -> None:
    """Same prompt, targets and options; new id, at the end of the queue."""
    queue.submit(replace(NEW, id="a", number=-50.0, targets=("1",), options={"device": "GPU"}))
    take(queue)
    queue.finish("a", DONE)
    submit(queue, "b")
    again = queue.rerun("a")
    assert again is not None
    assert order(queue) == ["b", again.id]
    old, new = queue.get("a"), queue.get(again.id)
    assert old is not None
    assert new is not None
    assert (new.prompt, new.targets, new.options) == (old.prompt, old.targets, old.options)
    assert queue.rerun("unknown") is None


def test_a_run_that_ran_when_the_server_died_runs_once_more(tmp_path: Path) -> None:
    """Where it waited before; a second time it has failed, and what waits goes on."""
    path = tmp_path / "queue.sqlite"
    with Queue(path) as queue:
        submit(queue, "a", "b")
        take(queue)  # and the server dies
    for number in range(1, TRIES):
        with Queue(path) as queue:
            assert queue.interrupted == ("a",)
            assert order(queue) == ["a", "b"]
            assert take(queue).tries == number + 1
    with Queue(path) as queue:
        assert queue.interrupted == ()
        (run,) = queue.history(5)
        ((event, data),) = json.loads(run.messages)
        assert (run.id, run.state, event) == ("a", "failed", "execution_error")
        assert data["exception_message"].startswith("the server ended 2 times while this ran")
        assert take(queue).id == "b"


def test_a_run_that_is_put_back_has_not_been_tried(tmp_path: Path) -> None:
    """However often the server is stopped in its midst."""
    for _ in range(4):
        with Queue(tmp_path / "queue.sqlite") as queue:
            if not order(queue):
                submit(queue, "a")
            assert take(queue).tries == 1
            assert queue.put_back("a")
            assert not queue.put_back("a")
