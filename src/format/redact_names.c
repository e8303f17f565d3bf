/* redact_names.c: which names are names of secrets.
 *
 * Names are tested at every store to a dict, so most of their bytes cost one look at a
 * table: which bytes a word may begin with, and which may follow that. Only where a word
 * of the list is found is it asked whether it stands there as a word of its own.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/alloc.h"
#include "format/redact.h"
#include "format/redact_state.h"

/* How a word of the list counts. */
typedef enum word_rule {
    WHOLE,  /* as a word of the name: auth_token, accessToken; or two or more of them */
    JOINED, /* at the beginning or end of one, too: dbpassword, passwordHash */
    TOKEN,  /* as WHOLE; not where it is a language model's or a parser's */
    MODIFIED, /* as WHOLE, or behind the words of `secret_before` */
} word_rule;

static const struct {
    const char *word;
    word_rule rule;
} deny_list[] = {
    {"password", JOINED},   {"passwd", JOINED},       {"passphrase", JOINED},
    {"secret", MODIFIED},   {"token", TOKEN},         {"api_key", WHOLE},
    {"apikey", WHOLE},      {"authorization", WHOLE}, {"credential", JOINED},
    {"private_key", WHOLE}, {"privatekey", WHOLE},    {"access_key", WHOLE},
    {"accesskey", WHOLE},   {"auth_key", WHOLE},      {"authkey", WHOLE},
    {"secretkey", WHOLE},   {"session_id", WHOLE},    {"sessionid", WHOLE},
    {"cookie", WHOLE},      {"bearer", WHOLE},        {"pwd", WHOLE},
};

/* Of the list above: a word that is added there begins here, too (test_format.c). */
static const film_word_starts deny_starts = {{
    ['a'] = FILM_SECOND('c') | FILM_SECOND('p') | FILM_SECOND('u'),
    ['b'] = FILM_SECOND('e'),
    ['c'] = FILM_SECOND('o') | FILM_SECOND('r'),
    ['p'] = FILM_SECOND('a') | FILM_SECOND('r') | FILM_SECOND('w'),
    ['s'] = FILM_SECOND('e'),
    ['t'] = FILM_SECOND('o'),
}};

/* Tokens of a language model or a parser: what they are called in front of the word and
 * behind it. */
static const char *const plain_before[] = {
    "eos",     "bos",    "pad",     "unk",     "sep",        "cls",  "mask",
    "special", "image",  "audio",   "video",   "num",        "n",    "max",
    "min",     "per",    "sub",     "word",    "begin",      "end",  "start",
    "stop",    "prompt", "decoder", "encoder", "completion", "seen", "generated",
};
static const char *const plain_behind[] = {
    "id",      "ids",      "type",      "types",      "count",     "counts",
    "index",   "indices",  "idx",       "position",   "positions", "pos",
    "mask",    "masks",    "embedding", "embeddings", "embed",     "logits",
    "logprob", "logprobs", "prob",      "probs",      "score",     "scores",
    "kind",    "kinds",    "stream",    "length",     "lengths",   "len",
    "limit",   "budget",   "usage",     "span",       "spans",     "classification",
    "vocab",   "exact",    "regex",     "re",         "class",     "num",
};
/* Words that one of the list may be joined to without a sign between them. */
static const char *const secret_before[] = {
    "auth",  "access",  "refresh",  "api",    "csrf",   "xsrf",
    "id",    "session", "user",     "bearer", "client", "jwt",
    "oauth", "sas",     "consumer", "app",    "shared", "master",
};

char
film_redact_folded(char c)
{
    if (film_redact_is_upper(c)) {
        return (char)(c - 'A' + 'a');
    }
    return c == '-' ? '_' : c;
}

bool
film_redact_matches(const char *name, size_t length, const char *word)
{
    size_t i = 0;

    while (i < length && word[i] != '\0' && film_redact_folded(name[i]) == word[i]) {
        i++;
    }
    return word[i] == '\0';
}

bool
film_redaction_add(film_redaction *redaction, const char *word)
{
    size_t length = strlen(word);
    char *copy = film_alloc(length + 1);
    char **words =
        film_realloc(redaction->words, (redaction->word_count + 1) * sizeof(*words));

    if (words != NULL) {
        redaction->words = words;
    }
    if (copy == NULL || words == NULL) {
        film_free(copy);
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        copy[i] = film_redact_folded(word[i]);
    }
    redaction->starts.seconds[(unsigned char)copy[0]] |=
        length > 1 ? FILM_SECOND(copy[1]) : UINT32_MAX;
    words[redaction->word_count++] = copy;
    return true;
}

void
film_redaction_reset(film_redaction *redaction)
{
    for (size_t i = 0; i < redaction->word_count; i++) {
        film_free(redaction->words[i]);
    }
    film_free(redaction->words);
    *redaction = (film_redaction){0};
}

/* --- words of a name ----------------------------------------------------------------
 */

/* Bytes beyond ASCII are letters. */
static bool
is_letter(char c)
{
    return film_redact_is_upper(c) || film_redact_is_lower(c) ||
           ((unsigned char)c & 0x80) != 0;
}

static bool
is_upper(const char *name, size_t length, size_t at)
{
    return at < length && film_redact_is_upper(name[at]);
}

static bool
is_lower(const char *name, size_t length, size_t at)
{
    return at < length && film_redact_is_lower(name[at]);
}

/* Whether a word begins at `at`, or ends before it: at a sign or a digit, and where small
 * letters and capitals say so. */
static bool
is_seam(const char *name, size_t length, size_t at)
{
    if (at == 0 || at >= length || !is_letter(name[at - 1]) || !is_letter(name[at])) {
        return true;
    }
    return is_upper(name, length, at) &&
           (is_lower(name, length, at - 1) || is_lower(name, length, at + 1));
}

/* Whether name[from, to) is one of the words. */
static bool
is_one_of(const char *name, size_t from, size_t to, const char *const *words,
          size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strlen(words[i]) == to - from &&
            film_redact_matches(name + from, to - from, words[i])) {
            return true;
        }
    }
    return false;
}

#define IS_ONE_OF(name, from, to, words)                                               \
    is_one_of(name, from, to, words, sizeof(words) / sizeof((words)[0]))

/* Whether the word before or after name[from, to) says that it is no secret's. */
static bool
is_plain_token(const char *name, size_t length, size_t from, size_t to)
{
    size_t end = from, begin;

    while (end > 0 && !is_letter(name[end - 1])) {
        end--;
    }
    begin = end;
    while (begin > 0 && is_letter(name[begin - 1]) &&
           (begin == end || !is_seam(name, length, begin))) {
        begin--;
    }
    if (end > begin && IS_ONE_OF(name, begin, end, plain_before)) {
        return true;
    }
    begin = to;
    while (begin < length && !is_letter(name[begin])) {
        begin++;
    }
    end = begin;
    while (end < length && is_letter(name[end]) &&
           (end == begin || !is_seam(name, length, end))) {
        end++;
    }
    return end > begin && IS_ONE_OF(name, begin, end, plain_behind);
}

/* Whether the word in front of `from`, to which this one is joined, makes it a secret's.
 */
static bool
is_joined_to_secret(const char *name, size_t length, size_t from)
{
    size_t begin = from;

    while (begin > 0 && !is_seam(name, length, begin)) {
        begin--;
    }
    return IS_ONE_OF(name, begin, from, secret_before);
}

/* Whether the word of the list at `at` counts. */
static bool
counts(const char *name, size_t length, size_t at, size_t which)
{
    word_rule rule = deny_list[which].rule;
    size_t end = at + strlen(deny_list[which].word);
    bool begins = is_seam(name, length, at), ends = is_seam(name, length, end);

    if (!ends && rule != TOKEN && film_redact_folded(name[end]) == 's' &&
        is_seam(name, length, end + 1)) {
        ends = true; /* more than one of them */
    }
    if (rule == JOINED) {
        return begins || ends;
    }
    if (!ends) {
        return false;
    }
    if (!begins) {
        return rule != WHOLE && is_joined_to_secret(name, length, at);
    }
    return rule != TOKEN || !is_plain_token(name, length, at, end);
}

/* Whether a word may begin at `at`, by the table. */
static bool
may_begin(const film_word_starts *starts, const char *name, size_t length, size_t at)
{
    uint32_t seconds = starts->seconds[(unsigned char)film_redact_folded(name[at])];

    return seconds != 0 &&
           (at + 1 >= length ||
            (seconds & FILM_SECOND(film_redact_folded(name[at + 1]))) != 0);
}

static bool
is_in_list(const char *name, size_t length)
{
    for (size_t at = 0; at < length; at++) {
        if (!may_begin(&deny_starts, name, length, at)) {
            continue;
        }
        for (size_t i = 0; i < sizeof(deny_list) / sizeof(deny_list[0]); i++) {
            if (film_redact_matches(name + at, length - at, deny_list[i].word) &&
                counts(name, length, at, i)) {
                return true;
            }
        }
    }
    return false;
}

/* The words that were added count wherever they are part of a name. */
bool
film_redact_is_added_name(const film_redaction *redaction, const char *name,
                          size_t length)
{
    if (redaction == NULL || redaction->word_count == 0) {
        return false;
    }
    for (size_t at = 0; at < length; at++) {
        if (!may_begin(&redaction->starts, name, length, at)) {
            continue;
        }
        for (size_t i = 0; i < redaction->word_count; i++) {
            if (film_redact_matches(name + at, length - at, redaction->words[i])) {
                return true;
            }
        }
    }
    return false;
}

bool
film_redact_is_secret_name(const film_redaction *redaction, const char *name,
                           size_t length)
{
    return (film_redact_by_list(redaction) && is_in_list(name, length)) ||
           film_redact_is_added_name(redaction, name, length);
}
