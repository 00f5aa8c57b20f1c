#!/bin/bash
# tests/cli/fixture.sh - the conformance fixture gives what outside suites ask of it by name.
. "$(dirname "$0")/../tap.bash"
built=$(dirname "$TENON")
cd "$tmp" || exit 1

call() { # call TOOL: the result
    mcp "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"$1\"}}" "$session" |
        sed -n 's/^data: //; /^{/p' | tail -1 | jq -c '.result // .error'
}
method() { mcp "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"$1\",\"params\":${2:-{\}}}" "$session" | jq -c '.result // .error'; }

ok "serve loads the fixture" serve d --workers 2 --component "$built/conformance/fixture.so"
session
png=iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==
wav=UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=
is "$(call test_image_content)" "{\"content\":[{\"data\":\"$png\",\"mimeType\":\"image/png\",\"type\":\"image\"}]}" "an image"
is "$(call test_audio_content)" "{\"content\":[{\"data\":\"$wav\",\"mimeType\":\"audio/wav\",\"type\":\"audio\"}]}" "a sound"
has "$(call test_simple_text)" '"This is a simple text response for testing."' "a text"
has "$(call test_embedded_resource)" '"uri":"test://embedded-resource"' "a resource"
is "$(call test_multiple_content_types | jq -c '[.content[].type]')" '["text","image","resource"]' "several"
has "$(call test_error_handling)" '"isError":true' "a failure"
has "$(call test_structured)" '"structuredContent":{"answer":42}' "a structured result"
has "$(call test_roots)" 'The client does not support this' "roots of a client that has none"
has "$(call test_touch_watched)" 'was changed' "a change of a resource"
is "$(method tools/list | jq -c '.tools[] | select(.name == "json_schema_2020_12_tool").inputSchema | [."$schema", has("$defs"), .additionalProperties, has("if"), ."$defs".address."$anchor"]')" \
    '["https://json-schema.org/draft/2020-12/schema",true,false,true,"addressDef"]' "a schema of 2020-12 as it was given"
is "$(method tools/list | jq -c '[.tools[] | select(.description == "" or .inputSchema.type != "object")]')" '[]' "every tool has a description and a schema of objects"
is "$(method resources/read '{"uri":"test://template/123/data"}' | jq -r '.contents[0].text')" \
    '{"id":"123","templateTest":true,"data":"Data for ID: 123"}' "a template"
has "$(method resources/read '{"uri":"test://static-binary"}')" "\"blob\":\"$png\"" "a resource of bytes"
has "$(method resources/read '{"uri":"test://nonexistent-resource-for-conformance-testing"}')" '"code":-32002' "no such resource"
is "$(mcp '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test_tool_with_logging"}}' "$session" | sed -n 's/^data: //p' | jq -c 'select(.method == "notifications/message").params.data' | tr '\n' ' ')" \
    '"Tool execution started" "Tool processing data" "Tool execution completed" ' "log messages on the call's stream"
is "$(mcp '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test_tool_with_progress","_meta":{"progressToken":7}}}' "$session" | sed -n 's/^data: //p' | jq -c 'select(.method == "notifications/progress").params | [.progressToken, .progress, .total]' | tr '\n' ' ')" \
    '[7,0,100] [7,50,100] [7,100,100] ' "progress on the call's stream"
stop
is "$?" 0 "it stops in good order"
plan
