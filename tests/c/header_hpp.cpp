// ndblas.hpp needs nothing before it, may come twice, and yields to `using namespace` beside std's.
#include "ndblas.hpp"
#include "ndblas.hpp"

#include <algorithm>
#include <cstdio>

using namespace std;
using namespace ndblas;

int main() {
    vector<double> x(3), y(3, 2.0);
    axpy(1, y, x);
    copy(x.begin(), x.end(), y.begin()); // std's
    copy(x, y);                          // ours
    fill(y.begin(), y.end(), 1.0);
    fill(2, y);
    if (x != y)
        return 1;
    puts("ok header_hpp");
}
