// The C++ layer: every routine, every kind of operand, exceptions, and what must not compile.
#include "ndblas.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <deque>
#include <limits>
#include <list>
#if __cplusplus >= 202002L
#include <span>
#include <version>
#endif
#ifdef __cpp_lib_mdspan
#include <mdspan>
#endif

namespace nd = ndblas;
using std::complex;
using std::vector;

static int failures = 0;

#define EXPECT(...) \
    do { \
        if (!(__VA_ARGS__)) { \
            failures++; \
            std::fprintf(stderr, "%s:%d: %s is false\n", __FILE__, __LINE__, #__VA_ARGS__); \
        } \
    } while (0)

// The status of what an expression throws, and that its message holds a word.
#define THROWS(expected, word, ...) \
    do { \
        std::int32_t status = NDBLAS_OK; \
        try { \
            __VA_ARGS__; \
        } catch (const nd::error &e) { \
            status = e.status(); \
            EXPECT(std::strstr(e.what(), word) != nullptr); \
        } \
        EXPECT(status == (expected)); \
    } while (0)

/* ---- what compiles, and what does not ---- */

template <class F, class... Args>
constexpr bool compiles = std::is_invocable_v<F, Args...>;

#define CALL(name, call) \
    struct name { \
        template <class... V> \
        auto operator()(V &&...v) const -> decltype(call(std::forward<V>(v)...)); \
    }
CALL(Axpy, nd::axpy);
CALL(Copy, nd::copy);
CALL(Fill, nd::fill);
CALL(Swap, nd::swap);
CALL(Scal, nd::scal);
CALL(Rot, nd::rot);
CALL(Dotu, nd::dotu);
CALL(MulAdd, nd::mul_add);
CALL(Permute, nd::permute);
CALL(InPlace, nd::permute_in_place);
CALL(Gather, nd::gather);
CALL(ScatterAdd, nd::scatter_add);

using D = vector<double> &;
using CD = const vector<double> &;
using F = vector<float> &;
using I = vector<int> &;
using Z = vector<complex<double>> &;

static_assert(compiles<Axpy, double, CD, D> && compiles<Axpy, int, D, D>);
static_assert(compiles<Axpy, double, CD, nd::mut_view<double>> && compiles<Axpy, double, nd::view<double>, D>);
static_assert(compiles<Axpy, double, nd::mut_view<double>, const nd::mut_view<double> &>);
static_assert(!compiles<Axpy, double, CD, CD>, "a const container is no output");
static_assert(!compiles<Axpy, double, CD, nd::view<double>>, "a view is no output");
static_assert(!compiles<Axpy, double, F, D> && !compiles<Axpy, double, D, Z>, "one element type");
static_assert(!compiles<Axpy, complex<double>, D, D>, "no complex factor of real data");
static_assert(compiles<Axpy, complex<double>, Z, Z> && compiles<Axpy, double, Z, Z>);
static_assert(!compiles<Axpy, int, I, I> && !compiles<Scal, int, I> && !compiles<MulAdd, I, I, I>,
              "no arithmetic on integers");
static_assert(compiles<Copy, I, I> && compiles<Fill, int, I> && compiles<Swap, I, I>);
static_assert(!compiles<Swap, CD, D> && !compiles<Swap, D, CD> && !compiles<Rot, CD, D, double, double>);
static_assert(!compiles<Dotu, D, F> && !compiles<Dotu, I, I>);
static_assert(!compiles<Copy, const std::list<double> &, D> && !compiles<Copy, const std::deque<double> &, D>,
              "contiguous only");
static_assert(!compiles<Copy, vector<bool> &, vector<bool> &> && !compiles<Copy, std::string &, std::string &>);
static_assert(!compiles<Copy, vector<long double> &, vector<long double> &> && !compiles<Copy, double *, D>);
static_assert(compiles<Permute, D, nd::axes, D> && compiles<Permute, I, nd::axes, I> && compiles<Permute, D, D>);
static_assert(!compiles<Permute, int, I, nd::axes, int, I>, "integers are moved, not scaled");
static_assert(compiles<InPlace, D, nd::axes> && !compiles<InPlace, CD, nd::axes>);
static_assert(compiles<Gather, D, int, I, D> && compiles<Gather, D, int, const vector<std::uint8_t> &, D, nd::mode>);
static_assert(!compiles<Gather, D, int, D, D>, "an index is of integers");
static_assert(!compiles<ScatterAdd, D, int, I, CD> && !compiles<ScatterAdd, D, int, vector<bool> &, D>);
static_assert(compiles<ScatterAdd, I, int, I, I> && !compiles<ScatterAdd, int, I, int, I, nd::mode, I>);

static_assert(std::is_convertible_v<nd::mut_view<double>, nd::view<double>>);
static_assert(!std::is_constructible_v<nd::mut_view<double>, nd::view<double>>, "const is not lost");
static_assert(!std::is_constructible_v<nd::mut_view<double>, CD>);
static_assert(!std::is_constructible_v<nd::view<double>, F>);
static_assert(std::is_base_of_v<std::runtime_error, nd::error>);

// Handles are copied and swapped as handles, also where a swap is found by argument-dependent lookup.
static_assert(std::is_copy_constructible_v<nd::view<double>> && std::is_copy_assignable_v<nd::mut_view<double>>);

/* ---- operands ---- */

static void containers() {
    vector<double> v{1, 2, 3};
    std::array<double, 3> a{10, 20, 30};
    double c[3] = {100, 200, 300};
    nd::axpy(1, a, v);
    nd::axpy(1, v, c);
    EXPECT(v == vector<double>{11, 22, 33} && c[2] == 333);
    const vector<double> constant{1, 1, 1};
    nd::axpy(-1, constant, v);
    EXPECT(v[0] == 10);
#if __cplusplus >= 202002L
    nd::axpy(1, std::span<const double>(a), std::span(v).subspan(0));
    EXPECT(v[1] == 41);
    nd::fill(7, std::span(v).first(1));
    EXPECT(v[0] == 7 && v[1] == 41);
#endif
    const auto total = nd::asum(nd::view(std::array<double, 2>{1, 2}));
    EXPECT(total == 3);
}

static void views() {
    double m[6] = {0, 1, 2, 3, 4, 5};
    const nd::view rows(m, {2, 3});
    static_assert(std::is_same_v<decltype(rows), const nd::view<double>>);
    EXPECT(rows.ndim() == 2 && rows.extent(0) == 2 && rows.extent(1) == 3 && rows.data() == m);

    // Strides in elements and in bytes; a reversed axis starts at its far end.
    double t[6], r[6];
    nd::copy(nd::view(m, {3, 2}, nd::strides{1, 3}), nd::mut_view(t, {3, 2}));
    EXPECT(std::equal(t, t + 6, std::array<double, 6>{0, 3, 1, 4, 2, 5}.begin()));
    nd::copy(nd::view(m + 5, {6}, nd::byte_strides{-8}), r);
    EXPECT(r[0] == 5 && r[5] == 0);

    // Extents of any integer type, from any container; rank 0 is one element.
    const std::size_t two = 2;
    const short three = 3;
    EXPECT(nd::asum(nd::view(m, {two, three})) == 15);
    enum { ROWS = 2, COLUMNS = 3 };
    EXPECT(nd::asum(nd::view(m, {ROWS, COLUMNS})) == 15);
    EXPECT(nd::asum(nd::view(m, vector<int>{3, 2})) == 15);
    EXPECT(nd::asum(nd::view(m, std::array<std::uint64_t, 1>{6})) == 15);
    EXPECT(nd::asum(nd::view(m + 4, {})) == 4);
    EXPECT(nd::asum(nd::view<double>(nullptr, {0, 3})) == 0);

    // More axes than a view holds in place, up to the 64 of the library.
    vector<std::ptrdiff_t> many(64, 1);
    many[10] = 2;
    many[63] = 3;
    const nd::view wide(m, many), copied = wide;
    EXPECT(nd::asum(copied) == 15 && copied.ndim() == 64 && copied.extent(63) == 3);
    nd::mut_view assigned(r, {6});
    assigned = nd::mut_view(t, many, nd::strides(vector<long>(64, 1)));
    EXPECT(assigned.data() == t && assigned.ndim() == 64);
    many.push_back(1);
    THROWS(NDBLAS_ERR_SHAPE, "65", nd::asum(nd::view(m, many)));

    // A container in another shape, of as many elements.
    vector<double> v{1, 2, 3, 4, 5, 6};
    nd::mul_add(1, nd::view(v, {2, 3}), nd::view(v, {2, 3}), 0, nd::mut_view(r, {2, 3}));
    EXPECT(r[5] == 36);
    THROWS(NDBLAS_ERR_SHAPE, "6 elements", nd::view(v, {2, 4}));
    THROWS(NDBLAS_ERR_SHAPE, "6 elements", nd::view(v, {-2, -3}));
    THROWS(NDBLAS_ERR_SHAPE, "6 elements", nd::view(v, {std::size_t{1} << 63, std::size_t{1} << 63}));
    THROWS(NDBLAS_ERR_SHAPE, "2 extents", nd::view(m, {2, 3}, nd::strides{1}));
    THROWS(NDBLAS_ERR_SHAPE, "overflows", nd::view(m, {1}, nd::strides{std::numeric_limits<std::ptrdiff_t>::max()}));
    THROWS(NDBLAS_ERR_SHAPE, "x", nd::asum(nd::view(m, {std::numeric_limits<std::size_t>::max()})));

    // A const mut_view still writes, as a const pointer does; swapping two handles leaves the elements alone.
    const nd::mut_view out(r, {6});
    nd::fill(1, out);
    EXPECT(r[0] == 1);
    nd::mut_view first(t, {6}), second(r, {6});
    using std::swap;
    swap(first, second);
    EXPECT(first.data() == r && second.data() == t && r[0] == 1 && t[0] == 0);

    // The C struct, for what is not wrapped.
    const nd::view whole(v);
    const ndblas_view raw = whole.c_view();
    EXPECT(raw.data == v.data() && raw.ndim == 1 && raw.dtype == NDBLAS_F64);
    ndblas_view_mut raw_out = first.c_view();
    EXPECT(ndblas_fill({2, 0}, &raw_out) == NDBLAS_OK && r[5] == 2);
}

// The interface of std::mdspan, for compilers without it.
template <class E, std::size_t Rank, class Reference = E &>
struct Span {
    using element_type = E;
    using data_handle_type = E *;
    using reference = Reference;
    using rank_type = std::size_t;
    E *p;
    std::array<int, Rank> extents, strides;

    static constexpr rank_type rank() { return Rank; }
    static constexpr bool is_always_strided() { return true; }
    E *const &data_handle() const { return p; }
    int extent(rank_type r) const { return extents[r]; }
    int stride(rank_type r) const { return strides[r]; }
};

static_assert(compiles<Axpy, double, Span<const double, 2>, Span<double, 2>>);
static_assert(!compiles<Axpy, double, Span<const double, 2>, Span<const double, 2>>);
static_assert(!compiles<Axpy, double, Span<double, 1, double>, D>, "an accessor that computes");

static void mdspans() {
    vector<double> v{0, 1, 2, 3, 4, 5}, w(6);
    const Span<const double, 2> transposed{v.data(), {3, 2}, {1, 3}};
    nd::copy(transposed, Span<double, 2>{w.data(), {3, 2}, {2, 1}});
    EXPECT(w == vector<double>{0, 3, 1, 4, 2, 5});
    EXPECT(nd::view(transposed).ndim() == 2);
#ifdef __cpp_lib_mdspan
    const std::mdspan<const double, std::extents<int, 3, 2>, std::layout_left> left(v.data());
    nd::axpy(1, left, std::mdspan(w.data(), 3, 2));
    EXPECT(w == vector<double>{0, 6, 2, 8, 4, 10});
    EXPECT(nd::asum(std::mdspan<double, std::extents<int>>(w.data() + 5)) == 10);
#endif
}

/* ---- routines ---- */

template <class T>
static void level1() {
    vector<T> x{1, -2, 3}, y(3);
    nd::fill(2, y);
    EXPECT(y == vector<T>{2, 2, 2});
    nd::copy(x, y);
    EXPECT(y == x);
    nd::scal(2, y);
    EXPECT(y == vector<T>{2, -4, 6});
    nd::swap(x, y);
    EXPECT(x == vector<T>{2, -4, 6} && y == vector<T>{1, -2, 3});
    nd::axpy(2, x, y);
    EXPECT(y == vector<T>{5, -10, 15});
    nd::axpby(1, x, 2, y);
    EXPECT(y == vector<T>{12, -24, 36});
    nd::mul_add(x, x, y);
    EXPECT(y == vector<T>{16, -8, 72});
    nd::mul_add(-1, x, x, 0, y);
    EXPECT(y == vector<T>{-4, -16, -36});
    nd::rot(x, y, 0, 1);
    EXPECT(x == vector<T>{-4, -16, -36} && y == vector<T>{-2, 4, -6});
    EXPECT(nd::dotu(x, y) == nd::dotc(x, y) && std::real(nd::dotu(x, y)) == 8 - 64 + 216);
    EXPECT(nd::asum(y) == 12 && nd::iamax(y) == 2 && nd::iamax(vector<T>{}) == -1);
    EXPECT(std::abs(nd::nrm2(y) - std::sqrt(56.0)) < 1e-6);
    EXPECT(nd::nrm2(vector<T>{}) == 0);
}

static void complex_numbers() {
    const vector<complex<double>> x{{1, 2}, {3, 4}}, y{{5, 6}, {7, 8}};
    EXPECT(nd::dotu(x, y) == complex<double>(-18, 68) && nd::dotc(x, y) == complex<double>(70, -8));
    vector<complex<float>> z{{1, 0}, {0, 1}};
    nd::scal({0, 1}, z);
    EXPECT(z[0] == complex<float>(0, 1) && z[1] == complex<float>(-1, 0));
    nd::axpy(2, vector<complex<float>>{{1, 1}, {1, 1}}, z);
    EXPECT(z[0] == complex<float>(2, 3));
    static_assert(std::is_same_v<decltype(nd::dotu(z, z)), complex<double>>);
    static_assert(std::is_same_v<decltype(nd::dotu(vector<float>{}, vector<float>{})), double>);
}

template <class T>
static void moves() {
    vector<T> a{0, 1, 2, 3, 4, 5}, out(6), b{9, 9};
    nd::fill(7, out);
    EXPECT(out[5] == T(7));
    nd::copy(a, out);
    nd::swap(a, out);
    EXPECT(a == out);
    nd::permute(nd::view(a, {2, 3}), {1, 0}, nd::mut_view(out, {3, 2}));
    EXPECT(out == vector<T>{0, 3, 1, 4, 2, 5});
    nd::permute(nd::view(a, {3, 2}), nd::mut_view(out, {2, 3}));
    EXPECT(out == vector<T>{0, 2, 4, 1, 3, 5});
    nd::permute_in_place(nd::mut_view(out, {2, 3}), {1, 0});
    EXPECT(out == a);
    nd::permute_in_place(nd::mut_view(out, {2, 3}));
    EXPECT(out == vector<T>{0, 3, 1, 4, 2, 5});

    nd::gather(a, 0, vector<std::int8_t>{-1, 2}, b);
    EXPECT(b == vector<T>{5, 2});
    nd::gather(a, -1, vector<std::uint16_t>{7, 6}, b, nd::mode::wrap);
    EXPECT(b == vector<T>{1, 0});
    nd::gather(a, 0, vector<long long>{7, -9}, b, nd::mode::clip);
    EXPECT(b == vector<T>{5, 0});
    nd::gather(a, 0, std::array<int, 2>{6, 4}, b, nd::mode::drop);
    EXPECT(b == vector<T>{0, 4});
    nd::scatter_add(b, 0, vector<std::uint64_t>{1, 1}, a);
    EXPECT(a[1] == T(5));
    nd::scatter_add(b, 0, vector<std::int64_t>{1, 6}, a, nd::mode::drop);
    EXPECT(a[1] == T(5) && a[0] == T(0));
}

static void scaled_moves() {
    vector<double> a{1, 2, 3, 4, 5, 6}, out(6, 1);
    nd::permute(2, nd::view(a, {2, 3}), vector<int>{1, 0}, 10, nd::mut_view(out, {3, 2}));
    EXPECT(out == vector<double>{12, 18, 14, 20, 16, 22});
    vector<double> rows(4, 1), grad(6);
    const vector<int> index{2, 0};
    nd::gather(2, nd::view(a, {3, 2}), 0, nd::view(index, {2, 1}), nd::mode::raise, -1, nd::mut_view(rows, {2, 2}));
    EXPECT(rows == vector<double>{9, 11, 1, 3});
    nd::scatter_add(2, nd::view(rows, {2, 2}), 0, nd::view(index, {2, 1}), nd::mode::raise,
                    nd::mut_view(grad, {3, 2}));
    EXPECT(grad == vector<double>{2, 6, 0, 0, 18, 22});

    // A factor of 64 bits arrives whole.
    vector<std::int64_t> big(2);
    nd::fill(std::numeric_limits<std::int64_t>::max() - 1, big);
    EXPECT(big[1] == std::numeric_limits<std::int64_t>::max() - 1);
}

static void errors() {
    vector<double> x{1, 2, 3}, y{7, 7, 7, 7};
    THROWS(NDBLAS_ERR_SHAPE, "(3,)", nd::axpy(1, x, y));
    THROWS(NDBLAS_ERR_SHAPE, "(4,)", nd::dotu(x, y));
    THROWS(NDBLAS_ERR_NULL, "x", nd::asum(nd::view<double>(nullptr, {3})));
    THROWS(NDBLAS_ERR_OVERLAP, "y", nd::copy(nd::view(y.data(), {3}), nd::mut_view(y.data() + 1, {3})));
    THROWS(NDBLAS_ERR_OVERLAP, "y", nd::fill(1, nd::mut_view(y.data(), {2, 4}, nd::strides{0, 1})));
    THROWS(NDBLAS_ERR_AXIS, "axis", nd::gather(x, 1, vector<int>{0}, y));
    THROWS(NDBLAS_ERR_AXIS, "perm", nd::permute(nd::view(x, {3, 1}), {0, 0}, nd::mut_view(y.data(), {1, 3})));
    THROWS(NDBLAS_ERR_AXIS, "perm", nd::permute(nd::view(x, {3, 1}), {0}, nd::mut_view(y.data(), {1, 3})));
    THROWS(NDBLAS_ERR_AXIS, "perm", nd::permute_in_place(nd::mut_view(y, {2, 2}), {0, 1, 2}));
    THROWS(NDBLAS_ERR_AXIS, "perm",
           nd::permute(nd::view(x, {3, 1}), {std::int64_t{1} << 32, 1}, nd::mut_view(y.data(), {3, 1})));
    THROWS(NDBLAS_ERR_INDEX, "3", nd::gather(x, 0, vector<int>{0, 3, 1, 1}, y));
    THROWS(NDBLAS_ERR_INDEX, "-5", nd::scatter_add(x, 0, vector<int>{0, -5, 1}, y));
    THROWS(NDBLAS_ERR_LAYOUT, "a",
           nd::permute_in_place(nd::mut_view(vector<double>(8).data(), {2, 3}, nd::strides{4, 1}), {1, 0}));
    THROWS(NDBLAS_ERR_ARGUMENT, "mode", nd::gather(x, 0, vector<int>{0, 1, 1, 1}, y, static_cast<nd::mode>(9)));
    EXPECT(y == vector<double>(4, 7));

    // A message longer than the first guess arrives whole.
    const vector<int> ones(60, 1);
    vector<int> twos = ones;
    twos[0] = 2;
    try {
        nd::copy(nd::view(x.data(), twos), nd::mut_view(y.data(), ones));
        EXPECT(false);
    } catch (const std::runtime_error &e) {
        EXPECT(std::strlen(e.what()) > 300 && std::strlen(e.what()) == ndblas_last_error(nullptr, 0));
    }
}

static void runtime() {
    nd::set_num_threads(2);
    EXPECT(nd::get_num_threads() == 2);
    nd::set_num_threads_local(1);
    nd::set_num_threads_local(0);
    EXPECT(std::strstr(nd::config(), nd::version()) != nullptr);
    EXPECT(std::strlen(nd::status_str(NDBLAS_ERR_INDEX)) > 0);
    nd::shutdown();
}

int main() {
    containers();
    views();
    mdspans();
    level1<float>();
    level1<double>();
    level1<complex<float>>();
    level1<complex<double>>();
    complex_numbers();
    moves<float>();
    moves<double>();
    moves<complex<float>>();
    moves<complex<double>>();
    moves<std::int8_t>();
    moves<std::uint8_t>();
    moves<std::int16_t>();
    moves<std::uint16_t>();
    moves<std::int32_t>();
    moves<std::uint32_t>();
    moves<std::int64_t>();
    moves<std::uint64_t>();
    moves<long>();
    moves<unsigned long long>();
    scaled_moves();
    errors();
    runtime();
    if (failures) {
        std::fprintf(stderr, "%d failures\n", failures);
        return 1;
    }
    std::puts("ok cpp");
}
