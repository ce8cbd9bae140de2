// ndblas.h in C++, before anything else, twice; its functions have C linkage, or this would not link.
#include "ndblas.h"
#include "ndblas.h"

#include <cstdio>

int main() {
    const ndblas_view view = {nullptr, nullptr, nullptr, 0, NDBLAS_F64};
    if (view.dtype != 2 || ndblas_version() == nullptr)
        return 1;
    std::puts("ok header_cpp");
}
