/**
 * Tests of attempts: how handlers are called, how attempts end, and what happens to runs that cannot end.
 */
package io.carillon.it.attempt;
