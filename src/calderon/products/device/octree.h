/* Numbers of a box of an octree on a device: its level, its parent, its place (3) in units of the edge of its level, and
   its runs of sources and of targets, the first and one beyond the last. */
#define LEVEL 0
#define PARENT 1
#define PLACE 2
#define SOURCES 5
#define TARGETS 7
#define NUMBERS 9
