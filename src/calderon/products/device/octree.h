/* Numbers of a box of an octree on a device: its level, its parent, its place (3) in units of the edge of its level, and
   its runs of sources and of targets, the first and one beyond the last. */
enum { LEVEL, PARENT, PLACE, SOURCES = PLACE + 3, TARGETS = SOURCES + 2, NUMBERS = TARGETS + 2 };
