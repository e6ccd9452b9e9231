# Two commands do everything: `make eval` and `make test`.
# ROS=jazzy or ROS=kilted chooses the wheels where no ROS 2 is sourced.
ROS ?= kilted
VENV ?= $(if $(filter kilted,$(ROS)),.venv,.venv-$(ROS))
PY = $(VENV)/bin/python
# Nothing that is started here is heard beyond this machine.
export ROS_AUTOMATIC_DISCOVERY_RANGE = LOCALHOST

.PHONY: eval test lint setup benchmark clean

setup:
	@python3 tools/setup.py --ros $(ROS) --venv $(VENV)

eval: setup
	@$(PY) -m urbanground_ros eval $(ARGS)

test: setup lint
	@$(PY) -m pytest $(ARGS)

lint: setup
	@$(PY) -m ruff check .
	@$(PY) -m mypy

benchmark: setup
	@for b in benchmarks/bench_*.py; do $(PY) $$b || exit 1; done

clean:
	rm -rf .venv .venv-* build install log
