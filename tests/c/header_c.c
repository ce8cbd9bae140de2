/* ndblas.h needs nothing before it, and may come twice. */
#include "ndblas.h"
#include "ndblas.h"

#include <stdio.h>

int main(void) {
    ndblas_view view = {NULL, NULL, NULL, 0, NDBLAS_F64};
    if (view.dtype != 2 || ndblas_version() == NULL)
        return 1;
    puts("ok header_c");
    return 0;
}
