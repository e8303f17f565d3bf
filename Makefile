# filmstrip: `make help` lists the targets. Everything is made below the project's own
# folder: .venv (the tools), .venvs/3.X (one environment for each Python), build/.
SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

# Which Pythons: paths, commands or versions. Without it: PATH, then pyenv, then what
# `make pythons` fetched.
PYTHONS ?=
export PYTHONS
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

# "3.12=/path/to/python", one word for each Python found.
FOUND := $(shell tools/find_pythons | tr ' ' '=')
VERSIONS := $(foreach pair,$(FOUND),$(firstword $(subst =, ,$(pair))))
python_path = $(word 2,$(subst =, ,$(filter $(1)=%,$(FOUND))))
FIRST := $(firstword $(VERSIONS))
LAST := $(lastword $(VERSIONS))

TOOLS := .venv/bin
comma := ,
# Folders of src/ have sub-folders.
SOURCES := $(shell find src -name '*.c' | LC_ALL=C sort)
HEADERS := $(shell find src -name '*.h' | LC_ALL=C sort)
C_FILES := $(SOURCES) $(wildcard tests/unit/*.c tests/fault/*.c tests/fuzz/*.c)
PYTHON_FILES := $(wildcard python/filmstrip/*.py python/filmstrip/*.pyi) \
	python/filmstrip.pth python/filmstrip/py.typed

.PHONY: help
help: ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | \
	    awk -F'|' '{printf "%-20s %s\n", $$1, $$2}'
	@echo "Pythons found: $(or $(VERSIONS),none); not found: $(shell tools/find_pythons --missing)"

# --- setting up -----------------------------------------------------------------

.PHONY: have-python
have-python:
	@if [ -z "$(FIRST)" ]; then \
	    echo "no Python from 3.11 to 3.14 found; on Debian: apt-get install python3" >&2; \
	    exit 1; fi

build/stamps/system: tools/system_packages | have-python
	@tools/system_packages build "$(call python_path,$(FIRST))"
	@mkdir -p $(@D) && touch $@

build/stamps/system-test: tools/system_packages
	@tools/system_packages test
	@mkdir -p $(@D) && touch $@

# The tools of the build, in an environment of their own.
build/stamps/tools: tools/requirements-build.txt build/stamps/system
	@echo "setting up .venv"
	@test -x $(TOOLS)/pip || "$(call python_path,$(FIRST))" -m venv --clear .venv
	@$(TOOLS)/python -m pip install -qq --disable-pip-version-check -r $<
	@mkdir -p $(@D) && touch $@

build/stamps/system-check: tools/system_packages
	@tools/system_packages check
	@mkdir -p $(@D) && touch $@

build/stamps/system-fuzz: tools/system_packages
	@tools/system_packages fuzz
	@mkdir -p $(@D) && touch $@

build/stamps/tools-check: tools/requirements-check.txt build/stamps/tools
	@$(TOOLS)/python -m pip install -qq --disable-pip-version-check -r $<
	@touch $@

# The client that drives `filmstrip dap` in the tests, from npm at pinned versions.
build/stamps/dap: tests/dap/package.json tests/dap/package-lock.json build/stamps/system-test
	@mkdir -p build/dap && cp tests/dap/package.json tests/dap/package-lock.json build/dap
	@cd build/dap && npm ci --silent --ignore-scripts --no-audit --no-fund || \
	    echo "npm could not fetch the client of the DAP tests: they are skipped" >&2
	@touch $@

# The list of C files: changes when one comes or goes, so that meson looks again.
build/stamps/sources: FORCE
	@mkdir -p $(@D)
	@echo '$(C_FILES)' | cmp -s - $@ || echo '$(C_FILES)' > $@
.PHONY: FORCE
FORCE:

# $(1): what the environment is called, $(2): its version. Its build folder, the build
# installed there.
define python_rules
.venvs/$(1)/.ready: | build/stamps/tools
	@echo "setting up .venvs/$(1)"
	@$$(call python_path,$(2)) -m venv --clear --without-pip .venvs/$(1)
	@touch $$@

.venvs/$(1)/.tested-with: tools/requirements-test.txt .venvs/$(1)/.ready
	@$(TOOLS)/python -m pip --python .venvs/$(1)/bin/python install -qq \
	    --disable-pip-version-check -r $$< pip
	@touch $$@

build/$(1)/build.ninja: build/stamps/sources meson.options .venvs/$(1)/.ready
	@mkdir -p build/$(1)
	@printf "[binaries]\npython = '%s'\nninja = '%s'\n" \
	    "$(CURDIR)/.venvs/$(1)/bin/python" "$(CURDIR)/$(TOOLS)/ninja" > build/$(1).ini
	@PATH="$(CURDIR)/$(TOOLS):$$$$PATH" $(TOOLS)/meson setup $(if $(wildcard build/$(1)/build.ninja),--reconfigure) \
	    build/$(1) --native-file build/$(1).ini -Dpython=enabled -Dtests=false \
	    -Dpython.install_env=venv --prefix "$(CURDIR)/.venvs/$(1)" > build/$(1).log \
	    || { cat build/$(1).log; exit 1; }
	@touch $$@

.PHONY: install-$(1)
install-$(1): build/$(1)/build.ninja
	@PATH="$(CURDIR)/$(TOOLS):$$$$PATH" $(TOOLS)/meson compile -C build/$(1) -j $(JOBS) > build/$(1).log \
	    || { cat build/$(1).log; exit 1; }
	@grep -A4 'warning:' build/$(1).log || true
	@PATH="$(CURDIR)/$(TOOLS):$$$$PATH" $(TOOLS)/meson install -C build/$(1) --only-changed --quiet --no-rebuild
	@printf '#!%s\nfrom filmstrip.__main__ import main\nraise SystemExit(main())\n' \
	    "$(CURDIR)/.venvs/$(1)/bin/python" > .venvs/$(1)/bin/filmstrip
	@chmod +x .venvs/$(1)/bin/filmstrip
endef
$(foreach version,$(VERSIONS),$(eval $(call python_rules,$(version),$(version))))

# Library, program and C tests without Python; $(1): folder, $(2): options.
define c_rules
build/$(1)/build.ninja: build/stamps/sources meson.options build/stamps/tools
	@PATH="$(CURDIR)/$(TOOLS):$$$$PATH" $(3) $(TOOLS)/meson setup $(if $(wildcard build/$(1)/build.ninja),--reconfigure) \
	    build/$(1) -Dpython=disabled $(2) > build/$(1).log \
	    || { cat build/$(1).log; exit 1; }
	@touch $$@

.PHONY: build-$(1)
build-$(1): build/$(1)/build.ninja
	@PATH="$(CURDIR)/$(TOOLS):$$$$PATH" $(TOOLS)/meson compile -C build/$(1) -j $(JOBS) > build/$(1).log \
	    || { cat build/$(1).log; exit 1; }
	@grep -A4 'warning:' build/$(1).log || true
endef
$(eval $(call c_rules,c,))
$(eval $(call c_rules,asan,-Dbuildtype=debugoptimized -Db_sanitize=address$(comma)undefined -Db_lundef=false))
$(eval $(call c_rules,fuzz,-Dbuildtype=debugoptimized -Db_sanitize=address$(comma)undefined -Db_lundef=false -Dfuzz=true -Dtests=false,CC=clang))

build/fuzz/build.ninja: build/stamps/system-fuzz

# Everything with warnings as errors, in build folders of their own; $(1): a compiler,
# $(2): a version, $(3): options. What gcc warns of depends on how it optimises.
define werror_rules
build/werror-$(1)-$(2)/build.ninja: build/stamps/sources meson.options .venvs/$(2)/.ready build/stamps/system-check
	@mkdir -p $$(@D)
	@printf "[binaries]\npython = '%s'\nninja = '%s'\n" \
	    "$(CURDIR)/.venvs/$(2)/bin/python" "$(CURDIR)/$(TOOLS)/ninja" > $$(@D).ini
	@PATH="$(CURDIR)/$(TOOLS):$$$$PATH" CC=$(1) $(TOOLS)/meson setup $(if $(wildcard build/werror-$(1)-$(2)/build.ninja),--reconfigure) \
	    $$(@D) --native-file $$(@D).ini -Dpython=enabled -Dwerror=true $(3) > $$(@D).log \
	    || { cat $$(@D).log; exit 1; }
	@touch $$@

.PHONY: build-werror-$(1)-$(2)
build-werror-$(1)-$(2): build/werror-$(1)-$(2)/build.ninja
	@echo "$(1), Python $(2), warnings are errors"
	@PATH="$(CURDIR)/$(TOOLS):$$$$PATH" $(TOOLS)/meson compile -C build/werror-$(1)-$(2) -j $(JOBS) \
	    > build/werror-$(1)-$(2).log || { cat build/werror-$(1)-$(2).log; exit 1; }
endef
WERROR := $(foreach cc,gcc clang,$(foreach version,$(sort $(FIRST) $(LAST)),build-werror-$(cc)-$(version)))
tests_of = -Dtests=$(if $(filter $(FIRST),$(1)),true,false)
$(foreach version,$(sort $(FIRST) $(LAST)),$(eval $(call werror_rules,gcc,$(version),$(call tests_of,$(version)))))
$(foreach version,$(sort $(FIRST) $(LAST)),$(eval $(call werror_rules,clang,$(version),-Doptimization=0 $(call tests_of,$(version)))))

# The extension under ASan and UBSan, for one Python, in an environment of its own.
ASAN_VERSION := $(or $(filter 3.12,$(VERSIONS)),$(FIRST))
.venvs/asan/.tested-with: tools/requirements-test.txt build/stamps/tools
	@echo "setting up .venvs/asan"
	@$(call python_path,$(ASAN_VERSION)) -m venv --clear --without-pip .venvs/asan
	@$(TOOLS)/python -m pip --python .venvs/asan/bin/python install -qq \
	    --disable-pip-version-check -r $< pip
	@touch $@

build/asan-extension/build.ninja: build/stamps/sources meson.options .venvs/asan/.tested-with
	@mkdir -p build/asan-extension
	@printf "[binaries]\npython = '%s'\nninja = '%s'\n" \
	    "$(CURDIR)/.venvs/asan/bin/python" "$(CURDIR)/$(TOOLS)/ninja" > build/asan-extension.ini
	@PATH="$(CURDIR)/$(TOOLS):$$PATH" $(TOOLS)/meson setup $(if $(wildcard build/asan-extension/build.ninja),--reconfigure) \
	    build/asan-extension --native-file build/asan-extension.ini -Dpython=enabled -Dtests=false \
	    -Dbuildtype=debugoptimized -Db_sanitize=address$(comma)undefined -Db_lundef=false \
	    -Dpython.install_env=venv --prefix "$(CURDIR)/.venvs/asan" > build/asan-extension.log \
	    || { cat build/asan-extension.log; exit 1; }
	@touch $@

.PHONY: install-asan
install-asan: build/asan-extension/build.ninja
	@PATH="$(CURDIR)/$(TOOLS):$$PATH" $(TOOLS)/meson compile -C build/asan-extension -j $(JOBS) > build/asan-extension.log \
	    || { cat build/asan-extension.log; exit 1; }
	@PATH="$(CURDIR)/$(TOOLS):$$PATH" $(TOOLS)/meson install -C build/asan-extension --only-changed --quiet --no-rebuild

# --- what a person does -----------------------------------------------------------

.PHONY: build
build: $(addprefix install-,$(VERSIONS)) build-c ## builds for every Python found

.PHONY: demo
demo: have-python ## records an example program, shows its log, its report and where the film is
	@$(MAKE) install-$(LAST)
	@PATH="$(CURDIR)/.venvs/$(LAST)/bin:$$PATH" sh examples/demo.sh

.PHONY: test
test: build-c build-asan build/stamps/system-test build/stamps/dap $(addprefix install-,$(VERSIONS)) \
    $(foreach version,$(VERSIONS),.venvs/$(version)/.tested-with) ## runs all tests, on every Python found; fetches PyTorch for one of them
	@$(MAKE) torch || echo "PyTorch could not be fetched: the tests that need it are skipped" >&2
	@PATH="$(CURDIR)/$(TOOLS):$$PATH" $(TOOLS)/python tools/run_tests.py --jobs $(JOBS) \
	    --missing "$(shell tools/find_pythons --missing)" $(VERSIONS)

# Some 760 MB.
TORCH_VERSION := 3.11
.venvs/$(TORCH_VERSION)/.torch: tools/requirements-torch.txt .venvs/$(TORCH_VERSION)/.tested-with
	@echo "fetching PyTorch for .venvs/$(TORCH_VERSION)"
	@$(TOOLS)/python -m pip --python .venvs/$(TORCH_VERSION)/bin/python install -qq \
	    --disable-pip-version-check -r $<
	@touch $@

.PHONY: torch
torch: $(if $(filter $(TORCH_VERSION),$(VERSIONS)),.venvs/$(TORCH_VERSION)/.torch) ## fetches PyTorch for the tests that need it (Python 3.11 only)

# PyTorch where sys.monitoring is, each Python's in an environment of its own: some 1.7 GB,
# not part of `make test` either. pip complains of what is left out: only of interest where
# it fails.
TORCH_TESTS := tests/python/pytorch $(addprefix tests/python/,test_read_ops.py test_tensors.py \
	test_torch_questions.py test_tlparse.py test_ranks.py test_ranks_torch.py)
# $(1): a version
define torch_rules
$(call python_rules,torch-$(1),$(1))

.venvs/torch-$(1)/.torch: tools/requirements-torch.txt tools/requirements-torch-others.txt \
    tools/stub_cuda.py .venvs/torch-$(1)/.tested-with
	@echo "fetching PyTorch for .venvs/torch-$(1)"
	@$(TOOLS)/python -m pip --python .venvs/torch-$(1)/bin/python install -qq \
	    --disable-pip-version-check --no-deps -r tools/requirements-torch.txt
	@$(TOOLS)/python -m pip --python .venvs/torch-$(1)/bin/python install -qq \
	    --disable-pip-version-check -r tools/requirements-torch-others.txt \
	    2> build/torch-$(1).pip || { cat build/torch-$(1).pip >&2; exit 1; }
	@$(TOOLS)/python tools/stub_cuda.py .venvs/torch-$(1)/lib/python$(1)/site-packages/torch/lib
	@touch $$@

.PHONY: torch-$(subst .,,$(1))
torch-$(subst .,,$(1)): .venvs/torch-$(1)/.torch install-torch-$(1)
endef
TORCH_ALSO := $(filter 3.12 3.13 3.14,$(VERSIONS))
$(foreach version,$(TORCH_ALSO),$(eval $(call torch_rules,$(version))))
test_torch = @$(if $(filter $(1),$(TORCH_ALSO)),$(MAKE) torch-$(subst .,,$(1)) && CI=1 \
	.venvs/torch-$(1)/bin/python -m pytest -q -n $(JOBS) --dist worksteal $(TORCH_TESTS),\
	echo "Python $(1) was not found" >&2; exit 1)

.PHONY: test-torch-312 test-torch-313 test-torch-314
test-torch-312: ## the tests that need PyTorch, on Python 3.12; fetches it
	$(call test_torch,3.12)
test-torch-313: ## the same on Python 3.13
	$(call test_torch,3.13)
test-torch-314: ## the same on Python 3.14
	$(call test_torch,3.14)

FORMATTED := $(SOURCES) $(HEADERS) $(wildcard include/filmstrip/*.h tests/unit/*.[ch] \
	tests/fault/*.[ch] tests/fuzz/*.[ch] bench/*.[ch])

# clang-tidy knows how a file is compiled from the build of a Python; what only the
# oldest one has is looked at with that.
OLD_ONLY := $(foreach file,$(SOURCES),$(if $(filter hooks_trace.c trace_%,$(notdir $(file))),$(file)))
# $(1): a version, $(2): files
tidy = printf '%s\n' $(2) | xargs -P $(JOBS) -n 6 $(TOOLS)/clang-tidy --quiet -p build/$(1)

.PHONY: werror
werror: have-python $(WERROR) ## builds everything by gcc and clang with warnings as errors, for the oldest and newest Python

.PHONY: check
check: have-python build/$(FIRST)/build.ninja build/$(LAST)/build.ninja build/stamps/tools-check build/stamps/system-check ## layers, formatters and linters
	@failed=; \
	try() { "$$@" || failed=1; }; \
	try $(TOOLS)/python tools/check_layers.py; \
	for file in $(FORMATTED); do \
	    $(TOOLS)/clang-format "$$file" | cmp -s - "$$file" || \
	        { echo "$$file: not formatted; type: make format" >&2; failed=1; }; \
	done; \
	try cppcheck --quiet --std=c11 --library=python --enable=warning,performance,portability \
	    --inline-suppr --error-exitcode=1 --suppress=missingIncludeSystem \
	    --suppress=normalCheckLevelMaxBranches -D__x86_64__ -D__linux__ \
	    -I include -I src -j $(JOBS) src; \
	$(call tidy,$(LAST),$(SOURCES)) 2> build/tidy.log || failed=1; \
	$(call tidy,$(FIRST),$(OLD_ONLY)) 2>> build/tidy.log || failed=1; \
	grep -v '^\[[0-9]*/\|warnings\? generated\|^Suppressed\|^Use -' build/tidy.log >&2 || true; \
	try $(TOOLS)/ruff check .; \
	try $(TOOLS)/ruff format --check .; \
	try $(TOOLS)/mypy; \
	if [ -n "$$failed" ]; then echo "checks failed"; exit 1; fi; \
	echo "checks passed"

.PHONY: format
format: build/stamps/tools-check ## formats C and Python files in place
	@$(TOOLS)/clang-format -i $(FORMATTED)
	@$(TOOLS)/ruff check --quiet --fix . || true
	@$(TOOLS)/ruff format --quiet .

.PHONY: bench
bench: have-python ## measures against the bare program and against peers
	@$(MAKE) $(addprefix install-,$(VERSIONS))
	@if [ -e bench/run.py ]; then $(TOOLS)/python bench/run.py $(VERSIONS) && \
	    $(TOOLS)/python tools/readme_bench.py; \
	else echo "bench/run.py is not there yet"; exit 1; fi
	@.venvs/$(LAST)/bin/python bench/timeline.py
	@.venvs/$(LAST)/bin/python bench/shapes.py
	@.venvs/$(LAST)/bin/python bench/plans.py
	@.venvs/$(LAST)/bin/python bench/known_values.py
	@$(TOOLS)/python bench/strangers.py

.PHONY: test-torch
test-torch: have-python ## runs the proofs of PyTorch: streams, torch's own operators, torch.compile (Python 3.11; `make test` does it too)
	@$(MAKE) install-$(TORCH_VERSION) torch
	@.venvs/$(TORCH_VERSION)/bin/python -m pytest -q -n $(JOBS) tests/python/pytorch

.PHONY: bench-torch
bench-torch: have-python ## measures the recording of PyTorch against the bare program and peers (Python 3.11)
	@$(MAKE) install-$(TORCH_VERSION) torch
	@.venvs/$(TORCH_VERSION)/bin/python bench/torch_bench.py

# --- editors ----------------------------------------------------------------------

build/stamps/vsce: editors/vscode/package.json editors/vscode/package-lock.json build/stamps/system-test
	@mkdir -p build/vscode && cp editors/vscode/package.json editors/vscode/package-lock.json build/vscode
	@cd build/vscode && npm ci --silent --ignore-scripts --no-audit --no-fund
	@touch $@

dist/filmstrip.vsix: build/stamps/vsce editors/vscode/extension.js editors/vscode/README.md LICENSE
	@mkdir -p dist
	@cp editors/vscode/extension.js editors/vscode/README.md LICENSE build/vscode
	@cd build/vscode && node_modules/.bin/vsce package --allow-missing-repository \
	    --no-dependencies -o "$(CURDIR)/$@" > ../vsce.log 2>&1 || { cat ../vsce.log; exit 1; }

.PHONY: vscode
vscode: dist/filmstrip.vsix ## the extension for VS Code, dist/filmstrip.vsix
	@echo "install it: code --install-extension $<"

# Real VS Code, served to a browser. Its native parts are built here, the terminal's and
# the searcher's by hand: their install scripts download.
CODE := build/code-server/node_modules/code-server/lib/vscode
build/stamps/code-server: tests/vscode/package.json tests/vscode/package-lock.json tools/system_packages
	@tools/system_packages vscode
	@mkdir -p build/code-server && cp tests/vscode/package.json tests/vscode/package-lock.json build/code-server
	@echo "fetching and building code-server: some minutes"
	@cd build/code-server && npm ci --silent --ignore-scripts --no-audit --no-fund
	@cd $(CODE) && npm install --silent --ignore-scripts --omit=dev --no-audit --no-fund
	@cd $(CODE) && npm rebuild --silent @vscode/spdlog native-watchdog kerberos > ../../../../../code-server.log 2>&1
	@cd $(CODE) && npm rebuild --silent node-pty >> ../../../../../code-server.log 2>&1 || test -e node_modules/node-pty/build/Release/pty.node
	@cd build/code-server && npm rebuild --silent argon2 --build-from-source >> ../code-server.log 2>&1
	@mkdir -p $(CODE)/node_modules/@vscode/ripgrep/bin
	@ln -sf "$$(command -v rg)" $(CODE)/node_modules/@vscode/ripgrep/bin/rg
	@mkdir -p $(@D) && touch $@

.PHONY: test-vscode
test-vscode: build-c dist/filmstrip.vsix build/stamps/code-server ## a click-through of the extension in real VS Code (fetches code-server and chromium)
	@$(MAKE) install-$(LAST)
	@rm -rf build/vscode-test && mkdir -p build/vscode-test/films && cp tests/dap/market.py build/vscode-test/films
	@cd build/vscode-test/films && "$(CURDIR)/.venvs/$(LAST)/bin/filmstrip" run --level values market.py 2> ../program.log; test -e market.film
	@NODE_PATH=build/code-server/node_modules timeout 300 node tests/vscode/click.js \
	    build/c/filmstrip dist/filmstrip.vsix build/vscode-test/films

FUZZ_SECONDS ?= 60
.PHONY: fuzz
fuzz: build-fuzz ## feeds damaged recordings to the reader for a minute (needs clang)
	@for target in $(notdir $(basename $(wildcard tests/fuzz/fuzz_*.c))); do \
	    mkdir -p build/corpus/$$target tests/fuzz/corpus/$$target; \
	    echo "$$target: $(FUZZ_SECONDS) s"; \
	    build/fuzz/$$target -max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=1024 -timeout=10 \
	        -print_final_stats=1 -artifact_prefix=build/corpus/ \
	        build/corpus/$$target tests/fuzz/corpus/$$target 2> build/$$target.log \
	        || { tail -n 40 build/$$target.log; exit 1; }; \
	    grep -E 'number_of_executed|average_exec' build/$$target.log; \
	done

.PHONY: soak
soak: $(addprefix install-,$(VERSIONS)) $(foreach version,$(VERSIONS),.venvs/$(version)/.tested-with) ## the long runs: more kills, more damage, more programs
	@for version in $(VERSIONS); do \
	    FILMSTRIP_SOAK=1 .venvs/$$version/bin/python -m pytest -q -n $(JOBS) tests/python || exit 1; \
	done

PROGRAMS ?= 20000
.PHONY: soak-values
soak-values: $(addprefix install-,$(VERSIONS)) ## the generated programs of the soak alone; goes on where it was stopped
	@$(TOOLS)/python tests/python/proof/values_soak.py build/soak $(VERSIONS) \
	    --programs $(PROGRAMS) --jobs $(JOBS)

SUITES ?=
MODES ?= bare default target all
LIBRARY_VERSIONS ?= $(sort $(FIRST) $(LAST))
.PHONY: soak-libraries
soak-libraries: build/stamps/tools $(addprefix install-,$(LIBRARY_VERSIONS)) ## libraries' own test suites, bare and recorded (SUITES="attrs click"); goes on where it was stopped
	@$(TOOLS)/python tests/libraries/soak.py --suites "$(SUITES)" --modes "$(MODES)" \
	    $(filter $(addsuffix =%,$(LIBRARY_VERSIONS)),$(FOUND))

# Not what measures time and memory, starts other Pythons or limits its own memory.
ASAN_TESTS ?= $(filter-out %install.py %notebook.py %docs.py %tensors.py %proof_cpython.py %proof_syscalls.py,$(wildcard tests/python/test_*.py))
ASAN_LEFT_OUT ?= damaged_films or limit or memory or whatever_its_size or out_of or bounds or address_space or rlimit or used_again or serials_of_builtins
.PHONY: test-asan
test-asan: install-asan ## runs most Python tests with the extension under ASan and UBSan (one Python)
	@LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)" \
	    ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:handle_segv=0:handle_sigbus=0 \
	    UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 FILMSTRIP_SANITIZED=1 PYTHONMALLOC=malloc \
	    .venvs/asan/bin/python -m pytest -q -n $(JOBS) -k 'not ($(ASAN_LEFT_OUT))' $(ASAN_TESTS)

.PHONY: wheel
wheel: build/stamps/tools $(foreach version,$(VERSIONS),.venvs/$(version)/.ready) ## a wheel for every Python found, in dist/
	@mkdir -p dist
	@for version in $(VERSIONS); do \
	    $(TOOLS)/python -m pip --python .venvs/$$version/bin/python wheel -qq \
	        --disable-pip-version-check --no-deps -w dist . || exit 1; \
	done
	@ls dist

.PHONY: pythons
pythons: have-python ## fetches Python 3.14 from Debian if it is not there
	@if [ -z "$(filter 3.14,$(VERSIONS))" ]; then \
	    $(MAKE) build/stamps/tools && tools/fetch_python 3.14 forky $(CURDIR)/$(TOOLS)/patchelf; fi
	@tools/find_pythons
	@missing="$$(tools/find_pythons --missing)"; \
	if [ -n "$$missing" ]; then echo "not found: $$missing"; fi

.PHONY: docs-check
docs-check: have-python ## runs the examples of the docs
	@$(MAKE) install-$(LAST) .venvs/$(LAST)/.tested-with
	@.venvs/$(LAST)/bin/python -m pytest -q tests/python/test_docs.py

.PHONY: clean
clean: ## removes what was built; the environments and fetched Pythons stay
	rm -rf build dist

.PHONY: distclean
distclean: clean ## removes everything that is not source
	rm -rf .venv .venvs .pythons .mypy_cache .ruff_cache .hypothesis
