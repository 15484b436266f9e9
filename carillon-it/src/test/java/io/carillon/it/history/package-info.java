/**
 * Tests of the history of runs: its partitions, its retention, and the removal of old rows.
 */
package io.carillon.it.history;
