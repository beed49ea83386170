"""The sources of the programs, for a machine whose glibc or libstdc++ is too old for the packed programs.

    python -m acceptance.sources pack BUILD FOLDER    copies what a build in BUILD was made from
    python -m acceptance.sources build FOLDER OUT     builds it with this machine's g++ and the torch of this Python

FOLDER contains the project's files, the generated ones, the headers of libraries and the libraries themselves, and
``build.json``, which lists the files of each program. Needs g++ 11 or newer; jointer-runner-cuda also needs the headers
of CUDA, from nvcc's toolkit or from torch's NVIDIA packages.
"""

from __future__ import annotations

import concurrent.futures
import glob
import importlib.util
import json
import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

RUNNERS = ("jointer-runner", "jointer-runner-cuda")
PROGRAMS = ("jointer", "jointer-plugin-host", *RUNNERS)
#: Folders of the project without which no program can be built.
_FOLDERS = ("core", "passes", "plugins", "app", "resources/ops", "resources/devices", "resources/schema")
#: Headers of libraries that a machine without a package manager may lack, below /usr/include.
_HEADERS = ("boost", "fmt", "nlohmann", "tl", "CLI", "openssl", "simdjson", "sqlite3", "zlib", "zconf", "zstd", "zdict")
#: Libraries that are linked: archives where the distribution has them.
_ARCHIVES = ("libsqlite3.a", "libcrypto.a", "libzstd.a", "libz.a")
_SHARED = "libsimdjson.so"
_OLDEST_GXX = 11


class BuildError(Exception):
    """A program cannot be built; the message says why, in one line."""


@dataclass
class Unit:
    """A file that is compiled. ``defines``: without ``-D``."""

    source: str
    defines: list[str]
    uses_torch: bool = False
    uses_cuda: bool = False
    programs: list[str] = field(default_factory=list)


def read_units(commands: dict[str, list[str]], project: Path, build: Path) -> list[Unit]:
    """The files that the compile commands of each program name."""
    units: dict[tuple[str, ...], Unit] = {}
    for program, lines in commands.items():
        for line in lines:
            words = shlex.split(line)
            if "-c" not in words or not words[-1].endswith(".cpp"):
                continue  # precompiled headers, archives, links
            path = Path(words[-1])
            path = path if path.is_absolute() else build / path
            name = str(_in_folder(path, project, build))
            # fmt's library is not carried: its headers are enough.
            defines = sorted({w[2:] for w in words if w.startswith("-D")} - {"FMT_SHARED"})
            if "FMT_HEADER_ONLY=1" not in defines:
                defines.append("FMT_HEADER_ONLY=1")
            unit = units.setdefault((name, *defines), Unit(name, defines))
            unit.uses_torch = any("/torch/include" in word for word in words)
            unit.uses_cuda = "USE_CUDA" in defines
            unit.programs.append(program)
    return list(units.values())


def _in_folder(path: Path, project: Path, build: Path) -> Path:
    if path.is_relative_to(build):
        return Path("generated") / path.relative_to(build)
    return path.relative_to(project)


def pack(project: Path, build: Path, folder: Path) -> None:
    commands = {
        program: _lines("ninja", "-C", build, "-t", "commands", f"bin/{program}")
        for program in PROGRAMS
        if (build / "bin" / program).exists()
    }
    units = read_units(commands, project, build)
    shutil.rmtree(folder, ignore_errors=True)
    for name in _FOLDERS:
        shutil.copytree(project / name, folder / name, ignore=shutil.ignore_patterns("desktop"))
    for unit in units:
        if unit.source.startswith("generated/"):
            made = build / Path(unit.source).relative_to("generated")
            (folder / unit.source).parent.mkdir(parents=True, exist_ok=True)
            # The assembler reads embedded files by their path, which is then relative to the folder.
            text = made.read_text().replace(f"{project}/", "")
            (folder / unit.source).write_text(text)
    shutil.copytree(build / "embedded", folder / "generated/embedded", dirs_exist_ok=True,
                    ignore=shutil.ignore_patterns("*.cpp"))  # fmt: skip
    _copy_headers(_lines("ninja", "-C", build, "-t", "deps"), folder / "include")
    _copy_libraries(folder / "lib")
    (folder / "build.json").write_text(json.dumps([vars(unit) for unit in units], indent=1) + "\n")


def _copy_headers(lines: list[str], to: Path) -> None:
    for path in sorted({line.strip() for line in lines if line.strip().startswith("/usr/include/")}):
        parts = Path(path).parts[3:]
        inner = parts[1:] if parts[0].endswith("-linux-gnu") else parts
        if inner[0].split(".")[0].split("_")[0] in _HEADERS:
            target = to.joinpath(*inner)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
    # With FMT_HEADER_ONLY, fmt's headers include others than in the build that was packed.
    shutil.copytree("/usr/include/fmt", to / "fmt", dirs_exist_ok=True)


def _copy_libraries(to: Path) -> None:
    to.mkdir(parents=True, exist_ok=True)
    for name in (*_ARCHIVES, _SHARED):
        path = subprocess.run(["g++", f"-print-file-name={name}"], capture_output=True, text=True, check=True)
        shutil.copy(os.path.realpath(path.stdout.strip()), to / name)


def _lines(*command: object) -> list[str]:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@dataclass
class Torch:
    """The headers and libraries of the torch of this Python, and of CUDA."""

    folder: Path
    cuda_include: Path | None
    libraries: list[Path]  # folders of NVIDIA's libraries

    @classmethod
    def of_this_python(cls) -> Torch:
        spec = importlib.util.find_spec("torch")
        if spec is None or not spec.submodule_search_locations:
            raise BuildError(f"{sys.executable} has no torch; set JOINTER_PYTHON to a Python that has it")
        folder = Path(spec.submodule_search_locations[0])
        packages = [Path(path) for path in glob.glob(str(folder.parent / "nvidia/*"))]
        nvcc = shutil.which("nvcc")
        candidates = [Path(nvcc).resolve().parents[1]] if nvcc else []
        found = (c / "include" for c in [*candidates, *packages])
        include = next((i for i in found if (i / "cuda_runtime.h").exists()), None)
        return cls(folder, include, [p / "lib" for p in packages if (p / "lib").is_dir()])

    @property
    def has_cuda(self) -> bool:
        return self.cuda_include is not None and (self.folder / "lib/libtorch_cuda.so").exists()

    def includes(self, uses_cuda: bool) -> list[str]:
        include = self.folder / "include"
        folders = [include, include / "torch/csrc/api/include"]
        if uses_cuda:
            folders += [self.folder.parent / "nvidia/nccl/include", self.cuda_include or Path()]
        return [word for each in folders for word in ("-isystem", str(each))]

    def libraries_of(self, program: str) -> list[str]:
        lib = self.folder / "lib"
        words = [f"-Wl,-rpath,{lib}", str(lib / "libtorch_cpu.so"), str(lib / "libc10.so")]
        if program != "jointer-runner-cuda":
            return words
        # No symbol of libtorch_cuda is referenced: its operators register themselves on loading.
        words += ["-Wl,--no-as-needed", str(lib / "libtorch_cuda.so"), str(lib / "libc10_cuda.so"), "-Wl,--as-needed"]
        words += [f"-Wl,-rpath,{each}" for each in self.libraries]
        words += [f"-Wl,-rpath-link,{each}" for each in self.libraries]
        for pattern in ("libnccl.so.*", "libcudart.so.*"):
            words += [path for each in self.libraries for path in glob.glob(str(each / pattern))][:1]
        return words


def build(folder: Path, out: Path) -> list[str]:
    """Builds the programs; returns the names of those that were built."""
    _check_compiler()
    torch = Torch.of_this_python()
    units = [Unit(**unit) for unit in json.loads((folder / "build.json").read_text())]
    wanted = [p for p in PROGRAMS if p != "jointer-runner-cuda" or torch.has_cuda]
    units = [unit for unit in units if set(unit.programs) & set(wanted)]
    objects = out / "objects"
    objects.mkdir(parents=True, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(_compile, folder, unit, torch, objects / f"{i}.o") for i, unit in enumerate(units)]
        for done, job in enumerate(concurrent.futures.as_completed(jobs), 1):
            job.result()
            print(f"\rcompiled {done} of {len(jobs)} files", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    (out / "lib").mkdir(exist_ok=True)
    shutil.copy(folder / "lib" / _SHARED, out / "lib" / _soname(folder / "lib" / _SHARED))
    built = []
    for program in wanted:
        of_program = [str(objects / f"{i}.o") for i, unit in enumerate(units) if program in unit.programs]
        if not of_program:
            continue
        libraries = [str(folder / "lib" / name) for name in (*_ARCHIVES, _SHARED)]
        if program in RUNNERS:
            libraries = torch.libraries_of(program) + libraries
        (out / "bin").mkdir(exist_ok=True)
        _run("g++", "-o", out / "bin" / program, *of_program, *libraries, "-lpthread", "-ldl")
        built.append(program)
    return built


def _check_compiler() -> None:
    if shutil.which("g++") is None:
        raise BuildError("there is no g++ to build them here; install one, or use a newer system")
    version = _lines("g++", "-dumpversion")[0]
    if int(version.split(".")[0]) < _OLDEST_GXX:
        raise BuildError(f"g++ {version} is too old to build them here: {_OLDEST_GXX} or newer is needed")


def _compile(folder: Path, unit: Unit, torch: Torch, to: Path) -> None:
    # Torch's headers include its own fmt, and precede that of the folder.
    includes = ["-I.", "-Igenerated"] + (torch.includes(unit.uses_cuda) if unit.uses_torch else [])
    includes += ["-isystem", "include"]
    defines = [f"-D{each}" for each in unit.defines]
    _run("g++", "-std=c++20", "-O1", "-w", *defines, *includes, "-c", unit.source, "-o", to.resolve(), cwd=folder)


def _soname(library: Path) -> str:
    """The name by which programs look for a shared library: libsimdjson.so.14."""
    for line in _lines("objdump", "-p", library):
        if line.split()[:1] == ["SONAME"]:
            return line.split()[1]
    return library.name


def _run(*command: object, cwd: Path | None = None) -> None:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd=cwd)
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if "error" in line] or [done.stderr.strip()[-500:]]
        raise BuildError(f"g++ failed: {errors[0]}")


def main() -> int:
    if len(sys.argv) != 4 or sys.argv[1] not in ("pack", "build"):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        if sys.argv[1] == "pack":
            pack(Path.cwd(), Path(sys.argv[2]).resolve(), Path(sys.argv[3]))
        else:
            print("built " + ", ".join(build(Path(sys.argv[2]), Path(sys.argv[3]))))
    except BuildError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
