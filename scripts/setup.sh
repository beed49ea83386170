# Shared by ./run, ./test and scripts: installs missing packages, finds or installs torch, and builds.
# Every function is idempotent.

say() { printf '\033[1m==>\033[0m %s\n' "$*"; }
give_up() { printf 'error: %s\n' "$*" >&2; exit 1; }

cache_dir="${XDG_CACHE_HOME:-$HOME/.cache}/jointer"

build_packages=(
  g++ cmake ninja-build ccache pkg-config git ca-certificates
  libboost-dev libexpected-dev libfmt-dev libsimdjson-dev nlohmann-json3-dev libcli11-dev libzstd-dev libssl-dev
  libsqlite3-dev zlib1g-dev
  qt6-base-dev qt6-svg-dev fonts-dejavu-core python3 python3-dev python3-venv
)
test_packages=(
  libgtest-dev libgmock-dev librapidcheck-dev libbenchmark-dev
  clang clang-format clang-tidy graphviz xvfb xauth
)

is_installed() { dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q '^install ok installed'; }

# ensure_packages NAME...: installs those of the distribution's packages that are missing.
ensure_packages() {
  local missing=()
  command -v dpkg-query >/dev/null || give_up "this script supports only Debian 12 and Ubuntu 24.04; on other systems, install the packages listed in scripts/setup.sh and run cmake --preset release"
  for package in "$@"; do is_installed "$package" || missing+=("$package"); done
  if [ ${#missing[@]} -eq 0 ]; then return; fi
  local sudo=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || give_up "packages are missing and sudo is not available; as root, run: apt-get install ${missing[*]}"
    sudo=(sudo)
  fi
  say "installing ${#missing[@]} packages: ${missing[*]}"
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# Installs the sanitizers' runtime; the package's name contains clang's version.
ensure_clang_runtime() {
  local version
  version=$(clang --version | sed -n 's/.*version \([0-9]*\).*/\1/p' | head -n 1)
  ensure_packages "libclang-rt-$version-dev"
}

# The newest supported torch, and the versions that ./test --all uses. Minor versions in between are supported too.
torch_newest=2.15.0
torch_tested=(2.11.0 2.13.0 2.15.0)
# Packages that tests use in addition to torch, and those that they use only with the newest torch.
torch_packages=(jsonschema numpy pytest zstandard)
torch_newest_packages=(torchtitan==0.3.0)

# torch_of PYTHON MODULE...: prints the version of the Python's torch; nothing if it is not between 2.11 and 2.15, or
# if a module is missing.
torch_of() {
  "$1" - "${@:2}" <<'END' 2>/dev/null
import sys
from importlib import metadata, util

version = metadata.version("torch").split("+")[0]
major, minor = map(int, version.split(".")[:2])
if major == 2 and 11 <= minor <= 15 and all(map(util.find_spec, sys.argv[1:])):
    print(version)
END
}

# Sets $torch_python to the first Python with a supported torch and the capture helper's packages: the active Python,
# then the environments in the user's cache (shared by all clones), then a new environment there with the newest torch.
ensure_torch() {
  local each modules=(numpy zstandard)
  if [ -n "$(torch_of python3 "${modules[@]}")" ]; then
    torch_python=$(command -v python3)
    return
  fi
  for each in $(ls -d "$cache_dir"/torch-2.* 2>/dev/null | sort -rV); do
    if [ -n "$(torch_of "$each/bin/python" "${modules[@]}")" ]; then
      torch_python=$each/bin/python
      return
    fi
  done
  ensure_torch_version "$torch_newest"
}

# ensure_torch_version VERSION: sets $torch_python to a Python with that torch and the tests' packages: the active
# Python, or an environment in the user's cache, which is created if necessary.
ensure_torch_version() {
  local version=$1 env="$cache_dir/torch-$1" packages=("torch==$1" "${torch_packages[@]}")
  local modules=("${torch_packages[@]}")
  if [ "$version" = "$torch_newest" ]; then
    packages+=("${torch_newest_packages[@]}")
    modules+=(torchtitan)
  fi
  if [ "$(torch_of python3 "${modules[@]}")" = "$version" ]; then
    torch_python=$(command -v python3)
    return
  fi
  torch_python="$env/bin/python"
  if [ -x "$torch_python" ] && [ "$(torch_of "$torch_python" "${modules[@]}")" = "$version" ]; then return; fi
  say "installing torch $version into $env (about 6 GB)"
  mkdir -p "$cache_dir"
  python3 -m venv "$env" || give_up "python3 -m venv failed; is python3-venv installed?"
  "$torch_python" -m pip install --quiet "${packages[@]}" ||
    give_up "could not install torch $version; see the message above"
}

# build PRESET [CMAKE-OPTION...]: configures and builds.
build() {
  local preset=$1
  shift
  say "configuring $preset"
  cmake --preset "$preset" "$@" >"build-$preset.log" 2>&1 || { cat "build-$preset.log"; rm -f "build-$preset.log"; give_up "could not configure"; }
  rm -f "build-$preset.log"
  say "building $preset"
  cmake --build --preset "$preset" -- --quiet
}

# build_with_torch VERSION: builds the release preset, with a runner for that torch. scripts/benchmark builds
# the benchmarks.
build_with_torch() {
  say "checking torch"
  ensure_torch_version "$1"
  say "using torch $1 from $torch_python"
  build release -DJOINTER_TESTS=ON -DJOINTER_BENCHMARKS=OFF -DJOINTER_RUNNER=ON -DJOINTER_PYTHON="$torch_python"
}
