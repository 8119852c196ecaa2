"""Anything -> OpenVINO IR in the model store; one file a step.

files      hashes, locks, folders that appear whole or not at all
formats    which format a model file has, by its content; pickles are refused
cards      what is known about a model: source, licence, kind, options; the catalogue
record     what an artifact tells about itself
store      where sources, artifacts and cards lie; nothing damaged is trusted
pypi       a file inside a registry wheel
sources    a source -> a verified file in the store
ir         read, prepare, write and check a model
convert    source -> artifact; `ensure` is what nodes call
library    list, add, pull, remove, verify: what the command line calls
"""
