# cython: boundscheck=False, wraparound=False, cdivision=True
"""A convolutional network in Cython, whose layers hold typed memoryviews and store transposed activations without copies.

A convolution is most easily computed channel by channel: `product` has the axes (channel, image, row, column). The next
layer wants (image, channel, row, column), so `forward` stores the transpose into `self.y`, and `backward` stores the
transposed gradient back. In NumPy that is

    self.y[...] = np.tanh(product.transpose(1, 0, 2, 3))
    d_product = np.ascontiguousarray(self.dy.transpose(1, 0, 2, 3))

and here `ndblas_permute`, which reads and writes each number once. Nothing in the training loop makes an array or a Python
object: it runs without the GIL.
"""
from libc.math cimport exp, log, tanh
from libc.stdint cimport int32_t, int64_t

from ndblas cimport *

cdef ndblas_scalar ZERO = ndblas_scalar(0, 0)
cdef ndblas_scalar ONE = ndblas_scalar(1, 0)
cdef int32_t[4] SWAP
SWAP[:] = [1, 0, 2, 3]


cdef class Convolution:
    """y[n,o,r,s] = tanh(bias[o] + sum over c,i,j of weight[o,c,i,j] * x[n,c,r+i,s+j]), with x padded by a border of 0."""

    cdef double[:, :, :, :] x, y, dy           # (image, channel, row, column)
    cdef double[:, :, :, :] product            # (channel, image, row, column), later its gradient
    cdef double[:, :, :, :] weight, d_weight
    cdef double[:] bias, d_bias

    def __init__(self, x, y, dy, product, weight, d_weight, bias, d_bias):
        self.x, self.y, self.dy, self.product = x, y, dy, product
        self.weight, self.d_weight, self.bias, self.d_bias = weight, d_weight, bias, d_bias

    cdef int forward(self) except -1 nogil:
        cdef ndblas_memview a, b, c
        cdef Py_ssize_t ch, i, j, n, o, r, s
        cdef Py_ssize_t rows = self.y.shape[2], columns = self.y.shape[3]

        # product[o, n, r, s] = bias[o], then += weight[o, ch, i, j] * x[n, ch, r+i, s+j]: slices and broadcast axes are
        # views, so each sum is one pass over product.
        ndblas_check(ndblas_copy(ndblas_view_of(&a, self.bias[:, None, None, None]),
                                 ndblas_view_mut_of(&c, self.product)))
        for ch in range(self.x.shape[1]):
            for i in range(3):
                for j in range(3):
                    ndblas_check(ndblas_mul_add(
                        ONE, ndblas_view_of(&a, self.weight[:, ch, i, j, None, None, None]),
                        ndblas_view_of(&b, self.x[:, ch, i:i + rows, j:j + columns]),
                        ONE, ndblas_view_mut_of(&c, self.product)))

        # self.y[...] = product.transpose(1, 0, 2, 3)
        ndblas_check(ndblas_permute(ONE, ndblas_view_of(&a, self.product), SWAP, ZERO, ndblas_view_mut_of(&c, self.y)))
        for n in range(self.y.shape[0]):
            for o in range(self.y.shape[1]):
                for r in range(rows):
                    for s in range(columns):
                        self.y[n, o, r, s] = tanh(self.y[n, o, r, s])
        return 0

    cdef int backward(self) except -1 nogil:
        cdef ndblas_memview a, b, c
        cdef ndblas_scalar total
        cdef double number = 1
        cdef ndblas_view one = ndblas_view(&number, NULL, NULL, 0, NDBLAS_F64)  # rank 0, which broadcasts: the sum
        cdef Py_ssize_t ch, i, j, n, o, r, s
        cdef Py_ssize_t rows = self.y.shape[2], columns = self.y.shape[3]
        for n in range(self.y.shape[0]):
            for o in range(self.y.shape[1]):
                for r in range(rows):
                    for s in range(columns):
                        self.dy[n, o, r, s] *= 1 - self.y[n, o, r, s] * self.y[n, o, r, s]

        # product[...] = dy.transpose(1, 0, 2, 3): the gradient, back in the order of the product
        ndblas_check(ndblas_permute(ONE, ndblas_view_of(&a, self.dy), SWAP, ZERO, ndblas_view_mut_of(&c, self.product)))
        for o in range(self.product.shape[0]):
            ndblas_view_of(&a, self.product[o])
            ndblas_check(ndblas_dotu(&a.view, &one, &total))
            self.d_bias[o] = total.re
            for ch in range(self.x.shape[1]):
                for i in range(3):
                    for j in range(3):
                        ndblas_check(ndblas_dotu(
                            &a.view, ndblas_view_of(&b, self.x[:, ch, i:i + rows, j:j + columns]), &total))
                        self.d_weight[o, ch, i, j] = total.re
        return 0


cdef class Dense:
    """logits[n, k] = bias[k] + sum over f of weight[k, f] * x[n, f]."""

    cdef double[:, :] x, dx, logits, weight, d_weight
    cdef double[:] bias, d_bias

    def __init__(self, x, dx, logits, weight, d_weight, bias, d_bias):
        self.x, self.dx, self.logits = x, dx, logits
        self.weight, self.d_weight, self.bias, self.d_bias = weight, d_weight, bias, d_bias

    cdef int forward(self) except -1 nogil:
        cdef ndblas_memview a, b
        cdef ndblas_scalar total
        cdef Py_ssize_t n, k
        for n in range(self.x.shape[0]):
            for k in range(self.weight.shape[0]):
                ndblas_check(ndblas_dotu(ndblas_view_of(&a, self.x[n]), ndblas_view_of(&b, self.weight[k]), &total))
                self.logits[n, k] = self.bias[k] + total.re
        return 0

    cdef double loss(self, const int64_t[:] labels) noexcept nogil:
        """The mean cross-entropy of the softmax; its gradient takes the place of the logits."""
        cdef Py_ssize_t n, k, count = self.logits.shape[0]
        cdef double loss = 0, top, total
        for n in range(count):
            top = self.logits[n, 0]
            for k in range(self.logits.shape[1]):
                top = max(top, self.logits[n, k])
            total = 0
            for k in range(self.logits.shape[1]):
                total += exp(self.logits[n, k] - top)
            loss += log(total) - (self.logits[n, labels[n]] - top)
            for k in range(self.logits.shape[1]):
                self.logits[n, k] = (exp(self.logits[n, k] - top) / total - (k == labels[n])) / count
        return loss / count

    cdef int backward(self) except -1 nogil:
        cdef ndblas_memview a, b, c
        cdef Py_ssize_t n, k
        ndblas_check(ndblas_fill(ZERO, ndblas_view_mut_of(&c, self.d_weight)))
        ndblas_check(ndblas_fill(ZERO, ndblas_view_mut_of(&c, self.d_bias)))
        ndblas_check(ndblas_fill(ZERO, ndblas_view_mut_of(&c, self.dx)))
        for n in range(self.x.shape[0]):
            # outer products: d_weight[k, f] += logits[n, k] * x[n, f]
            ndblas_check(ndblas_mul_add(ONE, ndblas_view_of(&a, self.logits[n, :, None]), ndblas_view_of(&b, self.x[n]),
                                        ONE, ndblas_view_mut_of(&c, self.d_weight)))
            ndblas_check(ndblas_axpy(ONE, ndblas_view_of(&a, self.logits[n]), ndblas_view_mut_of(&c, self.d_bias)))
        for k in range(self.weight.shape[0]):
            # dx[n, f] += logits[n, k] * weight[k, f]
            ndblas_check(ndblas_mul_add(ONE, ndblas_view_of(&a, self.logits[:, k, None]),
                                        ndblas_view_of(&b, self.weight[k]), ONE, ndblas_view_mut_of(&c, self.dx)))
        return 0


def train(Convolution convolution not None, Dense dense not None, double[::1] parameters, const double[::1] gradient,
          const double[:, :, :] images, const int64_t[:] labels, const int64_t[:, :] batches, double rate,
          int64_t[::1] batch_labels, double[::1] losses):
    """Plain gradient descent over the batches, rows of indices into the images; the loss of each goes to `losses`."""
    cdef ndblas_memview a, b, c
    cdef Py_ssize_t step, side = images.shape[1]
    with nogil:
        for step in range(batches.shape[0]):
            # x[n, 0, 1:-1, 1:-1] = images[batches[step, n]], inside the border of zeros
            ndblas_check(ndblas_gather(
                ONE, ndblas_view_of(&a, images), 0, ndblas_view_of(&b, batches[step, :, None, None]), NDBLAS_RAISE, ZERO,
                ndblas_view_mut_of(&c, convolution.x[:, 0, 1:1 + side, 1:1 + side])))
            ndblas_check(ndblas_gather(
                ONE, ndblas_view_of(&a, labels), 0, ndblas_view_of(&b, batches[step]), NDBLAS_RAISE, ZERO,
                ndblas_view_mut_of(&c, batch_labels)))
            convolution.forward()
            dense.forward()
            losses[step] = dense.loss(batch_labels)
            dense.backward()
            convolution.backward()
            ndblas_check(ndblas_axpy(ndblas_scalar(-rate, 0), ndblas_view_of(&a, gradient),
                                     ndblas_view_mut_of(&c, parameters)))
