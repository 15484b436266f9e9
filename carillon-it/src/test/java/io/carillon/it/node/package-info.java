/**
 * Tests of nodes: heartbeats, deaths, rescue and isolation of their runs, lost sessions, and shutdown.
 */
package io.carillon.it.node;
