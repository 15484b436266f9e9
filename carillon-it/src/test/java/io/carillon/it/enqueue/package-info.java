/**
 * Tests of enqueueing: stored runs, due times, priorities, and unique keys.
 */
package io.carillon.it.enqueue;
