#!/bin/bash
# tests/conformance_books.sh - the README's walk-through of a component without C.
exec "$(dirname "$0")/conformance.sh" books
