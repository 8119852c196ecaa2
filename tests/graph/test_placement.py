"""What OpenVINO throws -> a code, a sentence that names the device, and a fix."""

from __future__ import annotations

import pytest

from vinode.graph.placement import PYTHON_NODE, Code, Placement, Reason, absent, classify, last_line

# Texts of OpenVINO 2026.4, as its plugins throw them; places in its sources stand before them.
TEXTS: list[tuple[str, Code]] = [
    (
        "VCL compiler loading failed, aborting. Error: Cannot load library"
        ' "/opt/openvino/libs/libopenvino_intel_npu_compiler_loader.so": cannot open shared object'
        " file: No such file or directory",
        "compiler-missing",
    ),
    (
        "Could not find an NPU device. The driver compiler requires a valid device to be present in"
        " the system.",
        "device-absent",
    ),
    ("No available devices", "device-absent"),
    ("No available backend", "device-absent"),
    (
        "Failed to create compiler for getting property NPU_PLATFORM with error: VCL compiler"
        " loading failed, aborting.",
        "compiler-missing",
    ),
    (
        "Could not import the model: No backend registered during model import",
        "device-absent",
    ),
    ("Level zero backend is not found!", "device-absent"),
    (
        "Got an error during backend 'npu_level_zero_backend' loading : Cannot load library"
        ' "libze_loader.so.1": cannot open shared object file: No such file or directory',
        "driver-missing",
    ),
    (
        "dlSym cannot locate method 'zeCommandListHostSynchronize': undefined symbol:"
        " zeCommandListHostSynchronize",
        "driver-too-old",
    ),
    (
        "None of the backends were initialized successfully.Only offline compilation can be done!",
        "driver-missing",
    ),
    (
        "L0 pfnCreate2 result: ZE_RESULT_ERROR_INVALID_ARGUMENT, code 0x78000004 - generic error"
        " code for invalid arguments. Upper bounds were not specified, got the default value -"
        " '9223372036854775807'",
        "dynamic-shape",
    ),
    ("Missing upper bound for one or more nodes.", "dynamic-shape"),
    ("to_shape was called on a dynamic shape", "dynamic-shape"),
    ("get_shape was called on a descriptor::Tensor with dynamic shape", "dynamic-shape"),
    ("Dynamic rank is not supported for NPU plugin", "dynamic-shape"),
    ("Failed Pass StaticAllocation: Failed to statically allocate 'DDR'", "out-of-memory"),
    (
        "L0 zeMemAllocHost result: ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, code 0x70000002 -"
        " insufficient host memory",
        "out-of-memory",
    ),
    ("ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, code 0x70000003", "out-of-memory"),
    ("ZE_RESULT_ERROR_DEVICE_LOST, code 0x70000001 - device hung", "device-lost"),
    ("Failed to compile Model0_FCEW000__0 for all devices in [NPU]", "compile-failed"),
    ("Incompatibility between NPU plugin and driver!", "driver-too-old"),
    ("Turbo is not supported by the current driver", "driver-too-old"),
    (
        "The WorkloadType property is not supported by the current Driver Version!",
        "driver-too-old",
    ),
    ("Unknown NPU platform: 9000", "compile-failed"),
    (
        "Profiling post-processing requires the NPU plugin compiler library",
        "compiler-missing",
    ),
    (
        'Cannot load library "/opt/openvino/libs/libopenvino_intel_gpu_plugin.so":'
        " libOpenCL.so.1: cannot open shared object file: No such file or directory",
        "driver-missing",
    ),
    (
        "[GPU] Can't get PERFORMANCE_HINT property as no supported devices found or an error"
        " happened during devices query.",
        "device-absent",
    ),
    ("[GPU] Context was not initialized for 0 device", "device-absent"),
    (
        "[GPU] ProgramBuilder build failed! clBuildProgram, error code: -11"
        " CL_BUILD_PROGRAM_FAILURE",
        "compile-failed",
    ),
    ('Device with "FOO" name is not registered in the OpenVINO Runtime', "device-absent"),
    ("CPU plugin supports only '' as device id", "device-absent"),
    (
        "Please, check environment due to no supported devices can be used",
        "device-absent",
    ),
    (
        "Hetero device used default fallback policy, but some layers eg: (Name:custom, Type: MyOp)"
        " were not able to be assigned on any pointed device.",
        "op-unsupported",
    ),
    (
        "Unsupported operation of type: MyOp name: custom Cannot fallback on ngraph reference"
        " implementation",
        "op-unsupported",
    ),
    ("std::bad_alloc", "out-of-memory"),
    ("something that nobody has seen before", "compile-failed"),
]


@pytest.mark.parametrize(("text", "code"), TEXTS)
def test_each_text_has_its_code(text: str, code: Code) -> None:
    """Behind OpenVINO's places in its sources, and with a fix."""
    thrown = (
        f"Exception from src/inference/src/cpp/core.cpp:105:\nException from src/x.cpp:9:\n{text}\n"
    )
    reason = classify(RuntimeError(thrown), "NPU")
    assert reason.code == code
    assert reason.sentence == f"NPU: {text}"
    assert reason.fix


def test_the_operation_at_fault_is_named() -> None:
    """Type and name, from both plugins' ways of saying it."""
    cpu = "Unsupported operation of type: MyOp name: custom Cannot fallback"
    hetero = "some layers eg: (Name:custom, Type: MyOp) were not able to be assigned"
    assert classify(RuntimeError(cpu), "CPU").ops == ("MyOp custom",)
    assert [set(op.split()) for op in classify(RuntimeError(hetero), "HETERO").ops] == [
        {"custom", "MyOp"}
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Exception from src/a.cpp:1:\nthe reason\n\n", "the reason"),
        ("Exception from src/a.cpp:1:", "Exception from src/a.cpp:1:"),
        ("one\n  two  \n ---- \n", "two"),
        ("", ""),
    ],
)
def test_the_line_that_says_something_is_shown(text: str, line: str) -> None:
    """Not the place in OpenVINO's sources, unless there is nothing else."""
    assert last_line(text) == line


def test_an_absent_device_is_told_with_those_that_are_here() -> None:
    """OpenVINO's own texts blame the compiler."""
    reason = absent("NPU", ("CPU", "GPU"))
    assert str(reason.sentence) == "no NPU is here; OpenVINO finds CPU, GPU"
    assert "vinode doctor" in reason.fix


@pytest.mark.parametrize(
    ("actual", "where"),
    [
        ({"NPU": 1.0}, "NPU"),
        ({"CPU": 0.25, "NPU": 0.75}, "NPU 75%, CPU 25%"),
        ({"NPUSIM_CPU": 1.0}, "NPUSIM_CPU (simulated)"),
        ({}, ""),
    ],
)
def test_a_placement_names_its_devices_the_busiest_first(
    actual: dict[str, float], where: str
) -> None:
    """A stand-in is always called one."""
    assert Placement("AUTO", actual).where == where
    assert Placement("AUTO", actual).simulated == ("NPUSIM_CPU" in actual)


def test_python_is_no_fault() -> None:
    """A node of Python runs on the CPU by nature."""
    assert PYTHON_NODE.where == "CPU"
    assert PYTHON_NODE.reasons == (
        Reason("python-node", "it is Python by nature and runs on the CPU"),
    )
