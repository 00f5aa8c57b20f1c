#!/bin/bash
# tests/conformance_auth.sh - the SDK client, an authorization server, and the server between them.
exec "$(dirname "$0")/conformance.sh" auth
