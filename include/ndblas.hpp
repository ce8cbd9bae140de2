/* ndblas for C++17 and later: ndblas.h with element types in place of dtype numbers, containers and mdspans as
   operands, and exceptions in place of statuses. Header-only; link with ndblas.

       std::vector<double> a(n), b(n), c(n);
       ndblas::mul_add(a, b, c);                                            // c += a*b

       ndblas::view x(p, {64, 16, 8, 8});                                   // dense, row-major
       ndblas::permute(x, {1, 0, 2, 3}, ndblas::mut_view(q, {16, 64, 8, 8}));

   An operand is a view or mut_view, anything contiguous with data() and size() (std::vector, std::array, std::span, a
   C array; one axis), or a strided mdspan (std::mdspan, Kokkos::mdspan), of

       float, double, std::complex<float>, std::complex<double>, signed and unsigned integers of 8 to 64 bits.

   The operands of a call, index arrays aside, have one element type. Another one, a const output, or arithmetic on
   integers does not compile. Inputs broadcast to the output's shape. A call whose operands do not fit throws
   ndblas::error and has written nothing. */

#ifndef NDBLAS_HPP
#define NDBLAS_HPP

#include <complex>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "ndblas.h"

namespace ndblas {

/** What a call throws. what() names the argument, the shapes, the axis, and for an index its position and value. */
class error : public std::runtime_error {
public:
    error(std::int32_t status, const std::string &message) : std::runtime_error(message), status_(status) {}

    /** NDBLAS_ERR_SHAPE, NDBLAS_ERR_INDEX, ... */
    std::int32_t status() const noexcept { return status_; }

private:
    std::int32_t status_;
};

/** What an index out of range means. */
enum class mode : std::int32_t {
    raise = NDBLAS_RAISE, /**< negative counts from the end; out of range is an error, found before the first write */
    wrap = NDBLAS_WRAP,   /**< modulo the extent */
    clip = NDBLAS_CLIP,   /**< the nearest valid index */
    drop = NDBLAS_DROP    /**< negative counts from the end; out of range reads as zero, and scatter_add drops it */
};

namespace detail {

/* ---- lists of integers: shapes, strides, permutations ---- */

/* Made from an integer of any type, so that a braced list may mix them. What an I cannot hold becomes a value which no
   call accepts. */
template <class I>
struct number {
    I value;

    template <class J, class Int = decltype(+std::declval<J>()),
              class = std::enable_if_t<std::is_integral_v<Int> && !std::is_same_v<J, bool>>>
    constexpr number(J j) noexcept : value(static_cast<I>(+j)) {
        if (static_cast<Int>(value) != +j || (value < 0) != (+j < Int(0)))
            value = std::numeric_limits<I>::min();
    }
};

/* Up to eight lie in the object, more on the heap. */
template <class I>
class int_list {
public:
    int_list() = default;
    int_list(const int_list &) = default; /* and so no move, which would leave a size without its numbers */
    int_list &operator=(const int_list &) = default;

    int_list(std::initializer_list<number<I>> list) : int_list(list.begin(), list.size()) {}

    /** From anything contiguous that holds integers. */
    template <class C, class E = std::remove_pointer_t<decltype(std::data(std::declval<const C &>()))>,
              class = std::enable_if_t<std::is_constructible_v<number<I>, E>>>
    int_list(const C &list) : int_list(std::data(list), std::size(list)) {}

    std::size_t size() const noexcept { return size_; }
    const I *data() const noexcept { return size_ <= IN_PLACE ? in_place_ : heap_.data(); }
    I operator[](std::size_t i) const noexcept { return data()[i]; }

    void push_back(I value) {
        if (size_ == IN_PLACE)
            heap_.assign(in_place_, in_place_ + IN_PLACE);
        if (size_ >= IN_PLACE)
            heap_.push_back(value);
        else
            in_place_[size_] = value;
        size_++;
    }

private:
    template <class J>
    int_list(const J *list, std::size_t size) {
        for (std::size_t i = 0; i < size; i++)
            push_back(number<I>(list[i]).value);
    }

    static constexpr std::size_t IN_PLACE = 8;
    std::size_t size_ = 0;
    I in_place_[IN_PLACE] = {};
    std::vector<I> heap_;
};

} // namespace detail

/** Extents: {3, 4}, or a container of integers. */
using shape = detail::int_list<std::ptrdiff_t>;

/** A permutation: {1, 0, 2, 3}, or a container of integers. Axis d of the result is axis perm[d] of the array. */
using axes = detail::int_list<std::int32_t>;

/** Strides in elements: strides{1, 3}. */
struct strides : detail::int_list<std::ptrdiff_t> {
    using int_list::int_list;
};

/** Strides in bytes, as in NumPy: for a member of an array of structs. */
struct byte_strides : detail::int_list<std::ptrdiff_t> {
    using int_list::int_list;
};

namespace detail {

/* ---- element types ---- */

template <class T>
inline constexpr bool is_character =
    std::is_same_v<T, char> || std::is_same_v<T, wchar_t> || std::is_same_v<T, char16_t> ||
#ifdef __cpp_char8_t
    std::is_same_v<T, char8_t> ||
#endif
    std::is_same_v<T, char32_t>;

template <class T>
inline constexpr bool is_integer = std::is_integral_v<T> && !std::is_same_v<T, bool> && !is_character<T>;

/* The dtype number of T, or 0. Integers go by width and sign: long is not the same type everywhere. */
template <class T>
constexpr std::int32_t dtype_of() {
    constexpr bool has_sign = std::is_signed_v<T>;
    if constexpr (std::is_same_v<T, float>)
        return NDBLAS_F32;
    else if constexpr (std::is_same_v<T, double>)
        return NDBLAS_F64;
    else if constexpr (std::is_same_v<T, std::complex<float>>)
        return NDBLAS_COMPLEX64;
    else if constexpr (std::is_same_v<T, std::complex<double>>)
        return NDBLAS_COMPLEX128;
    else if constexpr (!is_integer<T>)
        return 0;
    else if constexpr (sizeof(T) == 1)
        return has_sign ? NDBLAS_I8 : NDBLAS_U8;
    else if constexpr (sizeof(T) == 2)
        return has_sign ? NDBLAS_I16 : NDBLAS_U16;
    else if constexpr (sizeof(T) == 4)
        return has_sign ? NDBLAS_I32 : NDBLAS_U32;
    else
        return sizeof(T) != 8 ? 0 : has_sign ? NDBLAS_I64 : NDBLAS_U64;
}

template <class T>
inline constexpr bool is_element = dtype_of<T>() != 0;
template <class T>
inline constexpr bool is_arithmetic = is_element<T> && !is_integer<T>;

/* ---- what may be an operand, and the type of its elements: const where they cannot be written ---- */

struct none {};

template <class V, class = void>
struct view_pointee {
    using type = none;
};
template <class V>
struct view_pointee<V, std::void_t<typename V::ndblas_pointee>> {
    using type = typename V::ndblas_pointee;
};

template <class V, class = void>
struct contiguous_pointee {
    using type = none;
};
template <class V>
struct contiguous_pointee<V, std::enable_if_t<std::is_pointer_v<decltype(std::data(std::declval<V &>()))> &&
                                              std::is_integral_v<decltype(std::size(std::declval<V &>()))>>> {
    using type = std::remove_pointer_t<decltype(std::data(std::declval<V &>()))>;
};

/* Known by its interface, so that <mdspan> is not needed. Not one whose accessor computes what it returns, as that of
   std::linalg::scaled does: its elements are not those in memory, and its reference no E&. */
template <class V, class = void>
struct mdspan_pointee {
    using type = none;
};
template <class V>
struct mdspan_pointee<V, std::enable_if_t<V::is_always_strided() &&
                                          std::is_same_v<typename V::data_handle_type, typename V::element_type *> &&
                                          std::is_same_v<typename V::reference, typename V::element_type &>>> {
    using type = typename V::element_type;
};

template <class P>
inline constexpr bool is_pointee = is_element<std::remove_const_t<P>>;

template <class V>
using plain = std::remove_cv_t<std::remove_reference_t<V>>;
template <class V>
using view_t = typename view_pointee<plain<V>>::type;
template <class V>
using mdspan_t = typename mdspan_pointee<plain<V>>::type;
template <class V>
using contiguous_t = typename contiguous_pointee<std::remove_reference_t<V>>::type;

template <class V>
struct operand {
    using pointee = std::conditional_t<is_pointee<view_t<V>>, view_t<V>,
                                       std::conditional_t<is_pointee<mdspan_t<V>>, mdspan_t<V>, contiguous_t<V>>>;
    using element = std::remove_const_t<pointee>;
};
template <class V>
using pointee_t = typename operand<V>::pointee;
template <class V>
using element_t = typename operand<V>::element;

/* Q* becomes P*, by adding const if at all. */
template <class Q, class P>
inline constexpr bool points_as = is_pointee<Q> && std::is_convertible_v<Q (*)[], P (*)[]>;

/* ---- views: P is the element type, const in an input ---- */

template <class P>
class strided {
    static_assert(is_pointee<P>, "ndblas has no such element type");

public:
    using ndblas_pointee = P;

    /** Dense, row-major. */
    strided(P *data, const shape &extents) : data_(data), shape_(extents) {}

    /** Any strides; `data` is the first logical element, whatever their signs. */
    strided(P *data, const shape &extents, const strides &steps) : strided(data, extents) { set(steps, sizeof(P)); }
    strided(P *data, const shape &extents, const byte_strides &steps) : strided(data, extents) { set(steps, 1); }

    /** A container, as one axis. */
    template <class V, std::enable_if_t<points_as<contiguous_t<V>, P>, int> = 0>
    strided(V &&container) : strided(std::data(container), {std::size(container)}) {}

    /** All of a container, dense, row-major. (A C array is a pointer here.) */
    template <class V, std::enable_if_t<points_as<contiguous_t<V>, P> && !std::is_array_v<std::remove_reference_t<V>>,
                                        int> = 0>
    strided(V &&container, const shape &extents) : strided(std::data(container), extents) {
        if (!holds(extents, std::size(container)))
            throw error(NDBLAS_ERR_SHAPE, "a container of " + std::to_string(std::size(container)) +
                                              " elements does not have the number of elements of the shape");
    }

    /** An mdspan. */
    template <class M, std::enable_if_t<points_as<mdspan_t<M>, P>, long> = 0>
    strided(const M &span) : data_(span.data_handle()) {
        if constexpr (M::rank() > 0) { /* an mdspan of rank 0 has no stride() */
            strides steps;
            for (typename M::rank_type axis = 0; axis < M::rank(); axis++) {
                shape_.push_back(static_cast<std::ptrdiff_t>(span.extent(axis)));
                steps.push_back(static_cast<std::ptrdiff_t>(span.stride(axis)));
            }
            set(steps, sizeof(P));
        }
    }

    /** An output seen as an input. */
    template <class Q, std::enable_if_t<points_as<Q, P> && !std::is_same_v<Q, P>, int> = 0>
    strided(const strided<Q> &other) : data_(other.data_), shape_(other.shape_), strides_(other.strides_) {}

    P *data() const noexcept { return data_; }
    std::size_t ndim() const noexcept { return shape_.size(); }
    std::ptrdiff_t extent(std::size_t axis) const noexcept { return shape_[axis]; }

    using c_type = std::conditional_t<std::is_const_v<P>, ndblas_view, ndblas_view_mut>;

    /** The C struct. It points to the extents and strides in this object, which must live on. */
    c_type c_view() const & noexcept {
        const std::ptrdiff_t *steps = strides_.size() > 0 ? strides_.data() : nullptr;
        return {data_, shape_.data(), steps, static_cast<std::int32_t>(ndim()), dtype_of<std::remove_const_t<P>>()};
    }
    c_type c_view() const && = delete;

private:
    template <class>
    friend class strided;

    void set(const int_list<std::ptrdiff_t> &steps, std::ptrdiff_t unit) {
        constexpr auto max = std::numeric_limits<std::ptrdiff_t>::max();
        if (steps.size() != shape_.size())
            throw error(NDBLAS_ERR_SHAPE, "a view has " + std::to_string(shape_.size()) + " extents but " +
                                              std::to_string(steps.size()) + " strides");
        for (std::size_t axis = 0; axis < steps.size(); axis++) {
            if (steps[axis] > max / unit || steps[axis] < -max / unit)
                throw error(NDBLAS_ERR_SHAPE, "the stride " + std::to_string(steps[axis]) + " of axis " +
                                                  std::to_string(axis) + " overflows in bytes");
            strides_.push_back(steps[axis] * unit);
        }
    }

    static bool holds(const shape &extents, std::size_t count) {
        std::size_t product = 1;
        for (std::size_t axis = 0; axis < extents.size(); axis++) {
            const auto extent = static_cast<std::size_t>(extents[axis]);
            if (extents[axis] < 0 || (extent > 0 && product > std::numeric_limits<std::size_t>::max() / extent))
                return false;
            product *= extent;
        }
        return product == count;
    }

    P *data_;
    shape shape_;
    int_list<std::ptrdiff_t> strides_; /* in bytes; empty where dense */
};

/* In this namespace, so that argument-dependent lookup does not find ndblas::swap or ndblas::copy where a program, or
   an algorithm of the standard library, swaps or copies the views themselves. */

/** An input: where elements lie. It neither owns nor writes them. */
template <class T>
class view : public strided<const T> {
public:
    using strided<const T>::strided;
};

/** An output. As with a pointer, a const one can still write its elements. */
template <class T>
class mut_view : public strided<T> {
public:
    using strided<T>::strided;
};

template <class P>
view(P *, const shape &) -> view<std::remove_const_t<P>>;
template <class P>
view(P *, const shape &, const strides &) -> view<std::remove_const_t<P>>;
template <class P>
view(P *, const shape &, const byte_strides &) -> view<std::remove_const_t<P>>;
template <class V>
view(V &&) -> view<element_t<V>>;
template <class V>
view(V &&, const shape &) -> view<element_t<V>>;

template <class P>
mut_view(P *, const shape &) -> mut_view<P>;
template <class P>
mut_view(P *, const shape &, const strides &) -> mut_view<P>;
template <class P>
mut_view(P *, const shape &, const byte_strides &) -> mut_view<P>;
template <class V>
mut_view(V &&) -> mut_view<pointee_t<V>>;
template <class V>
mut_view(V &&, const shape &) -> mut_view<pointee_t<V>>;

/* ---- from operands to the arguments of a C call ---- */

template <class P>
const strided<P> &as_strided(const strided<P> &v) {
    return v;
}
template <class V, std::enable_if_t<!is_pointee<view_t<V>>, int> = 0>
strided<pointee_t<V>> as_strided(V &v) {
    return v;
}

inline ndblas_view as_input(const ndblas_view &v) { return v; }
inline ndblas_view as_input(const ndblas_view_mut &v) { return {v.data, v.shape, v.strides, v.ndim, v.dtype}; }

/* Lives to the end of the full expression, and so through the call. */
template <class V>
class in {
public:
    explicit in(V &v) : held_(as_strided(v)), raw_(as_input(held_.c_view())) {}
    in(const in &) = delete;
    operator const ndblas_view *() const noexcept { return &raw_; }

private:
    decltype(as_strided(std::declval<V &>())) held_; /* a view by reference, what is made of a container by value */
    ndblas_view raw_;
};

template <class V>
class out {
public:
    explicit out(V &v) : held_(as_strided(v)), raw_(held_.c_view()) {}
    out(const out &) = delete;
    operator ndblas_view_mut *() noexcept { return &raw_; }

private:
    decltype(as_strided(std::declval<V &>())) held_;
    ndblas_view_mut raw_;
};

inline ndblas_scalar scalar(double value) { return {value, 0}; }
inline ndblas_scalar scalar(std::complex<float> value) { return {value.real(), value.imag()}; }
inline ndblas_scalar scalar(std::complex<double> value) { return {value.real(), value.imag()}; }

template <class T>
inline constexpr bool is_complex = std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;
template <class T>
using sum_t = std::conditional_t<is_complex<T>, std::complex<double>, double>;

template <class T>
sum_t<T> from_scalar(ndblas_scalar s) {
    if constexpr (is_complex<T>)
        return {s.re, s.im};
    else
        return s.re;
}

template <class V>
const std::int32_t *checked(const axes &perm, const V &a) {
    const std::size_t ndim = as_strided(a).ndim();
    if (perm.size() != ndim)
        throw error(NDBLAS_ERR_AXIS,
                    "perm has " + std::to_string(perm.size()) + " axes, a has " + std::to_string(ndim));
    return perm.data();
}

inline std::string last_error() {
    std::string text(256, '\0');
    const std::size_t length = ndblas_last_error(text.data(), text.size());
    if (length >= text.size()) {
        text.resize(length + 1);
        ndblas_last_error(text.data(), text.size());
    }
    text.resize(length);
    return text;
}

inline void check(std::int32_t status) {
    if (status != NDBLAS_OK)
        throw error(status, last_error());
}

/* ---- the constraints: Y is written, X... are read, all of one type ---- */

template <class Y, class... X>
inline constexpr bool one_type = is_element<element_t<Y>> && (std::is_same_v<element_t<X>, element_t<Y>> && ...);
template <class Y, class... X>
inline constexpr bool moves = one_type<Y, X...> && !std::is_const_v<pointee_t<Y>>;
template <class Y, class... X>
inline constexpr bool computes = moves<Y, X...> && is_arithmetic<element_t<Y>>;
template <class X, class... More>
inline constexpr bool reduces = one_type<X, More...> && is_arithmetic<element_t<X>>;
template <class I>
inline constexpr bool indexes = is_element<element_t<I>> && is_integer<element_t<I>>;

template <bool condition>
using when = std::enable_if_t<condition, int>;

} // namespace detail

using detail::mut_view;
using detail::view;

/* ---- level 1 ---- */

/** y <- alpha */
template <class Y, detail::when<detail::moves<Y>> = 0>
void fill(detail::element_t<Y> alpha, Y &&y) {
    using T = detail::element_t<Y>;
    if constexpr (detail::is_arithmetic<T>) {
        detail::check(ndblas_fill(detail::scalar(alpha), detail::out(y)));
    } else { /* an ndblas_scalar does not hold every 64-bit integer */
        const view<T> value(&alpha, {});
        detail::check(ndblas_copy(detail::in(value), detail::out(y)));
    }
}

/** y <- x */
template <class X, class Y, detail::when<detail::moves<Y, X>> = 0>
void copy(const X &x, Y &&y) {
    detail::check(ndblas_copy(detail::in(x), detail::out(y)));
}

/** x <-> y */
template <class X, class Y, detail::when<detail::moves<X, Y> && detail::moves<Y>> = 0>
void swap(X &&x, Y &&y) {
    detail::check(ndblas_swap(detail::out(x), detail::out(y)));
}

/** y <- alpha*y. IEEE: 0*NaN is NaN; fill clears. */
template <class Y, detail::when<detail::computes<Y>> = 0>
void scal(detail::element_t<Y> alpha, Y &&y) {
    detail::check(ndblas_scal(detail::scalar(alpha), detail::out(y)));
}

/** y <- y + alpha*x */
template <class X, class Y, detail::when<detail::computes<Y, X>> = 0>
void axpy(detail::element_t<Y> alpha, const X &x, Y &&y) {
    detail::check(ndblas_axpy(detail::scalar(alpha), detail::in(x), detail::out(y)));
}

/** y <- beta*y + alpha*x. With beta = 0, y is only written. */
template <class X, class Y, detail::when<detail::computes<Y, X>> = 0>
void axpby(detail::element_t<Y> alpha, const X &x, detail::element_t<Y> beta, Y &&y) {
    detail::check(ndblas_axpby(detail::scalar(alpha), detail::in(x), detail::scalar(beta), detail::out(y)));
}

/** (x, y) <- (c*x + s*y, c*y - s*x) */
template <class X, class Y, detail::when<detail::computes<X, Y> && detail::computes<Y>> = 0>
void rot(X &&x, Y &&y, double c, double s) {
    detail::check(ndblas_rot(detail::out(x), detail::out(y), c, s));
}

/** sum x*y, in double precision */
template <class X, class Y, detail::when<detail::reduces<X, Y>> = 0>
detail::sum_t<detail::element_t<X>> dotu(const X &x, const Y &y) {
    ndblas_scalar result;
    detail::check(ndblas_dotu(detail::in(x), detail::in(y), &result));
    return detail::from_scalar<detail::element_t<X>>(result);
}

/** sum conj(x)*y, in double precision */
template <class X, class Y, detail::when<detail::reduces<X, Y>> = 0>
detail::sum_t<detail::element_t<X>> dotc(const X &x, const Y &y) {
    ndblas_scalar result;
    detail::check(ndblas_dotc(detail::in(x), detail::in(y), &result));
    return detail::from_scalar<detail::element_t<X>>(result);
}

/** sqrt(sum |x|^2), without overflow or underflow on the way */
template <class X, detail::when<detail::reduces<X>> = 0>
double nrm2(const X &x) {
    double result;
    detail::check(ndblas_nrm2(detail::in(x), &result));
    return result;
}

/** sum |re x| + |im x| */
template <class X, detail::when<detail::reduces<X>> = 0>
double asum(const X &x) {
    double result;
    detail::check(ndblas_asum(detail::in(x), &result));
    return result;
}

/** The row-major logical index of the first NaN, else of the first largest |re x| + |im x|; -1 for an empty x. */
template <class X, detail::when<detail::reduces<X>> = 0>
std::ptrdiff_t iamax(const X &x) {
    std::ptrdiff_t result;
    detail::check(ndblas_iamax(detail::in(x), &result));
    return result;
}

/* ---- fused ---- */

/** c <- beta*c + alpha*(a*b), element by element. With beta = 0, c is only written. */
template <class A, class B, class C, detail::when<detail::computes<C, A, B>> = 0>
void mul_add(detail::element_t<C> alpha, const A &a, const B &b, detail::element_t<C> beta, C &&c) {
    detail::check(ndblas_mul_add(detail::scalar(alpha), detail::in(a), detail::in(b), detail::scalar(beta),
                                 detail::out(c)));
}

/** c <- c + a*b, element by element */
template <class A, class B, class C, detail::when<detail::computes<C, A, B>> = 0>
void mul_add(const A &a, const B &b, C &&c) {
    detail::check(ndblas_mul_add({1, 0}, detail::in(a), detail::in(b), {1, 0}, detail::out(c)));
}

/* ---- permute ---- */

/** out <- beta*out + alpha*transpose(a, perm). With beta = 0, out is only written. */
template <class A, class Out, detail::when<detail::computes<Out, A>> = 0>
void permute(detail::element_t<Out> alpha, const A &a, const axes &perm, detail::element_t<Out> beta, Out &&out) {
    detail::check(ndblas_permute(detail::scalar(alpha), detail::in(a), detail::checked(perm, a), detail::scalar(beta),
                                 detail::out(out)));
}

/** out <- transpose(a, perm), of any element type */
template <class A, class Out, detail::when<detail::moves<Out, A>> = 0>
void permute(const A &a, const axes &perm, Out &&out) {
    detail::check(ndblas_permute({1, 0}, detail::in(a), detail::checked(perm, a), {0, 0}, detail::out(out)));
}

/** out <- a with its axes reversed, of any element type */
template <class A, class Out, detail::when<detail::moves<Out, A>> = 0>
void permute(const A &a, Out &&out) {
    detail::check(ndblas_permute({1, 0}, detail::in(a), nullptr, {0, 0}, detail::out(out)));
}

/** a <- transpose(a, perm) in its own memory: a is dense row-major, and then holds the permuted array dense row-major;
    or its permuted shape is its shape. */
template <class A, detail::when<detail::moves<A>> = 0>
void permute_in_place(A &&a, const axes &perm) {
    detail::check(ndblas_permute_in_place(detail::out(a), detail::checked(perm, a)));
}

/** a <- a with its axes reversed, in its own memory, on the same terms */
template <class A, detail::when<detail::moves<A>> = 0>
void permute_in_place(A &&a) {
    detail::check(ndblas_permute_in_place(detail::out(a), nullptr));
}

/* ---- indexed ---- */

/** out[.., l, ..] <- beta*out[.., l, ..] + alpha*a[.., index[.., l, ..], ..] along an axis; a negative one counts from
    the end. */
template <class A, class Index, class Out, detail::when<detail::computes<Out, A> && detail::indexes<Index>> = 0>
void gather(detail::element_t<Out> alpha, const A &a, std::int32_t axis, const Index &index, mode out_of_range,
            detail::element_t<Out> beta, Out &&out) {
    detail::check(ndblas_gather(detail::scalar(alpha), detail::in(a), axis, detail::in(index),
                                static_cast<std::int32_t>(out_of_range), detail::scalar(beta), detail::out(out)));
}

/** out[.., l, ..] <- a[.., index[.., l, ..], ..] along an axis, of any element type */
template <class A, class Index, class Out, detail::when<detail::moves<Out, A> && detail::indexes<Index>> = 0>
void gather(const A &a, std::int32_t axis, const Index &index, Out &&out, mode out_of_range = mode::raise) {
    detail::check(ndblas_gather({1, 0}, detail::in(a), axis, detail::in(index),
                                static_cast<std::int32_t>(out_of_range), {0, 0}, detail::out(out)));
}

/** out[.., index[.., l, ..], ..] += alpha*src[.., l, ..] along an axis: the adjoint of gather. The same bits as a
    serial row-major loop gives. */
template <class Src, class Index, class Out, detail::when<detail::computes<Out, Src> && detail::indexes<Index>> = 0>
void scatter_add(detail::element_t<Out> alpha, const Src &src, std::int32_t axis, const Index &index,
                 mode out_of_range, Out &&out) {
    detail::check(ndblas_scatter_add(detail::scalar(alpha), detail::in(src), axis, detail::in(index),
                                     static_cast<std::int32_t>(out_of_range), detail::out(out)));
}

/** out[.., index[.., l, ..], ..] += src[.., l, ..] along an axis, of any element type; integers wrap */
template <class Src, class Index, class Out, detail::when<detail::moves<Out, Src> && detail::indexes<Index>> = 0>
void scatter_add(const Src &src, std::int32_t axis, const Index &index, Out &&out, mode out_of_range = mode::raise) {
    detail::check(ndblas_scatter_add({1, 0}, detail::in(src), axis, detail::in(index),
                                     static_cast<std::int32_t>(out_of_range), detail::out(out)));
}

/* ---- threads, identity ---- */

/** For the whole process. 1 starts no thread. Results never depend on it. */
inline void set_num_threads(std::int32_t n) { ndblas_set_num_threads(n); }

/** For the calling thread alone; 0 takes it back. */
inline void set_num_threads_local(std::int32_t n) { ndblas_set_num_threads_local(n); }

inline std::int32_t get_num_threads() { return ndblas_get_num_threads(); }

/** Joins the threads; a later call starts them again. */
inline void shutdown() { ndblas_shutdown(); }

inline const char *status_str(std::int32_t status) { return ndblas_status_str(status); }

inline const char *version() { return ndblas_version(); }

/** One line: the version, the BLAS behind it, the instruction set in use. */
inline const char *config() { return ndblas_config(); }

} // namespace ndblas

#endif
