/* limits.c: the words that bound appends, in pages that a forked child finds zeroed.
 * SPDX-License-Identifier: Apache-2.0 */
#include <sys/mman.h>

#include "base/alloc.h"
#include "writer/writer_state.h"

#define PAGE_BYTES (FILM_LIMIT_WORDS * sizeof(uint64_t))

static film_limit_page *
make_page(void)
{
    film_limit_page *page = film_alloc(sizeof(*page));
    void *words;

    if (page == NULL) {
        return NULL;
    }
    words = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                 -1, 0);
    if (words == MAP_FAILED) {
        film_free(page);
        return NULL;
    }
    if (madvise(words, PAGE_BYTES, MADV_WIPEONFORK) != 0) {
        munmap(words, PAGE_BYTES);
        film_free(page);
        return NULL;
    }
    page->mapping = words;
    page->words = words;
    page->used[0] = true;
    atomic_store(&page->words[0], 1);
    return page;
}

film_status
film_limits_begin(film_writer *writer, film_error *error)
{
    writer->limits = make_page();
    if (writer->limits == NULL) {
        return film_fail(error, FILM_NO_MEMORY,
                         "recording needs Linux 4.14 or newer (MADV_WIPEONFORK)");
    }
    return FILM_OK;
}

bool
film_limits_are_ours(const film_writer *writer)
{
    return atomic_load_explicit(&writer->limits->words[0], memory_order_relaxed) != 0;
}

_Atomic(uint64_t) *
film_limits_take(film_writer *writer)
{
    film_limit_page *page = writer->limits;

    for (;;) {
        for (unsigned i = 1; i < FILM_LIMIT_WORDS; i++) {
            if (!page->used[i]) {
                page->used[i] = true;
                return &page->words[i];
            }
        }
        if (page->next == NULL) {
            page->next = make_page();
        }
        page = page->next;
        if (page == NULL) {
            return NULL;
        }
    }
}

void
film_limits_give(film_writer *writer, _Atomic(uint64_t) *word)
{
    for (film_limit_page *page = writer->limits; page != NULL; page = page->next) {
        if (word > page->words && word < page->words + FILM_LIMIT_WORDS) {
            atomic_store_explicit(word, 0, memory_order_relaxed);
            page->used[word - page->words] = false;
            return;
        }
    }
}

void
film_limits_reset(film_writer *writer)
{
    while (writer->limits != NULL) {
        film_limit_page *page = writer->limits;
        writer->limits = page->next;
        munmap(page->mapping, PAGE_BYTES);
        film_free(page);
    }
}
