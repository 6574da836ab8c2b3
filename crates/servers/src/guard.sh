# Starts one server, and ends it when whoever started this shell is gone.
#
# Arguments: the directory to make and to remove, the signal that ends the server, the server's command line.
# Standard input brings words, standard output takes an answer to each:
#   start   starts the server, answers its process id
#   reap    waits for the server, which somebody has killed, answers "reaped"
# The end of standard input is the end of the server and of its directory. It comes with the death of the process at
# the other end, however that process died.

directory=$1
signal=$2
shift 2
server=

finish() {
    trap '' HUP INT TERM
    trap - EXIT
    if [ -n "$server" ]; then
        kill -s "$signal" "$server"
        # A frozen server hears nothing but SIGKILL until it thaws.
        kill -s CONT "$server"
        wait "$server"
    fi
    # A killed Postgres leaves a segment of shared memory behind; the seventh line of its lock file ends with its number.
    lock=$directory/data/postmaster.pid
    if [ -f "$lock" ]; then
        segment=$(sed -n '7s/.* //p' "$lock")
        [ -z "$segment" ] || ipcrm -m "$segment"
    fi
    # Somebody may be writing there who has not noticed the end yet, such as the program that makes a database. On a busy
    # machine that takes a while.
    attempts=60
    until rm -rf "$directory" || [ "$attempts" -eq 0 ]; do
        attempts=$((attempts - 1))
        sleep 1
    done
}

mkdir -m 700 "$directory" && cd "$directory" || exit 1
trap finish EXIT
# A process group that loses its parent while one of its members is frozen is sent SIGHUP.
trap 'exit 1' HUP INT TERM
# An answer that nobody hears any more must not end us before we have tidied up.
trap : PIPE
echo ready

while read -r word; do
    case $word in
    start)
        "$@" </dev/null >>"$directory/log" 2>&1 &
        server=$!
        echo "$server"
        ;;
    reap)
        wait "$server"
        server=
        echo reaped
        ;;
    esac
done
