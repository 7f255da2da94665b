"""The runs of several jobs are named by the jobs, so that a rerun finds them wherever a job was added."""

from engine.state.file_names import run_ids


def ids(*jobs: tuple[str, str]) -> tuple[str, ...]:
    return run_ids("d1", [name for name, _ in jobs], [file for _, file in jobs])


def test_one_job_has_the_id_itself():
    assert ids(("a", "a.conf")) == ("d1",)


def test_an_inserted_job_changes_no_other_id():
    assert ids(("a", "a.conf"), ("c", "c.conf")) == ("d1.a", "d1.c")
    assert ids(("a", "a.conf"), ("b", "b.conf"), ("c", "c.conf")) == ("d1.a", "d1.b", "d1.c")
    assert ids(("c", "c.conf"), ("a", "a.conf")) == ("d1.c", "d1.a")


def test_jobs_of_one_name_are_named_by_their_files():
    first, second = ids(("load", "x/load.conf"), ("load", "y/load.conf"))
    assert first != second
    assert ids(("load", "y/load.conf"), ("load", "x/load.conf")) == (second, first)


def test_names_that_are_no_file_names_stay_apart():
    assert len(set(ids(("orders eu", "a"), ("orders_eu", "b"), ("заказы", "c"), ("../x", "d")))) == 4
    assert not any("/" in found or " " in found for found in ids(("orders eu", "a"), ("../x", "b")))


def test_a_file_that_is_named_twice_is_numbered():
    first, second = ids(("a", "a.conf"), ("a", "a.conf"))
    assert second == f"{first}-2"
