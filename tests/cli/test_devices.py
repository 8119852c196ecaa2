"""Where nodes ran and why, end to end: the real program with a simulated device."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.probe_pack import SIM, SOFTMAX, prepare, simulate, write
from tests.cli.program import run_program
from vinode.cli import call

REFUSES = simulate(refused=["Softmax"])
SPLIT = f"HETERO:{SIM},CPU"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def told(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> Any:
    """Run and give the JSON report."""
    capsys.readouterr()
    assert call(["run", *words, "--timing", "json"]) == code
    return json.loads(capsys.readouterr().out)


def table(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    """Run and give what a person reads."""
    capsys.readouterr()
    assert call(["run", *words]) == code
    return capsys.readouterr().out


def of(report: Any, node: str = "3") -> Any:
    """Give a node of a report."""
    return next(each for each in report["nodes"] if each["id"] == node)


def test_the_hint_is_honoured(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And what is simulated says so; what has nothing to say is left out."""
    words = prepare(here, SIM)
    where = of(told(capsys, *words, *simulate()))["placement"]
    assert where["where"] == f"{SIM} (simulated)"
    assert (where["requested"], where["actual"], where["reasons"]) == (SIM, {SIM: 1.0}, [])
    assert where["simulated"] is True
    assert where["snr_db"] > 20  # the CPU may compute in half precision
    assert not {"splits", "between", "ops"} & where.keys()
    assert where["busiest"][0]["seconds"] > 0
    python = of(told(capsys, *words, *simulate()), "2")["placement"]
    assert python.keys() == {"requested", "actual", "where", "reasons"}


def test_the_file_gives_way_to_the_command_line(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """For all nodes, for one, and for a class."""
    words = [*prepare(here, SIM), *simulate()]
    for device in ("CPU", "3=CPU", "Probe=cpu"):
        assert of(told(capsys, *words, "--device", device))["placement"]["where"] == "CPU"


def test_one_refused_operation_is_named_with_its_place_and_fixes(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the table and in the report; other nodes have no reason."""
    words = [*prepare(here, SIM), *REFUSES]
    report = told(capsys, *words)
    where = of(report)["placement"]
    assert where["where"] == "CPU"
    (reason,) = where["reasons"]
    assert reason["code"] == "op-unsupported"
    assert reason["sentence"] == f"{SIM} does not take 1 operation: Softmax in head"
    assert reason["ops"] == [f"Softmax {SOFTMAX}"]
    assert [(fix["kind"], fix["value"]) for fix in reason["fixes"]] == [
        ("rewrite", "softmax-decomposed"),
        ("device", SPLIT),
        ("device", "CPU"),
        ("advice", ""),
    ]
    others = [each for each in report["nodes"] if each["id"] != "3"]
    codes = {reason["code"] for each in others for reason in each["placement"]["reasons"]}
    assert codes == {"python-node"}
    out = table(capsys, *words)
    assert f"node 3 (Probe) [simulated] [op-unsupported] {SIM} does not take 1" in out


def test_where_a_fall_back_is_forbidden_the_node_fails_with_its_reason(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 1; the reason is in the report as for a node that ran."""
    node = of(told(capsys, *prepare(here, f"{SIM}!"), *REFUSES, code=1))
    assert node["state"] == "failed"
    assert [fault["code"] for fault in node["faults"]] == ["op-unsupported"]
    assert [reason["code"] for reason in node["placement"]["reasons"]] == ["op-unsupported"]
    assert node["placement"]["reasons"][0]["fixes"][0]["value"] == "softmax-decomposed"


def test_a_split_is_told_as_it_is(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Three submodels, two crossings of 256 bytes, and the operation that forces them."""
    words = [*prepare(here, SPLIT), *REFUSES]
    where = of(told(capsys, *words))["placement"]
    (split,) = where["splits"]
    assert [device for device, _ in split["submodels"]] == [SIM, "CPU", SIM]
    assert [(each["source"], each["target"], each["bytes"]) for each in split["crossings"]] == [
        (SIM, "CPU", 256),
        ("CPU", SIM, 256),
    ]
    assert split["bytes"] == 512
    assert [each["name"] for each in split["refused"]] == [SOFTMAX]
    assert set(where["actual"]) == set(where["ops"]) == {SIM, "CPU"}
    assert where["between"] >= 0
    out = table(capsys, *words)
    assert f"node 3 (Probe) [simulated] runs as 3 submodels: {SIM} (simulated) " in out
    words_of_it = " ".join(out.split())
    assert f"2 crossings, 512 B; {SIM} (simulated) does not take Softmax in head" in words_of_it


def test_a_rewrite_brings_the_node_to_its_device(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What ran has other operations, with the place of the old one."""
    words = prepare(here, f"{SIM}!", rewrites=["softmax-decomposed"])
    where = of(told(capsys, *words, *REFUSES))["placement"]
    assert (where["where"], where["reasons"]) == (f"{SIM} (simulated)", [])
    out = table(capsys, *words, *simulate(refused=["Softmax"], in_child=True), "--ops")
    lines = [line for line in out.splitlines() if line.startswith("node 3 (Probe) [simulated]")]
    assert any(" ms  " in line and " head  [" in line for line in lines)
    assert len(list((here / "models/compiled").glob("*.blob"))) == 1


def test_a_rewrite_that_finds_nothing_is_told(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is harmless; a mistyped one is not."""
    words = prepare(here, "CPU", rewrites=["bucketize-i32"])
    (reason,) = of(told(capsys, *words))["placement"]["reasons"]
    assert reason["code"] == "option-ignored"
    assert reason["fixes"][0]["value"] == "rewrites.bucketize-i32"
    file = json.loads(Path(words[0]).read_text(encoding="utf-8"))
    file["prompt"]["3"]["_meta"]["rewrites"] = ["bucketise-i32"]
    write(Path(words[0]), file["prompt"])
    assert call(["run", *words]) == 2
    assert "rewrites: no such rewrite; got 'bucketise-i32'; did you mean bucketize-i32?" in (
        capsys.readouterr().err
    )


def test_a_slow_link_shows_as_upload(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """256 bytes at 5,120 a second take 50 ms, and they are no computing."""
    words = prepare(here, SIM)
    node = of(told(capsys, *words, *simulate(bytes_per_second=5120)))
    assert node["phases"]["upload"] >= 0.05
    assert node["phases"]["download"] >= 0.05
    assert of(told(capsys, *words, *simulate()))["phases"]["upload"] < 0.05


def test_a_wrong_answer_falls_back_unless_it_is_accepted(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """How far it is from the CPU's is told either way."""
    words = [*prepare(here, SIM), *simulate(noise=1.0)]
    where = of(told(capsys, *words))["placement"]
    assert (where["where"], [each["code"] for each in where["reasons"]]) == (
        "CPU",
        ["wrong-result"],
    )
    where = of(told(capsys, *words, "--accept-wrong"))["placement"]
    assert where["where"] == f"{SIM} (simulated)"
    assert [each["fix"] for each in where["reasons"]] == ["you chose to accept it"]
    assert -10 < where["snr_db"] < 10
    out = table(capsys, *words, "--accept-wrong")
    assert "node 3 (Probe) [simulated] gives the CPU's answer within" in out


def test_presets_place_by_kind_of_model(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They win over the file, as a hint for all nodes does; a hint for one wins over them."""
    words = prepare(here, SIM)
    file = json.loads(Path(words[0]).read_text(encoding="utf-8"))
    file["prompt"]["4"] = {"class_type": "ProbeUnet", "inputs": {"model": ["1", 1]}}
    write(Path(words[0]), file["prompt"])

    def asked(*hints: str) -> list[str]:
        given = [word for hint in hints for word in ("--device", hint)]
        report = told(capsys, *words, *given)
        return [of(report, node)["placement"]["requested"] for node in ("3", "4")]

    assert asked("unet-npu") == ["CPU", "NPU"]
    assert asked("All-NPU") == ["NPU", "NPU"]
    assert asked("all-gpu", "Probe=CPU") == ["CPU", "GPU"]
    assert asked() == [SIM, "AUTO"]
    assert call(["run", *words, "--device", "unet-nup"]) == 2
    assert "no such device hint; got 'unet-nup'; did you mean unet-npu?" in capsys.readouterr().err
    assert call(["run", *words, "--device", "all-npu!"]) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1]", "--simulate: expected an object"),
        ('{"noize": 1}', "no such field; got 'noize'; did you mean noise?"),
        ('{"noise": "much"}', "--simulate, noise: of the wrong type"),
        ('{"refused": "Softmax"}', "--simulate, refused: of the wrong type"),
    ],
)
def test_a_wrong_simulation_is_told(
    here: Path, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    """Exit code 2."""
    assert call(["run", *prepare(here), "--simulate", text]) == 2
    assert said in capsys.readouterr().err


def test_the_compile_limit_comes_from_the_environment(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A limit that no compile keeps is a reason to run elsewhere."""
    words = prepare(here, SIM)
    monkeypatch.setenv("VINODE_COMPILE_SECONDS", "0.001")
    where = of(told(capsys, *words, *simulate(in_child=True)))["placement"]
    assert [each["code"] for each in where["reasons"]] == ["compile-timeout"]
    for wrong in ("soon", "-1", "nan"):
        monkeypatch.setenv("VINODE_COMPILE_SECONDS", wrong)
        assert call(["run", *words]) == 2
        assert "VINODE_COMPILE_SECONDS: expected seconds" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform != "linux", reason="loaders are found otherwise elsewhere")
@pytest.mark.parametrize("broken", [False, True])
def test_a_hint_is_answered_with_and_without_the_loaders(
    here: Path, monkeypatch: pytest.MonkeyPatch, broken: bool
) -> None:
    """The GPU's plugin names its loader where that does not load; an NPU's says only `absent`."""
    words = prepare(here)
    if broken:
        (here / "loaders").mkdir()
        for name in ("libOpenCL.so.1", "libze_loader.so.1"):
            (here / "loaders" / name).write_bytes(b"")
        monkeypatch.setenv("LD_LIBRARY_PATH", str(here / "loaders"))
    for family in ("GPU", "NPU"):
        out = run_program("run", *words, "--device", f"3={family}", "--timing", "json")[1]
        where = of(json.loads(out))["placement"]
        if family in where["where"]:
            continue  # this machine has one
        (reason,) = where["reasons"]
        told_apart = broken and family == "GPU"
        codes = ["driver-missing"] if told_apart else ["driver-missing", "device-absent"]
        assert reason["code"] in codes
        assert family in reason["sentence"]
        assert "driver" in reason["fix"] or "doctor" in reason["fix"]
        assert where["where"] == "CPU"
