/* The weight of point p for function a of a triangle: that of the table (functions, POINTS), or where WEIGHED, at the three
   points of distant pairs of waves between three linear functions each, delta_ap alpha + beta_a (`wave_weights` in
   centroid_distances.py, times the weights of the rule), which are among the numbers of the triangle, `stride` apart. */
#if WEIGHED
#define WEIGHT_AT(table, a, p, numbers, stride)                                                                             \
    ((p) < USUAL_POINTS                                                                                                     \
         ? (table)[(a) * POINTS + (p)]                                                                                      \
         : (numbers)[(NODES_WEIGHTS + 1 + (a)) * (size_t)(stride)] +                                                        \
               ((p) - USUAL_POINTS == (a) ? (numbers)[NODES_WEIGHTS * (size_t)(stride)] : R(0.0)))
#else
#define WEIGHT_AT(table, a, p, numbers, stride) ((table)[(a) * POINTS + (p)])
#endif
