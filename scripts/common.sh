# What scripts/quickstart and scripts/test share: the system packages, LibTorch in .deps, the number of build jobs.
# Sourced with the source tree as the current folder.

build=build/release

say() { printf '\n== %s\n' "$*"; }
fail() { printf 'error: %s\n' "$*" >&2; exit 1; }

# install_packages NAME...: installs the Debian packages among these that are missing, and says which.
install_packages() {
  local missing=() package
  command -v dpkg-query >/dev/null || { echo "not a Debian system: expecting these to be there: $*"; return; }
  for package in "$@"; do
    dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0

  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || fail "missing packages: ${missing[*]}; install them as root, or install sudo"
    as_root=(sudo)
  fi
  say "Installing Debian packages: ${missing[*]}"
  local install=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}")
  # The package lists of a fresh system are empty, those of an old one point to files that are gone.
  "${install[@]}" >/dev/null 2>&1 || { "${as_root[@]}" apt-get update -q && "${install[@]}"; }
}

build_packages=(g++ cmake ninja-build ccache pkg-config nlohmann-json3-dev libyaml-dev libfmt-dev libspdlog-dev
  libcli11-dev libtbb-dev libboost1.81-dev libssl-dev zlib1g-dev libsndfile1-dev libcairo2-dev libpng-dev libjpeg62-turbo-dev
  libcpp-httplib-dev)

# Puts the CPU part of LibTorch's wheel into .deps, unless LIBTORCH_ROOT names another LibTorch.
install_libtorch() {
  if [ -n "${LIBTORCH_ROOT:-}" ]; then
    echo "LibTorch: $LIBTORCH_ROOT"
    return
  fi
  [ ! -e .deps/torch/lib/libtorch_cpu.so ] || return 0
  install_packages python3 python3-pip
  say "Downloading LibTorch into .deps"
  rm -rf .deps.partial
  python3 -m pip install --quiet --no-cache-dir --disable-pip-version-check --root-user-action=ignore \
    --target .deps.partial --no-deps torch==2.15.0 nvidia-cuda-runtime==13.5.37 nvidia-cuda-cupti==13.5.25
  rm -rf .deps
  mv .deps.partial .deps
}

# Python's torch (the one of LibTorch's wheel), safetensors and numpy read what we write, and write what we read. Tests that
# need them say by name when they are not there.
install_python_counterparts() {
  if ! cmp -s tests/requirements.txt .venv/.complete; then
    install_packages python3 python3-venv
    say "Installing the Python counterparts of the file formats into .venv"
    python3 -m venv --clear .venv
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r tests/requirements.txt
    cp tests/requirements.txt .venv/.complete
  fi
  export NEXUML_TEST_PYTHON="$PWD/.venv/bin/python"
}

# A source that includes LibTorch takes up to 2 GB to compile.
build_jobs() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/MemAvailable/ {print int($2 / 2000000)}' /proc/meminfo)
  [ "$memory" -ge 1 ] || memory=1
  echo $((cores < memory ? cores : memory))
}

# fetch_source PACKAGE FOLDER: the source of a Debian package, unpacked below FOLDER. The system's own package sources are
# asked for source packages, with lists of their own: nothing of the system changes.
fetch_source() {
  local package=$1 folder=$2 scratch file
  scratch=$(mktemp -d)
  mkdir -p "$folder" "$scratch/parts" "$scratch/lists/partial"
  for file in /etc/apt/sources.list.d/*.sources; do
    [ ! -e "$file" ] || sed 's/^Types:.*/Types: deb-src/' "$file" >"$scratch/parts/${file##*/}"
  done
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ ! -e "$file" ] || sed -n 's/^deb /deb-src /p' "$file" >"$scratch/parts/${file##*/}.list"
  done
  local apt=(apt-get -q -o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$scratch/parts"
    -o "Dir::State::Lists=$scratch/lists" -o APT::Sandbox::User=root)
  say "Fetching the source of $package"
  "${apt[@]}" update >"$scratch/log" 2>&1 || { cat "$scratch/log" >&2; fail "the package lists cannot be read"; }
  (cd "$folder" && "${apt[@]}" source "$package" >"$scratch/log" 2>&1) ||
    { cat "$scratch/log" >&2; fail "no source package $package"; }
  rm -rf "$scratch"
}
