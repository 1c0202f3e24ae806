#ifndef MATHEMATICS
#define MATHEMATICS
#define SQUARE(x) dot(x, x)
#define SUM(first, ...) sum(first, ##__VA_ARGS__)
#endif
