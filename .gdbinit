# `make debug` in one terminal, `gdb -nx -x .gdbinit` in another: the machine stands still before its
# first instruction.  `break kmain`, `continue`, Ctrl-C, and `nicdump` at any time.
set architecture i386
set confirm off
set print pretty on
file out/nictest86.sym

define nicdump
    set $nicdump_i = 0
    while $nicdump_i < nic_count
        set $nicdump_nic = &nics[$nicdump_i]
        printf "---- card %d: %s at 0x%x irq %d, %s\n", $nicdump_i, $nicdump_nic->driver->name, \
            $nicdump_nic->place.io.base, $nicdump_nic->irq, $nicdump_nic->model
        print $nicdump_nic->stats
        print *(struct dp8390 *)$nicdump_nic->state
        set $nicdump_i = $nicdump_i + 1
    end
    printf "%d cards\n", nic_count
end
document nicdump
Every card found: place, counters, and the state of its 8390 (ring, transmit slots, watchdog).
end

target remote localhost:1234
