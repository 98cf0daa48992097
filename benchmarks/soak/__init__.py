"""The soak before a release, about an hour: games, UCI lines, kills, requests and many players; writes docs/soak.md.

    make soak [SCALE=0.01]          or: PYTHONPATH=benchmarks python -m soak --scale 0.01 --work build/soak-0.01

The work is cut in units. A finished unit is one line in WORK/STAGE.jsonl; the same command goes on with the others.
"""
