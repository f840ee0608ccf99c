/*
 * What stands in nuttcp's data (NEEDS.md 3.4): the marks that begin and end a test over UDP, and
 * the sender's counts.
 */
#ifndef NET_APPS_NUTTCP_WIRE_H
#define NET_APPS_NUTTCP_WIRE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    NUTTCP_MARK = 4,
    NUTTCP_INFO_AT = 24,  /* in each write or datagram of a test with -i: 8 bytes ... */
    NUTTCP_INFO_END = 32, /* ... of the sender's count, see below                     */
};

/* A datagram of NUTTCP_MARK bytes: the beginning (BOD) or the end (EOD), and which repeat of it. */
enum nuttcp_mark { NUTTCP_NO_MARK, NUTTCP_BEGIN, NUTTCP_END };
enum nuttcp_mark nuttcp_read_mark(const uint8_t mark[NUTTCP_MARK], unsigned *number);
void nuttcp_write_mark(uint8_t mark[NUTTCP_MARK], enum nuttcp_mark kind, unsigned number);

/*
 * The sender's count, 8 bytes.  UDP: payload bytes sent, this datagram's among them.  TCP: segments
 * sent again, or -1 as long as that is not known, then "NRTR".  In the order of the client's
 * memory: both ends agree on little-endian here, and a count that makes sense only the other way
 * round is taken so.
 */
void nuttcp_write_sent(uint8_t info[8], uint64_t bytes);
uint64_t nuttcp_read_sent(const uint8_t info[8]);
void nuttcp_write_retrans(uint8_t info[8], uint32_t resent);
bool nuttcp_read_retrans(const uint8_t info[8], uint32_t *resent); /* false: not told */

#endif
