#!/bin/bash
# tests/conformance_results.sh - what tools return, judged from outside, as part of make check.
exec "$(dirname "$0")/conformance.sh" results
