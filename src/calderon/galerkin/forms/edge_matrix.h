/* The local matrix of a form of edge functions; included at its end. The form makes FIELDS numbers of the moments
   (`fields_of`) and of these F for each trial function (`field_of`). */
#ifndef ROWS

/* As in scalar.h; sums (2, COMPONENTS, TESTS, TRIALS), which are used up. */
DEVICE void local_matrix(real_type *sums, GLOBAL const real_type *test, GLOBAL const real_type *trial,
                         GLOBAL const real_type *coefficients, int functions, real_type factor, size_t first, int count,
                         GLOBAL out_type *out, GLOBAL out_type *out_i)
{
    real_type alpha = factor * coefficients[0], alpha_i = factor * coefficients[1], b[9];
    real_type charge[2] = {R(0.0), R(0.0)};
    for (int n = 0; n < COMPONENTS * MOMENTS; n++) {
        real_type re = sums[n], im = sums[COMPONENTS * MOMENTS + n];
        sums[n] = alpha * re - alpha_i * im;
        sums[COMPONENTS * MOMENTS + n] = alpha * im + alpha_i * re;
        charge[0] += R(0.5) * sums[n];
        charge[1] += R(0.5) * sums[COMPONENTS * MOMENTS + n];
    }
    for (int n = 0; n < 9; n++)
        b[n] = trial[(size_t)(DATA_VERTICES + n) * count];
    NO_UNROLL
    for (int part = 0; part < 2; part++) { /* one after the other: half the registers */
        GLOBAL out_type *to = part ? out_i : out;
        real_type fields[FIELDS], f[9], c = R(0.0);
#if CHARGES /* 2 / k^2 times the integral */
        c = part ? coefficients[2] * charge[1] + coefficients[3] * charge[0]
                 : coefficients[2] * charge[0] - coefficients[3] * charge[1];
#endif
        for (int n = 0; n < FIELDS; n++)
            fields[n] = R(0.0);
        fields_of(sums, test, trial, count, b, fields);
        for (int n = 0; n < TRIALS; n++) {
            real_type scale = trial[(size_t)(DATA_FUNCTIONS + n) * count];
            field_of(fields, b + 3 * n, f);
            NO_UNROLL
            for (int a = 0; a < functions; a++)
                to[first + (size_t)(a * TRIALS + n) * count] =
                    scale * tested(test + DATA_FUNCTIONS + FIELD_LENGTH * a, f, c);
        }
        for (int n = 0; n < COMPONENTS * MOMENTS; n++)
            sums[n] = sums[COMPONENTS * MOMENTS + n];
    }
}

#endif
