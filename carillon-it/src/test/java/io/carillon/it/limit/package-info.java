/**
 * Tests of everything that holds runs back: limits of queues, gates of concurrency, FIFO and rate keys, and the
 * circuit breaker.
 */
package io.carillon.it.limit;
