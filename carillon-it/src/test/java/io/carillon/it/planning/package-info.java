/**
 * Tests of planning: plans of several nodes, the planning token, and the ledger, which has one entry for every instant.
 */
package io.carillon.it.planning;
