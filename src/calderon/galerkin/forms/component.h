/* What a form sums over a pair of triangles: a component of the Green's function, for d = x - y, x on the test side.

   COMPONENT: VALUE G, SLOPE h = G'/r, TEST_SLOPE h d . n_x, TRIAL_SLOPE -h d . n_y. Included after GREEN and FORM. */

#define VALUE 0
#define SLOPE 1
#define TEST_SLOPE 2
#define TRIAL_SLOPE 3

/* Into registers; one number more, as no array may have length 0. */
DEVICE void read_parameters(GLOBAL const real_type *given, real_type *parameters)
{
    parameters[PARAMETERS] = R(0.0);
    for (int n = 0; n < PARAMETERS; n++)
        parameters[n] = given[n];
}

/* The component (PARTS,) for the difference d; normal: n_x, or -n_y. parameters: of the Green's function; tiny is added to d . d. */
DEVICE void component(const real_type *d, const real_type *normal, const real_type *parameters, real_type tiny,
                      real_type *value)
{
    real_type g, gi, h, hi;
    green(d[0] * d[0] + tiny + d[1] * d[1] + d[2] * d[2], parameters, &g, &gi, &h, &hi);
#if COMPONENT == SLOPE
    g = h, gi = hi;
#elif COMPONENT != VALUE
    real_type along = d[0] * normal[0] + d[1] * normal[1] + d[2] * normal[2];
    g = h * along, gi = hi * along;
#endif
    value[0] = g;
#if COMPLEX
    value[1] = gi;
#endif
}
