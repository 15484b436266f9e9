/**
 * Other schedulers, each behind the port {@link io.carillon.bench.peer.Peer} and tuned as its own documentation says. Start there; nothing else knows their names.
 */
@NullMarked
package io.carillon.bench.peer;

import org.jspecify.annotations.NullMarked;
