"""Compares gradients of `aflguard model gradient` with PyTorch's autograd for one exported model."""
import copy
import json
import os
import subprocess
import warnings

import numpy as np
import torch

LIMIT = 1e-4  # max absolute difference over max absolute value, per parameter


class Case:
    """A forward model, how it is exported, and what is fed to it."""

    def __init__(self, name, model, input_shape, classes=0, opset=13, export_batch=2, dynamic=True, folding=True,
                 training=False, batches=(1, 3, 32), frozen=(), scale=1.0, ids=0,
                 checked=False):
        self.name = name
        self.model = model
        self.input_shape = tuple(input_shape)
        self.classes = classes  # 0: mean squared error
        self.opset = opset
        self.export_batch = export_batch
        self.dynamic = dynamic
        self.folding = folding
        self.training = training
        self.batches = batches
        self.frozen = tuple(frozen)
        self.scale = scale
        self.checked = checked  # also against finite differences
        self.ids = ids  # above 0: samples hold int64 ids below it

    def samples(self, batch, rng):
        if self.ids:
            return rng.integers(0, self.ids, (batch,) + self.input_shape).astype(np.int64)
        return (self.scale * rng.standard_normal((batch,) + self.input_shape)).astype(np.float32)


def run(arguments, expect=0):
    done = subprocess.run(arguments, capture_output=True, text=True)
    if done.returncode != expect:
        raise RuntimeError(f"{' '.join(arguments)}: exit {done.returncode}, expected {expect}: {done.stderr.strip()}")
    return done


def export(case, path):
    example = torch.from_numpy(case.samples(case.export_batch, np.random.default_rng(5)))
    mode = torch.onnx.TrainingMode.TRAINING if case.training else torch.onnx.TrainingMode.EVAL
    model = copy.deepcopy(case.model)
    model.train(case.training)
    axes = {"input": {0: "batch"}, "output": {0: "batch"}} if case.dynamic else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(model, example, path, opset_version=case.opset, input_names=["input"],
                          output_names=["output"], dynamic_axes=axes, do_constant_folding=case.folding,
                          training=mode)


def reference(case, x, y):
    """Loss and gradients by parameter name, in double precision, as in training."""
    model = copy.deepcopy(case.model).double()
    model.train()
    output = model(torch.from_numpy(x) if case.ids else torch.from_numpy(x).double())
    if case.classes:
        loss = torch.nn.functional.cross_entropy(output, torch.from_numpy(y))
    else:
        loss = torch.nn.functional.mse_loss(output, torch.from_numpy(y).double())
    loss.backward()
    gradients = {name: p.grad.numpy() for name, p in model.named_parameters() if p.grad is not None}
    return loss.item(), gradients


def targets(case, batch, rng):
    if case.classes:
        return rng.integers(0, case.classes, batch).astype(np.int64)
    with torch.no_grad():
        zeros = torch.zeros((max(batch, 2),) + case.input_shape, dtype=torch.int64 if case.ids else torch.float32)
        shape = copy.deepcopy(case.model).train()(zeros).shape
    return rng.standard_normal((batch,) + tuple(shape[1:])).astype(np.float32)


def stacked(module, layer, values, part, order):
    """A recurrent layer's weight as ONNX has it: directions stacked, gates in ONNX's order."""
    rows = []
    for direction in ("", "_reverse") if module.bidirectional else ("",):
        names = [f"{kind}_l{layer}{direction}" for kind in part]
        if any(name not in values for name in names):
            return None, []
        gates = [np.split(values[name], len(order)) for name in names]
        rows.append((np.concatenate([g[i] for g in gates for i in order]), names))
    return np.stack([row for row, _ in rows]), [name for _, names in rows for name in names]


def recurrent_weights(case, parameters, gradients):
    """(first values, gradient, names) of the weights that exporting makes of recurrent layers."""
    orders = {torch.nn.LSTM: (0, 3, 1, 2), torch.nn.GRU: (1, 0, 2), torch.nn.RNN: (0,)}
    for prefix, module in case.model.named_modules():
        order = orders.get(type(module))
        if order is None:
            continue
        start = prefix + "." if prefix else ""
        own = {n[len(start):]: v for n, v in parameters.items() if n.startswith(start)}
        slopes = {n[len(start):]: v for n, v in gradients.items() if n.startswith(start)}
        for layer in range(module.num_layers):
            for part in (("weight_ih",), ("weight_hh",), ("bias_ih", "bias_hh")):
                value, names = stacked(module, layer, own, part, order)
                gradient, _ = stacked(module, layer, slopes, part, order)
                if value is not None and gradient is not None:
                    yield value, gradient, {start + name for name in names}


def counterpart(name, initial, case, gradients):
    """The autograd gradient of an exported parameter, and the names of what it stands for; the exporter may have
    renamed, transposed and joined it."""
    parameters = {n: p.detach().numpy() for n, p in case.model.named_parameters()}
    if name in parameters and parameters[name].shape == initial.shape:
        return gradients[name], {name}
    for other, value in parameters.items():
        if other not in gradients:
            continue
        if value.shape == initial.shape and np.array_equal(value, initial):
            return gradients[other], {other}
        if value.ndim == 2 and value.T.shape == initial.shape and np.array_equal(value.T, initial):
            return gradients[other].T, {other}
        if value.size == initial.size and np.array_equal(value.ravel(), initial.ravel()):
            return gradients[other].reshape(initial.shape), {other}
    for value, gradient, names in recurrent_weights(case, parameters, gradients):
        if value.shape == initial.shape and np.array_equal(value, initial):
            return gradient, names
    raise RuntimeError(f"{case.name}: no parameter of the PyTorch model is '{name}'")


def compare_batch(case, program, folder, info, theta, x, y, ops):
    batch = len(x)
    done = run([program, "model", "gradient", folder + "/package", "--theta", folder + "/theta.npy", "--x",
                folder + "/x.npy", "--y", folder + "/y.npy", "-o", folder + "/gradient.npy", "--json", "--ops", ops])
    loss = json.loads(done.stdout)["loss"]
    gradient = np.load(folder + "/gradient.npy")
    expected_loss, gradients = reference(case, x, y)
    if not abs(loss - expected_loss) <= 1e-5 * max(1, abs(expected_loss)):
        raise RuntimeError(f"{case.name}: loss {loss}, autograd {expected_loss} (batch {batch})")
    largest = max(np.abs(g).max() for g in gradients.values())
    worst, where, seen = 0.0, "", set()
    for p in info["parameters"]:
        size = int(np.prod(p["shape"], dtype=int))
        part = gradient[p["offset"]:p["offset"] + size].reshape(p["shape"])
        expected, names = counterpart(p["name"], theta[p["offset"]:p["offset"] + size].reshape(p["shape"]), case,
                                      gradients)
        difference = np.abs(part - expected).max()
        # What float32 rounds off sums of the largest gradients is not an error of a small one: a bias before batch
        # normalisation has the gradient 0 in exact arithmetic, and thus no scale.
        error = difference / max(np.abs(expected).max(), 1e-30)
        if error > LIMIT and difference <= 2e-6 * largest:
            error = 0.0
        seen |= names
        if not error <= worst:
            worst, where = error, p["name"]
    if len(seen) < len(gradients) - len(case.frozen):
        raise RuntimeError(f"{case.name}: {len(seen)} parameters in the package, autograd has {len(gradients)}")
    return worst, where


def check(case, program, folder):
    """Worst error over the batch sizes and both training graphs; raises when something is wrong."""
    os.makedirs(folder, exist_ok=True)
    export(case, folder + "/model.onnx")
    loss = "cross-entropy" if case.classes else "mse"
    build = [program, "model", "build", "--onnx", folder + "/model.onnx", "--loss", loss, "-o", folder + "/package",
             "--force"]
    run(build + (["--freeze"] + list(case.frozen) if case.frozen else []))
    info = json.loads(run([program, "model", "info", folder + "/package", "--json"]).stdout)
    run([program, "model", "init", folder + "/package", "-o", folder + "/theta.npy"])
    if case.checked:
        run([program, "model", "check", folder + "/package"])
    theta = np.load(folder + "/theta.npy")
    rng = np.random.default_rng(7)
    worst, where = 0.0, ""
    for batch in case.batches:
        x = case.samples(batch, rng)
        y = targets(case, batch, rng)
        np.save(folder + "/x.npy", x)
        np.save(folder + "/y.npy", y)
        for ops in ("standard", "fused") if batch == max(case.batches) else ("standard",):
            error, name = compare_batch(case, program, folder, info, theta, x, y, ops)
            if not error <= worst:
                worst, where = error, f"{name}, batch {batch}, {ops} operators"
    if not worst <= LIMIT:
        raise RuntimeError(f"{case.name}: gradients differ by {worst:.2e} at {where}, limit {LIMIT:.0e}")
    return worst, where
