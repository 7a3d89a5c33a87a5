/* The fields of charges and dipoles of Laplace's equation, times 4 pi, as in products/direct_sums.py. CHARGES, DIPOLES: which
   numbers a source has; GRADIENT: whether there are three derivatives after the potential. */
#define KINDS (CHARGES + 3 * DIPOLES)
#define FIELDS (GRADIENT ? 4 : 1)
#define SCALARS 1

/* Add the fields of a source with `numbers` at the distance e; p: square of distances below which it adds nothing. */
DEVICE void add_pair(const real_type *e, SHARED const real_type *numbers, const real_type *p, real_type *sum)
{
    real_type square = e[0] * e[0] + e[1] * e[1] + e[2] * e[2];
    real_type u = square < p[0] ? R(0.0) : inverse_square_root(square);
    if (CHARGES) {
        real_type v = u * numbers[0];
        sum[0] += v;
        v *= u * u;
        for (int c = 1; c < FIELDS; c++)
            sum[c] -= v * e[c - 1];
    }
    if (DIPOLES) {
        SHARED const real_type *d = numbers + CHARGES;
        real_type cube = u * (u * u), v = (e[0] * d[0] + e[1] * d[1] + e[2] * d[2]) * cube;
        sum[0] += v;
        v *= u * u * R(3.0);
        for (int c = 1; c < FIELDS; c++)
            sum[c] += cube * d[c - 1] - v * e[c - 1];
    }
}
