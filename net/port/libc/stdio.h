/* lwIP's core includes <stdio.h> but needs nothing from it with our options. */
