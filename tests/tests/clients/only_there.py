"""Runs a program that can connect to one address alone: an SDK that called home would fail, and not in silence.

    only_there.py PORT PROGRAM [ARGUMENT...]
"""

import os
import runpy
import sys

port, program = int(sys.argv[1]), sys.argv[2]


def watch(event, arguments):
    if event == "socket.getaddrinfo":
        allowed = arguments[0] == "127.0.0.1"
    elif event == "socket.connect":
        allowed = arguments[1] == ("127.0.0.1", port)
    elif event == "subprocess.Popen":
        # Python's own way to name the processor.
        allowed = arguments[1][0] == "uname"
    elif event in ("socket.sendto", "socket.sendmsg", "socket.gethostbyname", "os.system"):
        allowed = False
    else:
        return
    if not allowed:
        # No handler of the program's can swallow it.
        os.write(2, f"only_there: {event} {arguments[1:]}\n".encode())
        os._exit(97)


sys.addaudithook(watch)
sys.argv = sys.argv[2:]
sys.path.insert(0, os.path.dirname(program))
runpy.run_path(program, run_name="__main__")
