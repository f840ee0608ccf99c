/* httpd has no files of its own: all are made by net/apps/web.c. */
#ifndef NET_PORT_HTTPD_FILES_H
#define NET_PORT_HTTPD_FILES_H

#include "lwip/apps/fs.h"

#define FS_ROOT ((const struct fsdata_file *)NULL)

#endif
