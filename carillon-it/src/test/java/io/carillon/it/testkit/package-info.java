/**
 * Tests of the test kit, which need a database or a node.
 */
package io.carillon.it.testkit;
