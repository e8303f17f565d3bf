#!/bin/sh
# Records examples/orders.py and looks at the film in three ways. Run by `make demo`.
set -eu
cd "$(dirname "$0")/.."
film=build/demo/orders.film
mkdir -p build/demo

say() {
    printf '\n$ %s\n' "$*"
}

say filmstrip run -o "$film" examples/orders.py
filmstrip run --force -o "$film" examples/orders.py

say filmstrip info "$film"
filmstrip info "$film"

say "filmstrip log $film | head -n 40"
filmstrip log "$film" | head -n 40

say filmstrip report "$film"
filmstrip report "$film"

printf '\nThe film is %s (%s bytes). Next: filmstrip log|report|dump|export %s\n' \
    "$film" "$(wc -c <"$film")" "$film"
