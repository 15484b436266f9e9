/**
 * Tests with several processes, which are killed, frozen and restarted. Start at
 * {@link io.carillon.it.cluster.Cluster}.
 */
package io.carillon.it.cluster;
