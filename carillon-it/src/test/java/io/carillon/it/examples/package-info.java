/**
 * The examples of docs/wakeup.md, and a test that runs them.
 */
package io.carillon.it.examples;
