# The one door: every task of the project is a target here. `make help` lists them.
# JOBS limits parallel compilation; it defaults to the number of cores.

JOBS ?= $(shell nproc)
SEEDS ?= 200
FIRST ?= 1
SEED ?=
PYTHON ?= python3
RELEASE := build/release
CLEAVE := $(RELEASE)/cleave
BUILD = cmake --build --preset
CONFIGURE = cmake --preset

# The parts that the sanitizers cover: the core, the network code and the simulated world.
SANITIZED := base ring ring_library heat wire balance migrate route net backend coord peer proxy control sim
SANITIZED_TESTS := $(addsuffix _test,$(SANITIZED))

.PHONY: build
build: ## the release program, build/release/cleave (the default target)
	@$(CONFIGURE) release -DCLEAVE_BENCH=OFF >/dev/null
	$(BUILD) release -j $(JOBS) --target cleave

.PHONY: all
all: ## everything in release: the program, the simulator, all unit tests
	@$(CONFIGURE) release -DCLEAVE_BENCH=OFF >/dev/null
	$(BUILD) release -j $(JOBS)

# Where `make library` installs to.
PREFIX ?= build/install
.PHONY: library
library: ## libcleave-ring for other programs, installed into PREFIX=build/install
	@$(CONFIGURE) release -DCLEAVE_BENCH=OFF >/dev/null
	$(BUILD) release -j $(JOBS) --target cleave_ring_shared
	cmake --install $(RELEASE) --component ring --prefix $(PREFIX)

.PHONY: api-docs
api-docs: setup-lint ## the pages of the library's public headers, build/api-docs (needs doxygen)
	@mkdir -p build
	doxygen docs/Doxyfile

.PHONY: setup setup-demo setup-test setup-lint
setup: ## install the Debian packages that are missing (root or sudo): all of tools/packages.txt
	@tools/setup.sh
setup-demo:
	@tools/setup.sh build run
setup-test:
	@tools/setup.sh build run test peers
setup-lint:
	@tools/setup.sh build lint

.PHONY: demo
demo: setup-demo ## set up, build, and show a hot range being found, cut and moved
	@$(MAKE) --no-print-directory build
	$(CLEAVE) demo hot

# ONLY is a layer (ring), a program (ring_test), a file (moves_test.py), or a suite of unit tests
# (CutPoint, 'CutPoint.Refuses*'); it builds no more than that needs.
.PHONY: test
test: setup-test ## set up, build, and run the tests; ONLY=ring some: a layer, a file, a suite
ifdef ONLY
	@tools/run_tests.sh only '$(ONLY)'
else
	@$(MAKE) --no-print-directory all
	@tools/run_tests.sh unit sim integration
endif

.PHONY: unit integration
unit: setup-test ## unit tests only
	@$(MAKE) --no-print-directory all
	@tools/run_tests.sh unit
integration: setup-test ## integration tests only: real servers, real clients
	@$(MAKE) --no-print-directory build
	@tools/run_tests.sh integration

.PHONY: lint
lint: setup-lint ## layers, tidiness, formatting, and the linters' own tests
	@tools/run_tests.sh lint

.PHONY: format
format: ## format every C++ file in place
	git ls-files '*.h' '*.hpp' '*.c' '*.cc' | xargs clang-format-19 -i

.PHONY: tidy
tidy: setup-lint ## clang-tidy on the files changed since origin/main or HEAD~1; TIDY_ALL=1 for the core
	tools/clang_tidy.sh

.PHONY: asan tsan
asan: setup-test setup-lint ## core, network code and simulator under address and undefined-behaviour sanitizers
	tools/run_sanitized.sh asan-ubsan $(JOBS) $(SANITIZED_TESTS)
tsan: setup-test setup-lint ## the same under the thread sanitizer
	tools/run_sanitized.sh tsan $(JOBS) $(SANITIZED_TESTS)

.PHONY: sim sim-mutants
sim: ## the simulated world: SEEDS=N seeds from FIRST=K; SEED=S replays one (prints its trace hash)
	@$(CONFIGURE) release -DCLEAVE_BENCH=OFF >/dev/null
	$(BUILD) release -j $(JOBS) --target cleave-sim
	$(RELEASE)/cleave-sim $(if $(SEED),--seed $(SEED),--seeds $(SEEDS) --first $(FIRST))
sim-mutants: ## switches each protocol rule off in turn; the simulated world must notice each
	@$(CONFIGURE) release -DCLEAVE_BENCH=OFF >/dev/null
	$(BUILD) release -j $(JOBS) --target cleave-sim
	$(RELEASE)/cleave-sim --mutants

.PHONY: model
model: ## the Spin models of the move protocol; ALL=1 the long searches too, ONLY=NAME one of them
	@tools/setup.sh model
	$(PYTHON) tools/run_models.py $(if $(ALL),--all) $(if $(ONLY),--only $(ONLY))

.PHONY: crash-matrix fences
crash-matrix: build ## router and servers killed in each phase of a move, under verified load
	$(PYTHON) tests/integration/crash_matrix.py
fences: build ## 300 moves under load: how long clients wait at a fence; COORD=... for a fleet's
	$(PYTHON) tests/integration/fences.py 300 $(if $(filter command line,$(origin COORD)),$(COORD))

# Real faults on a real fleet, in a network namespace of its own, so it needs root. COORD is etcd or
# zookeeper; SEED repeats a schedule of faults; LIE=1 must fail: the load then tells untruths.
MINUTES ?= 5
COORD ?= etcd
# The commit before, and the last one that knows no format 5 of the ring document: with it a fleet is
# upgraded, the old version refused, and the pool taken back by `cleave downgrade`.
PREVIOUS ?= HEAD~1 702e84d
LIE ?=
.PHONY: faults fleet-load two-versions
faults: build fleet-load ## kills, stalls, partitions of a fleet: MINUTES=5 COORD=etcd|zookeeper SEED=S
	CLEAVE=$(abspath $(CLEAVE)) $(PYTHON) tests/fleet/faults.py --minutes $(MINUTES) \
	  --coordinator $(COORD) $(if $(SEED),--seed $(SEED)) $(if $(LIE),--lie)
two-versions: build ## a fleet upgraded router by router, and back: from PREVIOUS="HEAD~1 702e84d"
	set -e; for commit in $(PREVIOUS); do \
	  tools/previous_build.sh $$commit; \
	  CLEAVE=$(abspath $(CLEAVE)) $(PYTHON) tests/fleet/versions.py \
	    build/previous/build/release/cleave; \
	done
fleet-load: ## the load of `faults`, and its own tests
	@tools/faults_packages.sh $(COORD)
	@mkdir -p build/fleet
	cd tests/fleet/load && go test ./... && go build -o ../../../build/fleet/load .

# ONLY takes numbers of cases, O5 111, or letters, O: tests/field/run.py --list names them.
.PHONY: field
field: setup-test build ## faults from the field, on real servers: right, or what is said; ONLY=O5
	@eval "$$(tools/field_servers.sh)" && CLEAVE=$(abspath $(CLEAVE)) \
	  $$FIELD_PYTHON tests/field/run.py $(ONLY)

.PHONY: fuzz
fuzz: setup-lint ## the parsers under libFuzzer, a minute each (clang)
	fuzz/run.sh

.PHONY: golden
golden: all ## rewrite the golden files; the commit explains their difference
	CLEAVE_GOLDEN_REWRITE=1 ctest --test-dir $(RELEASE) --output-on-failure
	git status --short -- '*/testdata/*'

.PHONY: bench compare move-speed
bench: ## micro-benchmarks; the ring beside libmemcached, Rust's hashring and others: ROUNDS=5
	@tools/setup.sh build bench
	@$(CONFIGURE) bench >/dev/null
	$(BUILD) bench -j $(JOBS) --target benchmarks
	@for program in build/bench/*_bench; do \
	  case $$program in */ring_bench) ;; *) $$program ;; esac; done
	$(PYTHON) bench/ring.py --rounds $(or $(ROUNDS),5)
compare: build ## CPU a request beside twemproxy, in one run
	$(PYTHON) bench/compare.py

move-speed: build ## keys a second of a move, unthrottled, beside redis-server's own MIGRATE
	$(PYTHON) bench/move_speed.py

.PHONY: balance-report
balance-report: build ## every workload under every policy, in the simulator: docs/reports/balance.md
	$(PYTHON) tools/balance_report.py --cleave $(CLEAVE)

.PHONY: ci
ci: ## what the submission gate runs
	.ci/run

.PHONY: clean
clean: ## remove build/
	rm -rf build

.PHONY: help
help:
	@grep -E '^[a-z -]+:.*## ' Makefile | sed -E 's/:[^#]*## /\t/' | expand -t 22
