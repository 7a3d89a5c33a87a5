/* What a form sums over a pair of triangles: COMPONENTS numbers made of the Green's function, for d = x - y, x on the test
   side.

   COMPONENT: VALUE G, SLOPE h = G'/r, TEST_SLOPE h d . n_x, TRIAL_SLOPE -h d . n_y, GRADIENT h d (3 components), OUTER h d d^T
   (6: xx, yy, zz, yz, zx, xy), TEST_TRACTION, TRIAL_TRACTION h g^2 (d . n) d d^T and then h d (9), g = 4 pi G, TEST_FIFTH,
   TRIAL_FIFTH h g^2. Included after GREEN and FORM. */

#define VALUE 0
#define SLOPE 1
#define TEST_SLOPE 2
#define TRIAL_SLOPE 3
#define GRADIENT 4
#define OUTER 5
#define TEST_TRACTION 6
#define TRIAL_TRACTION 7
#define TEST_FIFTH 8
#define TRIAL_FIFTH 9
#define OF_TEST (COMPONENT == TEST_SLOPE || COMPONENT == TEST_TRACTION || COMPONENT == TEST_FIFTH)
#define OF_TRIAL (COMPONENT == TRIAL_SLOPE || COMPONENT == TRIAL_TRACTION || COMPONENT == TRIAL_FIFTH)

/* Into registers; one number more, as no array may have length 0. */
DEVICE void read_parameters(GLOBAL const real_type *given, real_type *parameters)
{
    parameters[PARAMETERS] = R(0.0);
    for (int n = 0; n < PARAMETERS; n++)
        parameters[n] = given[n];
}

/* The components (PARTS, COMPONENTS) for the difference d; normal: n_x, or -n_y. parameters: of the Green's function; tiny is
   added to d . d. */
DEVICE void kernel_values(const real_type *d, const real_type *normal, const real_type *parameters, real_type tiny,
                          real_type *value)
{
    real_type g, gi, h, hi;
    green(d[0] * d[0] + tiny + d[1] * d[1] + d[2] * d[2], parameters, &g, &gi, &h, &hi);
    for (int c = 0; c < COMPONENTS; c++) {
        real_type factor = R(1.0);
#if COMPONENT == TEST_SLOPE || COMPONENT == TRIAL_SLOPE
        factor = d[0] * normal[0] + d[1] * normal[1] + d[2] * normal[2];
#elif COMPONENT == GRADIENT
        factor = d[c];
#elif COMPONENT == TEST_FIFTH || COMPONENT == TRIAL_FIFTH
        factor = g * g;
#elif COMPONENT == TEST_TRACTION || COMPONENT == TRIAL_TRACTION
        real_type along = d[0] * normal[0] + d[1] * normal[1] + d[2] * normal[2];
        along *= COMPONENT == TRIAL_TRACTION ? -g * g : g * g;
        factor = c < 3 ? along * d[c] * d[c] : c < 6 ? along * d[(c + 1) % 3] * d[(c + 2) % 3] : d[c % 3];
#elif COMPONENT == OUTER
        factor = c < 3 ? d[c] * d[c] : d[(c + 1) % 3] * d[(c + 2) % 3];
#endif
#if COMPONENT == VALUE
        value[c] = factor * g;
#else
        value[c] = factor * h;
#endif
#if COMPLEX && COMPONENT == VALUE
        value[COMPONENTS + c] = factor * gi;
#elif COMPLEX
        value[COMPONENTS + c] = factor * hi;
#endif
    }
}
