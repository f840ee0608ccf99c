# The kernel core.
HOST_SRC_math64 := tests/host/test_math64.c kernel/math64.c
HOST_SRC_arena := tests/host/test_arena.c kernel/arena.c
HOST_SRC_string := tests/host/test_string.c
HOST_SRC_cpu := tests/host/test_cpu.c kernel/cpu_class.c
HOST_SRC_memory := tests/host/test_memory.c kernel/memory.c
HOST_SRC_loader := tests/host/test_loader.c kernel/loader.c
HOST_SRC_timebase := tests/host/test_timebase.c kernel/timebase.c kernel/math64.c
# time.c itself: the real time.h, found before the shadow's.
HOST_SRC_time := tests/host/test_time.c kernel/time.c kernel/timebase.c kernel/math64.c
HOST_CFLAGS_time := -iquote tests/host/metal
HOST_SRC_irq := tests/host/test_irq.c tests/host/sim/pic8259.c kernel/irq.c kernel/pic.c
