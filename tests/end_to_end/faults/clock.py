"""A fault: the wall clock goes back."""

import subprocess

from tests.end_to_end.faults.small_project import SmallProject
from tests.end_to_end.faults.strikes import Fault


class ClockBack(Fault):
    """The wall clock of a command's processes goes back by days, in the middle of its work.

    libfaketime is of no use here: after such a jump, waits on a clock that never jumps fail or last
    for ever in it.
    """

    kind = "clock set back"
    CLOCK = r"""
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t id, struct timespec *now) {
    int failed = syscall(SYS_clock_gettime, id, now);
    const char *file = getenv("CLOCK_FILE");
    if ((id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE) && file && !access(file, F_OK))
        now->tv_sec -= atol(getenv("CLOCK_BACK"));
    return failed;
}

int gettimeofday(struct timeval *now, void *zone) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    now->tv_sec = t.tv_sec;
    now->tv_usec = t.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *now) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    if (now)
        *now = t.tv_sec;
    return t.tv_sec;
}
"""

    def prepare(self, project: SmallProject, environment: dict[str, str]) -> None:
        self.file = project.folder / "clock-is-back"
        library = project.folder / "clock.so"
        if not library.exists():
            source = project.write("clock.c", self.CLOCK)
            compiler = ["gcc", "-shared", "-fPIC", "-O2", "-o", str(library), str(source)]
            subprocess.run(compiler, check=True, capture_output=True)
        seconds = self.rng.randint(1 * 86400, 5 * 86400)
        environment |= {
            "LD_PRELOAD": str(library),
            "CLOCK_FILE": str(self.file),
            "CLOCK_BACK": str(seconds),
        }

    def hit(self, job) -> None:
        self.file.touch()
        self.met = True

    def undo(self) -> None:
        self.file.unlink(missing_ok=True)
