/*
 * Room for the map from code to layers.  It is filled in when all is linked
 * (tests/bench/layer_map.py), so to the compiler it is not even a constant.
 */
.set MAP_BYTES, 2048                /* kernel/profile.c */

.section .layer_map, "a"
.globl profile_map
profile_map:
    .skip MAP_BYTES

.section .note.GNU-stack, "", @progbits
