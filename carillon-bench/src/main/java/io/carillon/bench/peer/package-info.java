/**
 * Other schedulers, each behind the port {@link io.carillon.bench.peer.Peer} and tuned as its documentation recommends.
 * Start at this port. Only this package depends on their libraries.
 */
@NullMarked
package io.carillon.bench.peer;

import org.jspecify.annotations.NullMarked;
