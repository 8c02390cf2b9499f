/**
 * @file Vectors of LANES doubles: 4 (AVX2), 2 (what every x86-64 processor has) or 1. Included once for each
 * length, after LANES and TARGET were defined: TARGET says which instructions a function may use. Each
 * operation is one of IEEE 754 on each number, so that all lengths round alike. MAX and MIN give the second
 * where numbers are equal, as the instructions do.
 */

#undef vec
#undef SET1
#undef LOAD
#undef STORE
#undef ADD
#undef MUL
#undef DIV
#undef MAX
#undef MIN
#undef OR
#undef NOT_ABOVE
#undef MASK
#undef LEAST

#if LANES == 4
#include <immintrin.h>
#define vec             __m256d
#define SET1            _mm256_set1_pd
#define LOAD            _mm256_loadu_pd
#define STORE           _mm256_storeu_pd
#define ADD             _mm256_add_pd
#define MUL             _mm256_mul_pd
#define DIV             _mm256_div_pd
#define MAX             _mm256_max_pd
#define MIN             _mm256_min_pd
#define OR              _mm256_or_pd
#define NOT_ABOVE(a, b) _mm256_cmp_pd(a, b, _CMP_LE_OQ)
#define MASK(a)         ((unsigned)_mm256_movemask_pd(a))
#define LEAST(a)        least_of_2(_mm_min_pd(_mm256_castpd256_pd128(a), _mm256_extractf128_pd(a, 1)))
#elif LANES == 2
#include <emmintrin.h>
#define vec       __m128d
#define SET1      _mm_set1_pd
#define LOAD      _mm_loadu_pd
#define STORE     _mm_storeu_pd
#define ADD       _mm_add_pd
#define MUL       _mm_mul_pd
#define DIV       _mm_div_pd
#define MAX       _mm_max_pd
#define MIN       _mm_min_pd
#define OR        _mm_or_pd
#define NOT_ABOVE _mm_cmple_pd
#define MASK(a)   ((unsigned)_mm_movemask_pd(a))
#define LEAST(a)  least_of_2(a)
#else
#define vec             double
#define SET1(a)         (a)
#define LOAD(p)         (*(p))
#define STORE(p, a)     (*(p) = (a))
#define ADD(a, b)       ((a) + (b))
#define MUL(a, b)       ((a) * (b))
#define DIV(a, b)       ((a) / (b))
#define MAX(a, b)       ((a) > (b) ? (a) : (b))
#define MIN(a, b)       ((a) < (b) ? (a) : (b))
#define OR(a, b)        ((a) + (b))
#define NOT_ABOVE(a, b) ((a) <= (b) ? 1.0 : 0.0)
#define MASK(a)         ((a) != 0 ? 1U : 0U)
#define LEAST(a)        (a)
#endif

#if LANES > 1 && !defined BASE_LANES_H
#define BASE_LANES_H
static inline double least_of_2(__m128d a)
{
    return _mm_cvtsd_f64(_mm_min_sd(a, _mm_unpackhi_pd(a, a)));
}
#endif
