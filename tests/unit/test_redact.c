/* test_redact.c: secrets by their names, and by their look.
 * SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "format/redact.h"

static void
check_redacted_by(const film_redaction *redaction, const char *text,
                  const char *expected)
{
    film_buffer out = {0};
    bool found = film_redact_text(redaction, text, strlen(text), &out);

    film_buffer_put_byte(&out, 0);
    if (strcmp((const char *)out.data, expected) != 0) {
        fprintf(stderr, "%s\n  gave %s\n  not  %s\n", text, (const char *)out.data,
                expected);
        exit(1);
    }
    CHECK(found == (strcmp(text, expected) != 0));
    film_buffer_reset(&out);
}

static void
check_redacted(const char *text, const char *expected)
{
    check_redacted_by(NULL, text, expected);
}

TEST(secrets_are_taken_out_of_texts)
{
    check_redacted("no such file", "no such file");
    check_redacted("password=hunter2 for bob", "password=[redacted] for bob");
    check_redacted("{'api_key': 'abc def', 'n': 1}", "{'api_key': [redacted], 'n': 1}");
    check_redacted("DB_PASSWORD: x;y", "DB_PASSWORD: [redacted];y");
    check_redacted("Authorization: Bearer abc.def.ghi, next",
                   "Authorization: [redacted], next");
    check_redacted("https://bob:pw@host/x", "https://[redacted]@host/x");
    check_redacted("X-Api-Key = \"a\\\"b\" end", "X-Api-Key = [redacted] end");
    check_redacted("the token is missing", "the token is missing");
    check_redacted("token=", "token=");
    CHECK(film_redact_is_secret_name(NULL, "Client_Secret", 13));
    CHECK(film_redact_is_secret_name(NULL, "x-api-key", 9));
    CHECK(!film_redact_is_secret_name(NULL, "loss", 4));
}

static bool
is_secret(const char *name)
{
    return film_redact_is_secret_name(NULL, name, strlen(name));
}

/* The words of docs/values.md, wherever they lie in a name. */
TEST(every_word_of_the_deny_list_is_found_everywhere)
{
    static const char *const words[] = {
        "password",   "passwd",     "passphrase",    "secret",     "token",
        "api_key",    "apikey",     "authorization", "credential", "private_key",
        "privatekey", "access_key", "accesskey",     "auth_key",   "session_id",
        "sessionid",  "cookie",     "bearer",        "pwd",        "authkey",
        "secretkey",
    };
    char name[64];

    for (size_t word = 0; word < sizeof(words) / sizeof(words[0]); word++) {
        size_t length = strlen(words[word]);

        for (size_t at = 0; at + length <= sizeof(name); at++) {
            memset(name, "_-. 7:/="[at % 8], sizeof(name));
            memcpy(name + at, words[word], length);
            CHECK(film_redact_is_secret_name(NULL, name, sizeof(name)));
            CHECK(film_redact_is_secret_name(NULL, name, at + length));
            name[at + length - 1] = '.';
            CHECK(!film_redact_is_secret_name(NULL, name, sizeof(name)));
        }
    }
}

static void
check_names(const char *const *names, size_t count, bool secret)
{
    for (size_t i = 0; i < count; i++) {
        if (is_secret(names[i]) != secret) {
            fprintf(stderr, "%s %s\n", names[i], secret ? "is none" : "is one");
            exit(1);
        }
    }
}

TEST(words_of_the_deny_list_count_as_words_of_a_name)
{
    static const char *const secrets[] = {
        "auth_token",   "accessToken",  "x-api-key",     "X-Api-Key",
        "ACCESS_TOKEN", "token2",       "my_token_2",    "secretValue",
        "dbpassword",   "passwordHash", "credentials",   "userCredentials",
        "cookies",      "Set-Cookie",   "authtoken",     "clientsecret",
        "refreshToken", "HTTPToken",    "tokenValue",    "passwords",
        "secrets",      "apiKeys",      "session_token", "csrfToken",
        "bearer",       "privateKey",   "token",
    };
    static const char *const plain[] = {
        "tokens",         "token_type_ids",  "past_seen_tokens", "eos_token_id",
        "tokenizer",      "num_tokens",      "token_ids",        "tokenize",
        "max_new_tokens", "eos_token",       "pad_token",        "tokenType",
        "bosTokenId",     "secretary",       "broken",           "tokenized",
        "apikeyboard",    "token_embedding", "next_tokens",      "lexer_tokens",
        "stop_token",     "num_token",       "cookiecutter",     "unbearerable",
        "keys",           "access",          "session",
    };

    check_names(secrets, sizeof(secrets) / sizeof(secrets[0]), true);
    check_names(plain, sizeof(plain) / sizeof(plain[0]), false);
}

static bool
looks_secret(const char *text)
{
    return film_redact_has_secret(NULL, text, strlen(text));
}

TEST(secrets_are_known_by_their_look)
{
    film_redaction without = {.without_list = true};
    const char *jwt =
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dBjftJeZ4CVP-mB92K27uhbU";

    CHECK(looks_secret(jwt));
    CHECK(!film_redact_has_secret(&without, jwt, strlen(jwt)));
    CHECK(looks_secret("Bearer 0a1b2c3d4e5f6071"));
    CHECK(looks_secret("x: bearer abcdefabcdefabcdefabcdefabcdefabcdef"));
    CHECK(looks_secret("-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA"));
    CHECK(looks_secret("-----BEGIN PRIVATE KEY-----\nMIIEowIBAAKCAQEA"));
    CHECK(looks_secret("id AKIAIOSFODNN7EXAMPLE."));
    CHECK(looks_secret("ghp_0123456789abcdefghijABCDEFGHIJ012345"));
    CHECK(looks_secret("AIzaSyA0123456789abcdefghijklmnopqrstuvw"));
    CHECK(looks_secret("sk-proj-0123456789abcdefghij"));
    CHECK(looks_secret("xoxb-123456789012-abcdef"));
    CHECK(looks_secret("hf_abcdefghijklmnopqrstuvwxyzABCDEF"));
    CHECK(!looks_secret("Bearer of good news is here"));
    CHECK(!looks_secret("Bearer authentication"));
    CHECK(!looks_secret("-----BEGIN PUBLIC KEY-----\nMIIEowIBAAKCAQEA"));
    CHECK(!looks_secret("-----BEGIN CERTIFICATE-----\nMIIEowIBAAKCAQEA"));
    CHECK(!looks_secret("task-force-meeting-of-the-day"));
    CHECK(!looks_secret("eyJust a text that begins so, with. dots. in it"));
    CHECK(!looks_secret("xAKIAIOSFODNN7EXAMPLE"));
    CHECK(!looks_secret("AKIA"));
    check_redacted("curl -H 'X: AKIAIOSFODNN7EXAMPLE' url",
                   "curl -H 'X: [redacted]' url");
    check_redacted("a -----BEGIN PRIVATE KEY-----\nAB\n-----END PRIVATE KEY----- b",
                   "a [redacted]----- b");
}

TEST(words_of_one_letter_are_found)
{
    film_redaction redaction = {.without_list = true};

    CHECK(film_redaction_add(&redaction, "Q"));
    CHECK(film_redact_is_secret_name(&redaction, "q", 1));
    CHECK(film_redact_is_secret_name(&redaction, "seq", 3));
    CHECK(film_redact_is_secret_name(&redaction, "sEQ2", 4));
    CHECK(!film_redact_is_secret_name(&redaction, "set", 3));
    film_redaction_reset(&redaction);
}

TEST(the_deny_list_is_extended)
{
    film_redaction redaction = {0};

    check_redacted_by(&redaction, "token=abc ssn=123", "token=[redacted] ssn=123");
    CHECK(film_redaction_add(&redaction, "SSN"));
    CHECK(film_redaction_add(&redaction, "card-no"));
    CHECK(film_redaction_add(&redaction, "\xd1\x81\xd1\x87\xd1\x91\xd1\x82"));
    check_redacted_by(&redaction, "token=abc ssn=123",
                      "token=[redacted] ssn=[redacted]");
    check_redacted_by(&redaction, "{'Card_No': '12 34'}", "{'Card_No': [redacted]}");
    check_redacted_by(&redaction, "\xd1\x81\xd1\x87\xd1\x91\xd1\x82=12",
                      "\xd1\x81\xd1\x87\xd1\x91\xd1\x82=[redacted]");
    check_redacted_by(&redaction, "https://bob:pw@host/x", "https://[redacted]@host/x");
    CHECK(film_redact_is_secret_name(&redaction, "my_ssn_2", 8));
    CHECK(film_redact_is_secret_name(&redaction, "CARD_NO", 7));
    CHECK(film_redact_is_secret_name(&redaction, "password", 8));
    CHECK(!film_redact_is_secret_name(&redaction, "ss", 2));
    CHECK(!film_redact_is_secret_name(NULL, "my_ssn_2", 8));
    film_redaction_reset(&redaction);
    CHECK(!film_redact_is_secret_name(&redaction, "my_ssn_2", 8));
    CHECK(film_redact_is_secret_name(&redaction, "password", 8));
}

TEST(the_deny_list_is_turned_off)
{
    film_redaction redaction = {.without_list = true};
    const char *text = "password=hunter2 ssn=123 at https://bob:pw@host/x";

    check_redacted_by(&redaction, text, text);
    CHECK(!film_redact_is_secret_name(&redaction, "password", 8));
    CHECK(film_redaction_add(&redaction, "ssn"));
    check_redacted_by(&redaction, text,
                      "password=hunter2 ssn=[redacted] at https://bob:pw@host/x");
    CHECK(!film_redact_is_secret_name(&redaction, "password", 8));
    CHECK(film_redact_is_secret_name(&redaction, "ssn", 3));
    film_redaction_reset(&redaction);
}

TEST(a_word_without_memory_is_told)
{
    film_redaction redaction = {0};

    for (uint64_t n = 1; n <= 2; n++) {
        film_alloc_fail_at(n);
        CHECK(!film_redaction_add(&redaction, "ssn"));
        film_alloc_fail_never();
        CHECK(!film_redact_is_secret_name(&redaction, "ssn", 3));
    }
    CHECK(film_redaction_add(&redaction, "ssn"));
    CHECK(film_redact_is_secret_name(&redaction, "ssn", 3));
    film_redaction_reset(&redaction);
}

int
main(int argc, char **argv)
{
    static const film_test tests[] = {
        TEST_ENTRY(secrets_are_taken_out_of_texts),
        TEST_ENTRY(every_word_of_the_deny_list_is_found_everywhere),
        TEST_ENTRY(words_of_the_deny_list_count_as_words_of_a_name),
        TEST_ENTRY(secrets_are_known_by_their_look),
        TEST_ENTRY(words_of_one_letter_are_found),
        TEST_ENTRY(the_deny_list_is_extended),
        TEST_ENTRY(the_deny_list_is_turned_off),
        TEST_ENTRY(a_word_without_memory_is_told),
    };

    return run_tests(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
