// The routines from C++17: containers and views as operands, exceptions as errors.
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "ndblas.hpp"

static int failures = 0;

static void expect(bool right, const char *what) {
    std::printf("%-60s %s\n", what, right ? "ok" : "WRONG");
    failures += !right;
}

int main() {
    // A container is an operand as it is.
    std::vector<double> a{1, 2, 3, 4, 5, 6}, b{2, 2, 2, 3, 3, 3}, c(6, 100);
    ndblas::mul_add(a, b, c);
    expect(c == std::vector<double>{102, 104, 106, 112, 115, 118}, "c += a*b");

    // A view gives it axes. A vector of 2 with a last axis of 1 broadcasts along the rows.
    const std::vector<double> scale{10, 100};
    ndblas::mut_view m(c, {2, 3});
    ndblas::mul_add(1, ndblas::view(a, {2, 3}), ndblas::view(scale, {2, 1}), 0, m);
    expect(c == std::vector<double>{10, 20, 30, 400, 500, 600}, "m = a * scale[:, None]");

    // Strides are in elements, or in bytes for members of structs. Nothing is copied to get at them.
    struct Particle {
        float mass;
        std::complex<double> field;
    };
    std::vector<Particle> gas(5, {2, {3, 4}});
    const ndblas::view mass(&gas[0].mass, {gas.size()}, ndblas::byte_strides{sizeof(Particle)});
    const ndblas::mut_view field(&gas[0].field, {gas.size()}, ndblas::byte_strides{sizeof(Particle)});
    ndblas::scal({0, 1}, field);
    expect(gas[4].field == std::complex<double>(-4, 3) && ndblas::asum(mass) == 10, "members of structs");

    // Store a transposed 4-d array, and restore it.
    std::vector<std::int32_t> x(2 * 3 * 4 * 5), stored(x.size()), restored(x.size());
    for (std::size_t i = 0; i < x.size(); i++)
        x[i] = static_cast<std::int32_t>(i);
    ndblas::permute(ndblas::view(x, {2, 3, 4, 5}), {1, 0, 2, 3}, ndblas::mut_view(stored, {3, 2, 4, 5}));
    ndblas::permute(ndblas::view(stored, {3, 2, 4, 5}), {1, 0, 2, 3}, ndblas::mut_view(restored, {2, 3, 4, 5}));
    expect(stored[20] == 60 && restored == x, "a (1, 0, 2, 3) transpose stored and restored");

    // Rows of a table, and the gradient of the rows.
    std::vector<float> table{0, 1, 10, 11, 20, 21}, rows(8), gradient(6);
    const std::vector<std::uint8_t> index{2, 0, 2, 2};
    ndblas::gather(ndblas::view(table, {3, 2}), 0, ndblas::view(index, {4, 1}), ndblas::mut_view(rows, {4, 2}));
    expect(rows == std::vector<float>{20, 21, 0, 1, 20, 21, 20, 21}, "rows = table[index]");
    ndblas::scatter_add(ndblas::view(rows, {4, 2}), 0, ndblas::view(index, {4, 1}), ndblas::mut_view(gradient, {3, 2}));
    expect(gradient == std::vector<float>{0, 1, 0, 0, 60, 63}, "gradient[index] += rows, repeated rows added up");

    // What does not fit is an exception, before anything is written. A wrong element type does not compile.
    try {
        ndblas::axpy(1, b, ndblas::mut_view(c, {3, 2}));
        expect(false, "a shape that does not fit is refused");
    } catch (const ndblas::error &e) {
        expect(e.status() == NDBLAS_ERR_SHAPE, "a shape that does not fit is refused");
        std::printf("  \"%s\"\n", e.what());
    }
    return failures != 0;
}
