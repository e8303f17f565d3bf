/* redact_patterns.c: secrets that are known by what they look like, whatever their name.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "format/redact.h"
#include "format/redact_state.h"

/* Which bytes a secret goes on with, behind its prefix. */
typedef enum alphabet {
    UPPER,  /* A-Z 0-9 */
    ALNUM,  /* A-Z a-z 0-9 */
    WORD,   /* those, _ and - */
    DOTTED, /* those and . */
    BASE64, /* A-Z a-z 0-9 + / = */
    HEADER, /* what a header's token may have */
    JWT,    /* three or more parts of WORD, with dots between them */
    PEM     /* to the end of the block */
} alphabet;

typedef struct pattern {
    const char *prefix;
    alphabet alphabet;
    size_t least; /* bytes behind the prefix */
} pattern;

static const pattern patterns[] = {
    {"eyJ", JWT, 20},
    {"Bearer ", HEADER, 12},
    {"bearer ", HEADER, 12},
    {"Basic ", BASE64, 16},
    {"-----BEGIN ", PEM, 16},
    {"AKIA", UPPER, 16},
    {"ASIA", UPPER, 16},
    {"ABIA", UPPER, 16},
    {"AIza", WORD, 35},
    {"ghp_", ALNUM, 36},
    {"gho_", ALNUM, 36},
    {"ghu_", ALNUM, 36},
    {"ghs_", ALNUM, 36},
    {"ghr_", ALNUM, 36},
    {"github_pat_", WORD, 22},
    {"glpat-", WORD, 20},
    {"xoxb-", WORD, 10},
    {"xoxp-", WORD, 10},
    {"xoxa-", WORD, 10},
    {"xoxr-", WORD, 10},
    {"xoxs-", WORD, 10},
    {"sk-", WORD, 20},
    {"sk_live_", ALNUM, 16},
    {"sk_test_", ALNUM, 16},
    {"rk_live_", ALNUM, 16},
    {"hf_", ALNUM, 30},
    {"npm_", ALNUM, 36},
    {"pypi-", WORD, 50},
    {"SG.", DOTTED, 40},
    {"ya29.", DOTTED, 20},
    {"AccountKey=", BASE64, 40},
    {"dop_v1_", ALNUM, 40},
    {"GOCSPX-", WORD, 24},
};

/* How they begin: a pattern that is added there begins here, too (test_format.c). */
static const film_word_starts starts = {{
    ['e'] = FILM_SECOND('y'),
    ['B'] = FILM_SECOND('e') | FILM_SECOND('a'),
    ['b'] = FILM_SECOND('e'),
    ['-'] = FILM_SECOND('-'),
    ['A'] = FILM_SECOND('K') | FILM_SECOND('S') | FILM_SECOND('B') | FILM_SECOND('I') |
            FILM_SECOND('c'),
    ['g'] = FILM_SECOND('h') | FILM_SECOND('i') | FILM_SECOND('l'),
    ['x'] = FILM_SECOND('o'),
    ['s'] = FILM_SECOND('k'),
    ['r'] = FILM_SECOND('k'),
    ['h'] = FILM_SECOND('f'),
    ['n'] = FILM_SECOND('p'),
    ['p'] = FILM_SECOND('y'),
    ['S'] = FILM_SECOND('G'),
    ['y'] = FILM_SECOND('a'),
    ['d'] = FILM_SECOND('o'),
    ['G'] = FILM_SECOND('O'),
}};

static bool
is_of(alphabet among, char c)
{
    bool lower = film_redact_is_lower(c);

    if (film_redact_is_digit(c) || film_redact_is_upper(c)) {
        return true;
    }
    switch (among) {
    case UPPER:
        return false;
    case ALNUM:
        return lower;
    case BASE64:
        return lower || c == '+' || c == '/' || c == '=';
    case DOTTED:
    case JWT:
        return lower || c == '_' || c == '-' || c == '.';
    case HEADER:
        return lower || (c != '\0' && strchr("_-.~+/=", c) != NULL);
    case WORD:
    case PEM:
    default:
        return lower || c == '_' || c == '-';
    }
}

/* Whether words would look so: of a secret that has no sign of its own a digit is
 * asked for, or great length. */
static bool
is_plain_text(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (film_redact_is_digit(text[i])) {
            return false;
        }
    }
    return length < 32;
}

static bool
has_parts(const char *text, size_t length)
{
    size_t parts = 0, part = 0;

    for (size_t i = 0; i <= length; i++) {
        if (i == length || text[i] == '.') {
            parts += part >= 4;
            part = 0;
        }
        else {
            part++;
        }
    }
    return parts >= 3;
}

/* The length of a private key, to the end of its block or of the text; 0: it is none. */
static size_t
pem_length(const char *text, size_t length)
{
    static const char sign[] = "PRIVATE KEY", end[] = "-----END ";
    size_t head = length < 64 ? length : 64;
    const char *found = memmem(text, head, sign, sizeof(sign) - 1), *last;

    if (found == NULL) {
        return 0;
    }
    last = memmem(text, length, end, sizeof(end) - 1);
    if (last == NULL) {
        return length;
    }
    last = memmem(last, (size_t)(text + length - last), sign, sizeof(sign) - 1);
    return last == NULL ? length : (size_t)(last - text) + sizeof(sign) - 1;
}

/* How long the secret is that begins at text; 0: it is none. */
static size_t
secret_length(const pattern *of, const char *text, size_t length)
{
    size_t prefix = strlen(of->prefix), end = prefix;

    if (length < prefix + of->least || memcmp(text, of->prefix, prefix) != 0) {
        return 0;
    }
    if (of->alphabet == PEM) {
        return pem_length(text, length);
    }
    while (end < length && is_of(of->alphabet, text[end])) {
        end++;
    }
    if (end - prefix < of->least || (of->alphabet == JWT && !has_parts(text, end)) ||
        ((of->alphabet == HEADER || of->alphabet == BASE64) &&
         is_plain_text(text + prefix, end - prefix))) {
        return 0;
    }
    return end;
}

/* By the table, without a branch: most bytes cost no more than this. `at` is not the last
 * one. */
static inline bool
may_begin(const char *text, size_t at)
{
    return (starts.seconds[(unsigned char)text[at]] & FILM_SECOND(text[at + 1])) != 0;
}

size_t
film_redact_looks_secret(const char *text, size_t length, size_t at)
{
    if (at + 1 >= length || !may_begin(text, at) ||
        (at > 0 && is_of(ALNUM, text[at - 1]))) {
        return 0;
    }
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
        size_t found = patterns[i].prefix[0] == text[at]
                           ? secret_length(&patterns[i], text + at, length - at)
                           : 0;
        if (found != 0) {
            return found;
        }
    }
    return 0;
}

bool
film_redact_has_secret(const film_redaction *redaction, const char *text, size_t length)
{
    if (!film_redact_by_list(redaction)) {
        return false;
    }
    for (size_t at = 0; at + FILM_LOOK_LEAST <= length; at++) {
        if (may_begin(text, at) && film_redact_looks_secret(text, length, at) != 0) {
            return true;
        }
    }
    return false;
}
