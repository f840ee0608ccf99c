/*
 * The status page and the report.  HTML 3.2 in short lines and a narrow table: it is read by lynx
 * on 40 columns, and by the browsers of the machines it is about.
 */
#include "drivers/nic.h"
#include "kernel/arena.h"
#include "kernel/cpu.h"
#include "kernel/options.h"
#include "kernel/print.h"
#include "kernel/string.h"
#include "kernel/time.h"
#include "kernel/version.h"
#include "lwip/netif.h"
#include "net/address.h"
#include "net/apps/web.h"
#include "net/clock.h"
#include "net/names.h"
#include "net/nicif.h"
#include "net/report.h"

enum {
    RESULTS = 10, /* on the page; /report.txt has all */
    ROUND = 50,
    US_PER_S = 1000000,
    CUT_ROOM = 32,
};

/* ---- text into a bounded buffer ---- */

static void put_text(struct web_text *t, const char *text, size_t n)
{
    static const char cut[] = "\n... (too long)\n";

    if (t->full) {
        return;
    }
    if (n > WEB_TEXT_BYTES - CUT_ROOM - t->length) {
        t->full = true;
        text = cut;
        n = sizeof(cut) - 1;
    }
    memcpy(t->at + t->length, text, n);
    t->length += n;
}

void web_put(struct web_text *t, const char *fmt, ...)
{
    char line[REPORT_LINE];
    va_list args;

    va_start(args, fmt);
    vformat(line, sizeof(line), fmt, args);
    va_end(args);
    put_text(t, line, strlen(line));
}

void web_put_escaped(struct web_text *t, const char *text)
{
    for (; *text != '\0'; text++) {
        const char *name = *text == '&'   ? "&amp;"
                           : *text == '<' ? "&lt;"
                           : *text == '>' ? "&gt;"
                           : *text == '"' ? "&quot;"
                                          : NULL;

        if (name != NULL) {
            put_text(t, name, strlen(name));
        } else {
            put_text(t, text, 1);
        }
    }
}

/* ---- the page ---- */

static void put_machine(struct web_text *t)
{
    const char *name = names_current();

    web_put(t, "<P>%u86 at %u MHz, %u KB of memory<BR>\nup %u s", (unsigned)cpu.class,
            time_cpu_mhz(), (unsigned)machine_kb, (unsigned)(clock_ms() / 1000));
    if (name[0] != '\0') {
        web_put(t, "<BR>\nname ");
        web_put_escaped(t, name);
    }
    web_put(t, "</P>\n");
}

static void put_card(struct web_text *t, const struct nic *nic)
{
    struct netif *netif = nicif_netif(nic);

    web_put(t, "<H2>Card %u</H2>\n<P>", nic->index);
    web_put_escaped(t, nic->driver->name);
    web_put(t, ": ");
    web_put_escaped(t, nic->model);
    web_put(t, "<BR>\n%s, %u-bit, port 0x%x, ", nic->place.bus == NIC_PCI ? "PCI" : "ISA",
            nic->width, nic->place.io.base);
    if (nic->mode == NIC_MODE_IRQ) {
        web_put(t, "irq %d", nic->irq);
    } else {
        web_put(t, "polling");
    }
    web_put(t, "<BR>\n%M<BR>\naddress <B>%I</B> (%s)<BR>\n", nic->mac,
            ip4_addr_get_u32(netif_ip4_addr(netif)), address_how(netif));
    web_put(t, "frames: %llu in, %llu out</P>\n", (unsigned long long)nic->stats.rx_frames,
            (unsigned long long)nic->stats.tx_frames);
}

static void put_result(struct web_text *t, const struct report_result *r)
{
    char rate[24];

    web_put(t, "<TR><TD>%s %s %s<TD ALIGN=\"right\">%s<TD ALIGN=\"right\">%u<TD>%s\n", r->test,
            r->udp ? "udp" : "tcp", r->tx ? "out" : "in",
            format_fixed(rate, (r->kb_s_milli + ROUND) / 100, 1), (r->cpu_permille + 5) / 10,
            r->bound == NULL ? "-" : r->bound);
}

static void put_results(struct web_text *t)
{
    struct report_result r;

    web_put(t, "<H2>Last results</H2>\n");
    if (!report_result(0, &r)) {
        web_put(t, "<P>none yet</P>\n");
        return;
    }
    web_put(t, "<TABLE BORDER=\"1\" CELLPADDING=\"3\">\n<TR><TH>test<TH>KB/s<TH>CPU %%<TH>limit\n");
    for (unsigned i = 0; i < RESULTS && report_result(i, &r); i++) {
        put_result(t, &r);
    }
    web_put(t, "</TABLE>\n");
}

void web_write_page(struct web_text *t)
{
    web_put(t,
            "<!DOCTYPE HTML PUBLIC \"-//W3C//DTD HTML 3.2 Final//EN\">\n<HTML>\n<HEAD>\n<TITLE>");
    web_put_escaped(t, names_current());
    web_put(t,
            " NicTest86</TITLE>\n</HEAD>\n<BODY BGCOLOR=\"#FFFFFF\" TEXT=\"#000000\">\n"
            "<H1>NicTest86 %s</H1>\n",
            NICTEST_VERSION);
    put_machine(t);
    for (unsigned i = 0; i < nic_count; i++) {
        put_card(t, &nics[i]);
    }
    put_results(t);
    web_put(t, "<P><A HREF=\"/report.txt\">report.txt</A>: all results as text<BR>\n"
               "<A HREF=\"/events\">events</A>: records as they come</P>\n</BODY>\n</HTML>\n");
}

/* ---- the report ---- */

static void put_line(void *arg, const char *line)
{
    web_put(arg, "%s", line);
    web_put(arg, "\n");
}

void web_write_report(struct web_text *t)
{
    report_write(put_line, t);
}
