/*
 * Ring arithmetic of the 8390: pure functions over page numbers, no chip.
 *
 * The ring is the pages [start, stop).  Source: DP8390D data sheet, ch. 7 (buffer ring).
 */
#include "drivers/8390/dp8390.h"
#include "drivers/8390/dp8390_regs.h"

unsigned ring_after(unsigned page, unsigned start, unsigned stop)
{
    return page + 1 >= stop ? start : page + 1;
}

unsigned ring_before(unsigned page, unsigned start, unsigned stop)
{
    return page <= start ? stop - 1 : page - 1;
}

unsigned ring_distance(unsigned from, unsigned to, unsigned start, unsigned stop)
{
    return to >= from ? to - from : to + (stop - start) - from;
}

unsigned ring_pages(unsigned length_with_fcs)
{
    return (DP8390_HEADER + length_with_fcs + DP8390_PAGE - 1) / DP8390_PAGE;
}

unsigned ring_length(unsigned page, unsigned next, unsigned count, unsigned start, unsigned stop)
{
    const unsigned low = count % DP8390_PAGE;
    unsigned pages;

    if (next < start || next >= stop) {
        return 0;
    }
    pages = ring_distance(page, next, start, stop);
    if (ring_pages(count) == pages) { /* nearly always */
        return count;
    }

    /* A frame that ends exactly with its page: some chips skip a page after it, so only the
     * count can tell the two lengths apart. */
    if ((DP8390_HEADER + low) % DP8390_PAGE == 0 && ring_pages(count) + 1 == pages) {
        return count;
    }
    if (pages < ring_pages(low)) {
        return 0;
    }
    return (pages - ring_pages(low)) * DP8390_PAGE + low;
}
