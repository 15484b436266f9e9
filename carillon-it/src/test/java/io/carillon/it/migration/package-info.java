/**
 * Tests of the migrator: first start, upgrades, locks, and nodes of two versions on one schema.
 */
package io.carillon.it.migration;
