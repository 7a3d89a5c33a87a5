# Daily tasks, one command each. They use the virtual environment .venv, which `make setup` creates.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: setup fast test lint format docs gallery notebooks pictures bench counts tables ci

setup:            ## environment with everything for development
	$(PYTHON) -m venv .venv
	$(BIN)/pip install -e ".[test,pyvista,gmsh,cad,docs,opencl,mpi]"

fast:             ## tests of the parts, without whole problems, pictures and command lines
	$(BIN)/python -m pytest -q -n 2 --dist worksteal tests --ignore=tests/formulations --ignore=tests/cli --ignore=tests/report \
		--ignore=tests/plots

test:             ## all tests
	$(BIN)/python -m pytest -q -n 2 --dist worksteal

lint:             ## style, words, import contract, types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python scripts/check_words.py
	$(BIN)/lint-imports
	$(BIN)/mypy

format:           ## rewrite the sources in the project's style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

gallery:          ## run the examples; their pictures go into the documentation
	$(BIN)/python -m examples docs/gallery/pictures

notebooks:        ## run the notebooks; the documentation shows what they print and their pictures
	$(BIN)/python docs/tools/notebooks.py

pictures: gallery ## run cases and examples, and make all pictures and tables of figures of the documentation again
	$(BIN)/python docs/tools/make_pictures.py
	$(BIN)/python docs/tools/figures.py

docs:             ## HTML documentation in docs/_build (with pictures of the examples after `make gallery`)
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build

counts:           ## figures of the structure: files, lines, constants, comments, functions that commands enter
	$(BIN)/python scripts/count_structure.py
	$(BIN)/python scripts/trace_calls.py

bench:            ## speed of assembly, potentials and solution
	$(BIN)/python -m benchmarks assembly potentials solve

tables:           ## tables of benchmarks/README.md, from benchmarks/results
	$(BIN)/python -m benchmarks --tables

ci:               ## what must pass before a change lands
	bash .ci/run
