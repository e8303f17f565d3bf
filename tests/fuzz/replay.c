/* replay.c: feeds files to a fuzz target without a fuzzer: every file given, and every
 * file of every folder given. `make test` replays the kept corpus with it.
 * SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t replayed;

static int
replay_file(const char *path, size_t size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(size + 1);
    int failed = file == NULL || data == NULL;

    if (!failed && fread(data, 1, size, file) != size) {
        failed = 1;
    }
    if (failed) {
        fprintf(stderr, "%s: cannot be read\n", path);
    }
    else {
        (void)LLVMFuzzerTestOneInput(data, size);
        replayed++;
    }
    free(data);
    if (file != NULL) {
        fclose(file);
    }
    return failed;
}

static int
replay(const char *path)
{
    struct stat status;
    const struct dirent *entry;
    DIR *folder;
    int failed = 0;

    if (stat(path, &status) != 0) {
        return 0; /* no corpus yet */
    }
    if (!S_ISDIR(status.st_mode)) {
        return replay_file(path, (size_t)status.st_size);
    }
    folder = opendir(path);
    if (folder == NULL) {
        return 1;
    }
    while ((entry = readdir(folder)) != NULL) {
        char inner[4096];
        int length;

        if (entry->d_name[0] == '.') {
            continue;
        }
        length = snprintf(inner, sizeof(inner), "%s/%s", path, entry->d_name);
        if (length > 0 && (size_t)length < sizeof(inner)) {
            failed |= replay(inner);
        }
    }
    closedir(folder);
    return failed;
}

int
main(int argc, char **argv)
{
    int failed = 0;

    for (int index = 1; index < argc; index++) {
        failed |= replay(argv[index]);
    }
    printf("%zu files replayed\n", replayed);
    return failed;
}
