/*
 * lwIP's httpd: which files it has, and when its port is open (http=).
 *
 * A text is made when it is asked for and stays as it is while somebody reads it; there are
 * WEB_TEXTS such, and who comes when all are being read is told to come again.  httpd itself is
 * bounded by its pool of connections; those it has closed and whose last bytes a browser does not
 * take are swept here.
 */
#include "net/apps/web.h"

#include "kernel/console.h"
#include "kernel/options.h"
#include "kernel/print.h"
#include "kernel/string.h"
#include "lwip/apps/httpd.h"
#include "lwip/priv/tcp_priv.h"
#include "net/apps/app.h"
#include "net/clock.h"

enum {
    PORT = 80,
    WEB_TEXTS = 3,
    HEADER_BYTES = 160,
    SWEEP_US = 1000000,
    WINDOW_SHUT = 4, /* persist_backoff: shut for some 10 s */
    CLOSING_MAX = 8, /* closed by httpd, not yet by the other end */
    RESENT_MAX = 3,  /* and so often sent in vain: some 10 s      */
    TEXT_LIFE_US = 30000000,
    ENDLESS = INT_MAX, /* bytes of an event stream */
};

/* ---- texts ---- */

/* One open file; its pextension. */
static struct text_file {
    bool open;
    uint64_t until_us;
    size_t header_length;
    char header[HEADER_BYTES];
    struct web_text text;
} texts[WEB_TEXTS];

static struct text_file *free_text(void)
{
    for (unsigned i = 0; i < WEB_TEXTS; i++) {
        if (!texts[i].open) {
            return &texts[i];
        }
    }
    return NULL;
}

static bool open_text(struct fs_file *file, void (*write)(struct web_text *), const char *type)
{
    struct text_file *t = free_text();

    if (t == NULL) {
        return false;
    }
    t->open = true;
    t->until_us = clock_us() + TEXT_LIFE_US;
    t->text.length = 0;
    t->text.full = false;
    write(&t->text);
    t->header_length = (size_t)format(t->header, sizeof(t->header),
                                      "HTTP/1.0 200 OK\r\nServer: NicTest86\r\n"
                                      "Content-Type: %s; charset=us-ascii\r\n"
                                      "Content-Length: %u\r\nCache-Control: no-cache\r\n\r\n",
                                      type, (unsigned)t->text.length);
    file->pextension = t;
    file->len = (int)(t->header_length + t->text.length);
    return true;
}

static int read_text(struct fs_file *file, char *to, int room)
{
    const struct text_file *t = file->pextension;
    size_t at = (size_t)file->index;
    const char *from = at < t->header_length ? t->header + at : t->text.at + at - t->header_length;
    size_t left = at < t->header_length ? t->header_length - at : (size_t)file->len - at;
    size_t n = left < (size_t)room ? left : (size_t)room;

    if (clock_us() > t->until_us) {
        return FS_READ_EOF;
    }
    memcpy(to, from, n);
    file->index += (int)n;
    return (int)n;
}

/* ---- errors ---- */

#define ERROR_PAGE(status)                                                                         \
    "HTTP/1.0 " status "\r\nServer: NicTest86\r\nContent-Type: text/html\r\n\r\n"                  \
    "<HTML><HEAD><TITLE>" status "</TITLE></HEAD>"                                                 \
    "<BODY><H1>" status "</H1><P><A HREF=\"/\">NicTest86</A></P></BODY></HTML>\n"

static const char busy[] = ERROR_PAGE("503 Busy");

/* httpd asks for these names. */
static const struct {
    const char *name, *text;
} errors[] = {
    {"/404.html", ERROR_PAGE("404 Not Found")},
    {"/400.html", ERROR_PAGE("400 Bad Request")},
    {"/501.html", ERROR_PAGE("501 Not Implemented")},
};

/* From read-only memory, without a copy. */
static void open_constant(struct fs_file *file, const char *text)
{
    file->data = text;
    file->len = file->index = (int)strlen(text);
}

/* ---- what httpd calls ---- */

static bool open_page(struct fs_file *file, const char *name)
{
    if (strcmp(name, "/index.html") == 0) {
        return open_text(file, web_write_page, "text/html");
    }
    if (strcmp(name, "/report.txt") == 0) {
        return open_text(file, web_write_report, "text/plain");
    }
    file->pextension = web_stream_open();
    file->len = ENDLESS;
    return file->pextension != NULL;
}

static bool is_page(const char *name)
{
    return strcmp(name, "/index.html") == 0 || strcmp(name, "/report.txt") == 0 ||
           strcmp(name, "/events") == 0;
}

int fs_open_custom(struct fs_file *file, const char *name)
{
    memset(file, 0, sizeof(*file));
    file->flags = FS_FILE_FLAGS_HEADER_INCLUDED;
    for (unsigned i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        if (strcmp(name, errors[i].name) == 0) {
            open_constant(file, errors[i].text);
            return 1;
        }
    }
    if (!is_page(name)) {
        return 0;
    }
    if (!open_page(file, name)) {
        open_constant(file, busy);
    }
    return 1;
}

static bool is_stream(const struct fs_file *file)
{
    return file->len == ENDLESS;
}

void fs_close_custom(struct fs_file *file)
{
    if (is_stream(file)) {
        web_stream_close(file->pextension);
    } else if (file->pextension != NULL) {
        ((struct text_file *)file->pextension)->open = false;
    }
    file->pextension = NULL;
}

int fs_read_async_custom(struct fs_file *file, char *buffer, int count, fs_wait_cb callback_fn,
                         void *callback_arg)
{
    if (is_stream(file)) {
        return web_stream_read(file->pextension, buffer, count, callback_fn, callback_arg);
    }
    return read_text(file, buffer, count);
}

/* Reading says by itself when there is nothing; what has been read must go out meanwhile. */
u8_t fs_canread_custom(struct fs_file *file)
{
    (void)file;
    return 1;
}

u8_t fs_wait_read_custom(struct fs_file *file, fs_wait_cb callback_fn, void *callback_arg)
{
    (void)file;
    (void)callback_fn;
    (void)callback_arg;
    return 0;
}

/* ---- the port ---- */

/* httpd opens its listener itself and keeps it; to close and open it again we take over what it
 * does with a connection.  httpd_init() a second time would forget the open ones. */
static struct tcp_pcb_listen *listener;
static tcp_accept_fn httpd_accept;

static struct tcp_pcb_listen *find_listener(void)
{
    struct tcp_pcb_listen *pcb = tcp_listen_pcbs.listen_pcbs;

    while (pcb != NULL && pcb->local_port != PORT) {
        pcb = pcb->next;
    }
    return pcb;
}

static void open_again(void)
{
    struct tcp_pcb *pcb = tcp_new();

    if (pcb != NULL) {
        ip_set_option(pcb, SOF_REUSEADDR);
    }
    if (pcb == NULL || tcp_bind(pcb, IP_ADDR_ANY, PORT) != ERR_OK) {
        kprintf("http: no memory to open port %u\n", PORT);
        if (pcb != NULL) {
            tcp_abort(pcb);
        }
        return;
    }
    pcb = tcp_listen(pcb);
    if (pcb == NULL) {
        return;
    }
    tcp_setprio(pcb, HTTPD_TCP_PRIO);
    tcp_accept(pcb, httpd_accept);
}

static void open_port(void)
{
    if (httpd_accept == NULL) {
        httpd_init();
        httpd_accept = find_listener()->accept;
    } else {
        open_again();
    }
    listener = find_listener();
    if (listener != NULL) {
        ip_set_option(listener, SOF_REUSEADDR); /* its connections are no bar to the next one */
    }
}

/* What is being sent is sent to its end; streams have none, so they end now. */
static void close_port(void)
{
    tcp_close((struct tcp_pcb *)listener);
    listener = NULL;
    web_stream_end_all();
}

/* rw differs from ro by commands over http, which are not built yet. */
static void follow_option(void)
{
    bool wanted = options.http != HTTP_OFF;

    if (wanted && listener == NULL) {
        open_port();
    } else if (!wanted && listener != NULL) {
        close_port();
    }
}

/* ---- sweeping ---- */

static bool is_closing(const struct tcp_pcb *pcb)
{
    return pcb->state > ESTABLISHED && pcb->state != CLOSE_WAIT;
}

static void sweep(void)
{
    struct tcp_pcb *pcb = tcp_active_pcbs, *next;
    unsigned closing = 0;

    for (; pcb != NULL; pcb = next) {
        next = pcb->next;
        if (pcb->local_port != PORT) {
            continue;
        }
        closing += is_closing(pcb);
        if (pcb->persist_backoff >= WINDOW_SHUT || closing > CLOSING_MAX ||
            (is_closing(pcb) && pcb->nrtx >= RESENT_MAX)) {
            tcp_abort(pcb);
        }
    }
}

static uint64_t next_sweep_us;

static void tick(void)
{
    web_stream_tick();
    if (clock_due(&next_sweep_us, SWEEP_US)) {
        sweep();
    }
}

static void start(void)
{
    follow_option();
    options_on_change("http", follow_option);
}

APP_TICKING(web, start, tick);
