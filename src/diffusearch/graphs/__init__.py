"""Graphs for play without torch: the network's structure as ONNX, its numbers in the run's own weights.safetensors.

builder        nodes, small constants, and weights as external data
weights_file   where each tensor lies in weights.safetensors
board_features, places, trunk, heads
               the parts of model/ as operators of a graph
network        the graphs of a run: evaluate, value, predict, denoise, revise
about          their names and metadata, and what is refused; play needs this file alone
files          writes them beside the weights
"""
