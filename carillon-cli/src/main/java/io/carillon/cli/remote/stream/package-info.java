/** What commands print while they follow a stream of the server. */
@NullMarked
package io.carillon.cli.remote.stream;

import org.jspecify.annotations.NullMarked;
