# tests/cli/says.bash - says NAME STATUS PART COMMAND...: the command ends with this status and says
# this, on stdout or stderr.
says() {
    local name=$1 status=$2 part=$3 out got
    shift 3
    out=$("$@" 2>&1)
    got=$?
    is "$got" "$status" "$name: status"
    has "$out" "$part" "$name: message"
}
