/* svg.c: the call graph as a picture, drawn by graphviz.
 * The program dot reads the graph from a pipe and writes the picture straight to the
 * output. It is started without a shell.
 * SPDX-License-Identifier: Apache-2.0 */
#include "export/exporter.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

static int
spawn_dot(int input, int output, pid_t *child)
{
    char program[] = "dot", option[] = "-Tsvg";
    char *arguments[] = {program, option, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t defaults;
    int failure = posix_spawn_file_actions_init(&actions);

    if (failure != 0) {
        return failure;
    }
    failure = posix_spawnattr_init(&attributes);
    if (failure != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return failure;
    }
    /* We may ignore SIGPIPE; the child shall not inherit that. */
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    failure = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    if (failure == 0) {
        failure = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    }
    if (failure == 0) {
        failure =
            posix_spawnp(child, program, &actions, &attributes, arguments, environ);
    }
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return failure;
}

static film_status
fail_to_start(int reason, film_error *error)
{
    if (reason == ENOENT) {
        return film_fail(error, FILM_IO,
                         "svg needs graphviz, whose program dot was not found "
                         "(apt-get install graphviz); --to dot works without it");
    }
    return film_fail(error, FILM_IO, "cannot start dot: %s", strerror(reason));
}

static film_status
wait_for(pid_t child, film_error *error)
{
    int status = 0;

    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) {
            return film_fail(error, FILM_IO, "cannot wait for dot: %s",
                             strerror(errno));
        }
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        return FILM_OK;
    }
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE) {
        return FILM_END; /* whoever read the picture has seen enough */
    }
    return film_fail(error, FILM_IO, "dot could not draw the graph");
}

film_status
film_export_svg(const film_recordings *set, film_output *output, film_error *error)
{
    film_output graph;
    film_status status, drawn;
    pid_t child;
    int ends[2];
    int failure;

    FILM_TRY(film_output_flush(output, error));
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return film_fail(error, FILM_IO, "cannot make a pipe: %s", strerror(errno));
    }
    failure = spawn_dot(ends[0], output->fd, &child);
    close(ends[0]);
    if (failure != 0) {
        close(ends[1]);
        return fail_to_start(failure, error);
    }
    status = film_output_init(&graph, ends[1], error);
    if (status == FILM_OK) {
        status = film_export_dot(set, &graph, error);
    }
    if (status == FILM_OK) {
        status = film_output_flush(&graph, error);
    }
    film_output_reset(&graph);
    close(ends[1]);
    drawn = wait_for(child, status == FILM_OK || status == FILM_END ? error : NULL);
    return status == FILM_OK || status == FILM_END ? drawn : status;
}
