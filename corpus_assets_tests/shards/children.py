"""Programs that need a process of their own: they are killed, or denied what their system has.

`python -m corpus_assets_tests.shards.children FUNCTION JSON` calls the function with a list of
arguments.
"""

import ctypes
import errno
import itertools
import json
import os
import platform
import resource
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

from corpus_assets.shards import Doc, read_shards, write_shards

REPOSITORY = Path(__file__).parents[2]
SYSCALLS = {
    "x86_64": {"renameat2": 316, "fsync": 74, "fdatasync": 75},
    "aarch64": {"renameat2": 276, "fsync": 82, "fdatasync": 83},
}
CAN_DENY = sys.platform == "linux" and platform.machine() in SYSCALLS
FILE_EVENTS = {
    "open",
    "os.chmod",
    "os.link",
    "os.listdir",
    "os.mkdir",
    "os.remove",
    "os.rename",
    "os.rmdir",
    "os.scandir",
    "os.symlink",
    "os.truncate",
    "shutil.rmtree",
}
N_DOCS = 5


# Called by the tests.


def command(function, *arguments):
    module = "corpus_assets_tests.shards.children"
    return [sys.executable, "-m", module, function, json.dumps(arguments)]


def call(function, *arguments, **environment):
    """Run one function in a new process, and give what it returned."""
    done = subprocess.run(
        command(function, *arguments),
        cwd=REPOSITORY,
        env={**os.environ, **environment},
        check=True,
        stdout=subprocess.PIPE,
        timeout=60,
    )
    return json.loads(done.stdout)


def converse(function, *arguments):
    """Run one function that prints lines of JSON, and answer each when the caller comes back."""
    with subprocess.Popen(
        command(function, *arguments), cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdin
        assert child.stdout
        try:
            for line in child.stdout:
                yield json.loads(line)
                child.stdin.write(b"\n")
                child.stdin.flush()
        except BaseException:
            child.kill()
            raise
    assert child.returncode == 0


def write_version(out, number):
    """Write a version that its documents tell; the next one has another number of shards."""
    docs = [
        Doc(f"d{i}", "books", f"{number} {i}", {"url": "u", "license_spdx": "MIT"})
        for i in range(N_DOCS)
    ]
    return write_shards(
        docs, out, dataset="versions", version=f"v{number}", shard_rows=2 + number % 2
    )


def version_of(out):
    """The version that a reader sees; an error unless it is all of one."""
    docs = list(read_shards(out))
    numbers = {int(document.text.split()[0]) for document in docs}
    assert [document.id for document in docs] == [f"d{i}" for i in range(N_DOCS)]
    assert len(numbers) == 1, f"a mix of versions: {numbers}"
    return numbers.pop()


# Run in a child.


def deny(*rules):
    """Let system calls fail: a rule is a name, an argument with its value or None, and an errno.

    It is what an old kernel or a poor file system does, and it lasts as long as the process.
    """
    numbers = SYSCALLS[platform.machine()]
    load, jump_if_equal, give = 0x20, 0x15, 0x06
    program = []
    for name, argument, code in rules:
        failing = (give, 0, 0, 0x00050000 | code)
        program.append((load, 0, 0, 0))
        if argument is None:
            program += [(jump_if_equal, 0, 1, numbers[name]), failing]
        else:
            index, value = argument
            program += [(jump_if_equal, 0, 3, numbers[name]), (load, 0, 0, 16 + 8 * index)]
            program += [(jump_if_equal, 0, 1, value), failing]
    program.append((give, 0, 0, 0x7FFF0000))
    packed = b"".join(struct.pack("HBBI", *instruction) for instruction in program)
    buffer = ctypes.create_string_buffer(packed, len(packed))
    header = ctypes.create_string_buffer(
        struct.pack("HxxxxxxP", len(program), ctypes.addressof(buffer))
    )
    libc = ctypes.CDLL(None, use_errno=True)
    no_new_privileges, seccomp, filter_mode = 38, 22, 2
    if libc.prctl(no_new_privileges, 1, 0, 0, 0) or libc.prctl(seccomp, filter_mode, header, 0, 0):
        raise OSError(ctypes.get_errno(), "no system call filter")


def deny_exchange(code):
    if code:
        rename_exchange = 2
        deny(("renameat2", (4, rename_exchange), code))


def on_file_event(out, action):
    """Call `action(event, arguments)` before each file operation of Python at or beside `out`."""
    active = [True]

    def hook(event, arguments):
        if not active[0] or event not in FILE_EVENTS:
            return
        # `rmtree` and the like name files relative to an open directory.
        if not str(arguments[0]).startswith("/") or str(out) in str(arguments[0]):
            action(event, arguments)

    sys.addaudithook(hook)
    return active


def tell(value):
    print(json.dumps(value), flush=True)  # noqa: T201


def wait_for_answer():
    sys.stdin.readline()


def in_fork(work):
    """Run `work` in a fork, and give how the fork ended."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            work()
            status = 0
        except BaseException as error:  # noqa: BLE001
            print(repr(error), file=sys.stderr, flush=True)  # noqa: T201
        finally:
            os._exit(status)
    return os.waitpid(pid, 0)[1]


def kill_writers(out, delays, code):
    """Let writers replace `out` for ever, and kill each after its delay."""
    deny_exchange(code)
    for delay in delays:
        pid = os.fork()
        if pid == 0:
            try:
                for number in itertools.count():
                    write_version(out, number)
            finally:
                os._exit(1)
        time.sleep(delay)
        os.kill(pid, signal.SIGKILL)
        status = os.waitpid(pid, 0)[1]
        tell(os.WIFSIGNALED(status))
        wait_for_answer()


def kill_at_each_event(out, code):
    """Let writers replace version 0 by version 1; kill the n-th at its n-th file operation."""
    deny_exchange(code)
    for last in itertools.count():

        def work(last=last):
            left = [last]

            def die(_event, _arguments):
                if left[0] == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                left[0] -= 1

            on_file_event(out, die)
            write_version(out, 1)

        status = in_fork(work)
        if not os.WIFSIGNALED(status):
            tell(["ended", os.WEXITSTATUS(status)])
            return
        tell(["killed", last])
        wait_for_answer()


def fail_at_each_event(out, code):
    """Like `kill_at_each_event`, but the operation raises an `OSError`."""
    deny_exchange(code)
    for last in itertools.count():

        def work(last=last):
            left = [last]
            injected = OSError(errno.EIO, "injected")
            reached = []

            def fail(event, arguments):
                left[0] -= 1
                if left[0] == -1:
                    reached.append(f"{event} {arguments[0]}")
                    raise injected

            active = on_file_event(out, fail)
            raised = None
            try:
                write_version(out, 1)
            except BaseException as error:  # noqa: BLE001
                raised = error
            active[0] = False
            tell(
                {
                    "reached": reached,
                    "raised": raised and repr(raised),
                    "same": raised is injected,
                    "version": version_of(out) if Path(out).exists() else None,
                    "beside": sorted(path.name for path in Path(out).parent.iterdir()),
                }
            )

        if in_fork(work):
            tell({"reached": ["fork failed"], "raised": "fork failed", "same": False})
        wait_for_answer()
        if Path(f"{out}.stop").exists():
            return


def outcome_of(work, injected=None):
    try:
        work()
    except BaseException as error:  # noqa: BLE001
        return {
            "raised": type(error).__name__,
            "errno": getattr(error, "errno", None),
            "same": error is injected,
        }
    return {"raised": None}


def write_with(out, number, code):
    """Write a version where there is no exchange."""
    deny_exchange(code)
    return outcome_of(lambda: write_version(out, number))


def write_with_failing_second_rename(out, number):
    """Write a version where there is no exchange and `.tmp` cannot take the place of `out`."""
    deny_exchange(errno.EINVAL)
    injected = OSError(errno.EACCES, "injected")
    reached = []

    def fail(event, arguments):
        name = Path(out).name
        if event != "os.rename":
            return
        if [Path(path).name for path in arguments[:2]] == [f"{name}.tmp", name]:
            reached.append(Path(out).exists())
            raise injected

    on_file_event(out, fail)
    return {**outcome_of(lambda: write_version(out, number), injected), "reached": reached}


def write_where_nothing_can_be_deleted(out, number, code):
    """Write a version; from its commit on, every deletion fails."""
    deny_exchange(code)
    refused = []

    def fail(event, _arguments):
        if event in {"os.remove", "os.rmdir", "shutil.rmtree"} and committed(out, number):
            refused.append(event)
            raise PermissionError(errno.EPERM, "injected")

    on_file_event(out, fail)
    return {**outcome_of(lambda: write_version(out, number)), "refused": len(refused)}


def committed(out, number):
    try:
        manifest = (Path(out) / "_MANIFEST.json").read_text(encoding="utf-8")
    except FileNotFoundError:
        return False
    return json.loads(manifest)["version"] == f"v{number}"


def write_without_sync(out, number):
    """Write a version where files cannot be made durable."""
    deny(("fsync", None, errno.EIO), ("fdatasync", None, errno.EIO))
    return outcome_of(lambda: write_version(out, number))


def write_to_a_full_disk(out, number, max_bytes):
    """Write a version where no file may grow beyond `max_bytes`."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (max_bytes, max_bytes))
    return outcome_of(lambda: write_version(out, number))


def write_unusual(out, cpus, pool):
    """Write the unusual corpus in another environment."""
    import pyarrow as pa

    from corpus_assets_tests.shards.scenario import unusual_docs, write

    pa.set_cpu_count(cpus)
    pa.set_memory_pool(getattr(pa, pool)())
    write(unusual_docs(), out, filters={"\u00fc": 1})
    return content_digest_of(out)


def content_digest_of(out):
    from corpus_assets_tests.shards.scenario import content_digest, rows_of

    return content_digest(rows_of(out))


if __name__ == "__main__":
    result = globals()[sys.argv[1]](*json.loads(sys.argv[2]))
    if result is not None:
        tell(result)
