# Shared by ./run and ./test: says what it does, installs what is missing, finds torch.
# Everything here can be run again and again; the second time it only looks.

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

# ensure_packages NAME...: from the distribution.
ensure_packages() {
  local missing=()
  command -v dpkg-query >/dev/null || give_up "this script knows Debian 12 and Ubuntu 24.04; elsewhere install the packages listed in scripts/setup.sh and build with cmake --preset release"
  for package in "$@"; do is_installed "$package" || missing+=("$package"); done
  if [ ${#missing[@]} -eq 0 ]; then return; fi
  local sudo=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || give_up "packages are missing and there is no sudo; as root: apt-get install ${missing[*]}"
    sudo=(sudo)
  fi
  say "installing ${#missing[@]} packages: ${missing[*]}"
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# The sanitizers' runtime is a package named after clang's version.
ensure_clang_runtime() {
  local version
  version=$(clang --version | sed -n 's/.*version \([0-9]*\).*/\1/p' | head -n 1)
  ensure_packages "libclang-rt-$version-dev"
}

# Sets $torch_python to a Python that has torch 2.11 and what the tests use beside it: the active one,
# else a virtual environment in the user's cache, which every clone finds again.
torch_version=2.11.0
ensure_torch() {
  local check='import jsonschema, numpy, pytest, torch, zstandard; assert torch.__version__.startswith("2.11")'
  if python3 -c "$check" 2>/dev/null; then
    torch_python=$(command -v python3)
    return
  fi
  local env="$cache_dir/torch-$torch_version"
  torch_python="$env/bin/python"
  if [ -x "$torch_python" ] && "$torch_python" -c "$check" 2>/dev/null; then return; fi
  say "installing torch $torch_version into $env (about 5 GB, once)"
  mkdir -p "$cache_dir"
  python3 -m venv "$env" || give_up "python3 -m venv failed; is python3-venv installed?"
  "$env/bin/python" -m pip install --quiet "torch==$torch_version" jsonschema numpy pytest zstandard ||
    give_up "torch $torch_version could not be installed; see the message above"
}

# build PRESET [CMAKE-OPTION...]
build() {
  local preset=$1
  shift
  say "configuring $preset"
  cmake --preset "$preset" "$@" >"build-$preset.log" 2>&1 || { cat "build-$preset.log"; rm -f "build-$preset.log"; give_up "configuring failed"; }
  rm -f "build-$preset.log"
  say "building $preset"
  cmake --build --preset "$preset" -- --quiet
}
