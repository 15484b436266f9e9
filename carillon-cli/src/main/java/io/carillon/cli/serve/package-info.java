/** The server as a process: a node and its REST interface on a database that somebody else runs, until a signal stops them in order. */
@NullMarked
package io.carillon.cli.serve;

import org.jspecify.annotations.NullMarked;
