/* The components that are summed over a pair of triangles: numbers made of the Green's function, for d = x - y, x on the
   test side; the twin of component_values.py and integrands/component.py.

   COMPONENTS: how many. COMPONENT_LIST: PUT(c, n, a, b, e, SIDE) for each, component c = f_n d_x^a d_y^b d_z^e s with the
   radial function f_n, where s is 1, d . n_x or -d . n_y for SIDE NONE, TEST or TRIAL. Included after GREEN and FORM. */

#ifndef FUNCTIONS
#define FUNCTIONS 2 /* G and G'/r */
DEVICE void radial_functions(real_type r2, const real_type *p, real_type *values)
{
    green(r2, p, values, values + 1, values + 2, values + 3);
}
#endif

/* Parameters of the Green's function into registers; one number more, as no array may have length 0. */
DEVICE void read_parameters(GLOBAL const real_type *given, real_type *parameters)
{
    parameters[PARAMETERS] = R(0.0);
    for (int n = 0; n < PARAMETERS; n++)
        parameters[n] = given[n];
}

/* The power of a coordinate with an exponent that is known where it is compiled. */
#define POWER(x, n) ((n) == 0 ? R(1.0) : (n) == 1 ? (x) : (n) == 2 ? (x) * (x) : (x) * (x) * (x))
#define SIDE_NONE R(1.0)
#define SIDE_TEST of_test
#define SIDE_TRIAL of_trial

/* The components (PARTS, COMPONENTS) for the difference d and normals m of the test and n of the trial triangle.
   parameters: of the Green's function; tiny is added to d . d. */
DEVICE void component_values(const real_type *d, const real_type *m, const real_type *n, const real_type *parameters,
                             real_type tiny, real_type *value)
{
    real_type f[2 * FUNCTIONS];
    real_type of_test = d[0] * m[0] + d[1] * m[1] + d[2] * m[2], of_trial = -(d[0] * n[0] + d[1] * n[1] + d[2] * n[2]);
    radial_functions(d[0] * d[0] + tiny + d[1] * d[1] + d[2] * d[2], parameters, f);
#define PUT(c, k, a, b, e, side)                                                                                        \
    value[c] = f[2 * (k)] * SIDE_##side * POWER(d[0], a) * POWER(d[1], b) * POWER(d[2], e);
    COMPONENT_LIST
#undef PUT
#if COMPLEX
#define PUT(c, k, a, b, e, side)                                                                                        \
    value[COMPONENTS + c] = f[2 * (k) + 1] * SIDE_##side * POWER(d[0], a) * POWER(d[1], b) * POWER(d[2], e);
    COMPONENT_LIST
#undef PUT
#endif
}
