/* Touching and near pairs of triangles, by their test triangle: candidates, the rule of each, pairs sorted by rule, and the
   list of all. A rule is a number from 0 on: those of near pairs, then what is integrated on the processor, pairs whose
   integrals vanish, and the shapes of touching pairs; -1 for a pair that is distant, or that stands with its triangles
   exchanged. */
#include "pairs/triangle_pair.h"

enum { NEAR_RULES = 3, PROCESSOR = NEAR_RULES, IDLE, TOUCHING };
/* Fields of a grid of triangles of like size: lowest corner, 1 / edge of a cell, largest radius and largest size; and first
   bucket, buckets less 1, first triangle, triangles, cells along each direction. */
enum { LOW, INVERSE = 3, WIDEST, LARGEST };
#define GRID (LARGEST + 1)
enum { FIRST_BUCKET, BUCKETS, FIRST_MEMBER, MEMBERS, CELLS };
#define GRID_INTEGERS (CELLS + 3)
/* Fields of a pair that the processor integrates: its triangles, how many vertices they share, both orders. */
enum { OTHER_SHARED = 2, OTHER_ORDERS };
#define OTHER (OTHER_ORDERS + 6)
/* Slack of distances between centroids. */
#define SLACK R(1.00001)

/* Sort `count` keys, and if `paired` the values that go with them (Shell's method; a triangle may have thousands). */
DEVICE void sort_keys(GLOBAL int *keys, GLOBAL int *values, int count, int paired)
{
    int gap = 1;
    while (gap < count / 3)
        gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3)
        for (int n = gap; n < count; n++) {
            int key = keys[n], value = paired ? values[n] : 0, to = n;
            for (; to >= gap && keys[to - gap] > key; to -= gap) {
                keys[to] = keys[to - gap];
                if (paired)
                    values[to] = values[to - gap];
            }
            keys[to] = key;
            if (paired)
                values[to] = value;
        }
}

/* Whether two triangles may be near. */
DEVICE int may_be_near(GLOBAL const real_type *x, GLOBAL const real_type *y, real_type reach)
{
    real_type square = R(0.0), size = x[SIZE] > y[SIZE] ? x[SIZE] : y[SIZE];
    real_type bound = SLACK * (x[RADIUS] + y[RADIUS] + reach * size);
    for (int c = 0; c < 3; c++) {
        real_type d = x[CENTRE + c] - y[CENTRE + c];
        square += d * d;
    }
    return square <= bound * bound;
}

/* Append triangle j to the candidates of the test triangle x, which are counted if there is no room. */
DEVICE void append(GLOBAL const real_type *x, GLOBAL const real_type *trial, int j, real_type reach, int stores,
                   GLOBAL int *seconds, int *at)
{
    if (!may_be_near(x, trial + (size_t)RECORD * j, reach))
        return;
    if (stores)
        seconds[*at] = j;
    ++*at;
}

/* List the triangles that may be near to each of `count` test triangles, increasing, from starts[i] on; count them, in starts, if not
   `stores`. test, trial (n, RECORD); grids (number, GRID), grid_integers (number, GRID_INTEGERS); buckets: where each begins
   among the members; cells (trial triangles, 3). reach: ratio of distance to size below which a pair is near. */
KERNEL list_candidates(GLOBAL const real_type *test, GLOBAL const real_type *trial, GLOBAL const real_type *grids,
                       GLOBAL const int *grid_integers, int number, GLOBAL const int *buckets, GLOBAL const int *members,
                       GLOBAL const int *cells, int count, real_type reach, int stores, GLOBAL int *starts,
                       GLOBAL int *seconds)
{
    int i = THREAD(0);
    if (i >= count)
        return;
    GLOBAL const real_type *x = test + (size_t)RECORD * i;
    int at = stores ? starts[i] : 0;
    for (int n = 0; n < number; n++) {
        GLOBAL const real_type *grid = grids + GRID * n;
        GLOBAL const int *own = grid_integers + GRID_INTEGERS * n;
        int first[3], last[3];
        real_type size = x[SIZE] > grid[LARGEST] ? x[SIZE] : grid[LARGEST], visited = R(1.0);
        real_type around = SLACK * (x[RADIUS] + grid[WIDEST] + reach * size);
        for (int c = 0; c < 3; c++) {
            real_type most = (real_type)own[CELLS + c], middle = x[CENTRE + c] - grid[LOW + c];
            real_type from = (middle - around) * grid[INVERSE], to = (middle + around) * grid[INVERSE];
            first[c] = from <= R(0.0) ? 0 : from >= most ? own[CELLS + c] : (int)from;
            last[c] = to < R(0.0) ? -1 : to >= most ? own[CELLS + c] - 1 : (int)to;
            visited *= last[c] < first[c] ? R(0.0) : (real_type)(last[c] - first[c] + 1);
        }
        /* all triangles of a grid, if they are fewer than the cells that a large triangle reaches */
        if (visited > (real_type)own[MEMBERS]) {
            for (int m = 0; m < own[MEMBERS]; m++)
                append(x, trial, members[own[FIRST_MEMBER] + m], reach, stores, seconds, &at);
            continue;
        }
        for (int cx = first[0]; cx <= last[0]; cx++)
            for (int cy = first[1]; cy <= last[1]; cy++)
                for (int cz = first[2]; cz <= last[2]; cz++) {
                    unsigned int key = (unsigned int)cx * 73856093u ^ (unsigned int)cy * 19349663u ^ (unsigned int)cz * 83492791u;
                    int bucket = own[FIRST_BUCKET] + (int)(key & (unsigned int)own[BUCKETS]);
                    for (int m = buckets[bucket]; m < buckets[bucket + 1]; m++) {
                        GLOBAL const int *cell = cells + 3 * (size_t)members[m];
                        if (cell[0] == cx && cell[1] == cy && cell[2] == cz)
                            append(x, trial, members[m], reach, stores, seconds, &at);
                    }
                }
    }
    if (stores)
        sort_keys(seconds + starts[i], seconds, at - starts[i], 0);
    else
        starts[i] = at;
}

/* Find the rules of the candidates, codes, and mark in `used` those that occur; of both orders of a pair only that with the
   triangles increasing has one if `upper`. test_integers, trial_integers (n, INTEGERS); same_mesh: whether both sides are on
   one mesh, where a pair takes the points of the order in which ranks increase. degrees (NEAR_RULES,): ratios from which on
   near pairs have a rule, decreasing. */
KERNEL find_rules(GLOBAL const real_type *test, GLOBAL const int *test_integers, GLOBAL const real_type *trial,
                  GLOBAL const int *trial_integers, RULES, GLOBAL const real_type *degrees, int count, real_type reach,
                  int upper, int same_mesh, GLOBAL const int *starts, GLOBAL const int *seconds, GLOBAL int *codes,
                  GLOBAL int *used)
{
    int i = THREAD(0);
    if (i >= count)
        return;
    GLOBAL const real_type *x = test + (size_t)RECORD * i;
    GLOBAL const int *mine = test_integers + (size_t)INTEGERS * i;
    for (int e = starts[i]; e < starts[i + 1]; e++) {
        int j = seconds[e], left, right, code = -1;
        codes[e] = code;
        if (upper && j < i)
            continue;
        GLOBAL const real_type *y = trial + (size_t)RECORD * j;
        GLOBAL const int *its = trial_integers + (size_t)INTEGERS * j;
        int backward = same_mesh && mine[MESH_NUMBER] > its[MESH_NUMBER];
        int shared = backward ? common_first(its, mine, &left, &right) : common_first(mine, its, &left, &right);
        if (shared) {
            int shape = backward ? touching_shape(y, x, shared, left, right, THESE_RULES)
                                 : touching_shape(x, y, shared, left, right, THESE_RULES);
            int twice = same_mesh && shared == 3 && mine[MESH_NUMBER] != its[MESH_NUMBER];
            code = twice ? PROCESSOR : shared == 3 && counts[VANISHING] ? IDLE : shape < 0 ? PROCESSOR
                   : TOUCHING + 2 * shape + backward;
        } else {
            real_type ratio = ratio_of(x, y);
            if (ratio >= reach)
                continue;
            code = 0;
            while (code < NEAR_RULES && (float)ratio < (float)degrees[code])
                code++; /* PROCESSOR where no degree is enough */
        }
        codes[e] = code;
        used[code] = 1;
    }
}

/* The place of the pair (i, j) among the candidates of i, from starts[i] on. */
DEVICE int candidate_of(GLOBAL const int *starts, GLOBAL const int *seconds, int i, int j)
{
    int low = starts[i], high = starts[i + 1], end = high;
    while (low < high) {
        int middle = (low + high) / 2;
        if (seconds[middle] < j)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && seconds[low] == j ? low : -1;
}

/* Count the special pairs of each test triangle, kept (count,), and those of each rule in each run of `size` test triangles,
   tallies (rules, runs), zeros before; rule_of: the number of the rule of each code. The code of a pair that has a rule in
   the other order becomes -2 less the place of that one. */
KERNEL count_pairs(GLOBAL const int *starts, GLOBAL const int *seconds, GLOBAL const int *rule_of, int count, int upper,
                   int size, int runs, GLOBAL int *codes, GLOBAL int *kept, GLOBAL int *tallies)
{
    int run = THREAD(0);
    if (run >= runs)
        return;
    for (int i = run * size; i < count && i < (run + 1) * size; i++) {
        int found = 0;
        for (int e = starts[i]; e < starts[i + 1]; e++) {
            int j = seconds[e], other = upper && j < i ? candidate_of(starts, seconds, j, i) : -1;
            if (codes[e] >= 0) {
                tallies[rule_of[codes[e]] * runs + run] += 1;
                found++;
            } else if (other >= 0 && codes[other] >= 0) {
                codes[e] = -2 - other;
                found++;
            }
        }
        kept[i] = found;
    }
}

/* Number the pairs by their rules, in `codes`. tallies (rules, runs): the number of the first pair of each rule in each run,
   advanced; stored for each pair: triangles (pairs, 2), orders of vertices (pairs, 3) and rule; ordered: how many pairs have
   a rule here. Those of the processor, which follow, have the order of the mesh, and are stored in others (m, OTHER), with the
   orders of vertices that they share, and their ratios, too. */
KERNEL number_pairs(GLOBAL const real_type *test, GLOBAL const int *test_integers, GLOBAL const real_type *trial,
                    GLOBAL const int *trial_integers, GLOBAL const int *starts, GLOBAL const int *seconds,
                    GLOBAL const int *rule_of, int count, int same_mesh, int size, int runs, int ordered,
                    GLOBAL int *tallies, GLOBAL int *codes, GLOBAL int *triangles, GLOBAL signed char *test_order,
                    GLOBAL signed char *trial_order, GLOBAL int *rules, GLOBAL int *others, GLOBAL real_type *ratios)
{
    int run = THREAD(0);
    if (run >= runs)
        return;
    for (int i = run * size; i < count && i < (run + 1) * size; i++)
        for (int e = starts[i]; e < starts[i + 1]; e++) {
            if (codes[e] < 0)
                continue;
            int j = seconds[e], code = codes[e], rule = rule_of[code], n = tallies[rule * runs + run]++, left, right;
            GLOBAL const int *mine = test_integers + (size_t)INTEGERS * i, *its = trial_integers + (size_t)INTEGERS * j;
            int backward = same_mesh && mine[MESH_NUMBER] > its[MESH_NUMBER];
            int shared = backward ? common_first(its, mine, &right, &left) : common_first(mine, its, &left, &right);
            int turned = shared && code != PROCESSOR;
            codes[e] = n;
            triangles[2 * (size_t)n] = i;
            triangles[2 * (size_t)n + 1] = j;
            rules[n] = rule;
            for (int a = 0; a < 3; a++) {
                test_order[3 * (size_t)n + a] = turned ? at_place(left, a) : a;
                trial_order[3 * (size_t)n + a] = turned ? at_place(right, a) : a;
            }
            if (code == PROCESSOR) {
                GLOBAL int *other = others + OTHER * (size_t)(n - ordered);
                other[0] = i;
                other[1] = j;
                other[OTHER_SHARED] = shared;
                for (int a = 0; a < 3; a++) {
                    other[OTHER_ORDERS + a] = at_place(left, a);
                    other[OTHER_ORDERS + 3 + a] = at_place(right, a);
                }
                ratios[n - ordered] = shared ? R(0.0) : ratio_of(test + (size_t)RECORD * i, trial + (size_t)RECORD * j);
            }
        }
}

/* List the special pairs of `count` triangles of rows. skips: where the list of each row begins, count + 1 numbers, then
   room for the places of the columns, which increase; numbers: of these pairs, -1 - number if exchanged. row_order (count,):
   the test triangle of each row; places: the column of each trial triangle. */
KERNEL list_pairs(GLOBAL const int *starts, GLOBAL const int *seconds, GLOBAL const int *codes, GLOBAL const int *row_order,
                  GLOBAL const int *places, int count, GLOBAL int *skips, GLOBAL int *numbers)
{
    int row = THREAD(0), before = count + 1;
    if (row >= count)
        return;
    int i = row_order[row], end = skips[row];
    for (int e = starts[i]; e < starts[i + 1]; e++) {
        if (codes[e] == -1)
            continue;
        skips[end] = places[seconds[e]];
        numbers[end++ - before] = codes[e] >= 0 ? codes[e] : -1 - codes[-2 - codes[e]];
    }
    sort_keys(skips + skips[row], numbers + skips[row] - before, end - skips[row], 1);
}
