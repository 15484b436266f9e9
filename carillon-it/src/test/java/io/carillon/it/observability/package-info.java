/**
 * Tests of what an operator sees: health issues, meters, log lines, and events of listeners.
 */
package io.carillon.it.observability;
