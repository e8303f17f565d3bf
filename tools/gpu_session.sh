#!/bin/sh
# Runs what wants a GPU on a machine that has one and nothing else: no network, no meson, no
# libzstd. So the extension is built here, for that machine's Python, and travels.
#
#   tools/gpu_session.sh prepare [3.12]       here; makes build/gpu (to be carried along)
#   tools/gpu_session.sh run OUT [OPTIONS]    there; figures as JSON in OUT/gpu.json
#   tools/gpu_session.sh rehearse OUT         here, with a double of CUPTI (bench/gpu.py)
#
# OPTIONS go to bench/gpu.py: --parts cupti,steps,tests,bench
set -eu
cd "$(dirname "$0")/.."
made=build/gpu

prepare() {
    version=${1:-3.12}
    PYTHONS="$version" make "install-$version"
    rm -rf "$made"
    mkdir -p "$made/site"
    folder=".venvs/$version/lib/python$version/site-packages"
    cp -r "$folder/filmstrip" "$folder/filmstrip.pth" "$made/site"
    # What the tests need and that machine's Python lacks.
    .venv/bin/python -m pip install -qq --disable-pip-version-check --no-compile \
        --target "$made/site" --python-version "$version" --only-binary :all: \
        pytest pytest-timeout pytest-xdist hypothesis psutil expecttest
    build="build/$version"
    cc -std=c11 -O2 -D_GNU_SOURCE -shared -fPIC -fvisibility=hidden -I src -I include \
        bench/gpu_probe.c src/recorder/torch/gpu.c src/recorder/torch/cupti.c \
        src/recorder/torch/cupti_library.c src/recorder/torch/cupti_records.c \
        "$build/libfilm_writer.a" "$build/libfilm_base.a" -Wl,-Bstatic -lzstd \
        -Wl,-Bdynamic -lm -lpthread -ldl -Wl,--exclude-libs,ALL \
        -o "$made/libgpu_probe.so"
    cc -std=c11 -O2 -D_GNU_SOURCE -shared -fPIC -I tests/unit \
        tests/unit/cupti_double.c -lpthread -o "$made/libcupti_double.so"
    du -sh "$made"
}

run() {
    out=$1
    shift
    mkdir -p "$out"
    # An environment of its own, in which filmstrip is installed, beside what the
    # machine's Python has (torch), which may be an environment itself.
    place=$(mktemp -d)
    python=${PYTHON:-python3}
    "$python" -m venv --without-pip "$place"
    site=$("$place/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    "$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
        > "$site/beside.pth"
    cp -r "$made/site/." "$site"
    status=0
    PYTHONUNBUFFERED=1 "$place/bin/python" bench/gpu.py --out "$out" "$@" || status=$?
    rm -rf "$place"
    return "$status"
}

case ${1:-} in
prepare)
    shift
    prepare "$@"
    ;;
run)
    shift
    run "$@"
    ;;
rehearse)
    run "$2" --device cpu --double --parts "${3:-cupti,steps}"
    ;;
*)
    sed -n '2,10p' "$0"
    exit 2
    ;;
esac
