/* measure.c: runs a command with its output thrown away and prints, as JSON, how long
 * it took and how much memory it had at its peak.
 *
 * A program of its own because Linux counts the memory of the process that calls exec
 * towards the peak of what it becomes: started from Python, nothing is below 20 MiB.
 * SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double
seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double
seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

int
main(int argc, char **argv)
{
    double started = seconds_now(), wall;
    struct rusage usage;
    int status;
    pid_t child;

    if (argc < 2) {
        fputs("measure COMMAND ARGUMENTS...\n", stderr);
        return 2;
    }
    child = fork();
    if (child == 0) {
        int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

        if (nowhere >= 0 && dup2(nowhere, STDOUT_FILENO) >= 0) {
            execvp(argv[1], argv + 1);
        }
        perror(argv[1]);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child) {
        perror("measure");
        return 1;
    }
    wall = seconds_now() - started;
    printf("{\"status\": %d, \"wall\": %.6f, \"user\": %.6f, \"system\": %.6f, "
           "\"peak_kib\": %ld}\n",
           WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), wall,
           seconds_of(usage.ru_utime), seconds_of(usage.ru_stime), usage.ru_maxrss);
    return 0;
}
