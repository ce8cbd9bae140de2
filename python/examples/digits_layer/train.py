"""Trains the network of digits_layer.pyx on real digits, and beside it the same network in plain NumPy: the losses agree.

    python train.py [FILE]          FILE defaults to the project's c_examples/data/digits.csv
"""

import pathlib
import sys
import time

import digits_layer
import numpy as np

import ndblas

BATCH, EPOCHS, CHANNELS, CLASSES, SIDE, RATE = 32, 3, 12, 10, 8, 0.15
DATA = pathlib.Path(__file__).resolve().parents[3] / "c_examples" / "data" / "digits.csv"
Arrays = dict[str, np.ndarray]


def parts(flat: np.ndarray) -> Arrays:
    """The parameters of all layers, as views of one vector: a step is one axpy."""
    shapes = {
        "conv_weight": (CHANNELS, 1, 3, 3),
        "conv_bias": (CHANNELS,),
        "dense_weight": (CLASSES, CHANNELS * SIDE * SIDE),
        "dense_bias": (CLASSES,),
    }
    views, at = {}, 0
    for name, shape in shapes.items():
        size = int(np.prod(shape))
        views[name] = flat[at : at + size].reshape(shape)
        at += size
    assert at == flat.size
    return views


def initial(rng: np.random.Generator) -> np.ndarray:
    flat = np.zeros(CHANNELS * 10 + CLASSES * (CHANNELS * SIDE * SIDE + 1))
    p = parts(flat)
    p["conv_weight"][...] = rng.normal(scale=1 / 3, size=p["conv_weight"].shape)
    p["dense_weight"][...] = rng.normal(scale=0.01, size=p["dense_weight"].shape)
    return flat


def train_cython(flat: np.ndarray, images: np.ndarray, labels: np.ndarray, batches: np.ndarray) -> np.ndarray:
    gradient = np.zeros_like(flat)
    p, d = parts(flat), parts(gradient)
    y = np.empty((BATCH, CHANNELS, SIDE, SIDE))
    dy = np.empty_like(y)
    convolution = digits_layer.Convolution(
        x=np.zeros((BATCH, 1, SIDE + 2, SIDE + 2)),
        y=y,
        dy=dy,
        product=np.empty((CHANNELS, BATCH, SIDE, SIDE)),
        weight=p["conv_weight"],
        d_weight=d["conv_weight"],
        bias=p["conv_bias"],
        d_bias=d["conv_bias"],
    )
    dense = digits_layer.Dense(
        x=y.reshape(BATCH, -1),
        dx=dy.reshape(BATCH, -1),
        logits=np.empty((BATCH, CLASSES)),
        weight=p["dense_weight"],
        d_weight=d["dense_weight"],
        bias=p["dense_bias"],
        d_bias=d["dense_bias"],
    )
    losses = np.empty(len(batches))
    digits_layer.train(
        convolution, dense, flat, gradient, images, labels, batches, RATE, np.empty(BATCH, np.int64), losses
    )
    return losses


def logits_of(p: Arrays, images: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The forward pass in plain NumPy: the patches, the activations, the logits."""
    x = np.pad(images, ((0, 0), (1, 1), (1, 1)))
    patches = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(1, 2))  # (image, row, column, 3, 3)
    product = np.einsum("oij,nrsij->onrs", p["conv_weight"][:, 0], patches) + p["conv_bias"][:, None, None, None]
    y = np.tanh(np.ascontiguousarray(product.transpose(1, 0, 2, 3)))
    return patches, y, y.reshape(len(y), -1) @ p["dense_weight"].T + p["dense_bias"]


def train_numpy(flat: np.ndarray, images: np.ndarray, labels: np.ndarray, batches: np.ndarray) -> np.ndarray:
    gradient = np.zeros_like(flat)
    p, d = parts(flat), parts(gradient)
    losses = []
    for rows in batches:
        patches, y, logits = logits_of(p, images[rows])
        z = np.exp(logits - logits.max(axis=1, keepdims=True))
        softmax = z / z.sum(axis=1, keepdims=True)
        losses.append(-np.log(softmax[np.arange(BATCH), labels[rows]]).mean())
        softmax[np.arange(BATCH), labels[rows]] -= 1
        g = softmax / BATCH
        d["dense_weight"][...] = g.T @ y.reshape(BATCH, -1)
        d["dense_bias"][...] = g.sum(axis=0)
        dy = (g @ p["dense_weight"]).reshape(y.shape) * (1 - y * y)
        d_product = np.ascontiguousarray(dy.transpose(1, 0, 2, 3))
        d["conv_weight"][:, 0] = np.einsum("onrs,nrsij->oij", d_product, patches)
        d["conv_bias"][...] = d_product.sum(axis=(1, 2, 3))
        flat -= RATE * gradient
    return np.array(losses)


def main() -> None:
    table = np.loadtxt(sys.argv[1] if len(sys.argv) > 1 else DATA, delimiter=",", dtype=np.int64)
    images, labels = table[:, :-1].reshape(-1, SIDE, SIDE) / 16.0, np.ascontiguousarray(table[:, -1])
    held_out = len(table) // 5
    rng = np.random.default_rng(1)
    order = rng.permutation(len(table))
    test, rows = order[:held_out], order[held_out:]
    steps = len(rows) // BATCH
    batches = np.concatenate([rng.permutation(rows)[: steps * BATCH].reshape(steps, BATCH) for _ in range(EPOCHS)])
    start = initial(rng)

    print(ndblas.config())
    results = {}
    for name, train in (("Cython with ndblas", train_cython), ("NumPy", train_numpy)):
        flat = start.copy()
        began = time.perf_counter()
        losses = train(flat, images, labels, batches)
        seconds = time.perf_counter() - began
        right = (logits_of(parts(flat), images[test])[2].argmax(axis=1) == labels[test]).mean()
        for epoch, loss in enumerate(losses.reshape(EPOCHS, steps).mean(axis=1), 1):
            print(f"{name:<20} epoch {epoch}   loss {loss:.10f}")
        print(f"{name:<20} {100 * right:.1f} % of {held_out} held-out digits right; {seconds:.2f} s")
        results[name] = losses
        if right < 0.9:
            sys.exit("less than 90 % right: it has not learned")
    apart = np.abs(np.subtract(*results.values())).max()
    print(f"the losses of {len(batches)} steps differ by at most {apart:.1e}")
    if not apart <= 1e-10:
        sys.exit("more than 1e-10")


if __name__ == "__main__":
    main()
