#!/bin/sh
# Runs the programs of this folder under ObjWatch itself and keeps what it wrote:
#   regenerate.sh SITE_PACKAGES_WITH_OBJWATCH VERSION=PYTHON ...
# A log that is the same for every Python is kept once, as NAME.log.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
packages=$1
shift
scratch=$(mktemp -d)
first=
for pair in "$@"; do
    version=${pair%%=*} python=${pair#*=}
    rm -rf "$scratch/run"
    cp -r "$here" "$scratch/run"
    mkdir -p "$scratch/$version"
    for program in "$scratch"/run/*.py; do
        name=$(basename "$program" .py)
        (cd "$scratch/run" && PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1 \
            PYTHONPATH=$packages "$python" "$name.py" 2> "$scratch/$version/$name.log")
        # What differs from run to run: the first lines of the header, addresses.
        sed -i -e 's/^\(> [A-Za-z ]*:\).*/\1/' -e 's/ at 0x[0-9a-f]*/ at 0x0/' \
            -e "s:from '.*/shop/:from 'shop/:" "$scratch/$version/$name.log"
    done
    mv "$scratch/run/tree.json" "$scratch/$version/"
    sed -i 's/"runtime_info":{[^}]*}/"runtime_info":{}/' "$scratch/$version/tree.json"
    for made in "$scratch/$version"/*; do
        name=$(basename "$made")
        if [ -z "$first" ]; then
            cp "$made" "$here/$name"
        elif ! cmp -s "$made" "$here/$name"; then
            cp "$made" "$here/${name%.*}.$version.${name##*.}"
        fi
    done
    first=done
done
rm -rf "$scratch"
