#include "analysis/query_state.h"
#define LATER(name) film_status film_answer_##name(film_ask *ask) { return film_fail(ask->error, FILM_MISUSE, "later"); }
LATER(value) LATER(evaluate) LATER(breakpoints) LATER(writes) LATER(history) LATER(origin) LATER(hits) LATER(first)
film_status film_ask_breakpoints(film_ask *ask, film_breakpoints **out, size_t *bad);
film_status film_ask_breakpoints(film_ask *ask, film_breakpoints **out, size_t *bad) { (void)out; (void)bad; return film_fail(ask->error, FILM_MISUSE, "later"); }
film_status film_breakpoints_continue(film_breakpoints *b, film_moment f, bool back, bool a, const film_budget *u, film_log_point l, void *c, film_stop *o, film_error *e) { (void)b;(void)f;(void)back;(void)a;(void)u;(void)l;(void)c;(void)o;(void)e; return FILM_END; }
void film_breakpoints_free(film_breakpoints *b) { (void)b; }
film_status film_timeline_hit(film_timeline *t, const char *f, uint32_t l, int64_t n, const film_budget *b, film_stop *o, film_error *e) { (void)t;(void)f;(void)l;(void)n;(void)b;(void)o;(void)e; return FILM_END; }
film_status film_target_parse(film_timeline *t, film_moment m, size_t i, const char *x, film_target *o, film_error *e) { (void)t;(void)m;(void)i;(void)x;(void)o;(void)e; return FILM_END; }
film_status film_find_write(film_timeline *t, const film_target *g, film_moment f, bool back, const film_budget *b, film_written *o, film_stop *s, film_error *e) { (void)t;(void)g;(void)f;(void)back;(void)b;(void)o;(void)s;(void)e; return FILM_END; }
