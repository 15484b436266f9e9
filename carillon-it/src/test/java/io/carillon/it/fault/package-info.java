/**
 * Tests of an engine whose storage fails, or whose process crashes, at any call. Start at
 * {@link io.carillon.it.fault.PortFaultsTest}.
 */
package io.carillon.it.fault;
