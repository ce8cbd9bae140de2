/* The threads of a process: none but the library's own, and those only while they are wanted; OpenBLAS's, if it is
   there, are as many as before. And fork: a child after a threaded call works, with threads again; so do a grandchild,
   and a child forked while other threads call. Exits with 1 at the first wrong value; an alarm ends what would hang. */
#define _XOPEN_SOURCE 700
#include "ndblas.h"
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { N = 400000 };

static int large_call(void) {
    double *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y), sum = 0;
    int wrong = !x || !y;
    for (int i = 0; !wrong && i < N; i++) x[i] = 1, y[i] = i;
    if (!wrong) {
        wrong = ndblas_daxpy(N, 2, x, 1, y, 1) != NDBLAS_OK || ndblas_ddot(N, x, 1, y, 1, &sum) != NDBLAS_OK;
        for (int i = 0; i < N; i++) wrong |= y[i] != i + 2.0;
        wrong |= sum != (double)N * (N - 1) / 2 + 2.0 * N;
    }
    free(x);
    free(y);
    return wrong;
}

/* How many threads the process has, where the system tells. */
static int threads_here(void) {
    int n = 0;
    DIR *tasks = opendir("/proc/self/task");
    if (!tasks) return 0;
    for (struct dirent *task; (task = readdir(tasks));) n += task->d_name[0] != '.';
    closedir(tasks);
    return n;
}

/* A task goes a little after its thread is joined. */
static int stay_more_than(int n) {
    for (int i = 0; i < 1000; i++) {
        if (threads_here() <= n) return 0;
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    return 1;
}

static int counts(void) {
    int before = threads_here(), wrong = 0;
    ndblas_set_num_threads(1);
    wrong |= large_call() || threads_here() != before;
    ndblas_set_num_threads(2);
    wrong |= large_call() || (before && threads_here() > before + 1);
    ndblas_shutdown();
    return wrong || stay_more_than(before);
}

static int child(int generations) {
    pid_t pid = fork();
    if (pid == 0) {
        alarm(60);
        int wrong = large_call();
        ndblas_shutdown();
        wrong |= large_call();
        if (generations > 1) wrong |= child(generations - 1);
        _exit(wrong);
    }
    int status = 1;
    return pid < 0 || waitpid(pid, &status, 0) != pid || status != 0;
}

static int stop;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *call_on(void *wrong) {
    for (int go = 1; go;) {
        if (large_call()) *(int *)wrong = 1;
        pthread_mutex_lock(&lock);
        go = !stop;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    alarm(120);
    if (counts()) return puts("threads that are not ours, or stay"), 1;
    ndblas_set_num_threads(4);
    if (large_call() || child(3) || large_call()) return puts("wrong after fork"), 1;
    pthread_t threads[3];
    int wrong[3] = {0, 0, 0}, bad = 0;
    for (int i = 0; i < 3; i++) bad |= pthread_create(&threads[i], NULL, call_on, &wrong[i]);
    for (int i = 0; i < 20; i++) bad |= child(1);
    pthread_mutex_lock(&lock);
    stop = 1;
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 3; i++) bad |= pthread_join(threads[i], NULL) || wrong[i];
    if (bad) return puts("wrong with a fork during calls"), 1;
    puts("threads: they come and go, and children have their own");
    return 0;
}
