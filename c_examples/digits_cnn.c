/* digits_cnn: trains a small convolutional network on real handwritten digits, in C.

       digits_cnn [--epochs N] [--seed N] [FILE]          FILE defaults to c_examples/data/digits.csv

   Two 3x3 convolutions with ReLU, then a dense layer and a softmax; stochastic gradient descent with momentum.
   Every array is a view of memory taken before the first epoch. Nothing is allocated in the training loop, because no
   step needs a temporary:

       ndblas_gather        a minibatch is rows of the data; a convolution's patches (im2col)
       ndblas_scatter_add   the patches' gradient back into the pixels (col2im): the adjoint, with the same arguments
       ndblas_mul_add       matrix products as sums of outer products of broadcast operands; the ReLU's mask
       ndblas_permute       activations between (channel, image, ..), as a product gives them, and (image, channel, ..)
       ndblas_axpby, axpy   momentum, and the step

   A fifth of the digits, drawn by the seed, is held out. A full run which gets less than 95 % of them right exits
   with 1. */

#define _POSIX_C_SOURCE 200112L
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ndblas.h"

enum { SIDE = 8, PIXELS = SIDE * SIDE, CLASSES = 10, COLUMNS = PIXELS + 1, MAX_PIXEL = 16, TAPS = 9 };
enum { BATCH = 32, EPOCHS = 10, MIN_ROWS = 50 };
static const double RATE = 0.05, DECAY = 0.85, MOMENTUM = 0.9, EXPECTED = 95.0;

/* ---- views, errors ---- */

#define DIMS(...) ((const ptrdiff_t[]){__VA_ARGS__})
#define RANK(...) ((int32_t)(sizeof(DIMS(__VA_ARGS__)) / sizeof(ptrdiff_t)))
#define FLOATS(count) ((ptrdiff_t)(count) * (ptrdiff_t)sizeof(float)) /* a stride: strides are in bytes */

/* IN(p, 3, 4): 3 x 4 floats at p, row by row. IN_STRIDED(p, DIMS(4, 3), DIMS(FLOATS(1), FLOATS(4)), 2): transposed. */
#define IN(p, ...) (&(ndblas_view){(p), DIMS(__VA_ARGS__), NULL, RANK(__VA_ARGS__), NDBLAS_F32})
#define OUT(p, ...) (&(ndblas_view_mut){(p), DIMS(__VA_ARGS__), NULL, RANK(__VA_ARGS__), NDBLAS_F32})
#define IN_STRIDED(p, shape, strides, ndim) (&(ndblas_view){(p), (shape), (strides), (ndim), NDBLAS_F32})
#define INTS(p, ...) (&(ndblas_view){(p), DIMS(__VA_ARGS__), NULL, RANK(__VA_ARGS__), NDBLAS_I32})
#define OUT_INTS(p, ...) (&(ndblas_view_mut){(p), DIMS(__VA_ARGS__), NULL, RANK(__VA_ARGS__), NDBLAS_I32})

static ndblas_scalar real(double value) { return (ndblas_scalar){value, 0}; }

static void die(const char *format, ...) {
    va_list args;
    va_start(args, format);
    fputs("digits_cnn: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(EXIT_FAILURE);
}

#define CHECK(call) check((call), __LINE__)

static void check(int32_t status, int line) {
    char text[1024];
    if (status == NDBLAS_OK)
        return;
    ndblas_last_error(text, sizeof text);
    die("line %d: %s: %s", line, ndblas_status_str(status), text);
}

/* ---- memory: one block, laid out by the same function twice, first to count and then to place ---- */

typedef struct {
    char *base;
    size_t used;
} Pool;

static void *take(Pool *pool, ptrdiff_t count, size_t size) {
    void *p = pool->base ? pool->base + pool->used : NULL;
    pool->used += ((size_t)count * size + 63) / 64 * 64;
    return p;
}

static float *floats(Pool *pool, ptrdiff_t count) { return take(pool, count, sizeof(float)); }
static int32_t *ints(Pool *pool, ptrdiff_t count) { return take(pool, count, sizeof(int32_t)); }

/* ---- random numbers: splitmix64, the same on every machine ---- */

static uint64_t random_bits(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static double random_unit(uint64_t *state) { return (double)(random_bits(state) >> 11) * 0x1p-53; }

static void shuffle(int32_t *v, ptrdiff_t n, uint64_t *state) {
    for (ptrdiff_t i = n - 1; i > 0; i--) {
        const ptrdiff_t j = (ptrdiff_t)(random_bits(state) % (uint64_t)(i + 1));
        const int32_t t = v[i];
        v[i] = v[j];
        v[j] = t;
    }
}

/* ---- the data ---- */

typedef struct {
    float *images;   /* (rows, PIXELS), 0 to 1 */
    int32_t *labels; /* (rows,) */
    ptrdiff_t rows;
} Data;

/* Reads up to the next comma, line end or end of file, which it returns. What does not fit ends in "..". */
static int read_field(FILE *file, char *text, size_t size) {
    size_t length = 0;
    int c;
    while ((c = getc(file)) != EOF && c != ',' && c != '\n') {
        if (c == '\r') /* of a Windows line end */
            continue;
        if (length + 1 < size)
            text[length++] = (char)(c ? c : '?');
        else
            text[length - 1] = text[length - 2] = '.';
    }
    text[length] = '\0';
    return c;
}

static void *grown(void *p, ptrdiff_t rows, size_t row_size) {
    p = realloc(p, (size_t)rows * row_size);
    if (!p)
        die("out of memory for %td digits", rows);
    return p;
}

static Data read_digits(const char *path) {
    Data data = {NULL, NULL, 0};
    FILE *file = fopen(path, "r");
    if (!file)
        die("%s: %s (give the file as an argument, or run from the project's folder)", path, strerror(errno));
    for (ptrdiff_t capacity = 0;; data.rows++) {
        char text[24];
        int column = 0, separator;
        do {
            separator = read_field(file, text, sizeof text);
            if (ferror(file))
                die("%s: %s", path, strerror(errno));
            if (column == 0 && separator == EOF && !*text)
                break;
            if (++column > COLUMNS)
                die("%s:%td: column %d: a line has %d columns (%d pixels and the digit), this one has more", path,
                    data.rows + 1, column, COLUMNS, PIXELS);
            const long limit = column == COLUMNS ? CLASSES - 1 : MAX_PIXEL;
            char *end;
            const long value = strtol(text, &end, 10);
            if (end == text || *end)
                die("%s:%td: column %d: \"%s\" is not a whole number", path, data.rows + 1, column, text);
            if (value < 0 || value > limit)
                die("%s:%td: column %d: %s is not in 0 .. %ld", path, data.rows + 1, column, text, limit);
            if (data.rows == capacity) {
                capacity = capacity ? 2 * capacity : 1024;
                data.images = grown(data.images, capacity, PIXELS * sizeof *data.images);
                data.labels = grown(data.labels, capacity, sizeof *data.labels);
            }
            if (column == COLUMNS)
                data.labels[data.rows] = (int32_t)value;
            else
                data.images[data.rows * PIXELS + column - 1] = (float)value;
        } while (separator == ',');
        if (column == 0)
            break;
        if (column < COLUMNS)
            die("%s:%td: column %d is the last, but a line has %d columns (%d pixels and the digit)", path,
                data.rows + 1, column, COLUMNS, PIXELS);
    }
    fclose(file);
    if (data.rows < MIN_ROWS)
        die("%s: holds %td digits, at least %d are needed", path, data.rows, (int)MIN_ROWS);
    CHECK(ndblas_scal(real(1.0 / MAX_PIXEL), OUT(data.images, data.rows, PIXELS)));
    return data;
}

/* ---- a convolution with ReLU: y[n,o,p] = max(0, bias[o] + sum over c,t of weight[o,c,t] * x[n,c,patch[t,p]]) ---- */

typedef struct {
    ptrdiff_t in, out;       /* channels */
    ptrdiff_t in_side, side; /* of the images in and out */
    float *weight, *bias, *d_weight, *d_bias;
    int32_t *patch; /* (TAPS, side, side): the pixel under each tap at each place */
    float *columns; /* (image, in, TAPS, side, side): the patches, later their gradient */
    float *product; /* (out, image, side, side): weight times columns, later its gradient */
    float *y, *mask; /* (image, out, side, side): the activations, and 1 where ReLU lets them through */
} Conv;

static void place_conv(Conv *l, Pool *pool) {
    const ptrdiff_t area = l->side * l->side;
    l->patch = ints(pool, TAPS * area);
    l->columns = floats(pool, BATCH * l->in * TAPS * area);
    l->product = floats(pool, l->out * BATCH * area);
    l->y = floats(pool, BATCH * l->out * area);
    l->mask = floats(pool, BATCH * l->out * area);
}

/* The pixels of each 3x3 patch. A tap outside the image gets an index beyond its end: NDBLAS_DROP reads that as zero
   and drops its gradient, so the padding costs no memory and no copy. (Not -1, which counts from the end.) */
static void index_patches(const Conv *l) {
    const ptrdiff_t step = l->in_side / l->side, area = l->side * l->side;
    for (ptrdiff_t t = 0; t < TAPS; t++)
        for (ptrdiff_t p = 0; p < area; p++) {
            const ptrdiff_t row = p / l->side * step + t / 3 - 1, column = p % l->side * step + t % 3 - 1;
            const int inside = row >= 0 && row < l->in_side && column >= 0 && column < l->in_side;
            l->patch[t * area + p] = (int32_t)(inside ? row * l->in_side + column : l->in_side * l->in_side);
        }
}

/* columns[:, k, :] as (images, area), where columns is (images, k, area): no copy makes it a matrix. */
#define TAP(l, k, n, area, rank) \
    IN_STRIDED((l)->columns + (k) * (area), DIMS((n), (area)), DIMS(FLOATS((rank) * (area)), FLOATS(1)), 2)

static void forward_conv(Conv *l, const float *x, ptrdiff_t n) {
    const ptrdiff_t side = l->side, area = side * side, in_area = l->in_side * l->in_side, rank = l->in * TAPS;
    const int32_t swap[4] = {1, 0, 2, 3};

    /* columns[n, c, (t,p)] = x[n, c, patch[(t,p)]] */
    CHECK(ndblas_gather(real(1), IN(x, n, l->in, in_area), 2, INTS(l->patch, TAPS * area), NDBLAS_DROP, real(0),
                        OUT(l->columns, n, l->in, TAPS * area)));

    /* product[o, n, p] = sum over k of weight[o, k] * columns[n, k, p], an outer product at a time */
    for (ptrdiff_t k = 0; k < rank; k++)
        CHECK(ndblas_mul_add(real(1), IN_STRIDED(l->weight + k, DIMS(l->out, 1, 1), DIMS(FLOATS(rank), 0, 0), 3),
                             TAP(l, k, n, area, rank), real(k > 0), OUT(l->product, l->out, n, area)));

    /* y[n, o, ..] = bias[o] + product[o, n, ..] */
    CHECK(ndblas_copy(IN(l->bias, l->out, 1, 1), OUT(l->y, n, l->out, side, side)));
    CHECK(ndblas_permute(real(1), IN(l->product, l->out, n, side, side), swap, real(1),
                         OUT(l->y, n, l->out, side, side)));

    for (ptrdiff_t i = 0; i < n * l->out * area; i++)
        l->mask[i] = l->y[i] > 0;
    CHECK(ndblas_mul_add(real(1), IN(l->y, n * l->out * area), IN(l->mask, n * l->out * area), real(0),
                         OUT(l->y, n * l->out * area)));
}

/* From dy, the gradient of y (overwritten), to that of the weights, and to dx where it is wanted. */
static void backward_conv(Conv *l, float *dy, float *dx, ptrdiff_t n) {
    const ptrdiff_t side = l->side, area = side * side, in_area = l->in_side * l->in_side, rank = l->in * TAPS;
    const int32_t swap[4] = {1, 0, 2, 3};
    const float one = 1;

    CHECK(ndblas_mul_add(real(1), IN(dy, n * l->out * area), IN(l->mask, n * l->out * area), real(0),
                         OUT(dy, n * l->out * area)));
    CHECK(ndblas_permute(real(1), IN(dy, n, l->out, side, side), swap, real(0),
                         OUT(l->product, l->out, n, side, side)));

    for (ptrdiff_t o = 0; o < l->out; o++) {
        const float *row = l->product + o * n * area;
        CHECK(ndblas_sdot(n * area, row, 1, &one, 0, &l->d_bias[o])); /* a sum: increment 0 repeats the 1 */
        for (ptrdiff_t k = 0; k < rank; k++) {
            ndblas_scalar sum;
            CHECK(ndblas_dotu(IN(row, n, area), TAP(l, k, n, area, rank), &sum));
            l->d_weight[o * rank + k] = (float)sum.re;
        }
    }
    if (!dx)
        return;

    /* The columns are used up; their gradient takes their place: sum over o of weight[o, k] * product[o, n, p] */
    for (ptrdiff_t o = 0; o < l->out; o++)
        CHECK(ndblas_mul_add(real(1), IN(l->weight + o * rank, rank, 1),
                             IN(l->product + o * n * area, n, 1, area), real(o > 0), OUT(l->columns, n, rank, area)));

    /* dx[n, c, patch[(t,p)]] += columns[n, c, (t,p)] */
    CHECK(ndblas_fill(real(0), OUT(dx, n, l->in, in_area)));
    CHECK(ndblas_scatter_add(real(1), IN(l->columns, n, l->in, TAPS * area), 2, INTS(l->patch, TAPS * area),
                             NDBLAS_DROP, OUT(dx, n, l->in, in_area)));
}

/* ---- the network ---- */

typedef struct {
    Conv conv[2];
    ptrdiff_t features; /* into the dense layer */
    float *weight, *bias, *d_weight, *d_bias;
    float *parameters, *gradient, *velocity; /* of all layers, one after the other */
    ptrdiff_t count;
    float *x;        /* (image, PIXELS): the minibatch */
    int32_t *labels; /* (image,) */
    float *logits;   /* (image, CLASSES), then their gradient */
    float *d_y[2];   /* the gradient of each convolution's y */
    int32_t *order;  /* the rows of the data: those to train with, shuffled, then those held out */
} Net;

/* The next `count` parameters and their gradients. */
static void share(const Net *net, ptrdiff_t *used, ptrdiff_t count, float **parameter, float **gradient) {
    if (net->parameters) {
        *parameter = net->parameters + *used;
        *gradient = net->gradient + *used;
    }
    *used += count;
}

static void place(Net *net, Pool *pool, ptrdiff_t rows) {
    const Conv *last = &net->conv[1];
    ptrdiff_t used = 0;
    net->features = last->out * last->side * last->side;
    net->count = CLASSES * (net->features + 1);
    for (int i = 0; i < 2; i++)
        net->count += net->conv[i].out * (net->conv[i].in * TAPS + 1);
    net->parameters = floats(pool, net->count);
    net->gradient = floats(pool, net->count);
    net->velocity = floats(pool, net->count);
    for (int i = 0; i < 2; i++) {
        Conv *l = &net->conv[i];
        share(net, &used, l->out * l->in * TAPS, &l->weight, &l->d_weight);
        share(net, &used, l->out, &l->bias, &l->d_bias);
        place_conv(l, pool);
        net->d_y[i] = floats(pool, BATCH * l->out * l->side * l->side);
    }
    share(net, &used, CLASSES * net->features, &net->weight, &net->d_weight);
    share(net, &used, CLASSES, &net->bias, &net->d_bias);
    net->x = floats(pool, BATCH * PIXELS);
    net->labels = ints(pool, BATCH);
    net->logits = floats(pool, BATCH * CLASSES);
    net->order = ints(pool, rows);
}

/* Uniform with the variance that keeps a ReLU network's activations at one size (He et al., 2015). */
static void randomize(float *weight, ptrdiff_t out, ptrdiff_t in, uint64_t *state) {
    for (ptrdiff_t i = 0; i < out * in; i++)
        weight[i] = (float)(sqrt(6.0 / (double)in) * (2 * random_unit(state) - 1));
}

/* Rows order[first ..] of the data become the minibatch. */
static void load_batch(Net *net, const Data *data, ptrdiff_t first, ptrdiff_t n) {
    const int32_t *rows = net->order + first;
    CHECK(ndblas_gather(real(1), IN(data->images, data->rows, PIXELS), 0, INTS(rows, n, 1), NDBLAS_RAISE, real(0),
                        OUT(net->x, n, PIXELS)));
    CHECK(ndblas_gather(real(1), INTS(data->labels, data->rows), 0, INTS(rows, n), NDBLAS_RAISE, real(0),
                        OUT_INTS(net->labels, n)));
}

static void forward(Net *net, ptrdiff_t n) {
    const float *y = net->conv[1].y;
    forward_conv(&net->conv[0], net->x, n);
    forward_conv(&net->conv[1], net->conv[0].y, n);
    for (ptrdiff_t i = 0; i < n; i++)
        for (ptrdiff_t j = 0; j < CLASSES; j++)
            CHECK(ndblas_sdot(net->features, y + i * net->features, 1, net->weight + j * net->features, 1,
                              &net->logits[i * CLASSES + j]));
    CHECK(ndblas_axpy(real(1), IN(net->bias, CLASSES), OUT(net->logits, n, CLASSES)));
}

/* Softmax and cross-entropy: returns the summed loss and replaces the logits by its gradient. */
static double loss_and_gradient(Net *net, ptrdiff_t n) {
    double loss = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        float *z = net->logits + i * CLASSES;
        double top = z[0], sum = 0;
        for (int j = 1; j < CLASSES; j++)
            top = fmax(top, z[j]);
        for (int j = 0; j < CLASSES; j++)
            sum += exp(z[j] - top);
        loss += log(sum) - (z[net->labels[i]] - top);
        for (int j = 0; j < CLASSES; j++)
            z[j] = (float)((exp(z[j] - top) / sum - (j == net->labels[i])) / (double)n);
    }
    return loss;
}

static void backward(Net *net, ptrdiff_t n) {
    const float *d = net->logits, *y = net->conv[1].y;
    const ptrdiff_t features = net->features;
    const float one = 1;
    for (ptrdiff_t j = 0; j < CLASSES; j++)
        CHECK(ndblas_sdot(n, d + j, CLASSES, &one, 0, &net->d_bias[j]));

    /* d_weight[j, f] = sum over n of d[n, j] * y[n, f];  dy[n, f] = sum over j of d[n, j] * weight[j, f] */
    for (ptrdiff_t i = 0; i < n; i++)
        CHECK(ndblas_mul_add(real(1), IN(d + i * CLASSES, CLASSES, 1), IN(y + i * features, features), real(i > 0),
                             OUT(net->d_weight, CLASSES, features)));
    for (ptrdiff_t j = 0; j < CLASSES; j++)
        CHECK(ndblas_mul_add(real(1), IN_STRIDED(d + j, DIMS(n, 1), DIMS(FLOATS(CLASSES), 0), 2),
                             IN(net->weight + j * features, features), real(j > 0), OUT(net->d_y[1], n, features)));

    backward_conv(&net->conv[1], net->d_y[1], net->d_y[0], n);
    backward_conv(&net->conv[0], net->d_y[0], NULL, n);
}

static void step(Net *net, double rate) {
    CHECK(ndblas_axpby(real(1), IN(net->gradient, net->count), real(MOMENTUM), OUT(net->velocity, net->count)));
    CHECK(ndblas_axpy(real(-rate), IN(net->velocity, net->count), OUT(net->parameters, net->count)));
}

/* How many of rows order[first .. last) are told right. */
static ptrdiff_t count_right(Net *net, const Data *data, ptrdiff_t first, ptrdiff_t last) {
    ptrdiff_t right = 0;
    for (ptrdiff_t at = first; at < last; at += BATCH) {
        const ptrdiff_t n = last - at < BATCH ? last - at : BATCH;
        load_batch(net, data, at, n);
        forward(net, n);
        for (ptrdiff_t i = 0; i < n; i++) {
            const float *z = net->logits + i * CLASSES;
            int best = 0;
            for (int j = 1; j < CLASSES; j++)
                if (z[j] > z[best])
                    best = j;
            right += best == net->labels[i];
        }
    }
    return right;
}

/* ---- the program ---- */

/* A bar on the terminal, redrawn in place; a log gets none of it. */
static void progress(long epoch, ptrdiff_t done, ptrdiff_t total) {
    enum { WIDTH = 40 };
    if (!isatty(STDERR_FILENO))
        return;
    if (done == total)
        fprintf(stderr, "\r%*s\r", WIDTH + 40, "");
    else
        fprintf(stderr, "\repoch %3ld  [%-*.*s] %td/%td", epoch, (int)WIDTH, (int)(done * WIDTH / total),
                "########################################", done, total);
    fflush(stderr);
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static long option(int argc, char **argv, int i, long least) {
    char *end = NULL;
    const long value = i + 1 < argc ? strtol(argv[i + 1], &end, 10) : 0;
    if (!end || end == argv[i + 1] || *end || value < least)
        die("%s needs a whole number, %ld or more", argv[i], least);
    return value;
}

int main(int argc, char **argv) {
    const char *path = "c_examples/data/digits.csv";
    long epochs = EPOCHS, seed = 1;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--epochs"))
            epochs = option(argc, argv, i++, 1);
        else if (!strcmp(argv[i], "--seed"))
            seed = option(argc, argv, i++, 0);
        else if (argv[i][0] == '-')
            die("unknown option %s; usage: digits_cnn [--epochs N] [--seed N] [FILE]", argv[i]);
        else
            path = argv[i];
    }

    Data data = read_digits(path);
    const ptrdiff_t held_out = data.rows / 5, train = data.rows - held_out;

    Net net = {.conv = {{.in = 1, .out = 12, .in_side = SIDE, .side = SIDE},
                        {.in = 12, .out = 24, .in_side = SIDE, .side = SIDE / 2}}};
    Pool pool = {NULL, 0};
    place(&net, &pool, data.rows);
    pool = (Pool){calloc(pool.used, 1), 0};
    if (!pool.base)
        die("out of memory");
    place(&net, &pool, data.rows);

    uint64_t state = (uint64_t)seed;
    for (int i = 0; i < 2; i++) {
        index_patches(&net.conv[i]);
        randomize(net.conv[i].weight, net.conv[i].out, net.conv[i].in * TAPS, &state);
    }
    randomize(net.weight, CLASSES, net.features, &state);
    for (ptrdiff_t i = 0; i < data.rows; i++)
        net.order[i] = (int32_t)i;
    shuffle(net.order, data.rows, &state);

    printf("%s\n", ndblas_config());
    printf("%td digits to learn from, %td held out; %td parameters; %.1f MB of memory, taken once\n", train, held_out,
           net.count, (double)pool.used / 1e6);

    const double start = seconds();
    double rate = RATE, accuracy = 0;
    for (long epoch = 1; epoch <= epochs; epoch++, rate *= DECAY) {
        double loss = 0;
        shuffle(net.order, train, &state);
        for (ptrdiff_t at = 0; at < train; at += BATCH) {
            const ptrdiff_t n = train - at < BATCH ? train - at : BATCH;
            progress(epoch, at, train);
            load_batch(&net, &data, at, n);
            forward(&net, n);
            loss += loss_and_gradient(&net, n);
            backward(&net, n);
            step(&net, rate);
        }
        progress(epoch, train, train);
        accuracy = 100.0 * (double)count_right(&net, &data, train, data.rows) / (double)held_out;
        printf("epoch %3ld   loss %.4f   held out %.2f %% right\n", epoch, loss / (double)train, accuracy);
        fflush(stdout);
    }
    printf("%.1f s\n", seconds() - start);

    free(pool.base);
    free(data.images);
    free(data.labels);
    if (epochs >= EPOCHS && accuracy < EXPECTED)
        die("%.2f %% of the held-out digits right, expected %.0f %% or more", accuracy, EXPECTED);
    return EXIT_SUCCESS;
}
