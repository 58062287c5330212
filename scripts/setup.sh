# setup.sh - sourced by the other scripts: what the project is built with, and the build itself.
#
# The package lists stand here and nowhere else (Debian 12). A package is installed only where it
# is missing and only by root; anybody else is told what to install, exit 2.

build_packages="gcc libc6-dev pkg-config meson ninja-build \
libgsl-dev libsqlite3-dev zlib1g-dev libjansson-dev libopenblas-dev libopenmpi-dev openmpi-bin"
test_packages="libcriterion-dev libglpk-dev locales gnuplot-nox" # locales: for a decimal comma
check_packages="clang clang-format clang-tidy"
sanitizer_options="-Db_sanitize=address,undefined -Dc_args=-fno-sanitize-recover=all"

say() { printf '%s\n' "$*" >&2; }

# Prints those of the packages named that are not installed.
missing_packages() {
    for package in "$@"; do
        state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) || state=none
        [ "$state" = installed ] || printf '%s ' "$package"
    done
}

apt_install() {
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" </dev/null >&2
}

# need PACKAGE...: installs what is missing of them.
need() {
    if ! command -v dpkg-query >/dev/null; then
        say "Not a Debian system: making do with what is here. On Debian 12 the packages are:"
        say "  $*"
        return
    fi
    missing=$(missing_packages "$@")
    [ -z "$missing" ] && return
    if [ "$(id -u)" -ne 0 ]; then
        say "These packages are missing: $missing"
        say "Install them with:"
        say "  sudo apt-get install --no-install-recommends $missing"
        exit 2
    fi
    say "Installing: $missing"
    if ! ls /var/lib/apt/lists/*_Packages* >/dev/null 2>&1; then
        apt-get update >&2
    fi
    # Lists that are there may be old: look once more before giving up.
    # shellcheck disable=SC2086
    apt_install $missing || { apt-get update >&2 && apt_install $missing; }
}

# configure DIRECTORY [OPTION...]: once, and again where options are given.
configure() {
    directory=$1
    shift
    if [ -f "$directory/build.ninja" ]; then
        [ $# -eq 0 ] || meson configure "$directory" "$@" >&2
    else
        meson setup "$directory" "$@" >&2
    fi
}

# build DIRECTORY [OPTION...]: configures and builds everything.
build() {
    configure "$@" && ninja -C "$1" >&2
}
